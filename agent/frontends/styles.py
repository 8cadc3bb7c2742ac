"""Colours of prompts and messages, by meaning. Words always say the same thing again."""

from __future__ import annotations

from prompt_toolkit.styles import Style

STYLE = Style.from_dict(
    {
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
        "sh.comment": "ansibrightblack italic",
    }
)
