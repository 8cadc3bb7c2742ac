"""Write what stands around the goal prompt: below it who plans, what may run, where and at what cost; beside it what a typed line is."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.engine.context import RequestContext
from agent.frontends.line import EXIT_WORDS
from agent.protocol.replies import usage_text
from agent.text.shown import shown_line

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from agent.frontends.typed.reading import Chosen, Typed


SWITCH_KEY = "f6"


class TypedBadge:
    """`read` says what a text is. `chosen` is what the person made of the line; "" where it is what it reads as."""

    def __init__(self, read: Callable[[str], Typed] | None = None) -> None:
        self._read = read
        self._known: tuple[str, Typed | None] = ("", None)
        self.chosen: Chosen = ""

    def reset(self) -> None:
        self.chosen = ""

    def words(self, text: str) -> str:
        """`command · F6: goal`, `gti: not found; git?`; "" for lines that are neither command nor goal."""
        typed = self._typed(text)
        if typed is None:
            return ""
        if typed.kind == "missing" and not self.chosen:
            from agent.frontends.typed.reading import not_found

            return f"{not_found(typed)} · F6: goal"
        kind = self.chosen or ("goal" if typed.kind == "goal" else "command")
        doubt = "?" if typed.kind == "unsure" and not self.chosen else ""
        return f"{kind}{doubt} · F6: {_other(kind)}"

    def switch(self, text: str) -> None:
        """Take the line for the other thing."""
        typed = self._typed(text)
        if typed is not None:
            now = self.chosen or ("command" if typed.kind in ("command", "unsure") else "goal")
            self.chosen = "goal" if typed.kind == "missing" and not self.chosen else _other(now)

    def _typed(self, text: str) -> Typed | None:
        line = text.strip()
        if self._read is None or not line or line[0] in "!:" or line.lower() in EXIT_WORDS:
            return None
        if self._known[0] != line:
            self._known = line, self._read(line)
        return self._known[1]


def _other(kind: str) -> Chosen:
    return "goal" if kind == "command" else "command"


def toolbar_text(ctx: RequestContext, home: str) -> str:
    """`offline · approve ask · safety on · ~/src · 1,204 tokens $0.0021`."""
    planner = ctx.planner
    parts = [
        planner.name + (f" {shown_line(planner.model, 40)}" if planner.model and planner.model != planner.name else "")
    ]
    if ctx.agent is not None:
        left = sum(not each.done for each in ctx.todo)
        parts.append(f"agent {ctx.agent.name}" + (f" ({left} open)" if left else ""))
    parts.append(f"approve {ctx.approve}")
    parts.append("SAFETY OFF" if ctx.safety_off else "safety on")
    if ctx.confine != "off":
        parts.append(f"confine {ctx.confine}")
    if ctx.rehearse == "auto":
        parts.append("rehearse auto")
    parts.append(short_path(ctx.cwd, home))
    spent = usage_text(ctx.usage)
    if spent:
        parts.append(spent)
    return " · ".join(parts)


def prompt_marks(*, is_root: bool, safety_off: bool) -> StyleAndTextTuples:
    """Mark what must be seen at every prompt: root, safety off."""
    said = (("root ", is_root), ("SAFETY OFF ", safety_off))
    return [("class:alert", text) for text, holds in said if holds]


def short_path(path: str, home: str) -> str:
    """`path` with `~` for the home folder, its middle left out where it is long."""
    path = shown_line(path, 400)
    if home and home != "/" and (path == home or path.startswith(home + os.sep)):
        path = "~" + path[len(home) :]
    return path if len(path) <= 40 else f"{path[:12]}…{path[-27:]}"
