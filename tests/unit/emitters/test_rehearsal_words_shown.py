"""The lines of a rehearsal say nothing that is not so: no offer where nothing can or need be made real."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from agent.emitters.rehearsal_text import change_lines, plain, rehearsal_lines
from agent.protocol.events.command import UNDO_INTERRUPTED, CommandFinished, CommandStarted, UndoFinished
from agent.protocol.rehearsals import Change, ChangeOp, FileState, Rehearsal
from tests.support.each import each
from tests.support.fake_rehearser import ADDED, rehearsal_of
from tests.support.fakes import failing, ok

OFFER = "it can be committed all the same"


def told(rehearsal: Rehearsal, *, offered: bool = True) -> str:
    return plain(rehearsal_lines(rehearsal, offered=offered), color=False)


def test_a_failed_command_that_changed_something_can_be_made_real() -> None:
    assert OFFER in told(rehearsal_of("cp a b", ADDED, result=failing(3)))


@each(
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


def test_of_a_rehearsal_that_was_cut_short_nothing_is_said_of_all_that_it_would_do() -> None:
    full = "the rehearsal's disk is nearly full, so this is not all that it would do"
    assert told(rehearsal_of("echo > a", result=failing(1), obstacle=full)).startswith("no change was seen")
    assert told(rehearsal_of("true")).startswith("it would change nothing")


def test_one_of_several_names_is_called_a_hard_link() -> None:
    state = FileState(kind="file", mode=0o644, uid=0, gid=0, size=3)
    linked = Change(path="/work/h", op="create", kind="file", after=state, flags=("many-names",))
    assert plain(change_lines([linked], cwd="/work"), color=False) == "  + h  3 B  [hard link]"


@pytest.mark.parametrize(("via", "line"), [("rehearsal", "applied · undo: "), ("", "undo: ")])
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
    assert "`:undo 6fd7` does it again" in said


@pytest.mark.parametrize(("state", "verb"), [("committed", "taken back"), ("undone", "done again")])
def test_an_undo_that_was_stopped_says_in_one_line_that_it_did_nothing(
    terminal: Callable[..., Any], state: str, verb: str
) -> None:
    shown = terminal(color=False, at_prompt=True)
    stopped = UndoFinished(undo_id="6fd7", restored=0, state=state, reason=UNDO_INTERRUPTED)
    asyncio.run(shown.show(stopped))
    assert f"it was interrupted, and nothing was {verb}; `:undo 6fd7` asks again\n" in shown.out.text + shown.err.text


def test_what_would_be_left_in_the_shell_is_shown_where_it_can_be_made_real() -> None:
    left = rehearsal_of("cd /x", shell=("function ls\x1b[2J", "folder /x"))
    assert "also in the shell: function ls\u241b[2J; folder /x" in told(left)
    assert "in the shell" not in told(left, offered=False)
    assert "in the shell" not in told(rehearsal_of("cd /x"))
    assert "in the shell" not in told(rehearsal_of("cd /x", shell=("folder /x",), obstacle="it was ended"))


def changed(op: ChangeOp, path: str, *, flags: tuple[str, ...] = ()) -> Change:
    state = FileState(kind="file", mode=0o644, uid=0, gid=0, size=10)
    before, after = None if op == "create" else state, None if op == "delete" else state
    return Change(path=path, op=op, kind="file", before=before, after=after, flags=flags)


def test_what_is_lost_is_named_first_and_the_caveats_last_in_one_line() -> None:
    changes = (changed("create", "/work/a"), changed("modify", "/work/b"), changed("delete", "/work/c"))
    caveats = (
        "/mnt: read-only",
        "not part of any rehearsal: devices",
        "not part of any rehearsal by an ordinary user: links",
    )
    lines = told(structs.replace(rehearsal_of("x", *changes), not_shown=caveats)).split("\n")
    assert [line.split()[:2] for line in lines[1:4]] == [["-", "c"], ["~", "b"], ["+", "a"]]
    assert lines[4:] == ["not shown: /mnt: read-only", "Not isolated: devices; by an ordinary user: links"]


def test_deletions_do_not_hide_behind_how_many_more_there_are() -> None:
    created = [changed("create", f"/work/a/{number}") for number in range(100)]
    replaced = [changed("type", "/work/t")]
    lines = plain(change_lines([*created, *replaced, changed("delete", "/work/z")], cwd="/work", limit=5), color=False)
    assert "- z" in lines and "! t" in lines
    assert lines.endswith("and 97 more changes")


def test_too_many_deletions_are_told_by_their_folders() -> None:
    flagged = changed("delete", "/work/a/set", flags=("setuid",))
    gone = [changed("delete", f"/work/{folder}/{number}") for folder in "ab" for number in range(500)]
    lines = plain(change_lines([*gone, flagged], cwd="/work", limit=4), color=False).split("\n")
    assert lines == ["  - a/set  10 B  [setuid]", "  - a/  500 files, 5.0 kB", "  - b/  500 files, 5.0 kB"]
    deep = [changed("delete", f"/work/{number}/{number}") for number in range(50)]
    assert plain(change_lines(deep, cwd="/", limit=4), color=False) == "  - work/  50 files, 500 B"
