"""Take pasted text into the goal line: say how large it is, and do several pasted goals one after the other."""

from __future__ import annotations

from prompt_toolkit.buffer import Buffer

from agent.text.lazy_pattern import lazily
from agent.text.shown import size_note

_MOST_GOALS = 50
# What leaves a line open for the next one, or belongs to a text that is one thing: code, quoted mail, output, a list of points.
_GOES_ON = lazily(r"(\\|[|&{(,:;]|\b(do|then|else|in))$|<<")
_NO_GOAL = lazily(r"\s|[#$>|*+})\]-]|\d+[.):]\s|(done|fi|esac|then|do|else|end)\b|Traceback ")


def separate_goals(text: str) -> list[str]:
    """The lines of `text` as goals of their own; empty where it reads as one thing, such as a script or a message of many lines."""
    lines = text.strip("\n").split("\n")
    goals = [line.strip() for line in lines if line.strip()]
    if not 2 <= len(goals) <= _MOST_GOALS or any(
        _NO_GOAL.match(line) or _GOES_ON.search(line.rstrip()) for line in lines if line
    ):
        return []
    return goals


class Pasted:
    """Text that came by a paste: `queue` holds the goals that are still to be done, which the prompt offers one at a time.

    `parts`: several of them may come by one.
    """

    def __init__(self, buffer: Buffer, *, parts: bool = True) -> None:
        self._buffer = buffer
        self._parts = parts
        self._text = ""
        self._total = 0
        self.queue: list[str] = []

    def take(self, text: str) -> str:
        """Insert a pasted text; what to say of it in the toolbar."""
        was_empty = not self._buffer.text
        self._buffer.insert_text(text)
        goals = separate_goals(text) if was_empty and self._parts else []
        self._text = self._buffer.text if goals else ""
        if goals:
            return f"{len(goals)} goals pasted: Enter does them one by one · Alt-1 makes them one goal"
        size = size_note(text)
        return f"pasted: {size}" if size else ""

    def as_one(self) -> str:
        """Do not part the paste; what to say of it."""
        self._text = ""
        return "one goal of several lines"

    def first(self, text: str) -> str:
        """Take what Enter on `text` does: the first of several pasted goals, the others wait; else all of it."""
        goals = separate_goals(text) if self._text and text == self._text else []
        self._text = ""
        if not goals:
            return text
        self._total, self.queue = len(goals), goals[1:]
        return goals[0]

    def next(self) -> tuple[str, str]:
        """The next goal that waits and what to say of it; both empty where none does."""
        if not self.queue:
            return "", ""
        number = self._total - len(self.queue) + 1
        return self.queue.pop(
            0
        ), f"goal {number} of {self._total} that were pasted: Enter does it · Ctrl-C drops it and the rest"

    def drop(self) -> str:
        """Forget what waits; what to say of it."""
        dropped, self.queue, self._text = len(self.queue), [], ""
        return f"{dropped} more pasted goal{'s' if dropped != 1 else ''} dropped" if dropped else ""
