"""A report takes a command apart; what is a secret in the command is one in each of its parts."""

from __future__ import annotations

import base64

import pytest

from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskReport, Verdict
from agent.protocol.errors import InvalidRequest
from agent.protocol.events.command import CommandRated, Known
from agent.protocol.events.session import Notice, SessionStarted
from agent.protocol.records import encode
from agent.recording.envelope import Envelope, SystemClock
from agent.recording.jsonl import open_session
from agent.redaction.redactor import SecretRedactor
from tests.support.each import each

SECRET = "Q7x1mRk2Zx9Lw4Tn8Vb"


def logged(command: str, words: tuple[str, ...], facts: dict[str, tuple[str, ...]]) -> str:
    effect = Effect(kind="none", targets=(SECRET,))
    finding = Finding(rule="none.any", level=Level.LOW, reason=f"touches {SECRET}", span=(0, 4), effect=effect)
    report = RiskReport(
        command=command,
        level=Level.LOW,
        findings=(finding,),
        programs=(ProgramRun(words=words, span=(0, len(command)), cwd="/work", level=Level.LOW),),
    )
    verdict = Verdict(action="allow", reason="", rule="")
    event = CommandRated(command_id="1", stage="proposed", report=report, verdict=verdict, known=Known(facts=facts))
    return encode(Envelope("a", SystemClock(), SecretRedactor(key=b"k")).seal(event, seq=1)).decode()


@each(
    ("command", "words", "path"),
    [
        (f"echo 'password={SECRET}'", ("echo", f"password={SECRET}"), f"/work/{SECRET}"),
        (f"export API_TOKEN='{SECRET}'", ("export", f"API_TOKEN={SECRET}"), f"/work/{SECRET}"),
        (f"psql postgres://bob:{SECRET}@h/x", ("psql", f"postgres://bob:{SECRET}@h/x"), f"/work/postgres:/bob:{SECRET}@h/x"),
        (f"mysql --password {SECRET}", ("mysql", "--password", SECRET), f"/work/{SECRET}"),
    ],
)  # fmt: skip
def test_no_part_of_a_report_holds_a_secret_of_its_command(command, words, path) -> None:
    line = logged(command, words, {path: ("missing",), "/work/other": ("file",)})
    assert SECRET not in line
    assert "/work/other" in line


def test_a_report_without_secrets_stays_as_it_is() -> None:
    line = logged("cat notes", ("cat", "notes"), {"/work/notes": ("file",)})
    assert "/work/notes" in line and "redacted" not in line


@each(
    "command",
    [
        f"aws configure set aws_secret_access_key {SECRET}",
        f"aws configure --profile x set default.aws_session_token {SECRET}",
        f"npm config set //registry.local/:_authToken {SECRET}",
        f"git config --global github.token {SECRET}",
        f"htpasswd -b users bob {SECRET}",
        f"htpasswd -nbB bob '{SECRET}' > users",
        f"read -r password <<< {SECRET}",
        f"sudo -S true <<< '{SECRET}'",
        f"docker login --password-stdin <<<{SECRET}",
    ],
)
def test_command_lines_that_set_a_secret(command) -> None:
    if "--profile" in command:
        command = command.replace("aws configure --profile x set", "aws configure set --profile x")
    assert SECRET not in SecretRedactor(key=b"k").redact(command)


@each(
    "command",
    [
        "git config --global core.editor vim-with-a-long-name",
        "git config user.signingkey 3AA5C34371567BD2",
        "aws configure set region eu-central-1",
        "npm config set registry https://registry.npmjs.org/",
        "htpasswd users bob",
        "grep -c token <<< $line",
        "cat <<< 'nothing that is hidden here'",
    ],
)
def test_command_lines_that_set_something_else(command) -> None:
    assert SecretRedactor(key=b"k").redact(command) == command


def test_a_label_is_no_secret_of_a_command() -> None:
    redactor = SecretRedactor(key=b"k")
    command = redactor.redact(f"curl -u bob:{SECRET} https://h; mysql -p{SECRET}; export A_TOKEN={SECRET}")
    assert redactor.labels_in(command) == {}


def rated(command: str) -> CommandRated:
    report = RiskReport(command=command, level=Level.LOW)
    return CommandRated(
        command_id="1", stage="proposed", report=report, verdict=Verdict(action="allow", reason="", rule="")
    )


@each(
    "command",
    [f"export API_TOKEN={SECRET}", f"mysql -p{SECRET}; true", f"f() {{ curl -u bob:{SECRET} https://h; }}"],
)
def test_a_secret_that_a_command_was_given_is_known_from_then_on(command) -> None:
    redactor = SecretRedactor(key=b"k")
    envelope = Envelope("a", SystemClock(), redactor)
    assert SECRET in encode(envelope.seal(Notice(text=f"got {SECRET}"), seq=1)).decode()
    envelope.seal(rated(command), seq=2)
    for text in (f"got {SECRET}", f"got {base64.b64encode(SECRET.encode()).decode()}"):
        said = encode(envelope.seal(Notice(text=text), seq=3)).decode()
        assert text.removeprefix("got ") not in said
        assert "redacted" in said


def test_a_password_that_is_a_word_is_not_blacked_out_everywhere() -> None:
    redactor = SecretRedactor(key=b"k")
    for command in ("mysql --password production", "export DB_PASSWORD=localhost", "tool --token=documentation"):
        redactor.learn_from(command)
    assert redactor.redact("production on localhost: documentation") == "production on localhost: documentation"


def test_only_so_many_are_learned() -> None:
    redactor = SecretRedactor(key=b"k")
    for number in range(200):
        redactor.learn_from(f"export API_TOKEN=Q7x1mRk2Zx9Lw{number:04}Vb")
    assert len(redactor.known_forms) < 50 * 30


def test_a_session_id_that_is_a_secret_is_refused(tmp_path) -> None:
    token = "ghp_" + "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"
    with pytest.raises(InvalidRequest, match="looks like a secret"):
        open_session(
            str(tmp_path),
            clock=SystemClock(),
            redactor=SecretRedactor(key=b"k"),
            started=SessionStarted(session_id=""),
            session_id=token,
        )
    assert not list(tmp_path.glob("*.jsonl"))
