"""How a goal was read, and what else it may mean, at the confirmation: by keys and by numbers, with the risk of what stands there."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.frontends.confirm.heading import details, heading
from agent.frontends.confirm.plain_confirm import PlainConfirmer
from agent.frontends.confirm.readings import Cycle, others
from agent.protocol.confirmations import (
    Alternative,
    Approved,
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    PlanPlace,
    Skipped,
)
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, rate_by_word, request_for, typed

F6, F10, ENTER, UNDO = "\x1b[17~", "\x1b[21~", "\r", "\x1f"


def request(*alternatives: str | Alternative, **proposal: Any) -> ConfirmationRequest:
    made = tuple(each if isinstance(each, Alternative) else Alternative(command=each) for each in alternatives)
    asked = request_for("ls a", "low")
    return replace(asked, proposal=replace(asked.proposal, alternatives=made, **proposal))


def words(asked: ConfirmationRequest, **options: Any) -> list[str]:
    return ["".join(part for _, part in line) for line in heading(asked, **options)]


def press(terminal: FakeTerminal, asked: ConfirmationRequest, *keys: str) -> Confirmation:
    confirmer = PromptConfirmer(terminal.screen, cast("Any", FakeProcesses()), {}, rate_by_word)
    return typed(terminal, lambda: confirmer.confirm(asked), *keys)


def test_the_place_in_a_plan_and_unused_words_stand_above_the_command_and_the_reading_behind_a_key() -> None:
    asked = request(
        "ls b",
        "ls c",
        reading="find · files · *.log",
        unused=("quickly", "now"),
        place=PlanPlace(number=2, total=3, goal="list the logs"),
    )
    assert words(asked) == ["step 2/3 · ● low · read-only", "not used: quickly, now"]
    told = ["".join(part for _, part in line) for line in details(asked, choices=True)]
    assert told == [
        "step 2/3: list the logs",
        "read as: find · files · *.log",
        "not used: quickly, now",
        "or 1: ls b",
        "or 2: ls c",
    ]
    assert words(request()) == ["● low · read-only"]


def test_hostile_words_cannot_draw_on_the_terminal() -> None:
    evil = "a\x1b[2J\u202eb\r\nEnter"
    told = "\n".join(words(request(evil, reading=evil, unused=(evil,), place=PlanPlace(number=1, total=1, goal=evil))))
    assert not {"\x1b", "\u202e", "\r"} & set(told)
    assert not any(line.startswith("Enter") for line in told.splitlines())


def test_the_ring_holds_each_command_once() -> None:
    asked = request("ls a", "", "ls b", "ls b", *(f"ls {number}" for number in range(20)))
    assert [each.command for each in others(asked)][:2] == ["ls b", "ls 0"]
    assert len(others(asked)) == 9
    assert Cycle(request()).is_empty and Cycle(request("ls a")).is_empty
    ring = Cycle(request("ls b", "ls c"))
    assert [ring.step("ls a"), ring.step("ls b"), ring.step("ls c")] == ["ls b", "ls c", "ls a"]
    assert ring.step("edited by hand") == "ls b"


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((F6, ENTER), Approved(command="rm b")),
        ((F6, F6, ENTER), Approved(command="ls c")),
        ((F6, F6, F6, ENTER), Approved(command="ls a")),
        (("\x1bn", ENTER), Approved(command="rm b")),
        ((F6, " -i", ENTER), Approved(command="rm b -i")),
        ((" -l", F6, UNDO, ENTER), Approved(command="ls a -l")),
        (("\x03",), CancelGoal()),
    ],
)
def test_the_key_goes_round(terminal: FakeTerminal, keys: tuple[str, ...], expected: Confirmation) -> None:
    assert press(terminal, request(Alternative(command="rm b", reason="if b is meant"), "ls c"), *keys) == expected


def test_an_alternative_has_its_own_risk_on_the_line(terminal: FakeTerminal) -> None:
    press(terminal, request(Alternative(command="rm b", reason="if b is meant")), F6, ENTER)
    rated = rate_by_word("rm b", "").level.value
    assert rated != "low" and rated in terminal.seen
    assert "2 of 2: if b is meant" in terminal.seen and "another" in terminal.seen


def test_without_alternatives_the_key_does_nothing_and_copy_has_its_own(terminal: FakeTerminal) -> None:
    assert press(terminal, request(), F6, ENTER) == Approved(command="ls a")
    assert "others" not in terminal.seen


def plain(
    terminal: FakeTerminal, asked: ConfirmationRequest, *answers: str, monkeypatch: pytest.MonkeyPatch
) -> Confirmation:
    lines = iter(answers)

    async def read(screen: object, question: str) -> str | None:
        terminal.screen.say(question)
        return next(lines, None)

    monkeypatch.setattr("agent.frontends.confirm.plain_confirm.read_plain_line", read)
    return asyncio.run(PlainConfirmer(terminal.screen, rate_by_word).confirm(asked))


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (("y",), Approved(command="ls a")),
        (("1", "y"), Approved(command="rm b")),
        (("2", "y"), Approved(command="ls c")),
        (("1", "0", "y"), Approved(command="ls a")),
        (("1", "2", "y"), Approved(command="ls c")),
        (("1", ""), Skipped()),
        (("1",), CancelGoal()),
        (("3",), CancelGoal()),
        (("3", "y"), Approved(command="3")),
        (("rm x", "y"), Approved(command="rm x")),
        (("rm x", "rm y", ""), Skipped()),
        (("rm x", "1", "y"), Approved(command="rm b")),
        (("?", "1", "y"), Approved(command="rm b")),
        (("?", "y"), Approved(command="ls a")),
    ],
)
def test_numbers_where_no_key_can_do_it(
    terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch, answers: tuple[str, ...], expected: Confirmation
) -> None:
    assert plain(terminal, request("rm b", "ls c"), *answers, monkeypatch=monkeypatch) == expected


def test_a_number_shows_the_risk_before_it_is_asked_for(
    terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(
        terminal,
        request(Alternative(command="rm b", reason="if b is meant"), reading="ls · a"),
        "?",
        "1",
        monkeypatch=monkeypatch,
    )
    before, _, behind = terminal.seen.rpartition("1 another one")[0].rpartition("1 another one")
    assert "or 1: rm b  if b is meant" in before + behind and "read as: ls · a" in before + behind
    behind = terminal.seen.rpartition("or 1:")[2]
    assert f"{rate_by_word('rm b', '').level.value} · " in behind and "$ rm b" in behind
    assert "read as" not in behind
