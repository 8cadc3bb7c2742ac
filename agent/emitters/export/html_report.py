"""Export a session as one HTML page that needs nothing else: no request leaves it, and it is whole without its script.

The page's content security policy lets nothing in but its own style and script, named by their hashes. Everything from the log is escaped
by the templates; what is too much for a page is left out and said. Made in one pass; the page is kept until it is written, at most
`MOST_BYTES` and one goal.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

from jinja2 import Environment, FunctionLoader, StrictUndefined
from msgspec import Struct

from agent.audit.story.model import (
    CommandStory,
    GoalStory,
    Item,
    Mark,
    PlannerStep,
    Said,
    SessionBegan,
    SessionEnded,
    ToolStory,
)
from agent.emitters.export.formats import Source
from agent.emitters.export.frames import wall_seconds
from agent.emitters.export.html_filters import FILTERS, is_failed, planner_name
from agent.protocol.outcomes import Usage, add_usage
from agent.text.shown import LEVEL_MARKS
from agent.text.sizes import counted
from agent.version import __version__

if TYPE_CHECKING:
    from agent.recording.integrity import verify as integrity


class Checked(Struct, frozen=True, kw_only=True):
    """Result of checking the chain of the log. `state`: proven, unproven (sound in itself, but no head vouches for it), broken,
    unchecked.
    """

    state: Literal["proven", "unproven", "broken", "unchecked"] = "unchecked"
    text: str = "the log's chain was not checked when this page was made"


def verdict(found: integrity.Checked, *, outside: bool = False) -> Checked:
    """Put into words what was found out about a log. `outside`: it is none of this machine's, so no head here can know it."""
    counted_events = f"{counted(found.events, 'event')}, each with the hash of the one before"
    if outside and all(problem.line == 0 for problem in found.problems):
        text = f"{counted_events}; the log came from elsewhere, and no stored head here confirms it"
        return Checked(state="unproven", text=text)
    if found.problems:
        told = [
            f"line {problem.line:,}: {problem.text}" if problem.line else problem.text for problem in found.problems
        ]
        more = len(told) - 3 + found.more_problems
        return Checked(state="broken", text="; ".join(told[:3]) + (f"; and {more:,} more" if more > 0 else ""))
    parts = [counted_events, "and the head that is kept beside the logs agrees"]
    if found.note:
        parts.append(f"note: {found.note}")
    elif found.state == "unfinished":
        parts.append("the session was still open when this was made")
    return Checked(state="proven", text="; ".join(parts))


class Facts:
    """Counts over `Item`s. Nothing of it grows with the session."""

    def __init__(self) -> None:
        self.first: SessionBegan | None = None
        self.began = self.ended = ""
        self.goals = self.commands = self.ran = self.failed = self.edited = self.refused = self.processes = 0
        self.levels = {"low": 0, "medium": 0, "high": 0, "": 0}
        self.usage = Usage()
        self.is_root = self.safety_off = self.closed = False
        self.planners: dict[str, None] = {}

    def take(self, item: Item) -> None:
        """Count the next item."""
        self.closed = isinstance(item, SessionEnded)
        time = item.began if isinstance(item, GoalStory) else item.time
        self.began = self.began or time
        self.ended = item.ended if isinstance(item, GoalStory) else time
        if isinstance(item, SessionBegan):
            self.first = self.first or item
            self.processes += 1
            self.is_root = self.is_root or item.is_root
            self.safety_off = self.safety_off or item.safety_off
        elif isinstance(item, GoalStory):
            self._goal(item)

    def _goal(self, goal: GoalStory) -> None:
        self.safety_off = self.safety_off or goal.safety_off
        if not goal.more:  # of the parts of a long goal, the last one has the sums
            self.goals += 1
            self.usage = add_usage(self.usage, goal.usage)
        if goal.planner and len(self.planners) < 5:
            self.planners[planner_name(goal)] = None
        for command in goal.commands:
            self.commands += 1
            self.ran += command.ran
            self.failed += is_failed(command)
            self.edited += command.edited
            self.refused += command.outcome == "refused"
            self.levels[command.level if command.level in self.levels else ""] += 1

    @property
    def lasted(self) -> float:
        """Seconds from the first record to the last, as far as their clocks can be believed."""
        return (wall_seconds(self.ended) or 0.0) - (wall_seconds(self.began) or 0.0)


FULL_BYTES = 16 * 1024 * 1024
"""Characters after which outputs and changes are left out."""

MOST_BYTES = 32 * 1024 * 1024
"""Characters after which further goals are only counted."""

_MANY = 200  # commands from which on a browser lays out only what is in sight


def html_of(source: Source) -> Iterator[bytes]:
    """The report of a session, with what checking its log said. Raises IoError."""
    return html_report(source.items(), source.verify and verdict(source.verify(), outside=source.outside))


def html_report(items: Iterable[Item], checked: Checked | None = None) -> Iterator[bytes]:
    """The page in pieces, UTF-8."""
    page = _Page()
    for item in items:
        page.take(item)
    for piece in page.html(checked or Checked()):
        yield piece.encode("utf-8", "replace")


class _Page:
    def __init__(self) -> None:
        self._facts = Facts()
        self._body: list[str] = []
        self._timeline: list[str] = []
        self._size = 0
        self._goals = self._commands = 0
        self._unseen = 0

    def take(self, item: Item) -> None:
        self._facts.take(item)
        if self._size >= MOST_BYTES:
            self._unseen += isinstance(item, GoalStory) and not item.more
        elif isinstance(item, GoalStory):
            self._goal(item)
        else:
            self._add(rendered("between", item))

    def _goal(self, goal: GoalStory) -> None:
        self._goals += goal.part == 1 or not self._goals
        first = self._commands + 1
        self._commands += len(goal.commands)
        self._add(rendered("goal_section", goal, self._goals, first, self._size < FULL_BYTES))
        self._timeline.append(rendered("timeline_entry", goal, self._goals, first))

    def _add(self, html: str) -> None:
        self._body.append(html)
        self._size += len(html)

    def html(self, checked: Checked) -> Iterator[str]:
        style, script = _text("html_page.css"), _text("html_page.js")
        return _environment().get_template("page.html.j2").generate(
            facts=self._facts, checked=checked, body=self._body, timeline=self._timeline, unseen=self._unseen,
            long=self._commands > _MANY, style=style, script=script, version=__version__,
            policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'",
        )  # fmt: skip


def rendered(macro: str, *arguments: object) -> str:
    """Render values of a story with a macro of goal.html.j2: HTML, marked as such."""
    html: str = getattr(_environment().get_template("goal.html.j2").module, macro)(*arguments)
    return html


@cache
def _environment() -> Environment:
    made = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(_template), auto_reload=False)
    made.filters.update(FILTERS)
    made.globals["SIGNS"] = {"": "○", **LEVEL_MARKS}
    made.tests["failed"] = is_failed
    for kind in (CommandStory, Mark, PlannerStep, Said, SessionBegan, ToolStory):
        made.tests[kind.__name__] = lambda item, kind=kind: isinstance(item, kind)
    return made


def _template(name: str) -> str:
    """A template without what makes it readable: line ends and indentation beside tags are not on the page."""
    return re.sub(r"(?<=[>}])\n\s*|\n\s*(?=[<{])", "", _text(f"templates/{name}"))


@cache
def _text(name: str) -> str:
    return resources.files("agent.emitters.export").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
