"""What stands behind `--` is never an option, and goes where other words go."""

from __future__ import annotations

import pytest

from agent.cli.arguments import parse
from tests.support.each import each


@each(
    ("sub", "arguments", "name", "value"),
    [
        ("sessions", ["export", "--format", "sh", "--", "-2"], "session", ["-2"]),
        ("sessions", ["export", "-2", "--format", "sh"], "session", ["-2"]),
        ("sessions", ["show", "-1"], "session", "-1"),
        ("sessions", ["verify", "one", "--", "-2", "-3"], "sessions", ["one", "-2", "-3"]),
        ("sessions", ["search", "--", "--force", "-x"], "words", ["--force", "-x"]),
        ("sessions", ["sql", "--", "SELECT 1", "-logs"], "paths", ["-logs"]),
        ("exec", ["--json", "--", "ls", "--", "--json"], "words", ["ls", "--", "--json"]),
        ("undo", ["--", "-x"], "id", "-x"),
        ("config", ["--", "path"], "action", "path"),
    ],
)
def test_words(sub: str, arguments: list[str], name: str, value: object) -> None:
    assert getattr(parse(sub, arguments), name) == value


@pytest.mark.parametrize(
    ("sub", "arguments", "complaint"),
    [
        ("sessions", ["list", "--", "-2"], "unrecognized arguments: -2"),
        ("sessions", ["show", "--", "-2", "-3"], "unrecognized arguments: -3"),
        ("config", ["--", "-x"], "invalid choice: '-x'"),
        ("sessions", ["exprt"], "argument ACTION: there is no 'exprt' (did you mean export?)"),
        ("sessions", ["list", "--status", "complete"], "there is no 'complete' (did you mean completed?)"),
        ("exec", ["--cwd", "--", "ls"], "argument --cwd: expected one argument"),
    ],
)
def test_what_has_no_place(sub: str, arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(sub, arguments)
    assert complaint in capsys.readouterr().err


def test_an_action_offers_only_what_it_heeds(capsys: pytest.CaptureFixture[str]) -> None:
    for action, heeded in (("list", False), ("scrub", True)):
        with pytest.raises(SystemExit):
            parse("sessions", [action, "--help"])
        told = capsys.readouterr().out
        assert ("--redact" in told) == heeded
        assert "JSON on stdout, one object a line" in told
