"""The log as it should be when nothing goes wrong."""

from __future__ import annotations

import json
import os
import re
import stat
import threading
from pathlib import Path

import msgspec
import pytest

from agent.protocol.errors import InvalidRequest, RecordingError
from agent.protocol.events.command import CommandProposed, CommandStarted
from agent.protocol.events.goal import GoalStarted, RunStarted, ToolFinished
from agent.protocol.events.session import AssistantDelta, Notice, SessionFinished
from agent.protocol.records import decode, flatten
from agent.recording.disk import Disk
from agent.recording.envelope import NullRecorder, SystemClock
from agent.recording.jsonl import SYNCED

GITHUB = "ghp_" + "9fKq2LmX7RtVbW4sZcY8nH1jPdQ0aEuG3oTi"


def lines(path) -> list[dict]:
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def mode(path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.covers("S4-21")
def test_a_session_from_start_to_end(opened) -> None:
    recorder = opened()
    returned = recorder.append(GoalStarted(goal="list files"), run="r1", goal_id="g1")
    last = recorder.close()
    written = lines(recorder.path)
    assert os.path.basename(recorder.path) == "2026-03-04-a.jsonl"
    assert [(line["seq"], line["type"], line["v"]) for line in written] == [
        (1, "session.started", 1),
        (2, "goal.started", 1),
        (3, "session.finished", 1),
    ]
    assert list(written[1])[:8] == ["v", "seq", "time", "session", "run", "goal_id", "prev", "type"]
    assert (written[1]["session"], written[1]["run"], written[1]["goal_id"]) == ("a", "r1", "g1")
    assert written[0] == {**written[0], "session_id": "a", "program": "test", "resumed": False}
    assert written[2]["goals"] == 1
    assert flatten(last)["seq"] == 3
    assert decode(msgspec.json.encode(written[1])) == returned


def test_without_an_id_one_is_made(opened) -> None:
    recorder = opened(session_id=None)
    assert re.fullmatch(r"1020\d\d-[0-9a-z]{6}", recorder.session_id)
    assert recorder.path.endswith(f"2026-03-04-{recorder.session_id}.jsonl")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_file_and_folders_are_private_whatever_the_umask(opened, tmp_path, umask) -> None:
    before = os.umask(umask)
    try:
        recorder = opened(folder=tmp_path / "new" / "deep" / "sessions")
    finally:
        os.umask(before)
    assert mode(recorder.path) == 0o600
    assert [mode(tmp_path / "new"), mode(tmp_path / "new/deep"), mode(tmp_path / "new/deep/sessions")] == [0o700] * 3


def test_a_wider_mode_is_tightened(opened, tmp_path) -> None:
    recorder = opened()
    recorder.close()
    os.chmod(recorder.path, 0o664)
    os.chmod(tmp_path / "sessions", 0o755)
    again = opened()
    assert again.path == recorder.path
    assert (mode(again.path), mode(tmp_path / "sessions")) == (0o600, 0o700)


def test_a_shared_folder_keeps_its_mode(opened, tmp_path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "somebody.txt").touch()
    os.chmod(shared, 0o777)
    recorder = opened(folder=shared)
    assert (mode(shared), mode(recorder.path)) == (0o777, 0o600)


@pytest.mark.parametrize("bad", ["../x", ".hidden", "a/b", "x" * 65])
def test_ids_with_path_tricks_are_refused(opened, tmp_path, bad) -> None:
    with pytest.raises(InvalidRequest):
        opened(session_id=bad)
    assert not (tmp_path / "x").exists()


def test_resuming_goes_on_in_the_same_file_on_another_day(opened, clock) -> None:
    first = opened()
    first.append(Notice(text="one"))
    first.close()
    clock.day = "2026-03-05"
    second = opened()
    second.append(Notice(text="two"))
    second.close()
    assert second.path == first.path
    written = lines(first.path)
    assert [line["seq"] for line in written] == [1, 2, 3, 4, 5, 6]
    assert [line["resumed"] for line in written if line["type"] == "session.started"] == [False, True]
    assert second.repairs == ()


def test_a_clock_that_goes_back_changes_nothing_in_the_order(opened, clock) -> None:
    recorder = opened()
    clock.day = "2020-01-01"
    recorder.append(Notice(text="earlier?"))
    assert [line["seq"] for line in lines(recorder.path)] == [1, 2]


def test_one_write_a_record_and_a_sync_before_anything_runs(opened) -> None:
    calls: list[tuple[str, int]] = []

    class Watched(Disk):
        def write(self, fd: int, data: bytes) -> int:
            calls.append(("write", data.count(b"\n")))
            return os.write(fd, data)

        def fsync(self, fd: int) -> None:
            calls.append(("sync", 0))

    recorder = opened(disk=Watched())
    calls.clear()
    recorder.append(CommandProposed(command_id="c", command="ls\nls"))
    assert calls == [("write", 1)]
    recorder.append(CommandStarted(command_id="c", command="ls\nls"))
    assert calls[1:] == [("write", 1), ("sync", 0)]
    assert {kind.__struct_config__.tag for kind in SYNCED} == {
        "goal.finished", "run.finished", "session.finished", "command.confirmed", "command.started",
        "log.rotated", "undo.started", "rule.added", "rule.removed", "memory.forgotten", "library.changed",
    }  # fmt: skip


def test_secrets_never_reach_file_or_emitters(opened) -> None:
    recorder = opened()
    event = ToolFinished(call_id="1", name="t", result=f"a {GITHUB} b", files_written=(f"/tmp/{GITHUB}",))
    record = recorder.append(event)
    recorder.append(
        CommandProposed(command_id="c", command=f"curl -H 'Authorization: Bearer {GITHUB}' x", reason=GITHUB)
    )
    assert GITHUB not in Path(recorder.path).read_text()
    assert "[redacted:github-token:" in record.event.result
    assert record.event.files_written[0].startswith("/tmp/[redacted:")
    assert GITHUB not in recorder.stamp(AssistantDelta(text=GITHUB)).event.text


def test_a_stamp_takes_no_number(opened) -> None:
    recorder = opened()
    assert recorder.stamp(AssistantDelta(text="x")).seq == 1
    assert recorder.append(Notice(text="y")).seq == 2
    assert len(lines(recorder.path)) == 2


def test_a_second_writer_of_the_same_session_is_told_what_to_do(opened) -> None:
    opened()
    with pytest.raises(RecordingError) as caught:
        opened()
    assert "another process is writing" in caught.value.message
    assert "--session-id" in caught.value.hint


def test_strange_text_stays_one_readable_line(opened) -> None:
    recorder = opened()
    text = "nul \0 bel \a\x1b[31m nl \n sep \u2028 lone \udcff wide 漢字 e\u0301 \U0001f600"
    recorder.append(Notice(text=text))
    data = Path(recorder.path).read_bytes()
    assert data.count(b"\n") == 2
    assert data.isascii() or data.decode("utf-8")
    assert json.loads(data.splitlines()[1])["text"] == text.replace("\udcff", "?")


def test_large_commands_are_kept_whole_and_absurd_ones_refused(opened) -> None:
    recorder = opened()
    command = "echo " + "x" * 200_000
    recorder.append(CommandProposed(command_id="c", command=command))
    assert lines(recorder.path)[-1]["command"] == command
    with pytest.raises(RecordingError) as caught:
        recorder.append(CommandProposed(command_id="c", command="x" * 2_000_000))
    assert "too long to be recorded" in caught.value.message
    assert recorder.append(Notice(text="still open")).seq == 3


def test_large_texts_lose_their_middle_with_a_note(opened) -> None:
    recorder = opened()
    record = recorder.append(Notice(text="a" + "x" * 5_000_000 + "z"))
    assert len(record.event.text) < 1_100_000
    assert record.event.text[0] == "a"
    assert record.event.text[-1] == "z"
    assert "characters not recorded" in record.event.text


@pytest.mark.thorough
def test_many_large_texts_lose_theirs_too(opened) -> None:
    recorder = opened()
    many = ToolFinished(call_id="1", name="t", result="r", files_written=tuple("y" * 900_000 for _ in range(24)))
    recorder.append(many)
    assert os.path.getsize(recorder.path) < 20_000_000
    with pytest.raises(RecordingError):
        recorder.append(ToolFinished(call_id="1", name="t", files_written=tuple("y" * 4000 for _ in range(10_000))))


def test_threads_share_a_recorder(opened) -> None:
    recorder = opened()
    threads = [
        threading.Thread(target=lambda: [recorder.append(RunStarted(request_id="r")) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [line["seq"] for line in lines(recorder.path)] == list(range(1, 202))


def test_closing_twice_is_harmless_and_closes_for_good(opened) -> None:
    recorder = opened()
    assert recorder.close("quit").event == SessionFinished(reason="quit", goals=0)
    assert recorder.close() is None
    with pytest.raises(RecordingError):
        recorder.append(Notice(text="late"))
    opened().close()  # the lock is free again


@pytest.mark.covers("S1-80")
def test_the_null_recorder_counts_and_redacts_but_keeps_nothing() -> None:
    recorder = NullRecorder(clock=SystemClock(), redactor=None, session_id="tmp")
    assert (recorder.session_id, recorder.path) == ("tmp", None)
    assert recorder.append(Notice(text="a")).seq == 1
    assert recorder.stamp(Notice(text="b")).seq == 1
    assert recorder.append(Notice(text="c"), run="r", goal_id="g").goal_id == "g"
    assert recorder.close().seq == 3
    assert recorder.close() is None
