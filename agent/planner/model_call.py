"""Make one call of a model: pass its text on as it comes, and put the pieces of its answer together."""

from __future__ import annotations

from contextlib import aclosing
from typing import NamedTuple

from agent.planner.codecs.codecs import Codec
from agent.planner.codecs.extract import MAX_REPLY_CHARS
from agent.planner.codecs.streaming import ThoughtText, text_stream
from agent.planner.prompt import message_tokens
from agent.planner.untrusted import estimate_tokens, one_line
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ChatMessage
from agent.protocol.outcomes import Usage
from agent.protocol.ports import DeltaHandler, Provider
from agent.protocol.replies import Finish, TextDelta, ThoughtDelta, ToolCallDone, Waiting
from agent.protocol.requests import ProviderRequest


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
