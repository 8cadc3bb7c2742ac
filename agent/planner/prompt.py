"""Write a planner request as the messages of one model call, within the model's context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from agent.planner.codecs.codecs import Codec, as_reply
from agent.planner.render import Renderer, settled
from agent.planner.report import Reporter, TokenShares, environment_text, redacted_line
from agent.planner.untrusted import Sized, clip, data_block, estimate_tokens, prompt_text, weight, window
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ChatMessage, CommandItem, GoalItem, HistoryItem, ReplyItem, StepItem, SummaryItem
from agent.protocol.replies import Chat
from agent.protocol.requests import PlannerRequest

MESSAGE_TOKENS = 4  # what a message costs beside its text
IMAGE_TOKENS = 1600  # about what the large providers count for an image at full size
MIN_HISTORY_TOKENS = 256
_KINDS: dict[type[HistoryItem], Literal["goal", "reply"]] = {GoalItem: "goal", ReplyItem: "reply"}


class Prompt:
    """Builds prompts of one planner. `context_tokens` is the model's whole context, the answer included.

    `small`: short instructions, and the facts about the machine among them instead of beside each goal. A goal then looks just like those
    of the examples; else a model of a few hundred million parameters answers with what stands in the facts. `manual`: what manuals of
    programs here say for a goal, the same each time.
    """

    def __init__(
        self,
        *,
        context_tokens: int,
        system_extra: str,
        redact: Callable[[str], str],
        system_prompt: str | None = None,
        small: bool = False,
        manual: Callable[[GoalItem], str] | None = None,
    ) -> None:
        self._manual = manual
        self._system_prompt = system_prompt
        self.small = small
        self._context_tokens = context_tokens
        self._system_extra = system_extra.strip()
        self._redact = redact
        self._reporter: Reporter | None = None

    def messages(
        self,
        request: PlannerRequest,
        codec: Codec,
        *,
        answer_tokens: int | None,
        examples: tuple[ChatMessage, ...] = (),
    ) -> tuple[ChatMessage, ...]:
        """System prompt, `examples` where there is room for them, and history. Raises PlannerError if not even the last turn fits."""
        system = ChatMessage(role="system", content=self._system(request, codec))
        reserve = answer_tokens or min(2048, self._context_tokens // 6)
        room = self._context_tokens - reserve - message_tokens(system) - _tool_tokens(codec)
        shown_tokens = sum(map(message_tokens, examples))
        if room - shown_tokens < 4 * MIN_HISTORY_TOKENS:
            examples, shown_tokens = (), 0
        room -= shown_tokens
        if room < MIN_HISTORY_TOKENS:
            words = f"the instructions alone nearly fill the model's context of {self._context_tokens:,} tokens"
            raise PlannerError(words, hint="raise --context-tokens if the model has more, or choose a model that has")
        body = self._history(request.history, codec, room)
        used = sum(map(message_tokens, body))
        if used > room:
            words = f"the goal with its files and last results needs about {used:,} tokens, and the model has room for {room:,}"
            raise PlannerError(words, hint="give less context, or choose a model with a larger one")
        return (system, *examples, *body)

    def to_summarize(self, history: tuple[HistoryItem, ...], codec: Codec, max_tokens: int) -> tuple[ChatMessage, ...]:
        """The instructions to write down what matters of `history` in `max_tokens`, and all of it as data."""
        told = prompt_text("summary").replace("{words}", f"{max_tokens * 3 // 5}")
        system = ChatMessage(role="system", content=told)
        room = max(self._context_tokens - 2 * max_tokens - message_tokens(system), MIN_HISTORY_TOKENS)
        renderer = Renderer(codec, Reporter(TokenShares.within(room), self._redact, facts=False))
        said = [message for item in history for message in renderer.feed(item)]
        text = "\n\n".join(f"{message.role}:\n{message.content}" for message in said)
        return system, ChatMessage(
            role="user", content=data_block("earlier part of the session", clip(text, room - 64))
        )

    def _system(self, request: PlannerRequest, codec: Codec) -> str:
        """Write what stays the same from turn to turn; the form of the reply comes last, where small models heed it most."""
        small = "_small" if self.small else ""
        usual = prompt_text(f"system{small}") if self._system_prompt is None else self._system_prompt
        parts = [
            request.role.strip(),
            request.instructions or usual,
            self._system_extra,
            prompt_text(f"data{small}"),
            self._facts(request.history) if self.small else "",
            prompt_text("code_only") if request.code_only else "",
            codec.instructions(),
        ]
        return "\n\n".join(part for part in parts if part)

    def _facts(self, history: tuple[HistoryItem, ...]) -> str:
        """Those of the last goal."""
        goal = next((item for item in reversed(history) if isinstance(item, GoalItem)), None)
        if goal is None:
            return ""
        facts = environment_text(goal.environment, self._redact)
        known = self._manual(goal) if self._manual is not None else ""
        return "\n\n".join(part for part in (f"# Environment\n{facts}" if facts else "", known) if part)

    def _history(self, history: tuple[HistoryItem, ...], codec: Codec, room: int) -> tuple[ChatMessage, ...]:
        shares = TokenShares.within(room)
        if self._reporter is None or self._reporter.shares != shares:
            self._reporter = Reporter(
                shares, self._redact, facts=not self.small, manual=None if self.small else self._manual
            )
        renderer = Renderer(codec, self._reporter)
        groups: list[tuple[ChatMessage, ...]] = []
        for item in history:
            if groups and isinstance(item, (GoalItem, ReplyItem)):
                groups[-1] += renderer.settle()  # belongs to the turn that ends here, whichever side of the cut that is
            groups.append(renderer.feed(item))
        digest_tokens = room // 8
        tokens = [sum(map(message_tokens, group)) for group in groups]
        sizes = [Sized(_KINDS.get(type(item), "other"), size) for item, size in zip(history, tokens, strict=True)]
        cut = window(sizes, room, digest_tokens=digest_tokens)
        shown = [message for group in groups[cut:] for message in group]
        if cut:
            told = digest(history[:cut], digest_tokens, self._redact)
            before = [ChatMessage(role="user", content=told)]
            if not isinstance(history[cut], GoalItem):
                goals = [at for at in range(cut) if isinstance(history[at], GoalItem)]
                before += [message for at in goals[-1:] for message in groups[at] if message.role == "user"]
            shown = before + shown
        return settled((*shown, *renderer.settle()))


def message_tokens(message: ChatMessage) -> int:
    """Estimated tokens of one message with its calls."""
    if not message.tool_calls:
        return estimate_tokens(message.content) + MESSAGE_TOKENS + IMAGE_TOKENS * len(message.images)
    import json

    calls = "".join(call.name + json.dumps(call.arguments, ensure_ascii=False) for call in message.tool_calls)
    return estimate_tokens(message.content) + estimate_tokens(calls) + MESSAGE_TOKENS


def _tool_tokens(codec: Codec) -> int:
    import json

    tools = codec.wire_tools
    return sum(estimate_tokens(tool.name + tool.description + json.dumps(tool.parameters)) + 8 for tool in tools)


_INTRO = "[host] Earlier parts of this session, shortened:"


def digest(items: Sequence[HistoryItem], max_tokens: int, redact: Callable[[str], str]) -> str:
    """Put what is still known of `items` into a message."""
    return f"{_INTRO}\n{data_block('summary', digest_text(items, max_tokens - 40, redact))}"


def digest_text(items: Sequence[HistoryItem], max_tokens: int, redact: Callable[[str], str]) -> str:
    """Lines about `items`, newest kept where not all fit into `max_tokens`."""
    lines = [line for item in items for line in _lines(item, redact)]
    room = max_tokens
    kept: list[str] = []
    for line in reversed(lines):
        room -= int(weight(line)) + 1
        if room < 0:
            break
        kept.append(line)
    if len(kept) < len(lines):
        kept.append(f"({len(lines) - len(kept):,} earlier lines left out)")
    return "\n".join(reversed(kept))


def _lines(item: HistoryItem, redact: Callable[[str], str]) -> list[str]:
    """Of a summary, the lines that it has, as long as they may get here."""
    texts = item.text.splitlines() if isinstance(item, SummaryItem) else [_line(item, redact)]
    return [redacted_line(text, 400, redact) for text in texts if text.strip()]


def _line(item: HistoryItem, redact: Callable[[str], str]) -> str:
    if isinstance(item, GoalItem):
        return f"goal: {redacted_line(item.text, 200, redact)}"
    if isinstance(item, CommandItem):
        command = redacted_line(item.run or item.proposed, 160, redact)
        if item.outcome != "ran":
            said = f": {redacted_line(item.remark, 120, redact)}" if item.remark else ""
            return f"- {command} -> {item.outcome}, not run{said}"
        if item.job:
            return f"- {command} -> goes on in the background"
        moved = item.cwd_after and item.cwd_after != item.cwd
        where = f"; now in {redacted_line(item.cwd_after, 200, redact)}" if moved else ""
        return f"- {command} -> exit code {item.exit_code}{_last_words(item, redact)}{where}"
    if isinstance(item, StepItem):
        return f"step {item.number} of {item.total}: {redacted_line(item.goal, 160, redact)}"
    if isinstance(item, ReplyItem):
        reply = as_reply(item)
        return f"answer: {redacted_line(reply.message, 200, redact)}" if isinstance(reply, Chat) else ""
    return ""


def _last_words(item: CommandItem, redact: Callable[[str], str]) -> str:
    """The last line of a failure: what is worth remembering of it."""
    if item.exit_code == 0:
        return ""
    text = item.stderr[-2000:].strip() or item.stdout[-2000:].strip()
    return f" ({redacted_line(text.splitlines()[-1], 120, redact)})" if text else ""
