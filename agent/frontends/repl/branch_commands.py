"""`:branch`, `:retry`, `:undo-turn`: a new session that goes on from a place in this one; and `:resume` after a crash."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent.frontends.past_words import known_lines
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import CoreError, InvalidRequest, InvalidState, NotFound
from agent.protocol.messages import ContinuationKind, GoalItem, UserInput
from agent.protocol.outcomes import GoalStatus
from agent.text.shown import shown_line

if TYPE_CHECKING:
    from agent.commands.table import FrontendCommand
    from agent.protocol.events import Origin
    from agent.recording.branching import Turn, Turns

_REDACTED = "[redacted:"
_MOST_GOAL = 60


async def run_branch_command(controller: SessionController, command: FrontendCommand) -> None:
    """Do one of the four. Raises CoreError, and then the session is as it was."""
    match command.name:
        case "branch":
            await branch(controller, command.argument)
        case "retry":
            await retry(controller, command.argument)
        case "undo-turn":
            await undo_turn(controller, command.argument)
        case "resume":
            await resume(controller, command.argument)


async def branch(controller: SessionController, argument: str) -> None:
    """`:branch`, and `:branch N`: what was said up to now, or up to the end of goal N (0: nothing). Raises CoreError."""
    found = await _turns(controller)
    count = len(found.turns)
    if not argument:
        place, where = found.end, f"after {_goals(count)}"
    else:
        number = int(argument) if argument.isascii() and argument.isdigit() and len(argument) < 9 else -1
        if not 0 <= number <= count or (not number and not count):
            had = f"this session has {_goals(count)}" if count else "this session has no goals yet"
            raise InvalidRequest(f":branch takes the number of a goal, and {had}", hint="`:history` shows them")
        place = found.turns[number - 1].after if number else found.turns[0].before
        where = f"after goal {number} of {count}" if number else "before the first goal"
    before = controller.ctx.session_id
    await _go_on(controller, place, "branch")
    controller.tell(
        f"session {controller.ctx.session_id}: branched from {before} {where}; files and shell stay as they are"
    )


async def retry(controller: SessionController, words: str) -> None:
    """The last goal again, in a branch made before it; `words` are added to it. Raises CoreError."""
    turn = _last((await _turns(controller)).turns)
    goal = turn.goal
    own = goal.origin == "shell"
    if own and words:
        raise InvalidRequest(
            "the last goal was a command of yours, which takes no remark", hint="type it as you want it"
        )
    if own and _REDACTED in goal.goal:
        raise InvalidRequest("the last command held a secret, which is not kept", hint="type it again")
    before = controller.ctx.session_id
    await _go_on(controller, turn.before, "retry")
    controller.tell(f"session {controller.ctx.session_id}: {_quoted(goal.goal)} again, branched from {before}")
    await _tell_what_stays(controller, turn)
    if own:
        await controller.send(UserInput(text=goal.goal, shell=True, private=goal.private, unlisted=goal.unlisted))
        return
    notes = controller.services.engine.app.project_notes(controller.ctx.cwd)  # the engine adds these by itself
    text = f"{goal.goal}\n\n{words}" if words else goal.goal
    context = tuple(block for block in goal.context if block not in notes)
    await controller.send(UserInput(text=text, files=goal.files, context=context, unlisted=goal.unlisted))


async def undo_turn(controller: SessionController, argument: str) -> None:
    """A branch without the last goal. Raises CoreError."""
    if argument:
        raise InvalidRequest(":undo-turn takes no argument", hint="`:branch N` goes back to the end of goal N")
    turn = _last((await _turns(controller)).turns)
    before = controller.ctx.session_id
    await _go_on(controller, turn.before, "undo-turn")
    controller.tell(f"session {controller.ctx.session_id}: {before} without its last goal, {_quoted(turn.goal.goal)}")
    await _tell_what_stays(controller, turn)


async def resume(controller: SessionController, argument: str) -> None:
    """Go on with the plan that this session left; else in the session that a crash ended, with what it left open; else with the plan that
    another session left in this folder. Raises CoreError.
    """
    if argument:
        wanted = existing_session(controller, argument)
    elif controller.ctx.plan_left is not None:
        wanted = controller.ctx.session_id
    else:
        services, own = controller.services, controller.ctx.session_id
        found = await asyncio.to_thread(services.left_open, own)
        wanted = found.session_id if found else await asyncio.to_thread(services.left_plan, controller.ctx.cwd, own)
        if not wanted:
            raise InvalidState(expected="a plan that was left, or a goal that a crash left open", found="none")
    if wanted != controller.ctx.session_id:
        await controller.switch(wanted)
        for line in known_lines(controller.ctx):
            controller.tell(line)
    left = controller.ctx.plan_left
    if left is not None:
        if left.cwd and left.cwd != controller.ctx.cwd:
            was, now = shown_line(left.cwd, 200), shown_line(controller.ctx.cwd, 200)
            controller.tell(f"the next step was to begin in {was}; it begins in {now}")
        await controller.send(UserInput.from_continuation(ContinuationKind.PLAN))
        return
    goals = (*controller.ctx.earlier_goals, *controller.ctx.goals)
    if not goals or goals[-1].status is not GoalStatus.INTERRUPTED:
        controller.tell("its last goal has ended; there is nothing to go on with")
        return
    if not any(isinstance(item, GoalItem) and item.goal_id == goals[-1].goal_id for item in controller.ctx.history):
        pending = controller.ctx.pending
        if pending is None:
            controller.tell("that was a command of yours; it is not run again by itself")
        else:
            controller.ctx.pending = None
            await controller.send(UserInput.from_shell(pending.command))
        return
    await controller.send(UserInput.from_continuation(ContinuationKind.CONTINUE))


async def _turns(controller: SessionController) -> Turns:
    """The goals of this session with its past. Raises InvalidState without a log, IoError."""
    path = controller.ctx.recorder.path
    if path is None:
        raise InvalidState(expected="a log to branch from", found="none (--no-persist)")
    from agent.recording.branching import turns
    from agent.recording.past import lineage_of

    return await asyncio.to_thread(lambda: turns(lineage_of(path)))


def _last(found: tuple[Turn, ...]) -> Turn:
    if not found:
        raise InvalidState(expected="an earlier goal in this session", found="none")
    return found[-1]


async def _go_on(controller: SessionController, place: Origin, how: str) -> None:
    """Open the branch, close this session, and go on there in the same shell."""
    from msgspec.structs import replace

    await controller.adopt(controller.open(None, origin=replace(place, how=how)), "branched")
    for note in controller.ctx.notes:
        controller.tell(note)


async def _tell_what_stays(controller: SessionController, turn: Turn) -> None:
    """A turn of the talk is taken back, not what it did: that is said, with how to do it."""
    if not turn.ran:
        return
    try:
        store = controller.services.undo()
        entries = await asyncio.to_thread(store.entries)
    except CoreError:
        entries = ()
    can = [entry.undo_id for entry in entries if entry.undo_id in turn.undo_ids and entry.state == "committed"]
    ways = f"; {', '.join(f'`:undo {undo_id}`' for undo_id in reversed(can))} takes it back" if can else ""
    controller.tell(f"what its commands did stays as it is{ways}")


def _quoted(goal: str) -> str:
    return f"«{shown_line(goal, _MOST_GOAL)}»"


def _goals(count: int) -> str:
    return "1 goal" if count == 1 else f"{count:,} goals"


def existing_session(controller: SessionController, name: str) -> str:
    """The id of the session that `name` means; a slip of the finger opens no new one. Raises NotFound, InvalidRequest, IoError."""
    wanted = controller.services.choose_session(
        name, attended=controller.interactive, besides=controller.ctx.session_id
    )
    if wanted != controller.ctx.session_id and not controller.services.session_is_there(wanted):
        shown_name = shown_line(name, 80)
        raise NotFound("session", shown_name, hint=f":session new {shown_name} makes one of that name")
    return wanted
