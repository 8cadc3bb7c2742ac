"""`agent-shell interview`: hold one, and export what it found out."""

from __future__ import annotations

import sys

from agent.audit.queries.choosing import listed
from agent.audit.queries.interviews import extractions, interview_state, newest_interview
from agent.conversation.exports.kinds import EXPORTS, export
from agent.conversation.framework.working_memory import from_data
from agent.conversation.shipped import engine_id, registry
from agent.emitters.console import say
from agent.emitters.streams import sink_of
from agent.frontends.interview.conversation import Conversation
from agent.frontends.one_session import open_controller
from agent.frontends.services import Services
from agent.frontends.session_naming import find_session, session_folder
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.outcomes import ExitCode


async def run_interview(services: Services, engine: str, first: str) -> int:
    """Hold an interview in a new session, or go on with the one of the settings. Raises CoreError."""
    wanted = engine_id(engine)
    registry().get(wanted)
    async with open_controller(services, profile="interview") as controller:
        return await Conversation(controller, wanted).run(first)


def run_export(services: Services, kind: str) -> int:
    """Print what a session's interview found out. Raises CoreError."""
    if kind not in EXPORTS:
        raise NotFound("export", kind, hint=f"there are {', '.join(EXPORTS)}")
    known, wanted = listed(session_folder(services)), services.settings.session_id
    session = find_session(services, wanted, known) if wanted else newest_interview(known)
    state = interview_state(session)
    if not state:
        raise InvalidRequest("no interview was held in that session", hint="--session-id names another one")
    memory = from_data(state)
    log = extractions(session.path, memory.engine_id)
    say(export(kind, memory, registry().get(memory.engine_id).config, log), sink_of(sys.stdout))
    return ExitCode.DONE
