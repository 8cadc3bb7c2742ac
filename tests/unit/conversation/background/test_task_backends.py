"""Each backend of background tasks does the same: one suite for all of them, and for those that last, what holds behind a kill."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from agent.conversation.background import dbos_process
from agent.conversation.background.journal_tasks import JournalTaskBackend
from agent.conversation.background.task_context import Handler, TaskContext, TaskKinds, TaskMeans
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.working_memory import BackgroundState, PendingTask
from agent.conversation.persistence.tables import PROJECTS
from agent.protocol.errors import InvalidState, IoError, NotFound
from agent.redaction.redactor import SecretRedactor
from tests.support.postgres_server import NoServer, Server, fresh_database, restartable_server
from tests.support.task_world import (
    STEPS,
    TaskPlace,
    configuration,
    definition,
    effects,
    ended,
    memory,
    until,
)

DBOS = pytest.param("dbos-postgresql", marks=pytest.mark.thorough)
JOURNALS = ["journal-sqlite", pytest.param("journal-postgresql", marks=pytest.mark.thorough)]
LASTING = [*JOURNALS, DBOS]
DONE = TaskReport(status="done", result="<one> <two> <three>")


@contextmanager
def placed(named: str, folder: Path) -> Iterator[TaskPlace]:
    """Yield a place for a backend, as `BACKEND-DATABASE`."""
    kind, _, database = named.partition("-")
    if kind == "dbos":
        pytest.importorskip("dbos", reason="the extra `dbos` is not installed")
    with ExitStack() as stack:
        url = f"sqlite:///{folder}/interviews.sqlite3"
        if database == "postgresql":
            pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
            try:
                url = stack.enter_context(fresh_database())
            except NoServer as error:
                pytest.skip(f"needs postgres: {error}")
        made = TaskPlace(kind, url, folder)
        stack.callback(made.close)
        yield made


@pytest.fixture(params=["inline", *LASTING])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TaskPlace]:
    with placed(request.param, tmp_path) as made:
        yield made


@pytest.fixture(params=LASTING)
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TaskPlace]:
    with placed(request.param, tmp_path) as made:
        yield made


@pytest.fixture(params=JOURNALS)
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TaskPlace]:
    with placed(request.param, tmp_path) as made:
        yield made


def report_of(place: TaskPlace, handler: str) -> TaskReport:
    async def run() -> TaskReport:
        backend = place.backend()
        report = await ended(backend, await backend.dispatch(definition(handler), memory()))
        await backend.close()
        return report

    return asyncio.run(run())


@pytest.mark.few(5)
@pytest.mark.covers("S3-90", "S3-92")
@pytest.mark.parametrize(
    ("handler", "report"),
    [
        ("echo", TaskReport(status="done", result="research of sample in /project")),
        ("steps", DONE),
        ("refused", TaskReport(status="failed", error="this needs a network, but found none")),
        ("broken", TaskReport(status="failed", error="ZeroDivisionError: division by zero")),
        ("twice", TaskReport(status="failed", error="ValueError: a step needs a name of its own: 'a'")),
    ],
)
def test_a_task_is_done_and_told_how(place: TaskPlace, handler: str, report: TaskReport) -> None:
    assert report_of(place, handler) == report


def test_a_result_is_bounded_and_holds_nothing_that_a_database_does_not_take(place: TaskPlace) -> None:
    report = report_of(place, "long")
    assert report.result.startswith("ab?xxx")
    assert len(report.result) < 100_000


def test_a_report_stays_since_the_turn_that_read_it_may_fail(place: TaskPlace) -> None:
    async def run() -> None:
        backend = place.backend()
        handle = await backend.dispatch(definition(), memory())
        assert await ended(backend, handle) == await backend.poll(handle) == DONE
        assert await backend.dispatch(definition(), memory()) == handle  # of a turn that failed, and is said again
        assert await backend.poll(handle) == DONE
        await backend.close()

    asyncio.run(run())
    assert effects(place.folder) == [f"s {step}" for step in STEPS]


def test_who_is_not_known_is_told(place: TaskPlace) -> None:
    async def run() -> None:
        backend = place.backend()
        with pytest.raises(NotFound, match="nobody"):
            await backend.dispatch(definition("nobody"), memory())
        for handle in ("research-1", "5f0c86c4-1111-4222-8333-444455556666"):
            with pytest.raises(NotFound, match=handle):
                await backend.poll(handle)
            await backend.cancel(handle)
        await backend.close()

    asyncio.run(run())


def test_another_attempt_and_another_state_are_other_tasks(place: TaskPlace) -> None:
    async def run() -> None:
        backend = place.backend()
        tried = PendingTask(task_id="research", attempt=2)
        again = replace(memory(), background_tasks=BackgroundState(pending=(tried,)))
        handles = {await backend.dispatch(definition("echo"), each) for each in (memory(), memory("other"), again)}
        assert len(handles) == 3
        await backend.close()

    asyncio.run(run())


def test_a_task_is_cancelled_and_may_be_begun_anew(place: TaskPlace) -> None:
    async def run() -> None:
        backend = place.backend()
        handle = await backend.dispatch(definition("endless"), memory())
        await until(lambda: effects(place.folder) == ["begun"])
        await backend.cancel(handle)
        await backend.cancel(handle)
        assert effects(place.folder) == ["begun", "ended"]
        assert await backend.poll(handle) == TaskReport(status="failed", error="it was cancelled")
        assert await backend.dispatch(definition("endless"), memory()) == handle
        await until(lambda: effects(place.folder) == ["begun", "ended", "begun"])
        await backend.close()
        await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})

    asyncio.run(run())
    assert effects(place.folder) == ["begun", "ended"] * 2


@pytest.mark.covers("S3-92")
def test_a_process_that_ends_leaves_its_tasks_to_the_next(lasting: TaskPlace) -> None:
    async def first() -> str:
        backend = lasting.backend("s")
        handle: str = await backend.dispatch(definition("stuck"), memory())
        await until((lasting.folder / "stuck").exists)
        return handle  # without a word: the loop ends, and what runs in it

    async def second(handle: str) -> TaskReport:
        backend = lasting.backend("s")
        return await ended(backend, handle)

    handle = asyncio.run(first())
    (lasting.folder / "go-on").touch()
    assert asyncio.run(second(handle)) == TaskReport(status="done", result="one, went on")
    assert effects(lasting.folder) == ["one"]


def test_a_session_does_its_own_tasks_and_a_worker_those_of_all(journal: TaskPlace) -> None:
    async def run() -> None:
        own, worker = journal.backend("other"), journal.backend()
        theirs = journal.journal("other")
        kind = worker._kinds.name(definition("echo"), "sample", "1.0.0")
        asking = journal.backend("s", at_once=0)
        handle = await asking.dispatch(definition("echo"), memory("s"))
        assert not theirs.is_waiting([kind])
        serving = asyncio.ensure_future(worker.serve())
        assert (await ended(asking, handle)).status == "done"
        serving.cancel()
        await asyncio.wait({serving})
        await own.close()

    asyncio.run(run())


@pytest.mark.covers("S3-92")
def test_work_of_another_version_is_not_taken(journal: TaskPlace) -> None:
    async def run() -> None:
        older, newer = (journal.backend("s", version=each, at_once=0) for each in ("1", "2"))
        handle = await older.dispatch(definition("echo"), memory())
        kinds = [each._kinds.names() for each in (older, newer)]
        assert [journal.journal("s").is_waiting(each) for each in kinds] == [True, False]
        assert journal.journal("s").claim(kinds[1], 4) == []
        assert journal.journal("s").claim([], 4) == []
        assert await older.poll(handle) == TaskReport(status="running")
        assert (await newer.poll(handle)).error == "it was begun by another version, or with another model"
        await newer.close()

    asyncio.run(run())


def test_what_a_worker_writes_counts_only_while_the_task_is_its_own(journal: TaskPlace) -> None:
    async def run() -> None:
        slow = journal.backend("s", at_once=0)
        await slow.dispatch(definition(), memory())
        kinds = slow._kinds.names()
        late, other = journal.journal("s"), journal.journal("s")
        late._lease = -1.0  # it has run out
        (mine,) = late.claim(kinds, 4)
        assert late.add_step(mine, "one", "<1>")
        (theirs,) = other.claim(kinds, 4)
        assert theirs.steps == {"one": "<1>"}
        assert not late.add_step(mine, "two", "late")
        assert not late.finish(mine, done=True, result="late")
        assert late.keep([mine]) == {mine.id}
        late.release([mine])
        assert other.keep([theirs]) == set()
        assert other.finish(theirs, done=True, result="theirs")
        assert other.report(mine.id) == ("done", "theirs")

    asyncio.run(run())


def test_a_task_that_ends_whoever_does_it_is_given_up(journal: TaskPlace) -> None:
    async def run() -> TaskReport:
        backend = journal.backend("s")
        look, backend._look = backend._look, lambda: None
        handle = await backend.dispatch(definition(), memory())
        dying = journal.journal("s")
        dying._lease = -1.0
        for _ in range(20):
            assert len(dying.claim(backend._kinds.names(), 4)) == 1
        backend._look = look
        return await ended(backend, handle)

    report = asyncio.run(run())
    assert report == TaskReport(status="failed", error="it was begun 20 times, and nobody came to its end")
    assert effects(journal.folder) == []


def test_a_state_that_is_none_is_a_failed_task(journal: TaskPlace) -> None:
    async def run() -> TaskReport:
        backend = journal.backend("s")
        kind = backend._kinds.name(definition("echo"), "sample", "1.0.0")
        task, session = (journal.id_of(each) for each in ("task", "s"))
        journal.journal("s").add(task, kind, session, {"engineId": ["nobody"]}, "/project")
        return await ended(backend, str(task))

    assert asyncio.run(run()).error == "the state that it began with cannot be read"


def test_what_ended_long_ago_is_removed(journal: TaskPlace) -> None:
    async def run() -> None:
        backend = journal.backend("s")
        handle = await backend.dispatch(definition("echo"), memory())
        await ended(backend, handle)
        with journal.database.writing() as connection:
            connection.exec_driver_sql("UPDATE eng_tasks SET leased_until = leased_until - 31 * 86400")
        other = journal.backend("other")
        await ended(other, await other.dispatch(definition("echo"), memory("other")))
        with pytest.raises(NotFound):
            await backend.poll(handle)

    asyncio.run(run())


@pytest.mark.covers("S3-92")
def test_what_was_found_out_is_not_lost_while_the_database_is_away(journal: TaskPlace) -> None:
    async def run() -> TaskReport:
        backend = journal.backend("s")
        handle = await backend.dispatch(definition("stuck"), memory())
        await until((journal.folder / "stuck").exists)
        journal.is_away = True
        (journal.folder / "go-on").touch()
        assert await backend.poll(handle) == TaskReport(status="running")
        with pytest.raises(IoError, match="away"):
            await backend.dispatch(definition("echo"), memory())
        journal.is_away = False
        return await ended(backend, handle)

    assert asyncio.run(run()) == TaskReport(status="done", result="one, went on")
    assert effects(journal.folder) == ["one"]


@pytest.mark.thorough
@pytest.mark.covers("S3-92")
@pytest.mark.parametrize("kind", ["journal", "dbos"])
def test_a_server_goes_away_and_comes_back(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    pytest.importorskip("dbos", reason="the extra `dbos` is not installed")

    async def run(server: Server) -> TaskReport:
        place = TaskPlace(kind, server.url, tmp_path)
        backend = place.backend("s")
        handle = await backend.dispatch(definition("stuck"), memory())
        await until((tmp_path / "stuck").exists)
        server.stop()
        (tmp_path / "go-on").touch()
        assert await backend.poll(handle) == TaskReport(status="running")
        with pytest.raises(IoError):
            await backend.dispatch(definition("echo"), memory("other"))
        server.start()
        report = await ended(backend, handle)
        await backend.close()
        place.close()
        return report

    try:
        with restartable_server() as made:
            assert asyncio.run(run(made)) == TaskReport(status="done", result="one, went on")
    except NoServer as error:
        pytest.skip(f"needs postgres: {error}")
    assert effects(tmp_path) == ["one"]


@pytest.mark.thorough
def test_no_pickle_is_read_or_written() -> None:
    serialization = pytest.importorskip("dbos._serialization", reason="the extra `dbos` is not installed")
    dbos_process.load()
    ours = serialization.DBOSPortableJSON
    pickle = "gASVGQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAJpZJSFlFKULg=="
    for read in (serialization.deserialize_value, serialization.deserialize_args, serialization.deserialize_exception):
        with pytest.raises(TypeError, match="neither written nor read"):
            read(pickle, "py_pickle", ours)
    with pytest.raises(TypeError, match="neither written nor read"):
        serialization.DefaultSerializer().serialize("x")


@pytest.mark.parametrize("text", ["{oops", "[" * 5_000 + "]" * 5_000])
def test_a_state_that_cannot_be_decoded_costs_no_other_task(tmp_path: Path, text: str) -> None:
    with placed("journal-sqlite", tmp_path) as place:

        async def run() -> list[TaskReport]:
            first = place.backend("s", at_once=0)
            handles = [await first.dispatch(definition(), memory(each)) for each in ("s", "t")]
            await first.close()
            with place.database.writing() as connection:
                changed = sa.text("UPDATE eng_tasks SET state_json = :text WHERE id = :id")
                connection.execute(changed, {"text": text, "id": uuid.UUID(handles[0]).hex})
            worker = place.backend()
            serving = asyncio.ensure_future(worker.serve())
            reports = [await ended(worker, each) for each in handles]
            assert not serving.done()
            await worker.close()
            return reports

        assert asyncio.run(run()) == [
            TaskReport(status="failed", error="the state that it began with cannot be read"),
            DONE,
        ]


def test_neither_a_failure_nor_a_folder_brings_a_secret_into_the_database(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    async def refused(context: TaskContext) -> str:
        raise InvalidState(expected="a key", found="none", message=f"the server refused {token}")

    with placed("journal-sqlite", tmp_path) as place:
        kinds = TaskKinds({"refused": Handler(refused)}, [configuration()])
        redact = SecretRedactor().redact_field
        backend = JournalTaskBackend(place.journal(), kinds, TaskMeans(folder=f"/srv/{token}", redact=redact))

        async def run() -> TaskReport:
            report = await ended(backend, await backend.dispatch(definition("refused"), memory()))
            await backend.close()
            return report

        assert asyncio.run(run()).error.startswith("the server refused [redacted:github-token:")
        with place.database.reading() as connection:
            [[name]] = connection.execute(sa.select(PROJECTS.c.name)).all()
        assert name.startswith("/srv/[redacted:github-token:")
