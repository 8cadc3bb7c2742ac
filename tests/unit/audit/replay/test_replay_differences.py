"""What a change of behaviour looks like: each way in which the engine could change shows in a check."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.audit.replay import cases
from agent.audit.replay.cases import LogRemark
from agent.audit.replay.check import Checked
from agent.engine import guard
from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport, Verdict
from agent.protocol.events.command import (
    ApprovalRequested,
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandRated,
    Known,
    RehearsalFinished,
)
from agent.protocol.events.goal import GoalFinished, GoalStarted, PlannerFinished, RunFinished
from agent.protocol.events.known import Event, UnknownEvent
from agent.protocol.events.session import SessionStarted, Warned
from agent.protocol.outcomes import CapturedStream
from agent.protocol.records import Record
from tests.support.each import each
from tests.support.replay_stage import REPLAYS
from tests.support.replaying import all_of, changed, checked, records_of, todays_app

APP = todays_app()


def _log(name: str) -> list[Record]:
    return records_of(REPLAYS / f"{name}.jsonl")


def _goals(found: list[Checked | LogRemark]) -> list[Checked]:
    return [each for each in found if isinstance(each, Checked)]


def _stricter(command: str, context: RiskContext) -> RiskReport:
    report = APP.classify(command, context)
    if report.level is not Level.LOW:
        return report
    finding = Finding(rule="new.rule", level=Level.MEDIUM, reason="thought better of it", span=(0, len(command)))
    return replace(report, level=Level.MEDIUM, findings=(finding, *report.findings))


def test_a_risk_that_became_higher_is_told_as_a_rating_and_the_goal_is_followed_to_its_end() -> None:
    app = replace(APP, classify=_stricter)
    found = checked(REPLAYS / "opinions.jsonl", app)
    mild = found[2]  # ran unasked then
    assert mild.outcome == "same"  # it was medium before
    listed = checked(REPLAYS / "confirmations.jsonl", app)[0]
    assert listed.outcome == "different"
    assert {each.kind for each in listed.differences} == {"rating", "wording"}
    assert {each.field for each in listed.differences if each.kind == "wording"} == {"verdict.reason"}
    told = {(each.event, each.field): (each.then, each.now) for each in listed.differences}
    assert told["command.rated", "report.level"] == ("low", "medium")
    assert told["command.rated", "report.findings[new.rule]"][0] is None
    assert told["goal.finished", "commands[0].risk"] == ("low", "medium")


def test_what_would_be_asked_for_today_and_ran_unasked_then_shows_who_decided() -> None:
    app = replace(APP, classify=_stricter)
    first = checked(REPLAYS / "limits.jsonl", app)[0]
    told = {(each.event, each.field): (each.kind, each.then, each.now) for each in first.differences}
    assert told["command.rated", "verdict.action"] == ("rating", "allow", "ask")
    assert told["command.confirmed", "by"] == ("rating", "approve-mode", "person")
    assert not first.reason


def test_another_reason_for_the_same_level_is_wording() -> None:
    def reworded(command: str, context: RiskContext) -> RiskReport:
        report = APP.classify(command, context)
        return replace(report, findings=tuple(replace(finding, reason="put better") for finding in report.findings))

    found = checked(REPLAYS / "unattended.jsonl", replace(APP, classify=reworded))
    kinds = {each.kind for goal in found for each in goal.differences if each.event == "command.rated"}
    assert kinds == {"wording"}


def test_a_stricter_policy_ends_where_the_log_has_nothing_more_to_tell() -> None:
    def never(report: RiskReport, *_: object) -> Verdict:
        return Verdict(action="refuse", rule="floor.new", reason="not at all")

    found = checked(REPLAYS / "chat.jsonl", replace(APP, decide=never))
    assert [each.outcome for each in found] == ["same"] * 3
    ran = checked(REPLAYS / "confirmations.jsonl", replace(APP, decide=never))[0]
    fields = {(each.event, each.field) for each in ran.differences}
    assert ("command.rated", "verdict.action") in fields
    assert ("command.confirmed", "decision") in fields
    assert any(each.event == "command.started" and each.now is None for each in ran.differences)


def test_a_looser_policy_runs_what_did_not_run_and_says_that_nothing_is_known_of_it() -> None:
    def always(report: RiskReport, *_: object) -> Verdict:
        return Verdict(action="allow", rule="approve-medium", reason="why not")

    found = checked(REPLAYS / "unattended.jsonl", replace(APP, decide=always))
    second = found[1]
    assert second.outcome == "different"
    assert "did not run then" in second.reason
    assert ("verdict.action", "ask", "allow") in [(each.field, each.then, each.now) for each in second.differences]
    assert not any(each.event == "goal.finished" for each in second.differences)  # what came later was not compared


def test_a_guard_with_another_patience_is_a_difference_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "FAILURES_BEFORE_ERROR", 5)
    first = checked(REPLAYS / "going-round.jsonl", APP)[0]
    assert first.outcome == "different"
    assert {each.kind for each in first.differences} == {"protocol"}


def test_a_normal_form_that_tells_commands_apart_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(10_000))
    found = checked(
        REPLAYS / "going-round.jsonl", replace(APP, normal_form=lambda command: (command, str(next(numbers))))
    )
    assert found[0].outcome == "different"


@each(
    ("log", "kind", "change", "field"),
    [
        ("chat", PlannerFinished, lambda event: replace(event, reply="command"), "reply"),
        ("chat", GoalFinished, lambda event: replace(event, message="something else"), "message"),
        ("chat", GoalFinished, lambda event: replace(event, status="failed"), "status"),
        ("high", CommandConfirmed, lambda event: replace(event, word_typed=False), "word_typed"),
        ("limits", CommandFinished, lambda event: replace(event, result=replace(event.result, cwd_after="/")), "cwd"),
        ("own-commands", CommandOutput, lambda event: replace(event, data="edited"), "stdout"),
        ("refused", CommandRated, lambda event: replace(event, verdict=replace(event.verdict, action="ask")), "verdict.action"),
        ("refused", CommandRated, lambda event: replace(event, report=replace(event.report, level=Level.LOW)), "report.level"),
        ("unattended", RunFinished, lambda event: replace(event, outcome=replace(event.outcome, exit_code=77)), "outcome.exit_code"),
        ("tools", CommandConfirmed, lambda event: replace(event, decision="skipped"), "command"),
        ("rehearsals", GoalFinished, lambda event: replace(event, commands=event.commands[:-1]), "commands[0]"),
    ],
)  # fmt: skip
def test_a_log_that_was_edited_differs(log: str, kind: type, change: object, field: str) -> None:
    found = _goals(all_of(changed(_log(log), kind, change), APP))  # type: ignore[arg-type]
    fields = {each.field.removeprefix("result.") for goal in found for each in goal.differences}
    assert any(each.startswith(field) or field in each for each in fields) or any(goal.reason for goal in found)
    assert any(goal.outcome == "different" for goal in found)


def test_an_event_that_is_missing_or_too_many_is_told_as_a_whole() -> None:
    records = [record for record in _log("refused") if not (isinstance(record.event, Warned) and record.goal_id)]
    first = _goals(all_of(records, APP))[0]
    added = [each for each in first.differences if each.then is None and not each.field]
    assert {each.event for each in added} == {"warning"}
    assert {each.kind for each in added} == {"protocol"}


def test_only_one_goal() -> None:
    found = _goals(all_of(_log("chat"), APP, goal=2))
    assert [each.case.number for each in found] == [2]


# --- what cannot be fed is said ---


def _only(records: list[Record]) -> Checked:
    (found,) = _goals(all_of(records, APP, goal=1))
    assert found.outcome == "not checked"
    return found


def test_a_newer_version_is_not_guessed_at() -> None:
    records = [replace(record, v=99) for record in _log("chat")]
    found = all_of(records, APP)
    assert {each.reason for each in _goals(found)} == {"it was recorded by a newer version"}
    assert any(isinstance(each, LogRemark) and "format 99" in each.text for each in found)


def test_events_of_a_newer_version_inside_a_goal() -> None:
    records = _log("chat")
    at = next(place for place, record in enumerate(records) if isinstance(record.event, GoalStarted))
    records.insert(at + 1, replace(records[at], event=UnknownEvent("planner.dreamt", {"of": "sheep"})))
    assert _only(records).reason == "it has events that this version does not know: planner.dreamt"


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        ("work", "it worked on a repository, which is not what it was then"),
        ("interview", "it was a turn of an interview, which the log alone gives back"),
    ],
)
def test_other_ways_to_pursue_a_goal_are_not_done_anew(profile: str, why: str) -> None:
    records = changed(_log("chat"), SessionStarted, lambda event: replace(event, profile=profile))
    assert _only(records).reason == why


def test_a_goal_that_a_crash_cut_off() -> None:
    records = _log("chat")
    at = next(place for place, record in enumerate(records) if isinstance(record.event, PlannerFinished))
    assert "the log ends before it" in _only(records[:at]).reason


def test_a_goal_that_was_mended_after_a_crash() -> None:
    from agent.recording.endings import missing_endings

    records = _log("confirmations")
    at = next(place for place, record in enumerate(records) if isinstance(record.event, CommandConfirmed))
    cut = records[: at + 2]
    cut += [
        replace(cut[-1], event=ending.event, run=ending.run, goal_id=ending.goal_id) for ending in missing_endings(cut)
    ]
    assert _only(cut).reason == "it was cut off by a crash"


def test_lines_that_cannot_be_read_are_counted() -> None:
    from agent.recording.reader import BadLine

    found = all_of([BadLine(1, "no record"), *_log("chat")], APP)
    assert [each.text for each in found if isinstance(each, LogRemark)] == ["1 line cannot be read"]
    assert {each.outcome for each in _goals(found)} == {"same"}


def test_logs_from_before_what_was_known_was_kept_are_rated_without_it_and_say_so() -> None:
    records = changed(_log("refused"), CommandRated, lambda event: replace(event, known=None))
    found = _goals(all_of(records, APP))
    assert all("without what was known of the system" in each.notes[0] for each in found)
    assert {diff.kind for each in found for diff in each.differences} <= {"rating", "wording"}


def test_what_was_left_in_the_shell_and_not_recorded_takes_the_rating_as_it_was() -> None:
    partial = changed(
        _log("own-commands"),
        CommandRated,
        lambda event: replace(event, known=replace(event.known or Known(), partial=True)),
    )
    odd = changed(partial, CommandRated, lambda event: replace(event, report=replace(event.report, cut=True)))
    assert {each.outcome for each in _goals(all_of(odd, APP))} == {"same"}


def test_a_command_that_went_to_the_background_hands_its_goal_off() -> None:
    records = _log("jobs")
    own = [place for place, record in enumerate(records) if isinstance(record.event, CommandFinished)]
    event = records[own[0]].event
    assert isinstance(event, CommandFinished)
    records[own[0]] = replace(records[own[0]], event=replace(event, result=replace(event.result, job=3)))
    (found,) = _goals(all_of(records, APP, goal=1))
    told = {(each.event, each.field): (each.then, each.now) for each in found.differences}
    assert told["goal.finished", "status"] == ("completed", "handed_off")


@pytest.mark.thorough
def test_outputs_of_which_the_middle_was_not_kept_are_the_same() -> None:
    def long(event: CommandFinished) -> CommandFinished:
        stream = CapturedStream(tail="the end\n", total_bytes=900_000, dropped_bytes=800_000)
        return replace(event, result=replace(event.result, stdout=stream))

    found = _goals(all_of(changed(_log("own-commands"), CommandFinished, long), APP))
    assert {each.outcome for each in found} == {"same"}


def test_hostile_logs_end_in_words_and_not_in_a_fault(tmp_path: Path) -> None:
    records = _log("tools")
    shuffled = [*records[40:], *records[:40], *reversed(records)]
    for lines in (
        shuffled,
        records[::2],
        [records[0]] * 5,
        [replace(record, goal_id="", run="x") for record in records],
    ):
        for found in all_of(lines, APP):
            assert isinstance(found, (Checked, LogRemark))
    assert all_of([replace(records[0], event=SessionStarted(session_id="\x1b]0;x\x07"))], APP) == []


@pytest.mark.thorough
def test_a_log_made_to_take_long_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    from agent.protocol.events.command import CommandProposed
    from agent.protocol.events.goal import PlannerNoted
    from agent.protocol.events.session import AssistantMessage

    monkeypatch.setattr(cases, "_MOST_RECORDS", 8_000)
    records = _log("confirmations")
    at = next(place for place, record in enumerate(records) if isinstance(record.event, PlannerFinished))
    flood = (
        AssistantMessage(text="x"),
        PlannerNoted(text="y"),
        CommandProposed(command_id="same", command="ls", origin="tool"),
    )
    stuffed = [replace(records[at], event=flood[number % 3]) for number in range(6_000)]
    (found,) = _goals(all_of([*records[:at], *stuffed, *records[at:]], APP, goal=1))
    assert found.outcome == "different"
    (found,) = _goals(all_of([*records[:at], *stuffed, *stuffed, *records[at:]], APP, goal=1))
    assert (found.outcome, found.reason) == ("not checked", "it has more than 8,000 events")


def _previews(alter) -> list[Checked]:
    """What a check of the kept previews says, where those in the log were `alter`ed."""
    lines = [
        replace(record, event=alter(record.event))
        if isinstance(record.event, RehearsalFinished) and record.event.preview
        else record
        for record in _log("previews")
    ]
    return _goals(all_of(lines, APP))


def test_a_preview_that_came_too_late_then_is_no_difference() -> None:
    def late(event: Event) -> Event:
        match event:
            case RehearsalFinished():
                return RehearsalFinished(command_id=event.command_id, outcome="interrupted", preview=True)
            case ApprovalRequested():
                return replace(event, preview="")
        return event

    lines = [replace(record, event=late(record.event)) for record in _log("previews")]
    assert _goals(all_of(lines, APP))[1].outcome == "same"


def test_a_preview_of_something_else_is_a_difference() -> None:
    other = _previews(
        lambda event: replace(event, changes=tuple(replace(change, source="/else") for change in event.changes))
    )
    assert "approval.requested" in {each.event for each in other[0].differences}


def test_a_preview_of_more_than_was_recorded_is_not_checked() -> None:
    assert {goal.reason for goal in _previews(lambda event: replace(event, more=3))[:3]} == {
        "a preview has more changes than were recorded"
    }


def test_what_is_no_longer_previewed_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.gate.previews.is_previewable", lambda report, context: False)
    found = _goals(checked(REPLAYS / "previews.jsonl", APP))
    assert found[0].outcome == "different"
    assert any(each.event == "rehearsal.started" for each in found[0].differences)
