"""Files that are written for tools: what interrupts a write leaves nothing in the person's folder, and not half a file."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.execution.file_performer import FilePerformer
from agent.execution.rehearsal.scratches import sweep_all
from agent.protocol.actions import FileAction, WriteFile
from agent.protocol.approvals import ApprovedFileAction, Consent, RatedAction
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import IoError
from agent.risk.file_actions import rate_action

KILLED = """
import os, signal, sys
from pathlib import Path
from agent.execution import file_performer
from tests.unit.execution.test_file_performer import approved

path, state, name, when = sys.argv[1:]
module = file_performer.syscalls if name == "exchange" else os
real = getattr(module, name)
def killing(*arguments, **named):
    if when == "after":
        real(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)
performer = file_performer.FilePerformer(state)
agreed = approved(Path(path), performer)
setattr(module, name, killing)
performer.perform(agreed)
"""


def approved(path: Path, performer: FilePerformer, content: str = "new\n") -> ApprovedFileAction:
    action: FileAction = WriteFile(path=str(path), content=content)
    context = RiskContext(cwd=str(path.parent), workspace=str(path.parent), home="/nonexistent")
    rated = RatedAction(action=action, report=rate_action(action, context), seen=performer.look(action).seen)
    return ApprovedFileAction(command_id="c", rated=rated, consent=Consent(by="person", word_typed=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture(params=["with a place of ours", "without"])
def performer(request: pytest.FixtureRequest, tmp_path: Path) -> FilePerformer:
    return FilePerformer(str(tmp_path / "state") if "ours" in request.param else "")


def without_unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that knows no files without a name."""
    real = os.open

    def refuse(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "not supported")
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refuse)


@pytest.mark.parametrize("unnamed", [True, False])
@pytest.mark.parametrize("before", [None, "old\n"])
def test_it_is_written_and_nothing_lies_beside_it(
    folder: Path, performer: FilePerformer, unnamed: bool, before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before is not None:
        (folder / "a").write_text(before)
        (folder / "a").chmod(0o640)
    if not unnamed:
        without_unnamed(monkeypatch)
    performer.perform(approved(folder / "a", performer))
    assert (folder / "a").read_text() == "new\n"
    mode = 0o666 & ~_mask() if before is None else 0o640
    assert stat.S_IMODE((folder / "a").stat().st_mode) == mode
    assert os.listdir(folder) == ["a"]
    assert not list((folder.parent / "state").glob("undo/rehearsals/*"))


@pytest.mark.parametrize("unnamed", [True, False])
def test_the_group_is_that_of_a_folder_that_gives_it(
    folder: Path, performer: FilePerformer, unnamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to a group that it is not in")
    os.chown(folder, -1, 4_242)
    folder.chmod(0o2775)
    if not unnamed:
        without_unnamed(monkeypatch)
    for name, before in (("new", None), ("old", "old\n")):
        if before:
            (folder / name).write_text(before)
        performer.perform(approved(folder / name, performer))
        assert (folder / name).stat().st_gid == 4_242


@pytest.mark.parametrize("unnamed", [True, False])
def test_a_full_disk_leaves_nothing(
    folder: Path, performer: FilePerformer, unnamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").write_text("old\n")
    if not unnamed:
        without_unnamed(monkeypatch)
    agreed = approved(folder / "a", performer)

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(IoError):
        performer.perform(agreed)
    assert os.listdir(folder) == ["a"] and (folder / "a").read_text() == "old\n"
    assert not list((folder.parent / "state").glob("undo/rehearsals/*"))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("moment", "when"), [("fsync", "before"), ("link", "after"), ("exchange", "before"), ("exchange", "after")]
)
def test_a_kill_leaves_the_old_file_or_the_new_one_and_nothing_beside_it(folder: Path, moment: str, when: str) -> None:
    (folder / "a").write_text("old\n")
    state = folder.parent / "state"
    words = [sys.executable, "-c", KILLED, str(folder / "a"), str(state), moment, when]
    ended = subprocess.run(words, cwd=Path(__file__).parents[3], timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert os.listdir(folder) == ["a"]
    assert (folder / "a").read_text() in ("old\n", "new\n")
    assert bool(list(state.glob("undo/rehearsals/*/file"))) is (moment != "fsync")
    sweep_all(str(folder), str(state))
    assert not list(state.glob("undo/rehearsals*"))


def test_a_kill_while_a_new_file_is_written_leaves_none(folder: Path) -> None:
    words = [sys.executable, "-c", KILLED, str(folder / "a"), str(folder.parent / "state"), "fsync", "before"]
    assert subprocess.run(words, cwd=Path(__file__).parents[3], timeout=60, check=False).returncode == -signal.SIGKILL
    assert os.listdir(folder) == []


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
