"""Logs of jobs: private, of bounded size, tidied up."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.execution import job_log as logs
from agent.execution.job_log import JobLog, open_log
from agent.execution.supervision.job_watch import LogWriter

CAP = 4096


def written(chunks: list[bytes], cap: int = CAP) -> tuple[bytes, LogWriter]:
    fd = os.memfd_create("test")
    writer = LogWriter(fd, cap)
    for chunk in chunks:
        writer.write(chunk)
    content = os.pread(fd, 1 << 22, 0)
    writer.close()
    return content, writer


@given(st.lists(st.binary(max_size=3000), max_size=20))
def test_it_never_grows_over_its_cap_and_keeps_the_end(chunks: list[bytes]) -> None:
    content, writer = written(chunks)
    whole = b"".join(chunks)
    assert len(content) <= CAP + 100
    assert writer.trouble == ""
    if len(whole) <= CAP:
        assert content == whole
    else:
        assert whole.endswith(content[-min(len(chunks[-1]), 1000) :])


def test_what_is_missing_is_counted() -> None:
    lines = [b"line %04d\n" % number for number in range(2000)]
    content, _writer = written(lines)
    head, _, rest = content.partition(b"\n")
    assert head == b"[... %d bytes before this are not kept ...]" % (sum(map(len, lines)) - len(rest))
    assert rest.endswith(b"line 1998\nline 1999\n")
    assert rest.splitlines()[0] in [line.strip() for line in lines]


def test_one_chunk_larger_than_the_cap() -> None:
    content, _writer = written([b"x" * 10_000 + b"end"])
    assert content.endswith(b"xend")
    assert len(content) <= CAP + 100


def test_a_disk_that_is_full_is_told_and_not_raised() -> None:
    with open("/dev/full", "r+b", buffering=0) as full:
        writer = LogWriter(os.dup(full.fileno()), CAP)
        writer.write(b"x")
        writer.close()
    assert writer.trouble == "No space left on device"


def test_a_log_is_ours_alone(tmp_path: Path) -> None:
    old_mask = os.umask(0)
    try:
        folder = tmp_path / "a" / "jobs"
        log = open_log(str(folder))
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE(os.stat(log.path).st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    os.write(log.fd, b"one\ntwo\nthree\n")
    assert (log.size, log.tail(100), log.tail(8)) == (14, b"one\ntwo\nthree\n", b"three\n")
    log.end()
    log.end()
    assert (log.size, log.tail(100), log.tail(8)) == (14, b"one\ntwo\nthree\n", b"three\n")


def test_a_log_that_nobody_needs_is_gone(tmp_path: Path) -> None:
    open_log(str(tmp_path)).discard()
    assert list(tmp_path.iterdir()) == []


def test_old_logs_and_too_many_are_removed_but_never_one_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "KEEP_FILES", 3)
    used = open_log(str(tmp_path))
    os.utime(used.path, (0, 0))
    for number in range(5):
        (tmp_path / f"20200101T00000{number}Z-1-x.log").write_text("x")
    os.utime(tmp_path / "20200101T000004Z-1-x.log", (0, 0))
    (tmp_path / "other").write_text("kept")
    fresh = open_log(str(tmp_path))
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"other", os.path.basename(used.path), os.path.basename(fresh.path), "20200101T000003Z-1-x.log"}
    for log in (used, fresh):
        log.discard()


def test_where_no_file_can_be_made_memory_is_used(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file")
    log = open_log(str(tmp_path / "jobs"))
    assert (log.path, log.cap) == ("", logs.MEMORY_CAP)
    log.discard()


def test_without_memory_files_a_file_without_a_name_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    log: JobLog = open_log(None)
    assert (log.path, os.fstat(log.fd).st_nlink) == ("", 0)
    log.discard()
