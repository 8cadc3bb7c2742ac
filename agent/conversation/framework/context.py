"""Put the prompt of a turn together: its parts in their order, each within its budget, the history compressed where it must be.

Fixed parts (handoff, instructions, the person's message) are measured first, and room for the reply is kept free; the four shares of the
configuration divide what is left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.conversation.framework.context_parts import block, instructions, known_lines
from agent.conversation.framework.history import USUAL_TOKENS, Kept, compressor, cut, fitted, rendered
from agent.conversation.framework.state.configuration import Allocation, ContextConfig, EngineConfiguration
from agent.conversation.framework.state.ports import Complete, ContextService, CountTokens, Message
from agent.conversation.framework.state.working_memory import CompressionEvent, ContextState, WorkingMemory
from agent.planner.untrusted import clean, data_block, estimate_tokens
from agent.protocol.errors import Cancelled

LOW_WATER = 0.6  # of the history's budget is filled after a compression, so that the next one is some turns away
SUMMARY_SHARE = 0.25  # of it at most is the summary
EVENTS_KEPT = 20
# The most of all that handoff, message, and all fixed parts together may take: instructions have what the others leave, 30 % at least.
_HANDOFF, _MESSAGE, _FIXED, _ROLE = 0.2, 0.3, 0.8, 0.1
_JOINT = 2  # tokens between two parts
_FACTS_KEPT = 2  # turns that stay whole beside key facts of all others
_RATIOS = (0.5, 4.0)  # what the server counts for one of our tokens lies between these, else it counts something else

Part = Literal["handoff", "instructions", "obligations", "background", "history", "extraction", "message"]
ORDER: tuple[Part, ...] = ("handoff", "instructions", "obligations", "background", "history", "extraction", "message")


class TurnTexts(Struct, frozen=True, kw_only=True):
    """The texts of one turn. `history` is in order, without this turn's message. `guidance`: what repairs, exits and the like ask for.
    `role`: how the person wants to be talked to, whatever the engine.
    """

    user_message: str
    role: str = ""
    history: Sequence[Message] = ()
    handoff: str = ""
    techniques: str = ""
    guidance: tuple[str, ...] = ()


class AssembledContext(Struct, frozen=True, kw_only=True, rename="camel"):
    """`context`: the state with what was compressed. `parts`: the tokens of each."""

    assembled_context: str
    tokens_used: int
    compression_applied: bool
    context: ContextState
    parts: dict[Part, int]


class ContextAssembler:
    """`model_tokens`: how many the model takes in all; an engine's own `maxTokens` only lowers it. Without `complete` a summary of old
    turns is made of their key facts.
    """

    def __init__(
        self,
        *,
        model_tokens: int = 0,
        complete: Complete | None = None,
        context_service: ContextService | None = None,
        count_tokens: CountTokens = estimate_tokens,
    ) -> None:
        self._model_tokens = model_tokens
        self._complete = complete
        self._service = context_service
        self._count_tokens = count_tokens

    async def assemble(self, config: EngineConfiguration, memory: WorkingMemory, turn: TurnTexts) -> AssembledContext:
        """Measure, compress what is too much, and put it together. Never more tokens than there are without those of the reply."""
        count = self._counter(memory.context.estimate_ratio)
        limit = prompt_limit(config.context_config, self._model_tokens)
        parts: dict[Part, str] = {
            "handoff": fitted(clean(turn.handoff).strip(), int(limit * _HANDOFF), count),
            "message": block("The person's message:", "person", turn.user_message, int(limit * _MESSAGE), count),
        }
        used = sum(count(text) + _JOINT for text in parts.values())
        role = fitted(clean(turn.role).strip(), int(limit * _ROLE), count)
        own = instructions(config, memory, turn.techniques, turn.guidance, role)
        parts["instructions"] = fitted(own, int(limit * _FIXED) - used, count)
        free = max(limit - used - count(parts["instructions"]) - _JOINT * len(ORDER), 0)
        budgets = shares(config.context_config.allocation, free)
        parts["obligations"] = await self._obligations(memory, budgets["obligations"], count)
        parts["background"] = await self._background(config, memory, budgets["background"], count)
        known = "\n".join(known_lines(config, memory))
        parts["extraction"] = block("What is known so far:", "known", known, budgets["extraction"], count)
        parts["history"], context = await self._history(
            config.context_config, memory, turn.history, budgets["history"], count
        )
        text = _joined(parts)
        for expendable in ("background", "extraction", "obligations", "history", "handoff", "instructions"):
            if count(text) <= limit:
                break
            parts[expendable] = ""
            text = _joined(parts)
        text = fitted(text, limit, count)
        tokens = count(text)
        return AssembledContext(
            assembled_context=text,
            tokens_used=tokens,
            compression_applied=context.compression_events != memory.context.compression_events,
            context=replace(context, tokens=tokens),
            parts={name: count(parts[name]) if parts[name] else 0 for name in ORDER},
        )

    def _counter(self, ratio: float) -> CountTokens:
        ratio = min(max(ratio, _RATIOS[0]), _RATIOS[1])
        return lambda text: math.ceil(self._count_tokens(text) * ratio)

    async def _obligations(self, memory: WorkingMemory, budget: int, count: CountTokens) -> str:
        told = memory.obligations.summary
        own = fitted(f"What has to be found out: {told}", budget, count) if told else ""
        more = await self._from_service(memory, ("obligation",), budget - count(own) - _JOINT, count)
        return "\n".join(each for each in (own, more) if each)

    async def _background(
        self, config: EngineConfiguration, memory: WorkingMemory, budget: int, count: CountTokens
    ) -> str:
        names = {each.task_id: each.display_name for each in config.background_tasks}
        lines = [
            f"{names.get(each.task_id, each.task_id)}: {each.result}" if each.status == "done" else
            f"{names.get(each.task_id, each.task_id)}: not available ({each.result or each.status}); do without it"
            for each in memory.background_tasks.completed
        ]  # fmt: skip
        own = block("Background:", "background", "\n".join(lines), budget, count)
        more = await self._from_service(memory, ("research", "pattern"), budget - count(own) - _JOINT, count)
        return "\n".join(each for each in (own, more) if each)

    async def _from_service(
        self, memory: WorkingMemory, types: tuple[str, ...], budget: int, count: CountTokens
    ) -> str:
        if self._service is None or budget < 1:
            return ""
        try:
            text = await self._service.assemble_context(
                project_id=memory.project_id, artifact_types=types, budget_tokens=budget
            )
        except Cancelled:
            raise
        except Exception:  # a service that fails costs what it knows, not the reply
            return ""
        return block(f"From the project ({', '.join(types)}):", "project", text, budget, count)

    async def _history(
        self, config: ContextConfig, memory: WorkingMemory, history: Sequence[Message], budget: int, count: CountTokens
    ) -> tuple[str, ContextState]:
        context = memory.context
        room = budget - count(_framed("x")) - _JOINT
        if room <= 0:
            return "", context
        sliding = config.compression_strategy == "sliding_window"
        summary = fitted(context.summary, int(room * SUMMARY_SHARE), count)
        everything = cut(
            history,
            count,
            budget=room - count(f"Before: {summary}") - 1,
            most_turns=config.keep_turns if sliding else len(history),
            after=context.summarized_through,
            older_budget=0,
        )
        if not everything.older:
            return _told(summary, everything, room, count), context
        keep = min(config.keep_turns, _FACTS_KEPT) if config.compression_strategy == "extractive" else config.keep_turns
        # A model has to read it, so it is no more than that; facts are found in more.
        older = room if config.compression_strategy == "summarize_old" and self._complete else 8 * room
        # What a window drops anyway makes no room by being dropped earlier.
        kept_budget = room if sliding else int(room * LOW_WATER) - int(room * SUMMARY_SHARE) // 2
        after, most = context.summarized_through, max(keep, 1)
        kept = cut(history, count, budget=kept_budget, most_turns=most, after=after, older_budget=older)
        before = Message(role="assistant", text=context.summary, turn=context.summarized_through)
        compress = compressor(config.compression_strategy, self._complete, count).compress
        summary = await compress((before, *kept.older) if context.summary else kept.older, int(room * SUMMARY_SHARE))
        text = _told(summary, kept, room, count)
        tokens = everything.tokens + sum(count(rendered(message)) + 1 for message in everything.older)
        event = CompressionEvent(
            at_turn=memory.turn_number,
            strategy=config.compression_strategy,
            tokens_before=tokens + count(context.summary),
            tokens_after=kept.tokens + count(summary),
        )
        return text, replace(
            context,
            summary=summary,
            summarized_through=max(kept.first_turn - 1, context.summarized_through),
            compression_events=(*context.compression_events, event)[-EVENTS_KEPT:],
        )


def prompt_limit(config: ContextConfig, model_tokens: int = 0) -> int:
    """Tokens that a prompt may have: those of the model or the engine, whichever is less, without those of the reply."""
    whole = min((each for each in (config.max_tokens, model_tokens) if each and each > 0), default=USUAL_TOKENS)
    return max(whole - min(max(config.response_tokens, 0), whole // 2), 1)


def shares(allocation: Allocation, free: int) -> dict[Part, int]:
    """The tokens that each of the four parts may have, together never more than there are."""
    wanted: dict[Part, float] = {
        "obligations": allocation.obligations,
        "history": allocation.conversation_history,
        "background": allocation.background_intelligence,
        "extraction": allocation.extraction_summary,
    }
    whole = max(sum(max(each, 0.0) for each in wanted.values()), 1.0)
    return {part: math.floor(free * max(share, 0.0) / whole + 1e-6) for part, share in wanted.items()}


def calibrated(context: ContextState, counted: int) -> ContextState:
    """The state once the server said how many tokens the last prompt had. What it counts more is believed at once, less bit by bit; what
    no tokenizer would count (a part that it had not cached, an odd server) is not.
    """
    ours = context.tokens / context.estimate_ratio if context.estimate_ratio > 0 else 0
    measured = counted / ours if ours >= 1 else 0
    if not _RATIOS[0] <= measured <= _RATIOS[1]:
        return context
    old = context.estimate_ratio
    return replace(context, estimate_ratio=measured if measured > old else 0.7 * old + 0.3 * measured)


def _joined(parts: dict[Part, str]) -> str:
    return "\n\n".join(parts[name] for name in ORDER if parts[name])


def _framed(text: str) -> str:
    return f"The conversation so far:\n{data_block('conversation', text)}"


def _told(summary: str, kept: Kept, room: int, count: CountTokens) -> str:
    """Summary and turns; without the summary where both are too much. Cutting inside could part a call from its result."""
    turns = [rendered(message) for message in kept.messages]
    for lines in ([f"Before: {summary}", *turns] if summary else turns, turns):
        body = "\n".join(lines)
        if body and count(body) <= room:
            return _framed(body)
    return ""
