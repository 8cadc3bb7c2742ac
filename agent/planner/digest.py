"""What no longer fits into the context, in a few lines: earlier goals and steps with their commands and endings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.planner.budget import weight
from agent.planner.codecs.past_replies import as_reply
from agent.planner.untrusted import data_block, one_line
from agent.protocol.messages import CommandItem, GoalItem, HistoryItem, ReplyItem, StepItem
from agent.protocol.replies import Chat

_INTRO = "[host] Earlier parts of this session, shortened:"


def digest(items: Sequence[HistoryItem], max_tokens: int, redact: Callable[[str], str]) -> str:
    """Lines about `items`, newest kept where not all fit into `max_tokens`."""
    lines = [line for item in items if (line := _line(item, redact))]
    room = max_tokens - 40
    kept: list[str] = []
    for line in reversed(lines):
        room -= int(weight(line)) + 1
        if room < 0:
            break
        kept.append(line)
    if len(kept) < len(lines):
        kept.append(f"({len(lines) - len(kept):,} earlier lines left out)")
    return f"{_INTRO}\n{data_block('summary', chr(10).join(reversed(kept)))}"


def _line(item: HistoryItem, redact: Callable[[str], str]) -> str:
    if isinstance(item, GoalItem):
        return f"goal: {_short(item.text, 200, redact)}"
    if isinstance(item, CommandItem):
        command = _short(item.run or item.proposed, 160, redact)
        if item.outcome != "ran":
            said = f": {_short(item.remark, 120, redact)}" if item.remark else ""
            return f"- {command} -> {item.outcome}, not run{said}"
        if item.job:
            return f"- {command} -> goes on in the background"
        return f"- {command} -> exit code {item.exit_code}{_last_words(item, redact)}"
    if isinstance(item, StepItem):
        return f"step {item.number} of {item.total}: {_short(item.goal, 160, redact)}"
    if isinstance(item, ReplyItem):
        reply = as_reply(item)
        return f"answer: {_short(reply.message, 200, redact)}" if isinstance(reply, Chat) else ""
    return ""


def _last_words(item: CommandItem, redact: Callable[[str], str]) -> str:
    """The last line of a failure: what is worth remembering of it."""
    if item.exit_code == 0:
        return ""
    text = item.stderr[-2000:].strip() or item.stdout[-2000:].strip()
    return f" ({_short(text.splitlines()[-1], 120, redact)})" if text else ""


def _short(text: str, limit: int, redact: Callable[[str], str]) -> str:
    return one_line(redact(text[: 8 * limit]), limit)
