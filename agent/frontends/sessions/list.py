"""`agent-shell sessions list`: what was recorded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agent.config.paths import default_session_dir
from agent.emitters.report import print_rows
from agent.emitters.streams import sink_of
from agent.recording.reader import list_sessions

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own yet."""


async def run(services: Services, options: argparse.Namespace) -> int:
    """Print one row a session, the newest last."""
    folder = services.settings.session_dir or default_session_dir(services.loaded.environ)
    rows = [
        {"session": found.session_id, "date": found.date, "bytes": found.size, "path": found.path}
        for found in list_sessions(folder)
    ]
    print_rows(rows, json=services.settings.json, out=sink_of(sys.stdout), columns=("session", "date", "bytes"))
    return 0
