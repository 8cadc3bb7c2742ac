"""A report takes a command apart; what is a secret in the command is one in each of its parts."""

from __future__ import annotations

import pytest

from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskReport, Verdict
from agent.protocol.events import CommandRated, Known, encode
from agent.recording.clock import SystemClock
from agent.recording.envelope import Envelope
from agent.recording.redaction import SecretRedactor

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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
