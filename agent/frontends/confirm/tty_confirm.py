"""Find the terminal a person can be asked on: at standard input, the controlling one behind a pipe, or none. The prompt itself is
imported when there is something to confirm: the first frame does without.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent.frontends.services import Services
from agent.protocol.confirmations import Alternative, Confirmation, ConfirmationRequest, Declined, Discard, Review
from agent.protocol.ports import Confirmer, PreviewOf
from agent.protocol.rehearsals import Rehearsal

if TYPE_CHECKING:
    from typing import TextIO

    from agent.frontends.confirm.confirmer import PromptConfirmer
    from agent.frontends.screen import Screen


@contextmanager
def confirmer_for(services: Services) -> Iterator[tuple[Confirmer, bool]]:
    """The confirmer for this process, and whether a person is behind it.

    A person is there if standard error is a terminal (they see the question) and standard input is one too, or we run in the
    foreground of a controlling terminal.
    """
    if not _is_terminal(sys.stderr):
        yield UnattendedConfirmer(), False
    elif _is_terminal(sys.stdin):
        yield _prompt(services, sys.stdin, sys.stderr if services.settings.json else None), True
    else:
        terminal = _open_controlling_terminal()
        if terminal is None:
            yield UnattendedConfirmer(), False
            return
        with terminal:
            yield _prompt(services, terminal, sys.stderr), True


def _prompt(services: Services, stdin: TextIO, stdout: TextIO | None) -> Confirmer:
    from agent.frontends.screen import open_screen

    return LateConfirmer(open_screen(stdin, stdout, theme=services.settings.theme), services)


class LateConfirmer:
    """ports.Confirmer, Reviewer and Picker."""

    def __init__(self, screen: Screen, services: Services) -> None:
        self.screen = screen
        self._services = services

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        return await self._prompt().confirm(request)

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        return await self._prompt().confirm_live(request, preview)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        return await self._prompt().ask_word(request)

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        return await self._prompt().review(request, rehearsal)

    async def pick(self, choices: tuple[Alternative, ...]) -> int:
        return await self._prompt().pick(choices)

    def _prompt(self) -> PromptConfirmer:
        from agent.frontends.confirm.confirmer import PromptConfirmer

        services = self._services
        return PromptConfirmer(
            self.screen,
            services.processes,
            services.loaded.environ,
            services.rate,
            edit_mode=services.settings.edit_mode,
            rules=services.rules,
            context=services.context,
            experience=services.experience,
            undo_words=services.undo_words,
        )


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _open_controlling_terminal() -> TextIO | None:
    """The terminal we were started from, where we are in its foreground: a job in the background must not take its keys."""
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        in_front = os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        in_front = False
    if not in_front:
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "r", encoding="utf-8", errors="surrogateescape")


class UnattendedConfirmer:
    """ports.Confirmer without a person: everything that needs one is declined."""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        return Declined(unattended=True)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        return None

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        return Discard()
