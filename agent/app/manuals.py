"""Wire what is known of installed programs' options: part of the composition root. Nothing of it is loaded before a command is rated."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.config.paths import cache_dir

if TYPE_CHECKING:
    from agent.protocol.decisions import RiskReport
    from agent.retrieval.manuals import Manuals

_SECONDS = 0.004
"""Seconds that a confirmation waits for it: a text that was read before is at hand in less."""
_HELP_SECONDS = 5.0


def ask_help(path: str) -> str:
    """Return what a program prints for `--help`. Its caller has seen to it that it may be asked."""
    from agent.execution.confine.entering import held_output

    return held_output((path, "--help"), _HELP_SECONDS)


class ProcessManuals:
    """The manuals of this machine. `environ` says where the cache folder is; without `keeps`, nothing is kept there."""

    def __init__(self, environ: Mapping[str, str], *, keeps: bool) -> None:
        self._environ = dict(environ)
        self._keeps = keeps
        self._building = threading.Lock()
        self._built: list[Manuals] = []

    def manuals(self) -> Manuals:
        """All of them, made when first asked for."""
        from agent.retrieval.manuals import Manuals

        with self._building:
            if not self._built:
                folder = os.path.join(cache_dir(self._environ), "manuals") if self._keeps else ""
                self._built.append(Manuals(folder, ask_help))
            return self._built[0]

    def lacking(self, report: RiskReport) -> str:
        """Say what programs of a rated command do not have here, in words; "" for nothing, and for what cannot be known soon enough.

        The rest is read all the same, for the next time.
        """
        if not any(word[:1] == "-" for run in report.programs for word in run.words[1:]):
            return ""
        if self._built and (last := self._built[0].found)[0] == report.command:  # a planner has asked before
            return "; ".join(each.text for each in last[1])
        from agent.waiting import beside  # a loop, which what only reads the logs has no use for

        found: list[str] = []
        done = threading.Event()

        def look() -> None:
            with contextlib.suppress(Exception):  # it only helps; whatever is wrong with a page, nothing is said of it
                found.extend(each.text for each in self.manuals().missing(report))
            done.set()

        beside(look)
        return "; ".join(found) if done.wait(_SECONDS) else ""
