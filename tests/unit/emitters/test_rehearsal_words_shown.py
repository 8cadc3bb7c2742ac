"""The lines of a rehearsal say nothing that is not so: no offer where nothing can or need be made real."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent.emitters.rehearsal_text import change_lines, plain, summary_lines
from agent.protocol.events import CommandFinished, CommandStarted, UndoFinished
from agent.protocol.rehearsals import Change, FileState, Rehearsal
from tests.support.fake_rehearser import ADDED, rehearsal_of
from tests.support.fakes import failing, ok

OFFER = "it can be made real all the same"


def told(rehearsal: Rehearsal, *, offered: bool = True) -> str:
    return plain(summary_lines(rehearsal, offered=offered), color=False)


def test_a_failed_command_that_changed_something_can_be_made_real() -> None:
    assert OFFER in told(rehearsal_of("cp a b", ADDED, result=failing(3)))


@pytest.mark.parametrize(
    ("rehearsal", "offered"),
    [
        (rehearsal_of("false", result=failing(3)), True),
        (rehearsal_of("cp a b", ADDED, result=failing(3)), False),
        (rehearsal_of("cp a b", ADDED, result=failing(3), obstacle="it was ended"), True),
        (rehearsal_of("cp a b", ADDED), True),
    ],
)
def test_nothing_is_offered_that_is_not_there(rehearsal: Rehearsal, offered: bool) -> None:
    assert OFFER not in told(rehearsal, offered=offered)


def test_one_of_several_names_is_called_a_hard_link() -> None:
    state = FileState(kind="file", mode=0o644, uid=0, gid=0, size=3)
    linked = Change(path="/work/h", op="create", kind="file", after=state, flags=("many-names",))
    assert plain(change_lines([linked], cwd="/work"), color=False) == "  + h  3 B  [hard link]"


@pytest.mark.parametrize(("via", "line"), [("rehearsal", "made real; undo: "), ("", "undo: ")])
def test_a_commit_says_that_it_is_real_after_the_rehearsal_said_that_nothing_was_changed(
    terminal: Callable[..., Any], via: str, line: str
) -> None:
    shown = terminal(color=False)
    ended = CommandFinished(command_id="c", exit_code=0, result=ok(), undo_id="6fd7")
    asyncio.run(shown.show(CommandStarted(command_id="c", command="cp a b", via=via), ended))
    assert f"{line}agent-shell undo 6fd7\n" in (shown.out.text + shown.err.text).splitlines(keepends=True)


def test_at_the_prompt_what_takes_a_run_back_is_typed_there(terminal: Callable[..., Any]) -> None:
    shown = terminal(color=False, at_prompt=True)
    ended = CommandFinished(command_id="c", exit_code=0, result=ok(), undo_id="6fd7")
    back = UndoFinished(undo_id="6fd7", restored=1, state="undone")
    asyncio.run(shown.show(CommandStarted(command_id="c", command="cp a b"), ended, back))
    said = shown.out.text + shown.err.text
    assert "undo: :undo 6fd7\n" in said
    assert "`:undo 6fd7` again" in said


def test_what_would_be_left_in_the_shell_is_shown_where_it_can_be_made_real() -> None:
    left = rehearsal_of("cd /x", shell=("function ls\x1b[2J", "folder /x"))
    assert "also in the shell: function ls\u241b[2J; folder /x" in told(left)
    assert "in the shell" not in told(left, offered=False)
    assert "in the shell" not in told(rehearsal_of("cd /x"))
    assert "in the shell" not in told(rehearsal_of("cd /x", shell=("folder /x",), obstacle="it was ended"))
