"""Secrets in logs that are already written: told by kind and place, replaced so that the chain holds, never shown."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent.audit.queries.conditions import Conditions
from agent.audit.queries.listing import sessions
from agent.audit.retention import survey
from agent.cli.arguments import parse
from agent.frontends.sessions import scrub
from agent.protocol.errors import InvalidRequest
from agent.protocol.events.command import CommandOutput
from agent.protocol.events.goal import ToolStarted
from agent.protocol.events.session import Notice, SessionStarted
from agent.recording.envelope import SystemClock
from agent.recording.index.database import open_database
from agent.recording.index.update import update
from agent.recording.integrity.verify import verify_session
from agent.recording.jsonl import open_session
from agent.recording.reader import list_sessions
from tests.support.fakes import FakePlanner
from tests.support.front_services import World

TOKEN = "ghp_" + "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"
LEAKED = "only-the-person-knows"


class Place:
    """A folder of logs that were written without redaction, and the command on it."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "s"
        self.heads = str(base / "state" / "agent-shell" / "heads")
        self.base = base

    def write(self, session_id: str, *events: Any, close: bool = True) -> Path:
        """Write a log as an old version would have, with whatever secrets it holds."""
        recorder = open_session(
            str(self.folder),
            clock=SystemClock(),
            redactor=None,
            started=SessionStarted(session_id=""),
            session_id=session_id,
            heads=self.heads,
        )
        for event in events:
            recorder.append(event)
        if close:
            recorder.close()
        assert recorder.path is not None
        return Path(recorder.path)

    def scrub(self, *words: str, **settings: Any) -> int:
        """The exit code of `sessions scrub WORDS`."""
        options = parse("sessions", ["scrub", *words])
        given = {
            "session_dir": str(self.folder),
            "json": bool(options.json),
            "redact": options.redact or "secrets",
            **settings,
        }
        world = World(FakePlanner(), self.base, **given)
        world.services.loaded.environ["LEAKED"] = LEAKED
        return int(asyncio.run(scrub.run(world.services, options)))

    def sound(self) -> list[bool]:
        return [verify_session(session, self.heads).sound for session in list_sessions(str(self.folder))]

    def text(self) -> str:
        """All that is in the folder, under any name."""
        return "".join(
            path.read_text() + path.name
            for path in self.folder.iterdir()
            if path.is_file() and not path.name.startswith(".red")
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_dry_run_tells_kinds_and_places_and_changes_nothing(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = place.write(
        "one", Notice(text=f"a {TOKEN}"), ToolStarted(call_id="1", name="t", args={TOKEN: "x", "deep": [{"p": TOKEN}]})
    )
    before = path.read_bytes()
    assert place.scrub("--dry-run") == 0
    out = capsys.readouterr().out
    assert "github-token 3" in out and f"{path.name}:2" in out and "args.deep[].p" in out
    assert TOKEN not in out
    assert path.read_bytes() == before
    assert place.scrub("--dry-run", "--json") == 0
    (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (row["state"], row["secrets"], row["lines"], row["proven"]) == ("found", {"github-token": 3}, 2, True)
    assert TOKEN not in json.dumps(row)


def test_it_is_replaced_and_the_chain_tells_of_it(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = place.write("one", Notice(text="first"), Notice(text=f"a {TOKEN}"), Notice(text=f"b {TOKEN}"))
    clean = place.write("two", Notice(text="nothing here"))
    untouched = clean.read_bytes()
    last = path.read_bytes().splitlines()[-1]
    assert place.scrub("--yes") == 0
    assert TOKEN not in place.text() + capsys.readouterr().out
    assert place.sound() == [True, True]
    assert clean.read_bytes() == untouched
    records = lines(path)
    labels = {
        record["text"].split()[-1] for record in records if record["type"] == "notice" and record["text"] != "first"
    }
    assert len(labels) == 1 and labels.pop().startswith("[redacted:github-token:")
    note = records[-1]
    from agent.recording.chained_lines import line_hash

    assert (note["type"], note["secrets"], note["lines"], note["first_line"]) == (
        "log.scrubbed",
        {"github-token": 2},
        2,
        3,
    )
    assert (note["proven"], note["before"]) == (True, line_hash(last))
    assert sorted(entry.name for entry in place.folder.iterdir() if entry.name.endswith(".jsonl")) == sorted(
        [path.name, clean.name]
    )
    again = path.read_bytes()
    assert place.scrub("--yes") == 0
    assert path.read_bytes() == again


def test_a_copy_is_left_alone_for_the_sake_of_the_log_that_it_is_of(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place.write("one", Notice(text=f"a {TOKEN}"))
    copy = place.base / path.name
    copy.write_bytes(path.read_bytes())
    assert place.scrub("--yes", str(copy)) == 1
    assert "is a copy, or was moved" in capsys.readouterr().err
    assert TOKEN in copy.read_text()
    assert place.sound() == [True]
    assert place.scrub("--yes", "--force", str(copy)) == 0
    assert TOKEN not in copy.read_text()


def test_a_folder_that_is_not_there_is_not_made(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.scrub("--dry-run") == 0
    assert "0 sessions looked through" in capsys.readouterr().out
    assert not place.folder.exists()


def test_scrubbing_makes_a_session_no_younger(place: Place) -> None:
    path = place.write("one", Notice(text=f"a {TOKEN}"))
    os.utime(path, (1_000, 1_000))
    ended = survey(list_sessions(str(place.folder))[0]).last
    assert place.scrub("--yes") == 0
    assert (lines(path)[-1]["type"], os.stat(path).st_mtime) == ("log.scrubbed", 1_000)
    assert survey(list_sessions(str(place.folder))[0]).last == ended
    database = open_database(str(place.folder), str(place.base / "state"))
    update(database, str(place.folder))
    (row,) = sessions(database, str(place.folder), Conditions())
    database.close()
    assert datetime.fromtimestamp(row["ended"] / 1e6, UTC) == datetime.fromisoformat(ended)


def test_values_that_only_the_person_knows(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place.write(
        "one",
        CommandOutput(command_id="c", stream="stdout", offset=0, data=f"x {LEAKED} y\n"),
        Notice(text="other-secret-thing"),
    )
    assert place.scrub("--value-from-env", "LEAKED", "--yes") == 0
    assert LEAKED not in path.read_text() and "[redacted:LEAKED:" in path.read_text()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"other-secret-thing\n")))
    assert place.scrub("--stdin", "--yes") == 0
    assert "other-secret-thing" not in path.read_text() and "[redacted:given:" in path.read_text()
    assert place.sound() == [True]
    shown = capsys.readouterr()
    assert LEAKED not in shown.out + shown.err and "other-secret-thing" not in shown.out + shown.err


@pytest.mark.parametrize(
    ("words", "stdin"), [(("--value-from-env", "MISSING"), b""), (("--stdin",), b""), (("--stdin",), b"abc\n")]
)
def test_values_that_cannot_be_used(
    place: Place, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], stdin: bytes
) -> None:
    path = place.write("one", Notice(text=TOKEN))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    with pytest.raises(InvalidRequest):
        place.scrub(*words, "--yes")
    assert TOKEN in path.read_text()


def test_nobody_to_ask(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = place.write("one", Notice(text=TOKEN))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y\n")))
    assert place.scrub() == 6
    assert TOKEN in path.read_text()
    assert "--yes" in capsys.readouterr().err


def test_a_log_that_does_not_verify_needs_force_and_never_will_again(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place.write("one", Notice(text="first"), Notice(text=f"a {TOKEN}"))
    path.write_text(path.read_text().replace('"first"', '"fjrst"'))
    before = path.read_bytes()
    assert place.scrub("--yes") == 1
    assert path.read_bytes() == before
    assert "--force" in capsys.readouterr().err
    assert place.scrub("--yes", "--force") == 0
    assert TOKEN not in place.text()
    assert lines(path)[-1]["proven"] is False
    assert place.sound() == [False]


def test_a_session_that_is_open_is_left_alone(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    recorder = open_session(
        str(place.folder),
        clock=SystemClock(),
        redactor=None,
        started=SessionStarted(session_id=""),
        session_id="open",
        heads=place.heads,
    )
    recorder.append(Notice(text=TOKEN))
    other = place.write("closed", Notice(text=TOKEN))
    assert place.scrub("--yes") == 1
    assert TOKEN not in other.read_text()
    assert "another process" in capsys.readouterr().err
    recorder.close()
    assert place.scrub("--yes") == 0
    assert TOKEN not in place.text()


def test_lines_that_are_no_records_and_fields_of_a_newer_version(place: Place) -> None:
    path = place.write("one", Notice(text="x"))
    data = lines(path)
    more = json.dumps({**data[-1], "newer": {"field": TOKEN}}).encode()
    torn = b'{"v":1,"seq":9,"type":"notice","text":"torn ' + TOKEN.encode()
    path.write_bytes(path.read_bytes() + more + b"\nplain " + TOKEN.encode() + b"\n" + torn)
    assert place.scrub("--yes", "--force") == 0
    assert TOKEN not in place.text()


def test_personal_data_only_when_asked_for(place: Place) -> None:
    path = place.write("one", Notice(text="write to bob@example.com"))
    assert place.scrub("--yes") == 0
    assert "bob@example.com" in path.read_text()
    assert place.scrub("--yes", "--redact", "pii") == 0
    assert "bob@example.com" not in path.read_text() and "[redacted:email:" in path.read_text()


def test_a_hostile_log_does_not_reach_the_terminal(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = place.write("one", Notice(text="x"))
    line = {**lines(path)[-1], "type": f"\x1b[2J{TOKEN}", "time": "\x1b]0;x\x07", "a\x1b[31mb": [[[TOKEN]]]}
    deep = b'{"v":1,"seq":1,"type":"x","a":' + b"[" * 5000 + b'"' + TOKEN.encode() + b'"' + b"]" * 5000 + b"}\n"
    path.write_bytes(path.read_bytes() + json.dumps(line).encode() + b"\n" + deep)
    assert place.scrub("--dry-run") == 0
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err and TOKEN not in shown.out + shown.err
    assert "github-token" in shown.out


def test_what_was_private_stays_private(place: Place) -> None:
    path = place.write("one", Notice(text=TOKEN))
    os.chmod(path, 0o600)
    assert place.scrub("--yes", "one") == 0
    assert path.stat().st_mode & 0o777 == 0o600
