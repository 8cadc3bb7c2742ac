"""Hand over from an interview: to whom, with which wish, and a first goal for the planner with what is known."""

from __future__ import annotations

from msgspec.structs import replace

from agent.conversation.framework.handoff.exits import PLANNER, REPO_AGENT
from agent.conversation.registry.loading import Engine
from agent.emitters.console import Noticing
from agent.frontends.confirm.questions import words_at
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import InvalidRequest
from agent.protocol.messages import ContextBlock, UserInput
from agent.protocol.requests import RunOptions


def adjusted(given: RunOptions, *, engine: str, accept: str) -> RunOptions:
    """Options of a turn: the engine that begins the interview, and the target that is accepted, "" for none."""
    return replace(given, interview=replace(given.interview, engine=engine, accept=accept))


def name_of(target: str) -> str:
    return {PLANNER: "the planner", REPO_AGENT: "the repository agent (TASKS.md)"}.get(target, target)


def missing_target(engine: Engine) -> str:
    """Raises InvalidRequest: nothing was offered yet, and nobody is handed over to somewhere by chance."""
    targets = [each.target_engine for each in engine.config.exit_transitions]
    known = f"{engine.config.name} hands over to {', '.join(targets)}" if targets else "nobody takes over from here"
    raise InvalidRequest("hand over to whom?", hint=f":go TARGET; {known}")


def known_block(text: str) -> ContextBlock:
    """Give the planner what an interview found out."""
    return ContextBlock(label="requirements from the interview", text=text)


async def plan_first(controller: SessionController, known: str) -> int | None:
    """Give the planner a first goal with what is known, in a session of its own. The exit code; None where there is no goal yet."""
    ask = words_at(controller.confirmer) if controller.interactive else None
    goal = await ask("what shall the planner do first? Enter alone: nothing yet") if ask is not None else ""
    if not (goal or "").strip():
        return None
    before, controller.adjust = controller.ctx, lambda options: options
    opened = await controller.services.opened(
        "cli", None, cwd=before.cwd, terminal=controller.services.has_terminal, attended=controller.interactive
    )
    await controller.adopt(opened, "switched")
    controller.emitter = Noticing(controller.services.make_emitter())
    given = replace(UserInput.from_text((goal or "").strip()), context=(known_block(known),))
    return (await controller.send(given)).exit_code
