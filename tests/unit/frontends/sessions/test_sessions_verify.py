"""`sessions verify` as a person and as a program see it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.cli.arguments import parse
from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.frontends.sessions import verify
from tests.support.log_place import Place


@pytest.fixture
def verified(tmp_path: Path, capsysbinary: Any) -> Any:
    """`verified(arguments…)` -> (exit code, standard output)."""
    place = Place(tmp_path)
    place.heads = str(tmp_path / "state" / "agent-shell" / "heads")

    def run(*arguments: str) -> tuple[int, str]:
        options = parse("sessions", ["verify", *arguments])
        settings = Settings(session_dir=place.sessions, json=bool(options.json))
        environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
        services = SimpleNamespace(
            settings=settings, loaded=Loaded(settings=settings, origins={}, secrets={}, environ=environ)
        )
        code = asyncio.run(verify.run(services, options))
        return code, capsysbinary.readouterr().out.decode()

    run.place = place  # type: ignore[attr-defined]
    return run


def test_no_sessions(verified) -> None:
    assert verified() == (0, "0 sessions, 0 events: whole\n")


def test_all_is_well(verified) -> None:
    verified.place.write(session_id="a")
    verified.place.write(session_id="b")
    assert verified() == (0, "2 sessions, 16 events: whole\n")
    assert verified("a") == (0, "1 session, 8 events: whole\n")


def test_a_touched_log_is_named_with_its_line(verified) -> None:
    path = verified.place.write()
    path.write_bytes(path.read_bytes().replace(b"number 2", b"number 7"))
    code, out = verified()
    assert code == 1
    assert out == (
        f"a: touched\n  {path}:5: was changed: the line behind it was chained to another text (line 5)\n"
        "1 session, 8 events: 1 cannot be trusted\n"
    )


def test_json_is_one_object_a_session(verified) -> None:
    path = verified.place.write()
    verified.place.write(session_id="b")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    code, out = verified("--json")
    a, b = sorted((json.loads(line) for line in out.splitlines()), key=lambda row: row["session"])
    assert code == 1
    assert (a["session"], a["state"], a["sound"]) == ("a", "touched", False)
    assert a["problems"] == [
        {"file": str(path), "line": 7, "text": "the end is missing: event 8 was written and is not there"}
    ]
    assert (b["session"], b["state"], b["sound"], b["end"]["seq"], b["signed"]) == ("b", "whole", True, 8, None)


def test_a_crash_is_told_and_is_no_fault(verified) -> None:
    class Killed(BaseException):
        pass

    from agent.recording.disk import Disk

    class Tearing(Disk):
        armed = False

        def write(self, fd: int, data: bytes) -> int:
            if self.armed:
                super().write(fd, data[:20])
                raise Killed
            return super().write(fd, data)

    disk = Tearing()
    recorder = verified.place.open(disk=disk)
    disk.armed = True
    with pytest.raises(Killed):
        verified.place.fill(recorder)
    verified.place.close()
    code, out = verified()
    assert code == 0
    assert out.startswith("a: the program ended while it was writing; nothing was touched\n")


def test_what_a_log_says_cannot_reach_the_terminal(verified) -> None:
    path = verified.place.write()
    path.write_bytes(path.read_bytes().replace(b'"session":"a"', b'"session":"\\u001b[2J"', 1))
    _, out = verified()
    assert "\x1b" not in out


def test_heads_kept_elsewhere(verified, tmp_path: Path) -> None:
    verified.place.write()
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    assert verified()[0] == 1
    assert verified("--heads", str(tmp_path / "elsewhere" / "agent-shell" / "heads"))[0] == 0


def test_a_key_is_made_and_signatures_are_wanted(verified, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="the extra `sign` is not installed")
    code, out = verified("--make-key", str(tmp_path / "key"))
    assert code == 0
    assert out == (tmp_path / "key.pub").read_text()
    verified.place.write()
    assert verified("--public-key", str(tmp_path / "key.pub"))[0] == 1


def test_a_log_that_is_gone_says_what_to_do(verified) -> None:
    verified.place.write().unlink()
    code, out = verified()
    assert code == 1
    assert "a: gone" in out
    assert f"remove what is known of it, too: {verified.place.heads}/a.json" in out


def test_a_named_session_whose_log_was_replaced_by_another_of_its_id_is_missed(verified, tmp_path) -> None:
    path = verified.place.write()
    other = verified.place.write(folder=str(tmp_path / "elsewhere"))
    path.write_bytes(other.read_bytes())
    code, out = verified("a")
    assert code == 1
    assert "a: gone" in out
