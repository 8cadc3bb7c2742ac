"""What the recording tests share: folders in memory, a clock that stands still, and a short way to open a session."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.protocol.events.session import SessionStarted
from agent.recording.jsonl import JsonlRecorder, open_session
from agent.redaction.redactor import SecretRedactor

_IN_MEMORY = "/dev/shm"


class _Folders:
    """Makes temporary folders; all are gone at the end."""

    def __init__(self, base: str) -> None:
        self.base = base

    def mktemp(self, name: str) -> Path:
        return Path(tempfile.mkdtemp(prefix=name, dir=self.base))


@pytest.fixture(scope="session")
def tmp_path_factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """In memory where that can be had: every line of a log is brought to the disk, which takes as long as all else."""
    if not os.access(_IN_MEMORY, os.W_OK | os.X_OK):
        yield tmp_path_factory
        return
    folders = _Folders(tempfile.mkdtemp(dir=_IN_MEMORY))
    yield folders
    shutil.rmtree(folders.base, ignore_errors=True)


@pytest.fixture
def tmp_path(tmp_path_factory: Any) -> Path:
    made: Path = tmp_path_factory.mktemp("test")
    return made


class FixedClock:
    """Every question advances it by a millisecond; it can be set back, as real clocks are."""

    def __init__(self) -> None:
        self.day = "2026-03-04"
        self.milliseconds = 0

    def now(self) -> str:
        self.milliseconds += 1
        return f"{self.day}T10:20:{self.milliseconds // 1000 % 60:02d}.{self.milliseconds % 1000:03d}000Z"

    def monotonic(self) -> float:
        return self.milliseconds / 1000


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def opened(tmp_path: Any, clock: FixedClock) -> Iterator[Callable[..., JsonlRecorder]]:
    """`opened(session_id="a", ...)` opens a session in tmp_path/sessions; all are closed at the end."""
    recorders: list[JsonlRecorder] = []

    def open_one(folder: Any = None, session_id: str | None = "a", **more: Any) -> JsonlRecorder:
        recorder = open_session(
            str(folder or tmp_path / "sessions"),
            session_id=session_id,
            clock=more.pop("clock", clock),
            redactor=more.pop("redactor", SecretRedactor({}, key=b"k")),
            started=SessionStarted(session_id="", program="test"),
            **more,
        )
        recorders.append(recorder)
        return recorder

    yield open_one
    for recorder in recorders:
        recorder._log.close()
