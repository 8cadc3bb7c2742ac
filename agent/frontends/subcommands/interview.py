"""`agent-shell interview`: hold one, and export what it found out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from agent.audit.queries.choosing import NEWEST, listed
from agent.audit.queries.interviews import extractions, interview_state, is_interview, newest_interview
from agent.conversation.exports.kinds import EXPORTS, export
from agent.conversation.shipped import engine_id, registry
from agent.conversation.state_record import read_state
from agent.emitters.console import say
from agent.emitters.streams import sink_of
from agent.frontends.interview.conversation import Conversation
from agent.frontends.one_session import open_controller
from agent.frontends.services import Services
from agent.frontends.session_naming import find_session, session_folder
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.outcomes import ExitCode
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.recording.reader import SessionFile


async def run_interview(services: Services, engine: str, first: str, resume: str | None = None) -> int:
    """Hold an interview in a new session, in the one of the settings, or go on with the one that `resume` names. Raises CoreError."""
    wanted = engine_id(engine)
    registry().get(wanted)
    session = None if resume is None else (await in_thread(partial(_interview, services, resume))).session_id
    async with open_controller(services, profile="interview", session=session) as controller:
        return await Conversation(controller, wanted).run(first)


def run_export(services: Services, words: Sequence[str], resume: str | None = None) -> int:
    """Print what a session's interview found out: the kind, and the folder of an engine of one's own. Raises CoreError."""
    kind, engine = " ".join(words[:1]) or EXPORTS[0], " ".join(words[1:])
    if kind not in EXPORTS:
        raise NotFound("export", kind, hint=f"there are {', '.join(EXPORTS)}")
    if engine:
        engine_id(engine)
    session = _interview(services, resume or services.settings.session_id or NEWEST)
    state = interview_state(session)
    if not state:
        raise InvalidRequest("nothing was said in that interview yet", hint="--resume names another one")
    memory = read_state(state)
    log = extractions(session.path, memory.engine_id)
    say(export(kind, memory, registry().get(memory.engine_id).config, log), sink_of(sys.stdout))
    return ExitCode.DONE


def _interview(services: Services, wanted: str) -> SessionFile:
    """The session that `wanted` names; `last` is the newest interview, whatever else was done since. Raises CoreError."""
    known = listed(session_folder(services))
    if wanted == NEWEST:
        return newest_interview(known)
    session = find_session(services, wanted, known)
    if not is_interview(session):
        raise InvalidRequest(f"{session.session_id} is no interview", hint="`--resume last` is the newest one")
    return session
