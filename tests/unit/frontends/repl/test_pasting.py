"""Several pasted goals are done one after the other; what reads as one thing stays one."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.buffer import Buffer

from agent.frontends.repl.pasting import Pasted, separate_goals
from tests.support.each import each
from tests.support.fake_terminal import FakeTerminal
from tests.support.fakes import FakePlanner, say
from tests.support.front_services import World
from tests.unit.frontends.repl.test_repl_loop import finished, go


def paste(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


@each(
    "text",
    [
        "find big files",
        "for f in *.txt; do\n  wc -l $f\ndone",
        "cat <<EOF > a\nx\nEOF",
        "docker run \\\nalpine",
        "why does this fail:\nerror: no such file",
        "Traceback (most recent call last):\n  File x\nKeyError: 1",
        "1. find big files\n2. delete them",
        "- find big files\n- delete them",
        "$ make\nerror",
        "cat a |\nsort",
    ],
)
def test_one_thing_stays_one(text: str) -> None:
    assert separate_goals(text) == []


def test_lines_are_goals_and_blank_ones_are_none() -> None:
    assert separate_goals("find big files\n\nshow the disk usage\nlist users\n") == [
        "find big files", "show the disk usage", "list users",
    ]  # fmt: skip


def test_pasted_goals_wait_for_their_turn(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say("a"), say("b"), say("c")), tmp_path)
    go(terminal, world, paste("one thing\r\ntwo things\r\nthree things"), "\r", "\r", " more\r", "exit\r")
    assert [goal for goal, _ in finished(world)] == ["one thing", "two things", "three things more"]
    assert "3 goals pasted" in terminal.seen
    assert "goal 2 of 3" in terminal.seen


def test_nothing_of_a_paste_is_done_before_enter_and_ctrl_c_drops_the_rest(
    terminal: FakeTerminal, tmp_path: Path
) -> None:
    world = World(FakePlanner(say("a")), tmp_path)
    go(terminal, world, paste("one thing\ntwo things\nthree things\n"), "\r", "\x03", "exit\r")
    assert [goal for goal, _ in finished(world)] == ["one thing"]


def test_what_is_dropped_is_said() -> None:
    pasted = Pasted(Buffer())
    pasted.take("one thing\ntwo things\nthree things")
    assert pasted.first("one thing\ntwo things\nthree things") == "one thing"
    assert pasted.drop() == "2 more pasted goals dropped"
    assert pasted.next() == ("", "")


@pytest.mark.parametrize("keys", ["\x1b1", " "])
def test_kept_as_one_by_a_key_or_by_an_edit(terminal: FakeTerminal, tmp_path: Path, keys: str) -> None:
    world = World(FakePlanner(say("a")), tmp_path)
    go(terminal, world, paste("one thing\ntwo things"), keys, "\r", "exit\r")
    assert [goal for goal, _ in finished(world)] == ["one thing\ntwo things"]


def test_a_large_paste_says_its_size(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say("a")), tmp_path)
    go(terminal, world, paste("error: x\n" * 400), "\x03", "exit\r")
    assert "pasted: 3,600 characters in 401 lines" in terminal.seen


def test_an_enter_that_a_paste_brings_along_sends_nothing(terminal: FakeTerminal, tmp_path: Path) -> None:
    terminal.screen.dead_time = 0.05
    world = World(FakePlanner(say("a")), tmp_path)
    go(terminal, world, paste("ls one") + "\r", "\x15", "exit\r")
    assert (world.executor.ran, finished(world)) == ([], [])
    assert "ls one" in terminal.seen


def test_an_enter_from_before_a_waiting_goal_stood_there_does_not_send_it(
    terminal: FakeTerminal, tmp_path: Path
) -> None:
    terminal.screen.dead_time = 0.05
    world = World(FakePlanner(say("a"), say("b")), tmp_path)
    lines = paste("one thing\ntwo things\nthree things")
    go(terminal, world, lines, lambda: None, lambda: None, "\r\r\r", lambda: None, lambda: None, "\x03", "exit\r")
    assert [goal for goal, _ in finished(world)] in ([], ["one thing"])


@pytest.mark.few(1)
@pytest.mark.parametrize("text", ["!echo first " + "word " * 300, "\n".join(f"ls {n}" for n in range(30))])
def test_an_own_command_of_which_a_part_was_off_the_screen_is_asked_about(
    terminal: FakeTerminal, tmp_path: Path, text: str
) -> None:
    world = World(FakePlanner(say("a")), tmp_path)
    go(terminal, world, paste(text), "\r", "\x03", "\x03", "!ls -la\r", "exit\r")
    assert [(command.command, command.consent.by) for command in world.executor.ran] == [("ls -la", "policy")]
