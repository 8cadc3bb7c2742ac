"""`:branch`, `:retry`, `:undo-turn`: a new session that goes on from a place in this one, in the same shell."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition, only
from agent.protocol.errors import CoreError, InvalidRequest, InvalidState
from agent.protocol.events.command import undo_resumed
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import FrontendRequest, Origin
from agent.protocol.records import LABEL
from agent.text.shown import shown_line
from agent.text.sizes import counted

if TYPE_CHECKING:
    from agent.recording.branching import Turn, Turns

_MOST_GOAL = 60


async def branch(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`:branch`, and `:branch N`: what was said up to now, or up to the end of goal N (0: nothing). Raises CoreError."""
    found = await _turns(context)
    count = len(found.turns)
    if not arguments:
        place, where = found.end, f"after {counted(count, 'goal')}"
    else:
        number = int(arguments) if arguments.isascii() and arguments.isdigit() and len(arguments) < 9 else -1
        if not 0 <= number <= count or (not number and not count):
            had = f"this session has {counted(count, 'goal')}" if count else "this session has no goals yet"
            raise InvalidRequest(f":branch takes the number of a goal, and {had}", hint="`:history` shows them")
        place = found.turns[number - 1].after if number else found.turns[0].before
        where = f"after goal {number} of {count}" if number else "before the first goal"
    told = f"branched from {context.session.session_id} {where}; files and shell stay as they are"
    return _to_branch(place, "branch", told)


async def retry(context: CommandContext, arguments: str) -> DispatchOutcome:
    """The last goal again, in a branch made before it; words are added to it. Raises CoreError."""
    turn = _last(await _turns(context))
    goal = turn.goal
    own = goal.origin == "shell"
    if own and arguments:
        raise InvalidRequest(
            "the last goal was a command of yours, which takes no remark", hint="type it as you want it"
        )
    if own and LABEL in goal.goal:
        raise InvalidRequest("the last command held a secret, which is not kept", hint="type it again")
    if own:
        again = UserInput(text=goal.goal, shell=True, private=goal.private, unlisted=goal.unlisted)
    else:
        notes = context.app.project_notes(context.session.cwd)  # the engine adds these by itself
        text = f"{goal.goal} {arguments}" if arguments else goal.goal  # one line: several would be several goals
        kept = tuple(block for block in goal.context if block not in notes)
        again = UserInput(text=text, files=goal.files, context=kept, unlisted=goal.unlisted)
    told = f"{_quoted(goal.goal)} again, branched from {context.session.session_id}"
    return _to_branch(turn.before, "retry", told, *await _what_stays(context, turn), input=again)


async def undo_turn(context: CommandContext, arguments: str) -> DispatchOutcome:
    """A branch without the last goal. Raises CoreError."""
    turn = _last(await _turns(context))
    told = f"{context.session.session_id} without its last goal, {_quoted(turn.goal.goal)}"
    return _to_branch(turn.before, "undo-turn", told, *await _what_stays(context, turn))


def _to_branch(place: Origin, how: str, told: str, *more: str, input: UserInput | None = None) -> DispatchOutcome:
    texts = (f"session {{session}}: {told}", *more)
    request = FrontendRequest(action="switch", origin=replace(place, how=how), texts=texts, input=input)
    return DispatchOutcome(frontend_request=request)


def _usable(context: CommandContext, arguments: str) -> None:
    if context.session.recorder.path is None:
        raise InvalidState(expected="a log to branch from", found="none (--no-persist)")


async def _turns(context: CommandContext) -> Turns:
    """The goals of this session with its past. Raises IoError."""
    from agent.recording.branching import lineage_of, turns

    path = context.session.recorder.path
    assert path is not None, "`_usable` has seen to it"
    return await asyncio.to_thread(lambda: turns(lineage_of(path)))


def _last(found: Turns) -> Turn:
    if not found.turns:
        raise InvalidState(expected="an earlier goal in this session", found="none")
    return found.turns[-1]


async def _what_stays(context: CommandContext, turn: Turn) -> tuple[str, ...]:
    """A turn of the talk is taken back, not what it did: that is said, with how to do it."""
    if not turn.ran:
        return ()
    try:
        store = context.services.undo()
        entries = await asyncio.to_thread(store.entries)
        for resumed in store.take_resumed():
            await context.record(undo_resumed(resumed))
    except CoreError:
        entries = ()
    can = [entry.undo_id for entry in entries if entry.undo_id in turn.undo_ids and entry.state == "committed"]
    ways = f"; {', '.join(f'`:undo {undo_id}`' for undo_id in reversed(can))} takes it back" if can else ""
    return (f"what its commands did stays as it is{ways}",)


def _quoted(goal: str) -> str:
    return f"«{shown_line(goal, _MOST_GOAL)}»"


COMMANDS = (
    Definition(
        names=("branch",),
        arguments="[N]",
        help="a new session with all goals so far, or up to goal N",
        examples=(":branch", ":branch 3"),
        handle=branch,
        usable=_usable,
        line=(":branch, :retry, :undo-turn", "a copy: as it is, last goal again, or without it"),
    ),
    Definition(
        names=("retry",),
        arguments="[WORDS]",
        help="the last goal again, in a branch made before it; WORDS are added",
        examples=(":retry", ":retry but only the newest three"),
        handle=retry,
        usable=_usable,
    ),
    Definition(
        names=("undo-turn",),
        help="a branch without the last goal; files stay as they are",
        examples=(":undo-turn",),
        read=only(message=":undo-turn takes no argument", hint="`:branch N` goes back to the end of goal N"),
        handle=undo_turn,
        usable=_usable,
    ),
)
