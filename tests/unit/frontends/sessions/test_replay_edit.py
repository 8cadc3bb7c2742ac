"""A person completes a command of which the log has only a label."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from agent.frontends.confirm.tty_confirm import UnattendedConfirmer
from agent.frontends.sessions.replay_run import complete
from tests.support.fake_terminal import FakeTerminal

COMMAND = "curl -H 'Authorization: [redacted:bearer:1a2b]' example.org"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("\x15echo done\r", "echo done"), ("\r", COMMAND), ("\x03", None), (" -s\r", f"{COMMAND} -s")],
)
def test_the_line_is_there_to_be_edited(terminal: FakeTerminal, keys: str, expected: str | None) -> None:
    terminal.keys.send_text(keys)
    confirmer = SimpleNamespace(screen=terminal.screen)
    assert asyncio.run(complete(confirmer, COMMAND, "emacs")) == expected  # type: ignore[arg-type]  # only its screen counts


def test_without_a_terminal_nobody_completes_it() -> None:
    assert asyncio.run(complete(UnattendedConfirmer(), COMMAND, "emacs")) is None
