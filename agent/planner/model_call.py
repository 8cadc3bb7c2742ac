"""Make one call of a model: pass its text on as it comes, put the pieces of its answer together, and check what it says.

A model that only repeats its instructions is found out; commands are held against the manuals of the programs installed here.
"""

from __future__ import annotations

import re
from contextlib import aclosing
from typing import TYPE_CHECKING, NamedTuple

from agent.planner.codecs.codecs import Codec
from agent.planner.codecs.extract import MAX_REPLY_CHARS
from agent.planner.codecs.streaming import ThoughtText, text_stream
from agent.planner.prompt import message_tokens
from agent.planner.untrusted import data_block, estimate_tokens, one_line, prompt_text
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ChatMessage, GoalItem
from agent.protocol.outcomes import Usage
from agent.protocol.ports import DeltaHandler, Provider
from agent.protocol.replies import Command, Finish, Plan, Reply, TextDelta, ThoughtDelta, ToolCallDone, Waiting
from agent.protocol.requests import ProviderRequest

if TYPE_CHECKING:
    from agent.retrieval.manuals import Manuals, Missing


class Answer(NamedTuple):
    """One complete model reply as it came."""

    text: str
    calls: tuple[ToolCallDone, ...]
    finish: Finish


async def ask(
    provider: Provider, call: ProviderRequest, codec: Codec, on_delta: DeltaHandler, *, after_text: bool
) -> Answer:
    """One model call, with its chat text passed on as it comes."""
    decode = text_stream(codec.name) if call.stream else None
    thoughts = ThoughtText()
    parts: list[str] = []
    calls: list[ToolCallDone] = []
    size = 0
    stream = provider.stream(call)
    async with aclosing(stream) as pieces:  # type: ignore[type-var]
        async for piece in pieces:
            if isinstance(piece, Finish):
                return Answer("".join(parts), tuple(calls), piece)
            if isinstance(piece, ToolCallDone):
                calls.append(piece)
                size += len(piece.arguments_json) + len(piece.name)
            elif isinstance(piece, ThoughtDelta):
                size += len(piece.text)
                await on_delta(piece.text, thought=True)
            elif isinstance(piece, Waiting):
                await on_delta(f"{one_line(piece.why)}; asks again in {piece.seconds:.0f} s\n", thought=True)
            elif isinstance(piece, TextDelta):
                parts.append(piece.text)
                size += len(piece.text)
                if call.stream and not thoughts.over and (thought := thoughts.feed(piece.text)):
                    await on_delta(thought, thought=True)
                if decode is not None and (text := decode(piece.text)):
                    await on_delta(f"\n{text}" if after_text else text)
                    after_text = False
            if size > MAX_REPLY_CHARS:
                raise PlannerError(f"the model did not stop: more than {MAX_REPLY_CHARS:,} characters in one reply")
    raise PlannerError("the model's reply ended without saying that it is complete")


async def unheard(text: str, /, *, thought: bool = False) -> None:
    """Nobody reads along."""


def counted(answer: Answer, messages: tuple[ChatMessage, ...]) -> Usage:
    """The server's own count, or an estimate where it gave none."""
    usage = answer.finish.usage
    if usage.input_tokens or usage.output_tokens:
        return usage
    written = answer.text + "".join(call.name + call.arguments_json for call in answer.calls)
    sent = sum(map(message_tokens, messages))
    return Usage(input_tokens=sent, output_tokens=estimate_tokens(written), cost=usage.cost, estimated=True)


_RUN = 4  # words in a row that count as the same
_LEAST = 6  # words; fewer may be an answer that happens to stand there, too
_MOST_READ = 2_000  # characters of the message
_SHARE = 0.8


def echoes(message: str, instructions: str) -> bool:
    """Tell whether nearly all of `message` stands in `instructions`, whatever the case and the punctuation."""
    said = _runs(message[:_MOST_READ])
    if len(said) < _LEAST - _RUN + 1:
        return False
    known = set(_runs(instructions))
    return sum(run in known for run in said) >= _SHARE * len(said)


def _runs(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return [tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]


_MOST_LINES = 8
_LONGEST = 160


class OptionFacts:
    """Keep what was found out for goals, so that a goal reads the same in every prompt. Its methods block, but for `of`."""

    def __init__(self, manuals: Manuals) -> None:
        self._manuals = manuals
        self._lines: dict[str, tuple[str, ...]] = {}

    def look_up(self, goal: GoalItem) -> None:
        """Read what the manuals of programs that a goal names say about its words."""
        if goal.goal_id not in self._lines:
            self._lines[goal.goal_id] = self._manuals.facts(goal.text)

    def of(self, goal: GoalItem) -> str:
        """That, as a part of a prompt; "" where there is nothing."""
        return _block(self._lines.get(goal.goal_id, ()))

    def missing(self, reply: Reply) -> tuple[Missing, ...]:
        """Options of a proposal that its programs do not have here."""
        steps = reply.steps if isinstance(reply, Plan) else (reply,) if isinstance(reply, Command) else ()
        return tuple(each for step in steps for each in self._manuals.missing_in(step.command))


def correction(missing: tuple[Missing, ...], goal: str) -> str:
    """Tell a model what it cannot use, and what there is instead."""
    lines = dict.fromkeys(f"{each.program} {line}" for each in missing for line in each.near(goal))
    told = prompt_text("repair_options").replace("{missing}", one_line("; ".join(each.text for each in missing)))
    return f"{told}\n{_block(tuple(lines))}" if lines else told


def lost(missing: tuple[Missing, ...]) -> int:
    """Count the options."""
    return sum(len(each.options) for each in missing)


def _block(lines: tuple[str, ...]) -> str:
    text = "\n".join(one_line(line, _LONGEST) for line in lines[:_MOST_LINES])
    return data_block("manual pages", text) if text else ""
