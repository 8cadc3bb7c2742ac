"""History as messages to a model: pure, and append-only, so that what a server has cached stays valid.

`Renderer.feed` turns one item after another into messages and never changes what it gave before; the messages of a longer
history begin with those of a shorter one, byte for byte. `settled` then makes of them what servers accept.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.planner.codecs.codecs import Codec, as_calls, as_text
from agent.planner.report import HOST, Reporter
from agent.protocol.messages import (
    Attached,
    ChatMessage,
    CommandItem,
    GoalItem,
    HistoryItem,
    ReplyItem,
    StepItem,
    SummaryItem,
    ToolCall,
    ToolItem,
)

_NO_RESULT = f"{HOST} No result: this call was not carried out."


class Renderer:
    """One pass over one history, in the form of `codec`."""

    def __init__(self, codec: Codec, reporter: Reporter) -> None:
        self._codec = codec
        self._reporter = reporter
        self._pending: dict[str, ToolCall] = {}  # calls without a result yet: id in the history -> call as sent
        self._deferred: list[ChatMessage] = []  # user messages that must not stand between a call and its result
        self._replies = 0

    def feed(self, item: HistoryItem) -> tuple[ChatMessage, ...]:
        """The messages that `item` adds."""
        if isinstance(item, GoalItem):
            return (*self.settle(), _user(self._reporter.goal(item), item.images))
        if isinstance(item, ReplyItem):
            return (*self.settle(), self._reply(item))
        if isinstance(item, CommandItem):
            text = self._reporter.command(item, show_command=item.origin not in ("planner", "person", "replay"))
            return self._result(item.call_id, text, from_planner=item.origin not in ("person", "replay"))
        if isinstance(item, ToolItem):
            named = not (self._codec.native and item.call_id in self._pending)
            return self._result(item.call_id, self._reporter.tool(item, named=named), from_planner=True)
        if isinstance(item, StepItem):  # that of a plan which was called for is the result of the call
            return self._result("", self._reporter.step(item), from_planner=True)
        if isinstance(item, SummaryItem):
            return self._say(self._reporter.summary(item))
        return self._say(self._reporter.note(item.text))

    def settle(self) -> tuple[ChatMessage, ...]:
        """Results for calls that never got one, and what waited for them."""
        missing = [_tool(call.id, _NO_RESULT) for call in self._pending.values()]
        self._pending = {}
        return (*missing, *self._release())

    def _reply(self, item: ReplyItem) -> ChatMessage:
        self._replies += 1
        if not self._codec.native:
            return ChatMessage(role="assistant", content=as_text(item, self._codec))
        text, calls = as_calls(item)
        sent = []
        for number, call in enumerate(calls):
            renamed = ToolCall(id=_wire_id(self._replies, number), name=call.name, arguments=call.arguments)
            self._pending[call.id] = renamed
            sent.append(renamed)
        return ChatMessage(role="assistant", content=text, tool_calls=tuple(sent))

    def _result(self, call_id: str, text: str, *, from_planner: bool) -> tuple[ChatMessage, ...]:
        """The result of a call as such where one waits for it, else in a message of its own."""
        if not call_id and from_planner and self._pending:
            call_id = next(iter(self._pending))  # a command reply carries no call id: it was one call alone
        call = self._pending.pop(call_id, None)
        if call is None:
            return self._say(text)
        return (_tool(call.id, text), *(() if self._pending else self._release()))

    def _say(self, text: str) -> tuple[ChatMessage, ...]:
        if self._pending:
            self._deferred.append(_user(text))
            return ()
        return (_user(text),)

    def _release(self) -> tuple[ChatMessage, ...]:
        released, self._deferred = tuple(self._deferred), []
        return released


def settled(messages: Iterable[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Messages as every chat template takes them: user and assistant in turns, the person's side last."""
    out: list[ChatMessage] = []
    for message in messages:
        last = out[-1] if out else None
        if last is not None and last.role == message.role and _is_plain(last) and _is_plain(message):
            content, images = f"{last.content}\n\n{message.content}", (*last.images, *message.images)
            out[-1] = ChatMessage(role=last.role, content=content, images=images)
        else:
            out.append(message)
    if out and out[-1].role == "assistant":
        out.append(_user(f"{HOST} Go on."))
    return tuple(out)


def _is_plain(message: ChatMessage) -> bool:
    return message.role in ("user", "assistant") and not message.tool_calls


def _user(text: str, images: tuple[Attached, ...] = ()) -> ChatMessage:
    return ChatMessage(role="user", content=text, images=images)


def _tool(call_id: str, text: str) -> ChatMessage:
    return ChatMessage(role="tool", content=text, tool_call_id=call_id)


def _wire_id(reply: int, number: int) -> str:
    """Nine letters and digits, unique in the conversation: the strictest form any server asks for."""
    import hashlib

    return hashlib.blake2b(f"{reply}:{number}".encode(), digest_size=5).hexdigest()[:9]
