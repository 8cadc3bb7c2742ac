"""Keep lines typed at the goal prompt between sessions: one JSON string a line, readable by their owner only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prompt_toolkit.history import History

from agent.config.paths import make_folder, state_dir
from agent.config.private_file import append_whole
from agent.frontends.line import is_recorded
from agent.frontends.repl.history_search import PastReader

if TYPE_CHECKING:
    from prompt_toolkit.history import History

    from agent.frontends.repl.history_search_view import HistorySearch
    from agent.frontends.screen import Screen
    from agent.frontends.services import Services


class HistoryController:
    """`history` is what was typed at this prompt, `cwd` where commands run now. What was read is kept for the next time."""

    def __init__(self, screen: Screen, services: Services, history: History, cwd: Callable[[], str]) -> None:
        self._screen = screen
        self._services = services
        self._history = history
        self._cwd = cwd
        self._reader: PastReader | None = None

    def open(self, text: str) -> HistorySearch:
        """The list, with the line as it is as the first query."""
        from agent.frontends.repl.history_search_view import HistorySearch
        from agent.frontends.session_naming import session_folder

        environ = self._services.loaded.environ
        if self._reader is None:
            self._reader = PastReader(session_folder(self._services), state_dir(environ))
        return HistorySearch(
            self._screen,
            self._reader,
            self._history.get_strings()[::-1],
            cwd=self._cwd(),
            home=environ.get("HOME", ""),
            query=text,
        )


_TAIL = 512 * 1024
_MAX_ENTRY = 20_000


class GoalHistory(History):
    """Persistent history. Without a usable file it lasts as long as the process; `trouble` says why."""

    def __init__(self, path: str, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._path = path
        self._redact = redact
        self.trouble = ""

    def load_history_strings(self) -> Iterable[str]:
        """Newest first, from the last half megabyte; lines that cannot be read are passed over."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return
        except OSError as error:
            self.trouble = f"history cannot be read: {error.strerror}"
            return
        with os.fdopen(descriptor, "rb") as file:
            try:
                size = os.fstat(descriptor).st_size
                file.seek(max(0, size - _TAIL))
                lines = file.read(_TAIL).split(b"\n")
            except OSError as error:
                self.trouble = f"history cannot be read: {error.strerror}"
                return
        import json  # not for an empty history

        for line in reversed(lines):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, str) and entry:
                yield entry

    def append_string(self, string: str) -> None:
        """Keep `string`, redacted; a line with a blank in front is not kept at all."""
        if not is_recorded(string) or len(string) > _MAX_ENTRY:
            return
        string = self._redact(string)
        if self._loaded_strings[:1] == [string]:
            return
        super().append_string(string)

    def store_string(self, string: str) -> None:
        """Append one entry in one write."""
        import json

        data = json.dumps(string).encode("ascii") + b"\n"
        try:
            make_folder(os.path.dirname(self._path))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.fchmod(descriptor, 0o600)
                append_whole(descriptor, data)
            finally:
                os.close(descriptor)
        except OSError as error:
            self.trouble = f"history cannot be kept: {error.strerror}"
