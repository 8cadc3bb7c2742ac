"""Hold the colours of prompts against the background that they are meant for."""

from __future__ import annotations

import re

from agent.emitters.paint import _ON_LIGHT
from agent.frontends.themes import _LIGHT
from tests.support.each import each

# What terminals themselves make dark enough for white, whatever their palette.
_DARK_ENOUGH = {"ansired", "ansiblue", "ansimagenta"}
_STEPS = (0, 95, 135, 175, 215, 255)


def contrast_with_white(red: int, green: int, blue: int) -> float:
    """The ratio as WCAG has it, 1 to 21."""
    parts = [part / 255 for part in (red, green, blue)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


@each(("name", "style"), _LIGHT.items())
def test_every_colour_of_the_light_theme_can_be_read_on_white(name: str, style: str) -> None:
    for color in re.findall(r"#[0-9a-f]{6}|ansi\w+", style):
        if color.startswith("ansi"):
            assert color in _DARK_ENOUGH
        else:
            assert contrast_with_white(*bytes.fromhex(color[1:])) >= 4.5


@each("code", _ON_LIGHT.values())
def test_so_can_the_shades_of_the_256_colours(code: str) -> None:
    number = int(code.removeprefix("38;5;")) - 16
    assert contrast_with_white(*(_STEPS[number // place % 6] for place in (36, 6, 1))) >= 4.5
