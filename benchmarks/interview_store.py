"""What it takes to keep a turn of an interview in SQLite and in PostgreSQL, and to resume an interview of 500 turns."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.app.composition import build_services, load
from agent.conversation.persistence import keeping
from agent.frontends.interview.earlier import earlier
from agent.frontends.services import Services
from agent.protocol.messages import UserInput
from agent.protocol.requests import InterviewOptions, RunOptions, RunRequest
from benchmarks.figures import Figure
from tests.support.fakes import FakeEmitter
from tests.support.postgres_server import NoServer, restartable_server
from tests.support.session_world import Nobody

_TURNS, _RESUMED, _MEASURED = 60, 500, 40


def _services(base: Path, url: str) -> Services:
    keeping.database_of.cache_clear()
    os.environ["XDG_STATE_HOME"] = str(base / "state")
    work = {"cwd": str(base), "session_dir": str(base / "logs")}
    return build_services(load({**work, "planner": "offline", "interview_database": url}))


@contextmanager
def _timed(took: list[float]) -> Iterator[None]:
    """Gather the milliseconds of each turn that is kept: the log's hash, redaction, transaction."""
    plain = keeping.ProcessDatabase.attempt

    def attempt(self: keeping.ProcessDatabase, work: keeping.Work) -> str:
        began = time.perf_counter()
        try:
            return plain(self, work)
        finally:
            took.append((time.perf_counter() - began) * 1e3)

    keeping.ProcessDatabase.attempt = attempt  # type: ignore[method-assign]
    try:
        yield
    finally:
        keeping.ProcessDatabase.attempt = plain  # type: ignore[method-assign]


def _hold(services: Services, turns: int) -> str:
    """Hold an interview of so many turns; the id of its session."""
    options = RunOptions(interview=InterviewOptions(engine="project-discovery"))

    async def talk() -> str:
        ctx = services.open_session("cli", profile="interview")
        for number in range(turns):
            text = f"We keep lists of {number} things in several places; nobody knows which of them is right"
            request = RunRequest(input=UserInput(text=text), options=options)
            await services.engine.run(ctx, request, FakeEmitter(), Nobody())
        await services.engine.close(ctx)
        return ctx.session_id

    return asyncio.run(talk())


def _a_turn(base: Path, url: str) -> float:
    """The milliseconds of a turn, the median of the last ones."""
    took: list[float] = []
    with _timed(took):
        _hold(_services(base, url), _TURNS)
    return statistics.median(took[-_MEASURED:])


def _resumed(base: Path) -> float:
    """The milliseconds from the id to the session with its state and what was said in it."""
    session = _hold(_services(base, ""), _RESUMED)
    took = []
    for _ in range(5):
        services = _services(base, "")
        began = time.perf_counter()
        found = earlier(services, session)
        ctx = services.open_session("cli", found.session, profile="interview")
        took.append((time.perf_counter() - began) * 1e3)
        assert ctx.interview["turnNumber"] == _RESUMED
        asyncio.run(services.engine.close(ctx))
    return min(took)


def main() -> list[Figure]:
    """Milliseconds, by the clock."""
    known = os.environ.get("XDG_STATE_HOME")
    try:
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            sqlite, resumed = _a_turn(Path(first), ""), _resumed(Path(second))
        figures = [
            Figure("a turn of an interview into SQLite", sqlite, 0, "ms", "<= 3 ms", sqlite <= 3),
            Figure("resume an interview of 500 turns", resumed, 0, "ms", "<= 100 ms", resumed <= 100),
        ]
        try:
            with restartable_server(durable=True) as made, tempfile.TemporaryDirectory() as folder:
                postgres = _a_turn(Path(folder), made.url)
            figures.append(
                Figure("a turn of an interview into PostgreSQL", postgres, 0, "ms", "<= 12 ms", postgres <= 12)
            )
        except NoServer as error:
            print(f"no PostgreSQL here: {error}")
    finally:
        os.environ.pop("XDG_STATE_HOME") if known is None else os.environ.update(XDG_STATE_HOME=known)
    return figures
