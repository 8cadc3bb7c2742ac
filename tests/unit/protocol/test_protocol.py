"""Types that others script against: events on the wire, run options, errors, approved commands."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol import errors
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.commands import CoreCommand
from agent.protocol.decisions import Level, RiskReport, worst
from agent.protocol.events.known import FORMAT_VERSION, KnownEvent, UnknownEvent
from agent.protocol.events.session import Notice
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import EXIT_CODE_OF_STATUS, CapturedStream, GoalStatus, joined
from agent.protocol.records import Record, decode, encode, flatten
from agent.protocol.requests import Approval, Limits, RunOptions
from tests.support.each import each


def record(event, **fields):
    base = {"v": FORMAT_VERSION, "seq": 1, "time": "t", "session": "s", "run": "r", "goal_id": "g"}
    return Record(**{**base, **fields}, event=event)


def test_events_are_flat_objects_with_the_envelope_first():
    assert list(flatten(record(Notice(text="hi")))) == ["v", "seq", "time", "session", "run", "goal_id", "type", "text"]


@pytest.mark.covers("S1-39")
def test_event_names_are_the_contract():
    names = sorted(kind.__struct_config__.tag for kind in KnownEvent.__args__)
    assert names == [
        "approval.given", "approval.requested",
        "assistant.delta", "assistant.message", "assistant.thought",
            "choice.made", "choices.offered", "command.confirmed", "command.finished", "command.output",
        "command.proposed", "command.rated", "command.started", "compression.finished", "compression.started",
        "continue.triggered", "core_command.finished", "cycle.finished", "cycle.planned", "cycle.started",
        "error", "goal.finished", "goal.started",
        "interview.extracted", "interview.handed_over", "interview.sidebar", "interview.started", "interview.stepped", "interview.turned",
        "interview.went_back",
        "job.finished", "job.started",
            "library.changed", "log.continued", "log.repaired", "log.rotated", "log.scrubbed", "memory.forgotten", "notice",
        "plan.finished", "plan.proposed", "plan.step", "planner.finished", "planner.noted", "planner.started",
        "rehearsal.finished", "rehearsal.started", "rule.added", "rule.removed", "run.finished", "run.started",
        "session.changed", "session.finished",
        "session.named", "session.pruned", "session.started", "tool.finished", "tool.started", "undo.finished", "undo.started", "warning",
    ]  # fmt: skip


@given(st.text())
def test_any_text_survives_encoding_as_valid_utf8(text):
    line = encode(record(Notice(text=text)))
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert decode(line).event.text == text.encode("utf-8", "replace").decode()


def test_unknown_types_and_fields_survive():
    line = b'{"v":9,"seq":3,"time":"t","session":"s","run":"","goal_id":"","type":"later.thing","x":[1]}'
    again = decode(encode(decode(line)))
    assert again.event == UnknownEvent("later.thing", {"x": [1]})
    assert (again.v, again.seq) == (9, 3)


@each("line", [b"", b"{", b"[]", b'{"type": 1}', b"\xff"])
def test_broken_lines_raise_decode_errors_only(line):
    try:
        decode(line)
    except msgspec.MsgspecError:
        return
    except UnicodeDecodeError:
        return
    assert line == b'{"type": 1}'


@pytest.mark.covers("S1-4", "S1-5", "S1-13", "S1-14", "S1-15", "S1-16", "S1-17", "S1-18", "S1-77")
def test_defaults_of_the_four_factories_are_pinned():
    def knobs(options):
        names = (
            "stream", "extract_code", "auto_continue", "compress_session", "autoname_session", "apply_prelude",
            "with_embeddings", "close_session",
        )  # fmt: skip
        return [getattr(options, name) for name in names]

    assert knobs(RunOptions.cli()) == [None, False, False, False, False, True, True, True]
    assert knobs(RunOptions.cli(code_mode=True, stdout_is_tty=True)) == [
        None, False, False, False, False, True, True, True,
    ]  # fmt: skip
    assert knobs(RunOptions.cli(code_mode=True, stdout_is_tty=False)) == [
        False, True, False, False, False, True, True, True,
    ]  # fmt: skip
    assert knobs(RunOptions.repl_turn()) == [None, False, True, True, True, True, True, False]
    assert knobs(RunOptions.api_oneshot()) == [False, False, False, False, False, False, True, False]
    assert knobs(RunOptions.api_session()) == [False, False, False, True, True, False, True, False]
    assert RunOptions.api_session(auto_continue=True).auto_continue
    assert Limits().max_auto_continues == 100
    assert Approval() == Approval(mode="ask", safety_off=False, dry_run=False, interactive=True)
    assert not RunOptions.api_oneshot().approval.interactive


def test_there_are_37_core_commands():
    assert len(CoreCommand.__args__) == 37


def test_every_status_has_an_exit_code():
    assert {status.value: EXIT_CODE_OF_STATUS[status] for status in GoalStatus} == {
        "completed": 0, "answered": 0, "failed": 1, "cancelled": 130, "skipped": 6, "planner_error": 4,
        "blocked_by_policy": 5, "budget_exhausted": 1, "interrupted": 130, "handed_off": 0, "not_understood": 7,
    }  # fmt: skip


def all_errors():
    kinds = [errors.CoreError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    return kinds


@pytest.mark.covers("S1-47")
def test_http_status_table():
    assert {kind.code: kind.http_status for kind in all_errors()} == {
        "error": 500, "invalid_request": 400, "invalid_state": 409, "not_found": 404, "config": 500, "cancelled": 499,
        "policy_denied": 403, "budget": 429, "planner": 502, "provider": 502, "unauthorized": 401, "tool": 500,
        "recording": 500, "emitter": 500, "io": 500, "other": 500,
        "rehearsal_unavailable": 501, "rehearsal_conflict": 409, "commit_failed": 500, "undo_conflict": 409, "undo_failed": 500,
    }  # fmt: skip


def test_the_tree_in_the_docstring_is_the_tree():
    for kind in [*all_errors(), *errors.EmitError.__subclasses__()]:
        assert kind.__name__ in errors.__doc__


@pytest.mark.covers("S1-47")
@each(
    ("status", "transport", "retryable"),
    [(408, False, True), (409, False, True), (429, False, True), (500, False, True), (503, False, True),
     (400, False, False), (404, False, False), (413, False, False), (None, True, True), (None, False, False)],
)  # fmt: skip
def test_only_some_provider_errors_are_retryable(status, transport, retryable):
    assert errors.ProviderError("p", "m", status=status, transport=transport).is_retryable is retryable


def test_errors_survive_their_info():
    error = errors.InvalidState(expected="a", found="b")
    again = errors.from_info(error.info())
    assert (type(again), again.message) == (errors.InvalidState, error.message)
    assert type(errors.from_info(errors.ErrorInfo(code="never", message="x"))) is errors.CoreError


@pytest.mark.covers("S1-47", "S1-61")
def test_messages_say_what_to_do_next():
    assert "\n" in errors.RecordingError("disk full").terminal_message()
    assert errors.Cancelled().terminal_message() == ""


def test_worst_level():
    assert worst(()) is Level.LOW
    assert worst((Level.LOW, Level.HIGH, Level.MEDIUM)) is Level.HIGH


COMMANDS = st.text(min_size=1, max_size=20)


@given(
    COMMANDS,
    COMMANDS,
    st.sampled_from(Level),
    st.sampled_from(["person", "approve-mode", "policy"]),
    st.booleans(),
    st.booleans(),
)
def test_an_approved_command_cannot_be_forged(command, rated, level, by, typed, off):
    """It exists only with a report for exactly its text and a consent that covers the level."""
    report = RiskReport(command=rated, level=level)
    consent = Consent(by=by, word_typed=typed, safety_off=off)
    may = command == rated and (level is not Level.HIGH or (by == "person" and (typed or off)))
    try:
        ApprovedCommand(command_id="1", command=command, report=report, consent=consent)
    except ValueError:
        assert not may
    else:
        assert may


def test_approved_command_is_checked_for_equal_texts_too():
    report = RiskReport(command="rm -rf /", level=Level.HIGH)
    with pytest.raises(ValueError, match="needs a person"):
        ApprovedCommand(command_id="1", command="rm -rf /", report=report, consent=Consent(by="approve-mode"))
    with pytest.raises(ValueError, match="typed word"):
        ApprovedCommand(command_id="1", command="rm -rf /", report=report, consent=Consent(by="person"))


def test_cancellation_token():
    token = CancellationToken()
    calls = []
    unsubscribe = token.subscribe(lambda: calls.append("a"))
    token.subscribe(lambda: calls.append("b"))
    unsubscribe()
    token.cancel("why")
    token.cancel("again")
    assert (calls, token.cancelled, token.reason) == (["b"], True, "why")
    token.subscribe(lambda: calls.append("late"))
    assert calls == ["b", "late"]


def test_joined_streams_say_what_is_missing():
    assert joined(CapturedStream(head="a", tail="b")) == "ab"
    assert "1,000 bytes not kept" in joined(CapturedStream(head="a", tail="b", dropped_bytes=1000))
