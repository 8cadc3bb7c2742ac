"""Labels, known values and the properties of redaction."""

from __future__ import annotations

import base64
import re
from typing import Any
from urllib.parse import quote

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.events.command import CommandConfirmed
from agent.protocol.events.goal import GoalFinished, RunFinished, ToolStarted, goal_finished
from agent.protocol.events.session import LogContinued, LogRepaired, LogRotated, LogScrubbed, Notice, SessionPruned
from agent.protocol.outcomes import CommandSummary, GoalStatus, GoalSummary, RunOutcome
from agent.protocol.records import encode
from agent.recording.bounds import CLOSED_FIELDS
from agent.recording.envelope import NullRecorder, SystemClock
from agent.redaction.known_values import encoded_forms
from agent.redaction.redactor import SecretRedactor
from tests.support.each import each
from tests.support.event_cases import CASES
from tests.support.tries import tries

# What secrets are made of, in pieces that can come together in any way.
PIECES = [
    "ghp_" + "a1B2" * 9, "AKIA" + "5QZ3XN7RBT2WLKVM", "AKIA", "ghp_", "sk-", "sk-ant-", "xoxb-123456789012-abcdef", "eyJhbGciOiJI",
    ".eyJzdWIiOiIx", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "MIIEpAIBAAKCAQEA", "password", "passwd", "secret",
    "token", "api_key", "_key", "--", "=", ":", ": ", "=>", '"', "'", "\\", "\n", " ", "hunter2", "a1b2c3d4e5f6", "https://", "user",
    "@", "@host/", "Authorization: ", "Bearer ", "basic ", "Cookie: ", "curl -u ", "mysql -p", "[redacted:", "password:0a1b]",
    "[redacted:password:0a1b]", "q9w8e7r6t5", "Tr0ub4dor&3 horse", "$6$", "&sig=", "0123456789" * 4, "]", "[", "Pass=", "pass: ",
]  # fmt: skip
KNOWN = {"APP_KEY": "Tr0ub4dor&3 horse", "SHORT": "abc", "OTHER": "q9w8e7r6t5"}
REDACTOR = SecretRedactor(KNOWN, key=b"k")
mixed = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=12).map("".join)


@given(mixed)
@settings(max_examples=tries(400), deadline=None)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = REDACTOR.redact(text)
    assert REDACTOR.redact(once) == once


@given(st.text(alphabet="abc :=\n\t.", max_size=80))
def test_plain_words_stay(text: str) -> None:
    assert REDACTOR.redact(text) == text


@given(before=st.text(max_size=30), after=st.text(max_size=30))
@settings(deadline=None)
def test_a_known_value_never_survives(before: str, after: str) -> None:
    assert KNOWN["OTHER"] not in REDACTOR.redact(f"{before}{KNOWN['OTHER']}{after}")


@each("shift", range(6))
@each("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_known_values_are_found_in_base64_at_any_alignment(shift: int, encode) -> None:
    text = encode(b"user:"[:shift] + b"x" * max(0, shift - 5) + KNOWN["APP_KEY"].encode() + b"\nmore").decode()
    redacted = REDACTOR.redact(f"data {text} end")
    assert "[redacted:APP_KEY:" in redacted
    left = re.sub(r"\[redacted:[^]]*\]", "", redacted)[5:-4]
    assert len(left) <= 16  # what remains encodes only what stood around it


def test_known_values_are_found_url_json_and_hex_encoded() -> None:
    value = KNOWN["APP_KEY"]
    for form in (
        value,
        quote(value),
        quote(value, safe=""),
        value.replace(" ", "+").replace("&", "%26"),
        value.encode().hex(),
    ):
        assert REDACTOR.redact(f"<{form}>") == REDACTOR.redact(f"<{value}>")


def test_short_known_values_are_left_alone() -> None:
    assert REDACTOR.redact("abc abcdef") == "abc abcdef"
    assert encoded_forms("abcdef") >= {"abcdef"}


def test_equal_secrets_are_comparable_and_keys_tell_them_apart() -> None:
    first, second = "ghp_" + "a1B2" * 9, "ghp_" + "c3D4" * 9
    one, other, again = REDACTOR.redact(f"{first} {second} {first}").split()
    assert one == again != other
    assert re.fullmatch(r"\[redacted:github-token:[0-9a-f]{4}\]", one)
    assert SecretRedactor({}, key=b"another").redact(first) != one
    assert SecretRedactor({}, key=b"k").redact(first) == one


def test_a_label_in_the_text_is_kept_as_it_is() -> None:
    text = "password=[redacted:password:0a1b] [redacted:DB_PASSWORD:0a1b] [redacted:APP_KEY:0a1b]"
    assert REDACTOR.redact(text) == text


@each("secret", ["q9w8e7r6t5", "ghp_" + "a1B2" * 9, "AKIA" + "5QZ3XN7RBT2WLKVM"])
def test_a_made_up_label_hides_nothing(secret: str) -> None:
    text = f"[redacted:{secret}:0a1b] [redacted:x.{secret}.y:0a1b]"
    assert secret not in REDACTOR.redact(text)
    assert REDACTOR.redact(REDACTOR.redact(text)) == REDACTOR.redact(text)


def test_every_text_of_an_event_is_redacted_but_our_own_words_are_not() -> None:
    recorder = NullRecorder(clock=SystemClock(), redactor=SecretRedactor({"PASSWORD": "approved"}, key=b"k"))
    confirmed = CommandConfirmed(command_id="approved", decision="approved", by="person", command="echo approved")
    event = recorder.append(confirmed).event
    assert (event.command_id, event.decision) == ("approved", "approved")
    assert event.command.startswith("echo [redacted:PASSWORD:")
    unchanged = Notice(text="nothing here")
    assert recorder.append(unchanged).event is unchanged


SECRET = "ghp_" + "a1B2" * 9


def with_secret(value: Any) -> Any:
    """`value` with SECRET in every text that may hold anything."""
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        changed = {
            name: with_secret(old)
            for name, old in fields.items()
            if name not in CLOSED_FIELDS or not isinstance(old, str)
        }
        return msgspec.structs.replace(value, **changed)
    if type(value) is str:
        return f"x {SECRET} y"
    if isinstance(value, (list, tuple)):
        return type(value)(with_secret(item) for item in value)
    if isinstance(value, dict):
        return {key: with_secret(item) for key, item in value.items()}
    return value


_LOGS_OWN = (LogRepaired, LogRotated, LogContinued, LogScrubbed, SessionPruned)
SUMMARY = GoalSummary(
    goal_id="g", goal="g", status=GoalStatus.COMPLETED, exit_code=0, messages=("m",),
    commands=(CommandSummary(command_id="c", proposed="p", run="r", stdout="o", stderr="e"),),
)  # fmt: skip
DEEP = [
    RunFinished(outcome=RunOutcome(request_id="r", final_message="m", goal=SUMMARY, files_written=("f",))),
    goal_finished(SUMMARY),
    # the log's notes about itself hold words, hashes and names of ours alone
    *(event for case in CASES.values() for event in case if not isinstance(event, _LOGS_OWN)),
]


@each("event", DEEP, ids=lambda event: type(event).__name__)
def test_no_text_is_forgotten_however_deep_it_stands(event) -> None:
    recorder = NullRecorder(clock=SystemClock(), redactor=REDACTOR)
    secret = with_secret(event)
    assert SECRET.encode() not in encode(recorder.append(secret))
    assert SECRET.encode() not in encode(recorder.stamp(secret))


def test_values_under_telling_names_are_redacted_in_mappings() -> None:
    recorder = NullRecorder(clock=SystemClock(), redactor=REDACTOR)
    args = {"password": "hunter22", "n": 3, "nested": [{"api_key": "a1b2c3d4e5f6"}], "q9w8e7r6t5": "x", "path": "/tmp"}
    event = recorder.append(ToolStarted(call_id="1", name="t", args=args)).event
    text = str(event.args)
    assert not re.search("hunter22|a1b2c3d4e5f6|q9w8e7r6t5", text)
    assert event.args["n"] == 3
    assert event.args["path"] == "/tmp"
    commands = [{"proposed": "x --password hunter22"}]
    finished = recorder.append(GoalFinished(goal="g", status="failed", exit_code=1, commands=commands)).event
    assert "hunter22" not in str(finished.commands)
    assert commands == [{"proposed": "x --password hunter22"}]


def test_keys_that_become_equal_keep_both_values() -> None:
    recorder = NullRecorder(clock=SystemClock(), redactor=REDACTOR)
    label = REDACTOR.redact("q9w8e7r6t5")
    event = recorder.append(ToolStarted(call_id="1", name="t", args={"q9w8e7r6t5": 1, label: 2})).event
    assert sorted(event.args.values()) == [1, 2]


@each(
    "text",
    ["password=" * 20_000, "-----BEGIN PRIVATE KEY-----" * 3_000, "https://" + "a:" * 50_000, "eyJ" * 50_000,
     "mysql " + "x " * 50_000 + "-p", "authorization: " * 10_000, "A" * 300_000, "'" * 100_000, "--token " * 20_000,
     "\\" * 100_000, "cookie:" * 20_000, "a.b-c_" * 30_000 + "key"],
)  # fmt: skip
def test_hostile_repetition_is_answered(text: str) -> None:
    REDACTOR.redact(text)


def test_a_text_that_held_no_secret_holds_one_once_that_is_known() -> None:
    redactor = SecretRedactor()
    for name, text in (("message", "it is swordfish-7731-x"), ("command", "echo swordfish-7731-x")):
        assert redactor.redact_field(name, text) == redactor.redact_field(name, text) == text
    redactor.add_known("TOKEN", "swordfish-7731-x")
    for name, text in (("message", "it is swordfish-7731-x"), ("command", "echo swordfish-7731-x")):
        assert "swordfish" not in redactor.redact_field(name, text)


def test_what_is_clean_under_one_name_is_a_secret_under_another() -> None:
    redactor = SecretRedactor()
    assert redactor.redact_field("message", "hunter2-blue-42") == "hunter2-blue-42"
    assert "hunter2" not in redactor.redact_field("password", "hunter2-blue-42")
    for number in range(5_000):
        assert redactor.redact_field("message", f"line {number}") == f"line {number}"
