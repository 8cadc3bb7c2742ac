"""Keep the question that halted a cycle until it is answered, also by a later process: one for each repository, in a file of its own."""

from __future__ import annotations

import os

import msgspec
from msgspec import Struct

from agent.config.private_file import replace_file
from agent.protocol.errors import IoError
from agent.protocol.execution import Processes
from agent.repo_agent.repository import Repository
from agent.repo_agent.worktrees import Worktrees

_MOST_BYTES = 1 << 20


class OpenQuestion(Struct, frozen=True, kw_only=True):
    """`session`: in which it was put, and goes on when it is answered."""

    session: str
    task: int
    title: str
    question: str
    worktree: str


class OpenQuestions:
    """The questions of one repository; `folder` is where its worktrees lie."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "question.json")

    def load(self) -> OpenQuestion | None:
        """Return the one that waits, None for none. Raises IoError for a file that cannot be read."""
        try:
            with open(self._path, "rb") as file:
                return msgspec.json.decode(file.read(_MOST_BYTES), type=OpenQuestion)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise IoError(f"cannot read {self._path}: {error}") from error

    def keep(self, question: OpenQuestion) -> None:
        """Write it, in the place of an earlier one. Raises IoError."""
        try:
            os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
            replace_file(self._path, msgspec.json.encode(question))
        except OSError as error:
            raise IoError(f"cannot write {self._path}: {error.strerror}") from error

    def clear(self) -> None:
        """Forget it: it was answered, or its task is worked on anew."""
        try:
            os.unlink(self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise IoError(f"cannot remove {self._path}: {error.strerror}") from error


async def questions_of(processes: Processes, top: str, state: str) -> OpenQuestions:
    """Return the questions of the repository at `top`. Raises CoreError where git cannot tell of it."""
    worktrees = Worktrees(Repository(processes, os.path.realpath(top)), state)
    return OpenQuestions(os.path.dirname(await worktrees.folder(1)))
