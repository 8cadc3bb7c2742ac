"""Heads that cannot be kept, clocks that go back, logs of other versions, sizes and names that are meant to hurt."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from agent.protocol.errors import RecordingError
from agent.protocol.events.command import CommandStarted
from agent.protocol.events.session import Notice, SessionStarted
from agent.recording.chained_lines import Link
from agent.recording.disk import Disk
from agent.recording.integrity.heads import PAIR, SLOT, Head, newest, pack, unpack
from agent.recording.integrity.rewriting import rewrite_session
from agent.recording.jsonl import open_session
from agent.recording.reader import list_sessions
from tests.support.log_place import shouted, told


class NoHeads(Disk):
    """Heads cannot be written: from the first time on, or later, and for good, or so many times."""

    def __init__(self, error: int, allowed: int = 0, times: int = 1000) -> None:
        self.error = error
        self.allowed = allowed
        self.times = times

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        self.allowed -= 1
        if -self.times <= self.allowed < 0:
            raise OSError(self.error, os.strerror(self.error))
        return os.pwrite(fd, data, offset)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("allowed", [0, 5])
def test_a_head_that_cannot_be_kept_is_said_once_and_the_log_goes_on(place, error, allowed) -> None:
    path = place.write(disk=NoHeads(error, allowed))
    warnings = [line for line in path.read_text().splitlines() if "cannot be kept" in line]
    assert len(warnings) == 1
    assert len(told(place)) == 4
    assert not place.one().sound


@pytest.mark.parametrize("allowed", range(6))
@pytest.mark.parametrize("times", [1, 2])
def test_a_head_that_can_be_kept_again_vouches_for_all_of_the_log(place, allowed: int, times: int) -> None:
    path = place.write(disk=NoHeads(errno.EIO, allowed, times))
    assert sum("cannot be kept" in line for line in path.read_text().splitlines()) == 1
    assert place.one().sound


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_head_that_cannot_be_read_for_a_while_vouches_for_what_came_meanwhile(place, times: int) -> None:
    class NoHead(Disk):
        """The files of heads cannot be opened, so many times."""

        left = times

        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            if path.endswith(".json") and self.left > 0:
                self.left -= 1
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return os.open(path, flags, mode)

    place.write()
    path = place.write(disk=NoHead())
    assert sum("cannot be kept" in line for line in path.read_text().splitlines()) == 1
    assert place.one().sound


def test_a_log_that_could_not_be_kept_safe_verifies(place) -> None:
    class Unsafe(Disk):
        broken = False

        def fsync(self, fd: int) -> None:
            if self.broken and os.readlink(f"/proc/self/fd/{fd}").endswith(".jsonl"):
                raise OSError(errno.EIO, "broken")

    disk = Unsafe()
    recorder = place.open(disk=disk)
    disk.broken = True
    for _ in range(3):  # who is refused may try to say so
        with pytest.raises(RecordingError):
            recorder.append(CommandStarted(command_id="c", command="ls"))
    place.crash(recorder)
    assert place.one().sound


def test_a_state_folder_that_cannot_be_made(place, tmp_path) -> None:
    (tmp_path / "file").write_text("x")
    recorder = place.open(heads=str(tmp_path / "file" / "heads"))
    shown = recorder.take_opening()
    assert any("cannot be kept" in getattr(record.event, "text", "") for record in shown)


def test_a_head_that_is_a_link_is_not_followed(place, tmp_path) -> None:
    (tmp_path / "target").write_text("precious")
    os.makedirs(place.heads)
    os.symlink(tmp_path / "target", Path(place.heads) / "a.json")
    place.write()
    assert (tmp_path / "target").read_text() == "precious"


def test_slots_are_read_back_and_damage_is_seen() -> None:
    head = Head(log="a" * 64, turn=7, kept=Link(5, "b" * 64), pending=Link(6, "c" * 64), synced=Link(3, "d" * 64),
                boot="x" * 36, folder="f" * 32, doubt="ü" * 3000, next="e" * 64)  # fmt: skip
    slot = pack(head)
    assert len(slot) == SLOT
    assert json.loads(slot)["turn"] == 7
    assert unpack(pack(Head(log="a"))) == Head(log="a")
    assert unpack(slot).kept == head.kept
    for place_ in range(0, SLOT, 7):
        damaged = bytearray(slot)
        damaged[place_] ^= 1
        assert unpack(bytes(damaged)) in (None, unpack(slot))
    assert newest(pack(Head(log="a", turn=1)) + slot) == unpack(slot)
    assert newest(b"x" * PAIR) is None
    assert newest(b"") is None


def test_a_head_file_full_of_junk_is_no_head(place) -> None:
    place.write()
    (head,) = Path(place.heads).iterdir()
    for junk in (b"", b"junk", os.urandom(5000), b"\0" * 8192):
        head.write_bytes(junk)
        assert "no stored head hash" in place.one().problems[0].text


class BackwardsClock:
    """Each time is earlier than the one before, and a day and a year lie between."""

    def __init__(self) -> None:
        self.count = 50

    def now(self) -> str:
        self.count -= 1
        return f"20{self.count:02d}-01-01T00:00:00.000000Z"

    def monotonic(self) -> float:
        return float(self.count)


def test_a_clock_that_goes_back_breaks_nothing(place) -> None:
    clock = BackwardsClock()
    for _ in range(3):
        recorder = open_session(
            place.sessions, session_id="a", clock=clock, redactor=None, started=SessionStarted(session_id=""),
            heads=place.heads, rotate_bytes=1000,
        )  # fmt: skip
        for number in range(3):
            recorder.append(Notice(text=f"{number}" * 100))
        recorder.close()
    assert place.one().state == "whole"
    assert len(told(place)) == 9


class NoRename(Disk):
    def replace(self, old: str, new: str) -> None:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


def test_a_rename_that_fails_leaves_the_log_or_its_new_text(place) -> None:
    place.write()
    (session,) = list_sessions(place.sessions)
    with pytest.raises(RecordingError):
        rewrite_session(session, place.heads, shouted, note=lambda done: Notice(text="x"), now="2026", disk=NoRename())
    assert place.one().sound
    rewrite_session(session, place.heads, shouted, note=lambda done: Notice(text="x"), now="2026")
    assert place.one().sound
    assert "NUMBER 1" in told(place)


def test_what_is_being_written_is_not_rewritten(place) -> None:
    recorder = place.open()
    place.fill(recorder)
    (session,) = list_sessions(place.sessions)
    with pytest.raises(RecordingError) as caught:
        rewrite_session(session, place.heads, shouted, note=lambda done: Notice(text="x"), now="2026")
    assert "another process" in caught.value.message
    recorder.close()
    assert place.one().state == "whole"


def test_a_rewriting_without_a_change_writes_nothing(place) -> None:
    path = place.write()
    before = path.read_bytes()
    (session,) = list_sessions(place.sessions)
    done = rewrite_session(session, place.heads, lambda record: record, note=lambda done: Notice(text="x"), now="2026")
    assert (done.changed, done.first_line, done.lines) == (0, 0, 8)
    assert path.read_bytes() == before
    assert place.one().state == "whole"


def test_torn_bytes_are_rewritten_with_the_record_that_names_them(place) -> None:
    recorder = place.open()
    place.fill(recorder)
    place.crash(recorder)
    with open(recorder.path, "ab") as file:
        file.write(
            b'{"v":1,"seq":8,"text":"hunter2'
        )  # no kill of ours: the head says so, and this test is about the bytes
    place.write(1)
    (session,) = list_sessions(place.sessions)
    rewrite_session(
        session, place.heads, lambda record: record, torn=lambda data: data.replace(b"hunter2", b"[redacted]"),
        note=lambda done: Notice(text=f"{done.changed} {done.first_line}"), now="2026",
    )  # fmt: skip
    text = Path(session.path).read_text()
    assert "hunter2" not in text
    assert "2 8" in told(place)  # the torn line, and the record that names it
    assert not any("no record" in each.text or "names" in each.text for each in place.one().problems)


def test_a_rewriting_does_not_clean_a_touched_log(place) -> None:
    path = place.write()
    path.write_bytes(path.read_bytes().replace(b"number 2", b"number 7"))
    (session,) = list_sessions(place.sessions)
    done = rewrite_session(session, place.heads, shouted, note=lambda done: Notice(text="x"), now="2026")
    assert not done.before.sound
    assert "did not verify when it was rewritten" in place.one().problems[0].text


def test_lines_of_a_newer_version_are_verified_all_the_same(place) -> None:
    recorder = place.open()
    from agent.protocol.events.known import UnknownEvent

    recorder.append(UnknownEvent("thing.of-tomorrow", {"deep": {"er": [1, 2]}}))
    recorder.close()
    assert place.one().state == "whole"


@pytest.mark.thorough
def test_a_line_of_100_mb_is_seen_in_bounded_memory(place) -> None:
    path = place.write()
    lines = path.read_bytes().splitlines(keepends=True)
    with open(path, "wb") as file:
        file.writelines(lines[:4])
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b"\n")
        file.writelines(lines[4:])
    problems = place.one().problems
    assert [(each.line, each.text) for each in problems] == [(5, "is no record: it was changed or added")]


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 200_000,
        b'{"v":1,"seq":' + b"9" * 5000 + b',"type":"notice"}',
        b'{"seq":1e400,"type":"notice"}',
        b'{"v":1,"seq":-1,"session":"a","type":"notice"}',
        b'{"v":1,"seq":true,"session":"a","type":"notice"}',
        b'{"v":1,"seq":5,"session":"../../x","prev":"\x1b[2J","type":"log.repaired","line":-5,"bytes":1e9}',
        b'{"v":1,"seq":5,"session":"a","type":"log.rotated","next":"/etc/passwd"}',
        b'{"v":1,"seq":5,"session":"a","type":"log.continued","previous":5}',
        b"\xff\xfe\x00",
        b"",
        b"null",
    ],
)
def test_hostile_lines_are_problems_not_faults(place, line) -> None:
    path = place.write()
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:4], line, *lines[4:], b""]))
    checked = place.one()
    assert not checked.sound
    assert all(each.line >= 0 and each.file == str(path) for each in checked.problems)


@pytest.mark.thorough
def test_many_sessions_are_verified_one_by_one(place) -> None:
    place.write(1)
    (model,) = place.files()
    data = model.read_bytes()
    for number in range(1100):  # more than a process may usually hold open
        model.with_name(f"2026-01-01-s{number}.jsonl").write_bytes(
            data.replace(b'"session":"a"', b'"session":"s%d"' % number)
        )
    found = place.verify()
    assert len(found) == 1101
    assert sum(each.sound for each in found) == 1
