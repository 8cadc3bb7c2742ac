"""Full disks, broken disks, strange files, two processes: nothing is lost quietly, nothing goes on unrecorded."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from agent.protocol.errors import RecordingError
from agent.protocol.events.command import CommandStarted
from agent.protocol.events.goal import GoalStarted, RunFinished, RunStarted
from agent.protocol.events.session import Notice
from agent.protocol.outcomes import RunOutcome
from agent.protocol.records import event_type
from agent.recording.disk import Disk
from agent.recording.endings import missing_endings
from agent.recording.reader import BadLine, read_log


class FaultyDisk(Disk):
    """Faults to order; `partial` bytes are written before a write fails."""

    def __init__(self) -> None:
        self.error: int | None = None
        self.sync_error: int | None = None
        self.partial = 0
        self.short = False

    def write(self, fd: int, data: bytes) -> int:
        if self.error is None and not self.short:
            return os.write(fd, data)
        if self.partial:
            os.write(fd, data[: self.partial])
        if self.short:
            self.short, self.error = False, errno.ENOSPC
            return self.partial
        raise OSError(self.error, os.strerror(self.error))

    def fsync(self, fd: int) -> None:
        if self.sync_error is not None:
            raise OSError(self.sync_error, os.strerror(self.sync_error))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EIO, "disk reports an error"),
        (errno.EROFS, "read-only"),
    ],
)
@pytest.mark.parametrize("partial", [0, 7])
def test_a_failed_write_is_said_taken_back_and_final(opened, error, words, partial) -> None:
    disk = FaultyDisk()
    recorder = opened(disk=disk)
    before = Path(recorder.path).read_bytes()
    disk.error, disk.partial = error, partial
    with pytest.raises(RecordingError) as caught:
        recorder.append(Notice(text="lost"))
    assert words in caught.value.message
    assert "--no-persist" in caught.value.hint
    assert Path(recorder.path).read_bytes() == before
    disk.error = None
    with pytest.raises(RecordingError):
        recorder.append(Notice(text="the disk is back, but there is a hole"))
    assert recorder.stamp(Notice(text="can still be shown")).seq == 1
    with pytest.raises(RecordingError):
        recorder.append(CommandStarted(command_id="c", command="ls"))
    if error in (errno.ENOSPC, errno.EDQUOT):
        recorder.close()
        assert Path(recorder.path).read_bytes().startswith(before)
        return
    with pytest.raises(RecordingError):
        recorder.append(RunStarted(request_id="r2"))
    with pytest.raises(RecordingError):
        recorder.close()
    assert Path(recorder.path).read_bytes() == before


def test_with_space_again_the_next_run_goes_on_and_what_was_cut_has_its_ending(opened) -> None:
    disk = FaultyDisk()
    recorder = opened(disk=disk)
    recorder.append(RunStarted(request_id="r1"), run="r1")
    recorder.append(GoalStarted(goal="x"), run="r1", goal_id="g")
    recorder.append(CommandStarted(command_id="c", command="ls"), run="r1", goal_id="g")
    disk.error, disk.partial = errno.ENOSPC, 5
    for event in (Notice(text="lost"), RunStarted(request_id="r2"), RunStarted(request_id="r3")):
        with pytest.raises(RecordingError) as caught:
            recorder.append(event, run="r1")
        assert "the next goal tries again" in caught.value.hint
    disk.error = None
    with pytest.raises(RecordingError):  # of the run in which something is lacking nothing more is written
        recorder.append(Notice(text="with a hole before it"), run="r1")
    recorder.append(RunStarted(request_id="r4"), run="r4")
    recorder.append(RunFinished(outcome=RunOutcome(request_id="r4")), run="r4")
    recorder.close()
    lines = list(read_log(recorder.path))
    assert not any(isinstance(line, BadLine) for line in lines)
    types = [event_type(line.event) for line in lines][1:]
    assert types == [
        "run.started", "goal.started", "command.started", "command.finished", "goal.finished", "run.finished", "warning",
        "run.started", "run.finished", "session.finished",
    ]  # fmt: skip
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert lines[4].event.result.notes == ("the log could not be written",)
    assert missing_endings(line for line in lines) == ()
    assert [event_type(record.event) for record in recorder.take_opening()] == ["session.started", "warning"]


def test_what_helps_depends_on_what_is_wrong(opened, tmp_path) -> None:
    class Forbidden(Disk):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            raise PermissionError(errno.EACCES, "Permission denied")

    with pytest.raises(RecordingError) as caught:
        opened(disk=Forbidden())
    assert "permission denied" in caught.value.message
    assert "space" not in caught.value.hint and "--session-dir" in caught.value.hint


def test_a_short_write_counts_as_a_full_disk(opened) -> None:
    disk = FaultyDisk()
    recorder = opened(disk=disk)
    disk.short, disk.partial = True, 12
    with pytest.raises(RecordingError):
        recorder.append(Notice(text="lost"))
    assert [line for line in read_log(recorder.path) if isinstance(line, BadLine)] == []


def test_a_failed_sync_stops_the_command_that_waits_for_it(opened) -> None:
    disk = FaultyDisk()
    recorder = opened(disk=disk)
    disk.sync_error = errno.EIO
    recorder.append(Notice(text="not synced"))
    with pytest.raises(RecordingError):
        recorder.append(CommandStarted(command_id="c", command="ls"))


def test_a_file_system_that_cannot_sync_is_no_fault(opened) -> None:
    disk = FaultyDisk()
    recorder = opened(disk=disk)
    disk.sync_error = errno.EINVAL
    recorder.append(CommandStarted(command_id="c", command="ls"))


def test_a_deleted_log_stops_the_next_command(opened) -> None:
    recorder = opened()
    os.unlink(recorder.path)
    with pytest.raises(RecordingError) as caught:
        recorder.append(CommandStarted(command_id="c", command="ls"))
    assert "deleted" in caught.value.message


def test_a_file_where_the_folder_should_be(opened, tmp_path) -> None:
    (tmp_path / "sessions").write_text("precious")
    with pytest.raises(RecordingError) as caught:
        opened()
    assert "there is a file in its place" in caught.value.message
    assert (tmp_path / "sessions").read_text() == "precious"
    with pytest.raises(RecordingError):
        opened(folder=tmp_path / "sessions" / "below")


def test_a_folder_that_cannot_be_made_or_written(opened) -> None:
    for folder in ("/proc/no-such-folder/x", "/proc/self/fdinfo", "/dev/null/x", "bad\0name"):
        with pytest.raises(RecordingError):
            opened(folder=folder)


def test_a_read_only_folder(opened, tmp_path) -> None:
    (tmp_path / "sessions").mkdir(mode=0o500)
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere; /proc stands in for this above")
    with pytest.raises(RecordingError) as caught:
        opened()
    assert "permission denied" in caught.value.message


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_regular_file_is_not_written(opened, tmp_path, kind) -> None:
    place = tmp_path / "sessions" / "2026-03-04-a.jsonl"
    place.parent.mkdir()
    target = tmp_path / "target"
    target.write_text("precious")
    if kind == "link":
        place.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()
    with pytest.raises(RecordingError):
        opened()
    assert target.read_text() == "precious"


def test_a_log_of_a_newer_version_is_left_alone(opened, tmp_path) -> None:
    place = tmp_path / "sessions" / "2026-03-04-a.jsonl"
    place.parent.mkdir()
    place.write_text('{"v":2,"seq":7,"time":"","session":"a","run":"","goal_id":"","type":"session.finished"}\n')
    before = place.read_bytes()
    with pytest.raises(RecordingError) as caught:
        opened()
    assert "newer version" in caught.value.message
    assert place.read_bytes() == before


CHILD = """
import sys
from agent.protocol.errors import RecordingError
from agent.protocol.events.session import Notice
from agent.protocol.events.session import SessionStarted
from agent.recording.envelope import SystemClock
from agent.recording.jsonl import open_session
try:
    recorder = open_session(sys.argv[1], session_id="a", clock=SystemClock(), redactor=None,
                            started=SessionStarted(session_id=""))
    print("open", flush=True)
    if sys.argv[2] == "hold":
        sys.stdin.readline()
    while sys.argv[2] == "fill":
        recorder.append(Notice(text="x" * 300))
except RecordingError as error:
    print(error.message, flush=True)
"""


def child(folder, what, **more) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), what],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A limit on the file size would cut byte code that Python writes, and Python would not notice.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        **more,
    )


def test_a_limit_on_the_file_size_ends_on_a_whole_line(tmp_path) -> None:
    limit = 10_000
    process = child(tmp_path, "fill", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    said, _ = process.communicate()
    assert said.startswith("open\n")
    assert "may not grow further" in said
    (log,) = tmp_path.glob("*.jsonl")
    data = log.read_bytes()
    assert limit - 500 < len(data) <= limit
    assert data.endswith(b"\n")
    assert all(json.loads(line) for line in data.splitlines())


def test_two_processes_never_write_one_session(tmp_path) -> None:
    holder = child(tmp_path, "hold")
    assert holder.stdout.readline() == "open\n"
    said, _ = child(tmp_path, "hold").communicate("\n")
    assert "another process is writing" in said
    holder.communicate("\n")
    said, _ = child(tmp_path, "hold").communicate("\n")
    assert said == "open\n"
    (log,) = tmp_path.glob("*.jsonl")
    assert [json.loads(line)["type"] for line in log.read_text().splitlines()] == [
        "session.started",
        "session.finished",  # closed off for the process that ended without a word
        "session.started",
    ]
