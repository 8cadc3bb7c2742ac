"""What background work of interviews takes: from the beginning of a trivial task to its result, and a worker with nothing to do."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks.figures import Figure
from tests.support.postgres_server import NoServer, fresh_database
from tests.support.task_world import TaskPlace, definition, ended, memory

_TASKS, _IDLE = 20, 10.0


async def _measured(place: TaskPlace) -> tuple[float, float]:
    """Return the median milliseconds of a task, and the percent of a core of an idle worker."""
    backend, took = place.backend(), list[float]()
    serving = asyncio.ensure_future(backend.serve()) if place.kind != "inline" else None
    await ended(backend, await backend.dispatch(definition("echo"), memory("first")))
    for number in range(_TASKS):
        began = time.perf_counter()
        await ended(backend, await backend.dispatch(definition("echo"), memory(f"s{number}")))
        took.append((time.perf_counter() - began) * 1e3)
    began, used = time.perf_counter(), time.process_time()
    await asyncio.sleep(_IDLE)
    idle = 100 * (time.process_time() - used) / (time.perf_counter() - began)
    await backend.close()
    if serving is not None:
        await asyncio.wait({serving})
    return statistics.median(took), idle


def main() -> list[Figure]:
    """Milliseconds, by the clock; percent of the CPU of one core."""
    found = list[Figure]()
    for kind, database in (("inline", ""), ("journal", "SQLite"), ("journal", "PostgreSQL"), ("dbos", "PostgreSQL")):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            url = f"sqlite:///{folder}/interviews.sqlite3"
            if database == "PostgreSQL":
                try:
                    url = stack.enter_context(fresh_database())
                except NoServer:
                    continue
            place = TaskPlace(kind, url, folder)
            stack.callback(place.close)
            took, idle = asyncio.run(_measured(place))
        where = f"{kind} on {database}" if database else kind
        found.append(Figure(f"a background task, {where}", took, 0, "ms", "<= 150 ms", took <= 150))
        if kind != "inline":
            found.append(Figure(f"an idle worker, {where}", idle, 0, "% of a core", "< 2 %", idle < 2))
    return found


if __name__ == "__main__":
    for figure in main():
        print(figure)
