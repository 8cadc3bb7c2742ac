"""Previews at the gate: shown before Enter, never made real by themselves, and only what was seen is."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from msgspec.structs import replace as with_field

from agent.gate import previews
from agent.protocol.confirmations import Approved, CancelGoal, Skipped
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import RehearsalConflict, RehearsalUnavailable
from agent.protocol.events.command import CommandConfirmed, CommandStarted, RehearsalFinished
from agent.protocol.messages import UserInput
from agent.protocol.rehearsals import Change, Conflict
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.fake_rehearser import FILE, FakeRehearser, FakeReviewer, rehearsal_of
from tests.support.fakes import FakeEmitter, FakeExecutor, FakeFacts, FakePlanner, failing, make_engine, say

MOVE = "mv a b"
RENAMED = Change(path="/work/b", op="rename", kind="file", before=FILE, after=FILE, source="/work/a")


class WorkFacts(FakeFacts):
    def risk_context(self, command: str, cwd: str) -> RiskContext:
        return RiskContext(cwd="/work", workspace="/work")


class Seeing(FakeReviewer):
    """Answers yes to what is shown where the script says "yes"; `live`: texts that are previewed while it is asked."""

    def __init__(self, *answers, live=()):
        super().__init__(*answers)
        self.live, self.lines = live, []

    async def confirm_live(self, request, preview):
        self.lines.append("" if request.previewed is None else request.previewed.line)
        for text in self.live:
            found = await preview(text)
            self.lines.append("" if found is None else found.line)
        answer = await self.confirm(request)
        return request.as_shown if answer == "yes" else answer


class Done:
    def __init__(self, person, rehearser=None, *, text=MOVE, mode="preview"):
        self.person = person
        self.rehearser = rehearser or FakeRehearser({MOVE: rehearsal_of(MOVE, RENAMED)})
        self.executor = FakeExecutor(cwd="/work")
        engine, context, self.log = make_engine(FakePlanner(say()), self.executor)
        app = with_field(engine.app, classify=classify, facts=WorkFacts())
        engine.app = app
        context = with_field(context, rehearser=self.rehearser)
        request = RunRequest(input=UserInput.from_shell(text), options=RunOptions(approval=Approval(rehearse=mode)))
        self.outcome = asyncio.run(engine.run(context, request, FakeEmitter(), person))
        counts = Counter(self.log.types)
        assert counts["rehearsal.started"] == counts["rehearsal.finished"]
        assert counts["command.started"] == counts["command.finished"]
        assert all(command.preview and not command.network for command in self.rehearser.rehearsed)
        # What came to its end is thrown away, or somebody agreed to it.
        ended = [event for event in self.log.only(RehearsalFinished) if event.exit_code is not None]
        assert len(self.rehearser.discarded) + counts["command.started"] >= len(ended)


def test_it_is_shown_and_yes_makes_it_real() -> None:
    done = Done(Seeing("yes"))
    assert done.person.lines == ["would rename a → b"]
    assert [rehearsal.command for rehearsal, *_ in done.rehearser.committed] == [MOVE]
    assert done.executor.ran == []
    (started,) = done.log.only(CommandStarted)
    assert started.via == "rehearsal"
    (told,) = done.log.only(RehearsalFinished)
    assert told.preview


@each("answer", [Skipped(), CancelGoal(), Approved(command=MOVE)])
def test_nothing_is_made_real_without_yes_to_what_was_seen(answer) -> None:
    done = Done(Seeing(answer))
    assert done.rehearser.committed == []
    assert done.rehearser.discarded == [f"r-{MOVE}"]


def test_another_text_or_another_id_makes_nothing_real() -> None:
    for wrong in (Approved(command="mv a c", seen=f"r-{MOVE}"), Approved(command=MOVE, seen="r-other")):
        done = Done(Seeing(wrong, Skipped()))
        assert (done.rehearser.committed, done.executor.ran) == ([], [])
        assert len(done.person.asked) == 2
        assert "look again" in done.person.asked[1].note


def test_an_edit_that_nobody_has_seen_the_preview_of_is_shown_first_and_runs_with_the_next_yes() -> None:
    done = Done(Seeing(Approved(command="mv a c"), "yes"))
    assert done.person.lines == ["would rename a → b", "would create new"]
    assert "nothing ran yet" in done.person.asked[1].note
    assert [rehearsal.command for rehearsal, *_ in done.rehearser.committed] == ["mv a c"]
    assert done.executor.ran == []


@each("edit", ["ls", "./unknown x", "rm -rf /home"])
def test_an_edit_without_a_preview_is_answered_once(edit: str) -> None:
    assert len(Done(Seeing(Approved(command=edit), Skipped())).person.asked) == 1


def test_what_changed_meanwhile_is_asked_again_with_what_it_would_do_now() -> None:
    changed = RehearsalConflict("conflict", conflicts=(Conflict(path="/work/a", reason="it was changed"),))
    rehearser = FakeRehearser({MOVE: rehearsal_of(MOVE, RENAMED)}, commits=(changed, None))
    done = Done(Seeing("yes", "yes"), rehearser)
    assert done.person.lines == ["would rename a → b"] * 2
    assert "/work/a: it was changed" in done.person.asked[1].note
    assert len(rehearser.committed) == 1
    assert [event.decision for event in done.log.only(CommandConfirmed)] == ["approved", "approved"]


def test_edits_are_previewed_and_what_is_not_known_is_not() -> None:
    done = Done(Seeing(Skipped(), live=("mv a c", "foo a", "curl x > a")))
    assert done.person.lines == ["would rename a → b", "would create new", "", ""]
    assert [command.command for command in done.rehearser.rehearsed] == [MOVE, "mv a c"]


def test_what_fails_is_told_and_runs_for_real() -> None:
    failed = rehearsal_of(MOVE, result=failing(1, "mv: no a\n"))
    done = Done(Seeing("yes"), FakeRehearser({MOVE: failed}))
    assert done.person.lines[0].startswith("fails when tried out (exit 1)")
    assert (done.rehearser.committed, [command.command for command in done.executor.ran]) == ([], [MOVE])


@each(
    "rehearsal",
    [
        rehearsal_of(MOVE, RENAMED, obstacle="it was ended"),
        rehearsal_of(MOVE, RENAMED, more=1),
        rehearsal_of(MOVE, Change(path="/etc/x", op="create", kind="file", after=FILE)),
        rehearsal_of(MOVE, Change(path="/work/x", op="create", kind="file", after=FILE, flags=("setuid",))),
    ],
)
def test_in_doubt_there_is_no_preview(rehearsal) -> None:
    done = Done(Seeing("yes"), FakeRehearser({MOVE: rehearsal}))
    assert done.person.lines == [""]
    assert (done.rehearser.committed, len(done.executor.ran)) == ([], 1)


def test_one_that_takes_too_long_is_left_out_and_ended(monkeypatch) -> None:
    monkeypatch.setattr(previews, "SECONDS", 0.02)
    ended = []

    class Slow(FakeRehearser):
        async def rehearse(self, command, sink, cancel):
            try:
                await asyncio.sleep(30)
            finally:
                ended.append(command.command)

    done = Done(Seeing(Skipped()), Slow())
    assert (done.person.lines, ended) == ([""], [MOVE])


@pytest.mark.parametrize("mode", ["off", "ask"])
def test_without_the_setting_nothing_is_tried(mode) -> None:
    done = Done(Seeing(Skipped()), mode=mode)
    assert done.rehearser.rehearsed == []


@pytest.mark.parametrize(("lasting", "tries"), [(True, 1), (False, 2)])
def test_where_no_overlay_can_be_had_it_is_tried_once_and_after_another_failure_again(lasting, tries) -> None:
    failure = RehearsalUnavailable("no overlay", lasting=lasting)
    rehearser = FakeRehearser({MOVE: failure, "mv a c": failure})
    done = Done(Seeing(Skipped(), live=("mv a c",)), rehearser)
    assert done.person.lines == ["", ""]
    assert len(rehearser.rehearsed) == tries
