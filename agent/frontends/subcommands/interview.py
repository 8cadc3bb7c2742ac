"""`agent-shell interview`: hold one, and export what it found out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from agent.audit.queries.choosing import NEWEST
from agent.audit.queries.interviews import extractions, interview_state
from agent.conversation.exports.kinds import EXPORTS, export
from agent.conversation.shipped import engine_id, registry
from agent.conversation.state_record import read_state
from agent.emitters.console import Noticing, say
from agent.emitters.streams import sink_of
from agent.frontends.interview.choosing import interview_named
from agent.frontends.interview.conversation import Conversation
from agent.frontends.interview.earlier import begin_from, earlier
from agent.frontends.interview.side_panel import PanelSwitch
from agent.frontends.one_session import open_controller
from agent.frontends.repl.answer_prompt import AnswerPrompt
from agent.frontends.services import Services
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.outcomes import ExitCode
from agent.waiting import in_thread


async def run_interview(
    services: Services,
    engine: str,
    first: str,
    resume: str | None = None,
    *,
    turn: int | None = None,
    branch: bool = False,
) -> int:
    """Hold an interview in a new session, in the one of the settings, or go on with the one that `resume` names: after `turn`, where one
    is given, in a session of its own with `branch`. Raises CoreError.
    """
    wanted = engine_id(engine)
    registry().get(wanted)
    found = await in_thread(partial(earlier, services, resume, turn, branch=branch))
    switch = PanelSwitch(wanted=services.settings.panel)
    emitter = Noticing(services.make_emitter(interview=lambda: switch.stands))
    opened = open_controller(services, emitter=emitter, profile="interview", session=found.session, origin=found.origin)
    async with opened as controller:
        told = await begin_from(controller, found)
        if told and not services.settings.json:
            controller.tell(told)
        return await Conversation(controller, wanted, AnswerPrompt, switch).run(first)


def run_export(services: Services, words: Sequence[str], resume: str | None = None) -> int:
    """Print what a session's interview found out: the kind, and the folder of an engine of one's own. Raises CoreError."""
    kind, engine = " ".join(words[:1]) or EXPORTS[0], " ".join(words[1:])
    if kind not in EXPORTS:
        raise NotFound("export", kind, hint=f"there are {', '.join(EXPORTS)}")
    if engine:
        engine_id(engine)
    session = interview_named(services, resume or services.settings.session_id or NEWEST)
    state = interview_state(session)
    if not state:
        raise InvalidRequest("nothing was said in that interview yet", hint="--resume names another one")
    memory = read_state(state)
    log = extractions(session.path, memory.engine_id)
    say(export(kind, memory, registry().get(memory.engine_id).config, log), sink_of(sys.stdout))
    return ExitCode.DONE
