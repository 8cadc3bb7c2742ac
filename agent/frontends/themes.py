"""Colours of prompts, by the theme that the person chose."""

from __future__ import annotations

from prompt_toolkit.styles import Style

_DARK = {
    "low": "ansigreen",
    "medium": "ansiyellow bold",
    "high": "ansired bold",
    "unrated": "ansibrightblack",
    "alert": "ansired bold",
    "warn": "ansiyellow",
    "hint": "ansibrightblack",
    "strong": "bold",
    "edited": "ansicyan",
    "arrow": "bold",
    "invisible": "reverse ansired",
    "bottom-toolbar": "noreverse ansibrightblack",
    "auto-suggestion": "ansibrightblack",
    # the shell lexer
    "sh.command": "bold",
    "sh.string": "ansigreen",
    "sh.variable": "ansicyan",
    "sh.option": "ansiblue",
    "sh.operator": "ansimagenta bold",
    "sh.slot": "reverse",
    "sh.comment": "ansibrightblack italic",
}
_LIGHT = _DARK | {
    "medium": "#875f00 bold",
    "warn": "#875f00",
    "low": "#005f00",
    "hint": "#585858",
    "unrated": "#585858",
    "edited": "#005f87",
    "bottom-toolbar": "noreverse #585858",
    "auto-suggestion": "#767676",
    "sh.string": "#005f00",
    "sh.variable": "#005f87",
    "sh.comment": "#585858 italic",
}
_STYLES = {"dark": Style.from_dict(_DARK), "light": Style.from_dict(_LIGHT)}
"""By theme. The light one has the six shades of the 256 colours that can be read on white where a terminal's own yellow and cyan cannot."""


def style_of(theme: str) -> Style:
    """The colours of a theme; of the dark one for a name that stands for the colours of code alone."""
    return _STYLES.get(theme, _STYLES["dark"])
