"""Feeding kept logs to the engine, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from agent.app.composition import build_services, load
from agent.audit.replay.cases import LogRemark
from agent.audit.replay.check import Checked, check
from agent.engine.context import AppState
from agent.frontends.services import Services
from agent.protocol.records import Record, decode, encode
from agent.recording.reader import BadLine, read_session

_APP: list[AppState] = []


def todays_app() -> AppState:
    """The engine's own parts, as without any settings. Nothing of them looks at this machine while a log is fed."""
    if not _APP:
        _APP.append(services_at("/nonexistent").engine.app)
    return _APP[0]


def services_at(folder: str, **flags: Any) -> Services:
    """Services whose sessions lie in `folder`."""
    return build_services(load({"session_dir": folder, "persist": folder != "/nonexistent", **flags}))


def all_of(lines: Iterable[Record | BadLine], app: AppState, *, goal: int = 0) -> list[Checked | LogRemark]:
    async def gather() -> list[Checked | LogRemark]:
        return [found async for found in check(app, lines, goal=goal)]

    return asyncio.run(gather())


def checked(log: Path, app: AppState) -> list[Checked]:
    """What a check of `log` finds, goal by goal."""
    return [found for found in all_of(read_session(str(log)), app) if isinstance(found, Checked)]


def records_of(log: Path) -> list[Record]:
    return [decode(line) for line in log.read_bytes().splitlines()]


def written(path: Path, records: Iterable[Record]) -> Path:
    """A log of these records."""
    path.write_bytes(b"".join(encode(record) for record in records))
    return path


def changed(records: Iterable[Record], kind: type, change: Callable[[Any], Any]) -> list[Record]:
    """The records with `change` applied to every event of a kind."""
    from msgspec.structs import replace

    return [replace(r, event=change(r.event)) if isinstance(r.event, kind) else r for r in records]
