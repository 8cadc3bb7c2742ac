"""The offer to rehearse names the key that does it where it stands, and stands only where a rehearsal can tell something."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.frontends.confirm.heading import heading
from agent.gate.verdicts import tells
from agent.risk.classifier import classify
from tests.support.fake_terminal import request_for

LOST = "cannot be undone: which files, is only known when it runs"


def offer(command: str = "rm x", **keywords: str) -> list[str]:
    request = replace(request_for(command, "medium"), report=classify(command), rehearsal="ask", undo=LOST)
    lines = ["".join(part for _, part in line) for line in heading(request, **keywords)]
    return [line.partition(" · ")[0] for line in lines[1:]]


def test_a_terminal_that_cannot_move_the_cursor_has_no_function_keys() -> None:
    assert offer(rehearse_key="r") == [":undo cannot take this back, unless r rehearses it first"]
    assert offer() == [":undo cannot take this back, unless F9 rehearses it first"]


@pytest.mark.parametrize(
    "command", ["ssh host uptime", "git push", "kill 4321", "systemctl restart x", "less a", "psql -c 'select 1'"]
)
def test_nothing_is_rehearsed_that_changes_no_files_here(command: str) -> None:
    assert not tells(classify(command))
    assert offer(command) == [LOST]


@pytest.mark.parametrize(
    "command", ["rm x", "./unknown", "make", "sed -i s/a/b/ x; git push", "echo $((", "pip install x"]
)
def test_what_may_change_files_can_be_rehearsed(command: str) -> None:
    assert tells(classify(command))
