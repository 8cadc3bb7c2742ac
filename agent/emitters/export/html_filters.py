"""Filter what the report's templates show: safe to look at and bounded; the templates escape all of it.

Only `markdown` gives HTML, which holds nothing but the tags of its own renderer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import cache, lru_cache
from json import dumps
from typing import Any

from msgspec import Struct

from agent.audit.story.model import CommandStory, GoalStory, PlannerStep, Said
from agent.emitters.export.html_output import printed
from agent.emitters.paint import STATUS_STYLE, prose, safe_line
from agent.emitters.rehearsal_text import details, place, totals_words
from agent.emitters.story_words import from_whom, from_words, steps_of, took, usage_words
from agent.text.shown import shown, shown_name
from agent.text.sizes import counted

_BY = {"person": "the person", "approve-mode": "the approve mode", "nobody": "nobody was there"}
_LONGEST_EDIT = 4_000  # characters of a command up to which an edit is compared
_NEVER = ("link", "image", "autolink", "html_inline", "html_block", "reference", "entity")
_OUTCOMES = {
    "refused": "refused by policy", "remark": "answered with a remark", "regenerate": "another one was asked for",
}  # fmt: skip


def is_failed(command: CommandStory) -> bool:
    """Say if it ran and did not end well."""
    return command.ran and (command.exit_code not in (0, None) or command.timed_out or command.interrupted)


def planner_name(goal: GoalStory) -> str:
    """The planner with its model, where that has another name."""
    return goal.planner + (f" {goal.model}" if goal.model and goal.model != goal.planner else "")


def words(text: str, limit: int = 4_000) -> str:
    """Sentences, ends of lines kept."""
    return _cut(prose(text[: limit + 1]), len(text), limit)


def code(text: str, limit: int = 20_000) -> str:
    """Commands, paths and names, every character visible."""
    return _cut(shown(text[: limit + 1]), len(text), limit)


def name(text: str, limit: int = 1_000) -> str:
    """A path on one line; blanks count in it."""
    return _cut(shown_name(text[: limit + 1]), len(text), limit)


def markdown(text: str) -> str:
    """An answer of a planner as HTML blocks; headings become small ones, links and pictures stay the text they are."""
    parser = _parser()
    tokens = parser.parse(prose(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h4"
        token.attrs.pop("style", None)
        if token.type == "fence":
            token.info = ""  # it would become a class
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def compared(before: str, after: str) -> tuple[Sequence[tuple[bool, str]], Sequence[tuple[bool, str]]]:
    """Both texts in pieces of which each is the same in both, or not."""
    if max(len(before), len(after)) > _LONGEST_EDIT:
        return [(True, code(before))], [(True, code(after))]
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    old = [(kind == "equal", code(before[start:end])) for kind, start, end, _, _ in steps]
    return old, [(kind == "equal", code(after[start:end])) for kind, _, _, start, end in steps]


def asked(goal: GoalStory) -> str:
    """The goal as it was typed."""
    return f"!{goal.goal.removeprefix('!')}" if goal.origin == "shell" else goal.goal


def anchor(goal: GoalStory, number: int) -> str:
    """The id of the goal's section: `g3`, or `g3-2` for the second part of a very long goal."""
    return f"g{number}" if goal.part == 1 else f"g{number}-{goal.part}"


def status_style(status: str) -> str:
    """good, warn or bad."""
    return {"green": "good", "yellow": "warn"}.get(STATUS_STYLE.get(status, ""), "bad")


def untold(goal: GoalStory) -> str:
    """The message of a goal that did not end well, "" where a step of it tells that itself."""
    told = (step.text for step in goal.steps if isinstance(step, (Said, PlannerStep)))
    return "" if status_style(goal.status) == "good" or any(goal.message in text for text in told) else goal.message


def kinds(command: CommandStory) -> list[str]:
    """Words that the buttons of the page find the command by."""
    found = {
        "failed": is_failed(command), "high": command.level == "high", "findings": command.findings,
        "edited": command.edited, "refused": command.outcome == "refused",
    }  # fmt: skip
    return [kind for kind, is_so in found.items() if is_so]


def chips(command: CommandStory) -> Iterator[tuple[str, str]]:
    """(style, text): how it ended, or what became of it instead, and how long it took."""
    if command.job:
        yield "", f"continues as job {command.job}"
    elif not command.ran:
        told = _OUTCOMES.get(command.outcome, command.outcome) if command.decisions else "not decided"
        is_written = command.is_write and command.outcome == "ran"
        yield "warn" if command.outcome in ("refused", "declined") else "quiet", "written" if is_written else told
    elif command.timed_out or command.interrupted:
        yield "bad", "timed out" if command.timed_out else "interrupted"
    elif command.exit_code is not None:
        yield "bad" if command.exit_code else "good", f"exit {command.exit_code}"
    if command.ran and command.duration:
        yield "quiet", took(command.duration)


def by(decider: str) -> str:
    """The one who decided, in words."""
    return _BY.get(decider, decider)


def indented(args: dict[str, Any]) -> str:
    """Arguments of a tool as JSON for people."""
    try:
        return dumps(args, indent=2, ensure_ascii=False) if args else ""
    except RecursionError:
        return "nested too deeply to be shown here"


def diff_kind(line: str) -> str:
    """head, at, ins, del or same: the style of a line of a unified diff."""
    return "head" if line.startswith(("+++", "---")) else {"@": "at", "+": "ins", "-": "del"}.get(line[:1], "same")


class Moment(Struct, frozen=True):
    """A time for a `<time>`, in UTC."""

    stamp: str

    @property
    def day(self) -> str:
        """`2026-03-14`."""
        return self.stamp[:10]

    @property
    def clock(self) -> str:
        """`09:26:53`."""
        return self.stamp[11:19]


@lru_cache(maxsize=16)
def moment(time: str) -> Moment | None:
    """A record's time, None where it is no time."""
    try:
        return Moment(datetime.fromisoformat(time).astimezone(UTC).isoformat()[:19] + "Z")
    except (ValueError, OverflowError, OSError):
        return None


def _cut(shown: str, length: int, limit: int) -> str:
    return shown if length <= limit else f"{shown} [… {length - limit:,} more characters]"


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(list(_NEVER))


FILTERS: dict[str, Callable[..., Any]] = {
    "anchor": anchor, "asked": asked, "below": place, "by": by, "chips": chips, "code": code, "compared": compared, "counted": counted,
    "details": details, "diff_kind": diff_kind, "from_whom": from_whom, "from_words": from_words, "grouped": "{:,}".format,
    "indented": indented, "kinds": kinds, "line": safe_line, "markdown": markdown, "moment": moment, "name": name,
    "planner_name": planner_name, "printed": printed, "spent": lambda usage: " · ".join(usage_words(usage)),
    "status_style": status_style, "steps_of": steps_of, "took": took, "totals_words": totals_words, "untold": untold,
    "words": words,
}  # fmt: skip
