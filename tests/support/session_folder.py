"""A folder of session logs with the services that its actions need, and nothing behind them that could run a command."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.execution.processes import HostProcesses
from agent.frontends.services import Services
from agent.protocol.records import Record, encode
from tests.support.fakes import fake_classify


def _never(*_: object, **__: object) -> Any:
    raise AssertionError("showing a log opens no session")


class SessionFolder:
    """`put` writes a log; `run` runs an action of `sessions` over the folder, its exit code comes back."""

    def __init__(self, base: Path) -> None:
        self.path = base / "sessions"
        self.path.mkdir()
        self.environ = {"HOME": str(base), "XDG_STATE_HOME": str(base / "state"), "PATH": os.environ["PATH"]}

    def put(
        self, records: Iterable[Record], session_id: str = "a", *, date: str = "2026-03-14", modified: float = 0
    ) -> Path:
        path = self.path / f"{date}-{session_id}.jsonl"
        path.write_bytes(b"".join(encode(record) for record in records))
        if modified:
            os.utime(path, (modified, modified))
        return path

    def services(self, **settings: Any) -> Services:
        given = Settings(session_dir=str(self.path), **settings)
        return Services(
            loaded=Loaded(settings=given, origins={}, secrets={}, environ=self.environ),
            make_engine=_never,
            processes=HostProcesses(),
            open_session=_never,
            make_emitter=_never,
            undo=_never,
            rate=lambda command, cwd, session="": fake_classify(command, _never),
            warm=_never,
            shutdown=_never,
        )

    def run(self, action: str, *words: str, **settings: Any) -> int:
        module = importlib.import_module(f"agent.frontends.sessions.{action}")
        parser = argparse.ArgumentParser()
        module.add_arguments(parser)
        options = parser.parse_intermixed_args(list(words))
        return int(asyncio.run(module.run(self.services(**settings), options)))
