"""Open the history across sessions for the goal prompt. Costs nothing until it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.config.paths import state_dir
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
