"""Colours on a dark and on a light background."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.emitters.paint import paint, use_theme


@pytest.fixture(autouse=True)
def dark_afterwards() -> Iterator[None]:
    yield
    use_theme("dark")


def test_a_light_background_gets_shades_that_can_be_read_on_it() -> None:
    for style in ("green", "yellow", "cyan"):
        use_theme("dark")
        dark = paint("x", style, color=True)
        use_theme("light")
        assert paint("x", style, color=True).startswith("\x1b[38;5;")
        use_theme("monokai")  # a style of code alone
        assert paint("x", style, color=True) == dark
    assert paint("x", "yellow", color=False) == "x"
