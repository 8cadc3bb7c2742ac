"""Keep the question that halted a cycle, and its answer, until its task is done, also for a later process: a file for each task."""

from __future__ import annotations

import os
import re

import msgspec
from msgspec import Struct

from agent.config.private_file import replace_file
from agent.protocol.errors import IoError
from agent.protocol.execution import Processes
from agent.repo_agent.repository import Repository
from agent.repo_agent.worktrees import Worktrees
from agent.struct_types import built

_MOST_BYTES = 1 << 20
_FILE = re.compile(r"task-(\d{1,9})\.question")


class OpenQuestion(Struct, frozen=True, kw_only=True):
    """`session`: in which it was put, and goes on when it is answered. `answer`: "" until there is one."""

    session: str
    task: int
    title: str
    question: str
    worktree: str
    answer: str = ""


class OpenQuestions:
    """The questions of one repository; `folder` is where the marks of its tasks are."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load(self, task: int | None = None) -> OpenQuestion | None:
        """Return that of a task; without one the last that was put, of those that wait for an answer if any does; None for none.

        Raises IoError for a file that cannot be read.
        """
        if task is not None:
            return self._read(self._path(task))
        found = [each for path in self._paths() if (each := self._read(path)) is not None]
        return next((each for each in found if not each.answer), found[0] if found else None)

    def keep(self, question: OpenQuestion) -> None:
        """Write it, in the place of an earlier one. Raises IoError."""
        path = self._path(question.task)
        try:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            replace_file(path, msgspec.json.encode(question))
        except OSError as error:
            raise IoError(f"cannot write {path}: {error.strerror}") from error

    def clear(self, task: int) -> None:
        """Forget that of a task, which is done."""
        path = self._path(task)
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise IoError(f"cannot remove {path}: {error.strerror}") from error

    def _path(self, task: int) -> str:
        return os.path.join(self._folder, f"task-{task}.question")

    def _paths(self) -> list[str]:
        """Return the files of all of them, the newest first."""
        try:
            found = [
                (each.stat().st_mtime_ns, each.path) for each in os.scandir(self._folder) if _FILE.fullmatch(each.name)
            ]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise IoError(f"cannot read {self._folder}: {error.strerror}") from error
        return [path for _, path in sorted(found, reverse=True)]

    def _read(self, path: str) -> OpenQuestion | None:
        try:
            with open(path, "rb") as file:
                return msgspec.json.decode(file.read(_MOST_BYTES), type=built(OpenQuestion))
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise IoError(f"cannot read {path}: {error}") from error


async def questions_of(processes: Processes, top: str, state: str) -> OpenQuestions:
    """Return the questions of the repository at `top`. Raises CoreError where git cannot tell of it."""
    worktrees = Worktrees(Repository(processes, os.path.realpath(top)), state)
    return OpenQuestions(await worktrees.kept())
