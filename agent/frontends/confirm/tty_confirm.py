"""Find the terminal a person can be asked on: at standard input, the controlling one behind a pipe, or none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent.frontends.services import Services
from agent.protocol.decisions import Confirmation, ConfirmationRequest, Declined, Discard, Review
from agent.protocol.ports import Confirmer
from agent.protocol.rehearsals import Rehearsal

if TYPE_CHECKING:
    from typing import TextIO


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
    from agent.frontends.confirm.confirmer import PromptConfirmer
    from agent.frontends.screen import open_screen

    settings = services.settings
    screen = open_screen(stdin, stdout, theme=settings.theme)
    return PromptConfirmer(
        screen,
        services.processes,
        services.loaded.environ,
        services.rate,
        edit_mode=settings.edit_mode,
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
