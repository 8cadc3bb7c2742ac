"""`sessions prune` and `sessions permissions`: tombstones, what stays, and who else can read."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.audit.retention import Wish, choose, survey
from agent.audit.retention import prune as prune_one
from agent.cli.arguments import parse
from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.frontends.sessions import permissions, prune
from agent.protocol.errors import InvalidRequest
from agent.protocol.events.session import SessionPruned
from agent.recording.disk import Disk
from agent.recording.integrity import rewriting
from agent.recording.reader import list_sessions, read_records
from tests.support.audit_world import Log
from tests.support.log_place import Place


class World(Place):
    """Logs of 2026-03-04 with heads, and the two actions."""

    def __init__(self, root: Path, capture: Any) -> None:
        super().__init__(root)
        self.heads = str(root / "state" / "agent-shell" / "heads")
        self.root = root
        self.capture = capture

    def log(self, session_id: str, status: str = "completed", *, close: bool = True) -> Log:
        log = Log(Path(self.sessions), session_id, heads=Path(self.heads))
        log.goal("one", {"command": "touch x", "undo_id": f"u-{session_id}"}, status=status)
        if close:
            log.close()
        return log

    def run(self, action: Any, *arguments: str) -> tuple[int, str, str]:
        options = parse("sessions", [action.__name__.rpartition(".")[2], *arguments])
        settings = Settings(session_dir=self.sessions, json=bool(options.json))
        environ = {"HOME": str(self.root), "XDG_STATE_HOME": str(self.root / "state")}
        services = SimpleNamespace(
            settings=settings,
            loaded=Loaded(settings=settings, origins={}, secrets={}, environ=environ),
            undo=lambda: SimpleNamespace(
                ids=lambda: frozenset(("u-a",))
            ),  # nothing else: that would end what a crash left open
        )
        code = asyncio.run(action.run(services, options))
        out, err = self.capture.readouterr()
        return code, out.decode(), err.decode()

    def prune(self, *arguments: str) -> tuple[int, str, str]:
        return self.run(prune, *arguments)

    def alive(self) -> list[str]:
        return [each.session_id for each in list_sessions(self.sessions) if not survey(each).tombstone]


@pytest.fixture
def world(tmp_path: Path, capsysbinary: Any) -> World:
    return World(tmp_path, capsysbinary)


def test_a_pruned_session_leaves_a_tombstone_that_verifies(world: World) -> None:
    world.log("a")
    world.log("b")
    before = {checked.session_id: checked for checked in world.verify()}
    code, out, err = world.prune("--older-than", "1h", "--dry-run")
    assert (code, err, world.alive()) == (0, "", ["a", "b"])
    assert "nothing was removed" in out
    assert "1 of their runs can still be undone" in out
    assert world.prune("--older-than", "1h", "--yes")[0] == 0
    assert world.alive() == []
    assert all(checked.sound for checked in world.verify())
    (record,) = read_records(list_sessions(world.sessions)[0])
    assert isinstance(record.event, SessionPruned)
    assert record.event.before == before["a"].end.hash
    assert (record.event.events, record.event.goals, record.event.proven) == (before["a"].events, 1, True)
    assert record.event.reason == "older than 1 hours"
    assert world.prune("--older-than", "1h", "--yes") == (0, "nothing to remove\n", "")


def test_copies_are_not_pruned_for_the_sake_of_the_logs_that_they_are_of(world: World) -> None:
    world.log("a")
    original, world.sessions = world.sessions, str(world.root / "backup")
    shutil.copytree(original, world.sessions)
    code, _, err = world.prune("--older-than", "1h", "--yes")
    assert (code, world.alive()) == (1, ["a"])
    assert "belongs to a log in another folder" in err
    world.sessions = original
    assert all(checked.sound for checked in world.verify())


def test_a_tombstone_is_not_the_session_that_was_written_last(world: World) -> None:
    world.log("a")
    path = list_sessions(world.sessions)[0].path
    os.utime(path, (1_000, 1_000))
    world.prune("--older-than", "1h", "--yes")
    assert world.alive() == []
    assert os.stat(path).st_mtime == 1_000


def test_a_log_deleted_by_hand_is_still_missed(world: World) -> None:
    world.log("a")
    world.log("b")
    world.prune("--older-than", "1h", "--yes")
    os.unlink(list_sessions(world.sessions)[0].path)
    assert [checked.state for checked in world.verify() if not checked.sound] == ["gone"]


def test_old_tombstones_go_only_with_a_word(world: World) -> None:
    world.log("a")
    world.log("b")
    world.prune("--status", "completed", "--yes")
    world.log("c")
    code, out, _ = world.prune("--tombstones-older-than", "0h", "--yes", "--json")
    assert code == 0
    assert [(json.loads(line)["session"], json.loads(line)["state"]) for line in out.splitlines()] == [
        ("a", "removed"),
        ("b", "removed"),
    ]
    assert [(checked.session_id, checked.sound) for checked in world.verify()] == [("c", True)]


def test_what_is_being_written_stays(world: World) -> None:
    log = world.log("a", close=False)
    code, out, err = world.prune("--older-than", "1h", "--yes")
    assert (code, out) == (0, "nothing to remove\n")
    assert err == "agent-shell: a stays: it is being written\n"
    log.close()


def test_what_does_not_verify_stays_unless_forced(world: World) -> None:
    world.log("a")
    path = Path(list_sessions(world.sessions)[0].path)
    path.write_bytes(path.read_bytes().replace(b"touch x", b"touch y"))
    text = path.read_bytes()
    code, _, err = world.prune("--older-than", "1h", "--yes")
    assert (code, path.read_bytes()) == (1, text)
    assert "a stays: this needs a log that verifies" in err
    assert world.prune("--older-than", "1h", "--yes", "--force")[0] == 0
    (record,) = read_records(str(path))
    assert isinstance(record.event, SessionPruned)
    assert not record.event.proven


def test_nobody_there_to_ask(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.log("a")
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    assert world.prune("--older-than", "1h")[0] == 6
    assert world.alive() == ["a"]
    with pytest.raises(InvalidRequest, match="name the sessions"):
        world.prune()


def test_choice_by_status_and_size(world: World) -> None:
    world.log("a", "completed")
    world.log("b", "failed")
    world.log("c", "completed")
    surveys = [survey(session) for session in list_sessions(world.sessions)]
    now = surveys[0].ended + 10
    chosen = choose(surveys, Wish(statuses=frozenset({"completed"})), now=now)
    assert [(each.survey.session.session_id, each.reason) for each in chosen] == [
        ("a", "every goal completed"),
        ("c", "every goal completed"),
    ]
    keep = sum(each.session.size for each in surveys[1:])
    assert [each.survey.session.session_id for each in choose(surveys, Wish(keep_size=keep), now=now)] == ["a"]
    assert [
        each.survey.session.session_id
        for each in choose(surveys, Wish(keep_size=0, statuses=frozenset({"failed"})), now=now)
    ] == ["b"]
    assert choose(surveys, Wish(older_than=3600), now=now) == []


@pytest.mark.parametrize(("option", "text"), [("--older-than", "1 fortnight"), ("--keep-size", "x2GB")])
def test_ages_and_sizes_that_are_none(option: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("sessions", ["prune", option, text])
    assert "such as" in capsys.readouterr().err


class _Killed(BaseException):
    pass


class _Killing(Disk):
    """Ends everything at the n-th change."""

    def __init__(self, at: int) -> None:
        self.left = at

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Killed

    def write(self, fd: int, data: bytes) -> int:
        self._count()
        return super().write(fd, data)

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        self._count()
        return super().pwrite(fd, data, offset)

    def replace(self, old: str, new: str) -> None:
        self._count()
        super().replace(old, new)

    def unlink(self, path: str) -> None:
        self._count()
        super().unlink(path)


def test_killed_at_every_change_it_is_whole_or_buried(
    tmp_path: Path, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = rewriting.bury_session
    seen = set()
    for at in range(30):
        world = World(tmp_path / str(at), capsysbinary)
        world.log("a")
        (session,) = list_sessions(world.sessions)
        (chosen,) = choose([survey(session)], Wish(keep_size=0), now=0)
        whole = Path(session.path).read_bytes()
        monkeypatch.setattr(
            "agent.audit.retention.bury_session",
            lambda *given, at=at, **more: real(*given, **more, disk=_Killing(at)),
        )
        try:
            prune_one(chosen, world.heads, now="2026-03-05T00:00:00.000000Z")
            ended = True
        except _Killed:
            ended = False
        there = Path(session.path).read_bytes()
        buried = b"session.pruned" in there
        assert buried or there == whole
        seen.add(buried)
        monkeypatch.setattr("agent.audit.retention.bury_session", real)
        if not buried:  # whoever comes next puts it right
            (again,) = choose([survey(list_sessions(world.sessions)[0])], Wish(keep_size=0), now=0)
            prune_one(again, world.heads, now="2026-03-05T00:00:00.000000Z")
        assert all(checked.sound for checked in world.verify()), at
        if ended:
            break
    assert seen == {True, False}


def test_permissions_are_told_and_repaired(world: World, tmp_path: Path) -> None:
    world.log("a")
    state = tmp_path / "state" / "agent-shell"
    for path in (state, state / "heads", Path(world.sessions)):
        path.chmod(0o700)
    assert world.run(permissions) == (0, "logs, heads, index and keys are readable by you alone\n", "")
    log = Path(list_sessions(world.sessions)[0].path)
    head = next((state / "heads").iterdir())
    log.chmod(0o644)
    head.chmod(0o620)
    outside = tmp_path / "outside"
    outside.write_text("")
    outside.chmod(0o644)
    (Path(world.sessions) / "2026-03-04-link.jsonl").symlink_to(outside)
    code, out, _ = world.run(permissions, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [(Path(row["path"]).name, row["kind"], row["found"]) for row in rows] == [
        (log.name, "log", "can be read by others"),
        ("2026-03-04-link.jsonl", "log", "is a symbolic link"),
        (head.name, "head", "can be written by others"),
    ]
    assert world.run(permissions, "--repair")[0] == 1  # the link is not ours to judge
    assert [path.stat().st_mode & 0o777 for path in (log, head, outside)] == [0o600, 0o600, 0o644]
    (Path(world.sessions) / "2026-03-04-link.jsonl").unlink()
    assert world.run(permissions)[0] == 0


def test_a_file_with_another_name_keeps_its_mode(world: World, tmp_path: Path) -> None:
    world.log("a")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("of somebody")
    elsewhere.chmod(0o644)
    os.link(elsewhere, os.path.join(world.sessions, "2026-03-04-linked.jsonl"))
    code, out, err = world.run(permissions, "--repair")
    assert code == 1
    assert "has another hard link" in out and "hard links" in err
    assert elsewhere.stat().st_mode & 0o777 == 0o644
