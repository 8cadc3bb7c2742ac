"""The offer to rehearse names the key that does it where it stands."""

from __future__ import annotations

from msgspec.structs import replace

from agent.frontends.confirm.heading import heading
from agent.risk.classifier import classify
from tests.support.fake_terminal import request_for


def offer(**keywords: str) -> list[str]:
    request = replace(request_for("rm x", "medium"), report=classify("rm x"), rehearsal="ask")
    lines = ["".join(part for _, part in line) for line in heading(request, **keywords)]
    return [line for line in lines if "rehearses it" in line]


def test_a_terminal_that_cannot_move_the_cursor_has_no_function_keys() -> None:
    rest = "rehearses it: see what it would change, and nothing is changed"
    assert offer(rehearse_key="r") == [f"r {rest}"]
    assert offer() == [f"F9 {rest}"]
