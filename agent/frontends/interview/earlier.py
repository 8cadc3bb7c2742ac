"""Begin an interview, or go on from where it was: after an earlier turn, in a branch, or from the database where its log is not here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from agent.audit.queries.interviews import place_after, turn_of
from agent.conversation.framework.progress.questions import next_question
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.persistence.keeping import ProcessDatabase, database_at
from agent.conversation.registry.loading import Engine
from agent.conversation.registry.registry import registry
from agent.conversation.state_record import read_state
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.frontends.session_naming import interview_named
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
from agent.protocol.events.interview import InterviewStarted, InterviewWentBack
from agent.protocol.outcomes import Origin
from agent.recording.interview_turns import said_until
from agent.text.sizes import counted
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.conversation.persistence.store import Found


def opening(engine: Engine, memory: WorkingMemory, *, names: bool, last: str = "") -> str:
    """`names`: with the first question, where nothing was said yet; `last`: what was asked last, in a model's words."""
    config = engine.config
    if memory.ended:
        return f"{config.name}: {memory.ended}"
    if memory.turn_number:
        known = round(memory.completeness.overall * 100)
        question = config.field(memory.asked)
        choices = [f"  {number}) {choice}" for number, choice in enumerate(question.choices, 1)] if question else []
        open_one = last or ("\n".join([question.question, *choices]) if question else "")
        turns = counted(memory.turn_number, "turn")
        return f"{config.name}: {turns}, {known} % known; `:panel` shows what.\n{open_one}".rstrip()
    asked = config.field(memory.asked)  # where the first turn did not come to its end
    first = next_question(replace(memory, asked=""), config) if names else None
    text = asked.question if names and asked and asked.question else first.text if first else ""
    return f"{config.name}. {config.description}\n{text}"


class Earlier(Struct, frozen=True, kw_only=True):
    """The interview that `--resume` means: the `session` to go on in, the `origin` of a branch, or what the database `stored`; `turn`: the
    one to go back to first, None for the last.
    """

    session: str | None = None
    origin: Origin | None = None
    stored: Found | None = None
    turn: int | None = None


def earlier(services: Services, wanted: str | None, turn: int | None = None, *, branch: bool = False) -> Earlier:
    """Find what is wanted. Raises CoreError."""
    if wanted is None:
        if turn is not None or branch:
            raise InvalidRequest("which interview?", hint="--turn and --branch go with --resume ID")
        return Earlier()
    try:
        session = interview_named(services, wanted)
    except NotFound:
        stored = _stored(services, wanted, turn)
        if stored is None:
            raise
        return Earlier(session=None if branch else stored.name, stored=stored)
    if branch:
        return Earlier(origin=replace(place_after(session, turn), how="branch"))
    if turn is not None:
        turn_of(session.path, turn)
    return Earlier(session=session.session_id, turn=turn)


def _stored(services: Services, wanted: str, turn: int | None) -> Found | None:
    """Look in the database, where there is one. Raises CoreError."""
    database = _database(services)
    return database.find(wanted, turn) if database is not None else None


def _database(services: Services) -> ProcessDatabase | None:
    return database_at(services.engine.app.interview_database, services.engine.app.state_dir)


def prepare_database(services: Services) -> None:
    """Load and open it before the first turn needs it. Raises nothing."""
    database = _database(services)
    if database is not None:
        database.prepare()


async def begin_from(controller: SessionController, found: Earlier) -> str:
    """Bring the session that was opened for it to where it is wanted; what is to be said of that, "" for nothing. Raises CoreError."""
    if found.stored is not None:
        return await _take_up(controller, found.stored)
    if found.turn is not None:
        return await go_back(controller, found.turn)
    if found.origin is not None:
        return f"a branch of {found.origin.session}"
    return ""


async def _take_up(controller: SessionController, stored: Found) -> str:
    """Begin a log with a state from the database."""
    memory = read_state(stored.state)
    config = registry().get(memory.engine_id).config
    state = {**stored.state, "sessionId": controller.ctx.session_id}
    await controller.record(
        InterviewStarted(engine=config.engine_id, version=memory.engine_version, name=config.name, state=state)
    )
    controller.ctx.interview = state
    of = "" if stored.turn == stored.last else f" of {stored.last}"
    return f"its log is not here; taken up from the database after turn {stored.turn}{of}"


async def go_back(controller: SessionController, number: int) -> str:
    """Go on from where the interview was after a turn; what was done. Raises CoreError."""
    ctx = controller.ctx
    if ctx.recorder.path is None:
        raise InvalidState(expected="a log to go back in", found="none (--no-persist)")
    if not ctx.interview:
        raise NotFound("turn", str(number), hint="nothing was said yet")
    last = read_state(ctx.interview).turn_number
    turn = await in_thread(partial(turn_of, ctx.recorder.path, number))
    if number == last:
        return ""
    await controller.record(InterviewWentBack(turn=number, goal=turn.goal, state=turn.state))
    ctx.interview, ctx.history = turn.state, said_until(ctx.history, turn.goal)
    database = _database(controller.services)
    if database is not None:  # where it fails, the next turn says so, and makes up for it
        project = ctx.redactor.redact(ctx.base or ctx.cwd)
        await in_thread(partial(database.follow, ctx.session_id, ctx.recorder.path, project))
    return f"back at turn {number}; what was said in {counted(last - number, 'turn')} after it counts no more"
