"""A session as one HTML page that needs nothing else: no request leaves it, and it is whole without its script.

The page's content security policy lets nothing in but its own style and script, named by their hashes. Everything from the log is escaped;
what is too much for a page is left out and said. Made in one pass; the page is kept until it is written, at most `MOST_BYTES` and one goal.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from agent.audit.story.model import GoalStory, Item, Mark, SessionBegan, SessionEnded
from agent.emitters.export.html_command import is_failed
from agent.emitters.export.html_facts import Facts
from agent.emitters.export.html_goal import anchor, goal_section, mark_line, status_style
from agent.emitters.export.html_text import clock, code, line, stamp, words
from agent.emitters.export.prompts import MARKS
from agent.emitters.export.source import Source
from agent.protocol.decisions import Level
from agent.text.sizes import counted
from agent.version import __version__

if TYPE_CHECKING:
    from agent.recording.integrity import verify as integrity

FULL_BYTES = 16 * 1024 * 1024
"""Characters after which outputs and changes are left out."""

MOST_BYTES = 32 * 1024 * 1024
"""Characters after which further goals are only counted."""

_MANY = 200  # commands from which on a browser lays out only what is in sight
_MOST_PIPS = 24  # commands of one goal in the timeline


class Checked(Struct, frozen=True, kw_only=True):
    """What checking the chain of the log said. `state`: proven, unproven (sound in itself, but no head vouches for it), broken,
    unchecked.
    """

    state: Literal["proven", "unproven", "broken", "unchecked"] = "unchecked"
    text: str = "the log's chain was not checked when this page was made"


_TITLES = {
    "proven": ("✓", "log verified"), "unproven": ("!", "log not proven"), "broken": ("✗", "log was touched"),
    "unchecked": ("?", "log not checked"),
}  # fmt: skip


def html_of(source: Source) -> Iterator[bytes]:
    """The report of a session, with what checking its log said. Raises IoError."""
    return html_report(source.items(), source.verify and verdict(source.verify(), outside=source.outside))


def verdict(found: integrity.Checked, *, outside: bool = False) -> Checked:
    """What was found out about a log, in words. `outside`: it is none of this machine's, so no head here can know it."""
    counted_events = f"{counted(found.events, 'event')}, each with the hash of the one before"
    if outside and all(problem.line == 0 for problem in found.problems):
        text = f"{counted_events}; the log came from elsewhere, and no head is kept here that vouches for it"
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
        self._nav: list[str] = []
        self._size = 0
        self._goals = self._commands = 0
        self._unseen = 0

    def take(self, item: Item) -> None:
        self._facts.take(item)
        if isinstance(item, GoalStory):
            self._goal(item)
        elif self._size < MOST_BYTES:
            self._add(_between(item))

    def _goal(self, goal: GoalStory) -> None:
        if self._size >= MOST_BYTES:
            self._unseen += not goal.more
            return
        self._goals += goal.part == 1 or not self._goals
        first = self._commands + 1
        self._commands += len(goal.commands)
        self._add(goal_section(goal, self._goals, first, full=self._size < FULL_BYTES))
        self._nav.append(_entry(goal, self._goals, first))

    def _add(self, html: str) -> None:
        self._body.append(html)
        self._size += len(html)

    def html(self, checked: Checked) -> Iterator[str]:
        style, script = _asset("html_page.css"), _asset("html_page.js")
        facts = self._facts
        session = facts.first.session_id if facts.first is not None else ""
        title = line(session, 100) or "a session"
        long = ' class="long"' if self._commands > _MANY else ""
        policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
        yield (
            '<!doctype html>\n<html lang="en" data-theme="auto">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
            f'<meta name="generator" content="agent-shell {__version__}">\n<title>{title} · agent-shell session</title>\n'
            f'<style>{style}</style>\n</head>\n<body{long}>\n<a class="skip" href="#main">To the goals</a>\n'
        )
        yield self._header(title, checked)
        yield _TOOLS
        yield f'<div class="columns">\n<nav class="timeline" aria-label="Timeline"><h2>Timeline</h2><ol>{"".join(self._nav)}</ol></nav>\n'
        yield '<main id="main" tabindex="-1">\n<p id="nothing" class="note" hidden>Nothing here matches.</p>\n'
        yield from (f"{piece}\n" for piece in self._body)
        if not self._body:
            yield '<p class="note">This session has no goals.</p>\n'
        if self._unseen:
            yield f'<p class="mark warning"><span class="sign" aria-hidden="true">!</span><span>{_too_many(self._unseen)}</span></p>\n'
        yield (
            "</main>\n</div>\n<footer><p>Made by agent-shell from the log of the session. Secrets were replaced by labels before "
            f"they were recorded.</p></footer>\n<script>{script}</script>\n</body>\n</html>\n"
        )

    def _header(self, title: str, checked: Checked) -> str:
        facts = self._facts
        sign, word = _TITLES[checked.state]
        flags = ""
        if facts.is_root:
            flags += '<span class="chip bad">as root</span>'
        if facts.safety_off:
            flags += '<span class="chip bad">safety off</span>'
        return (
            '<header class="top"><div class="head"><p class="brand">agent-shell <span>session report</span></p>'
            f"<h1>{title}</h1>{flags}</div>"
            f'<p class="checked {checked.state}"><b><span aria-hidden="true">{sign}</span> {word}</b> {words(checked.text, 600)}</p>'
            f'<ul class="figures">{facts.counts_html()}</ul>{facts.bar_html()}<dl class="facts">{facts.list_html()}</dl></header>\n'
        )


def _entry(goal: GoalStory, number: int, first: int) -> str:
    """One goal in the timeline, with a sign for each of its commands."""
    pips = []
    key = anchor(goal, number)
    commands = goal.commands
    for place, command in enumerate(commands[:_MOST_PIPS]):
        level = command.level
        sign = MARKS[Level(level)] if level else "○"
        failed = is_failed(command)
        told = f"command {first + place}, {level or 'not rated'}{', failed' if failed else ''}"
        pips.append(
            f'<a class="pip {level or "unrated"}{" failed" if failed else ""}{"" if command.ran else " idle"}" '
            f'href="#c{first + place}" title="{told}" aria-label="{told}">{sign}</a>'
        )
    if len(commands) > _MOST_PIPS:
        pips.append(f'<span class="dim">+{len(commands) - _MOST_PIPS:,}</span>')
    at = f'<time datetime="{stamp(goal.began)}">{clock(goal.began)}</time>' if clock(goal.began) else ""
    said = f"!{goal.goal.removeprefix('!')}" if goal.origin == "shell" else goal.goal
    return (
        f'<li class="{status_style(goal.status)}" data-goal="{key}">{at}<span class="pips">{"".join(pips)}</span>'
        f'<a class="to" href="#{key}">{line(said, 90)}</a></li>'
    )


def _between(item: SessionBegan | SessionEnded | Mark) -> str:
    if isinstance(item, Mark):
        return mark_line(item)
    if isinstance(item, SessionEnded):
        text = "the session was closed" if item.reason == "closed" else f"the session ended: {line(item.reason, 60)}"
    else:
        word = "went on" if item.resumed else "began"
        text = f"the session {word} in <code>{code(item.cwd, 300)}</code>, process {item.pid}"
    time = f'<time datetime="{stamp(item.time)}">{clock(item.time)}</time>' if clock(item.time) else ""
    return f'<p class="mark session"><span class="sign" aria-hidden="true">—</span><span>{text}</span>{time}</p>'


def _too_many(count: int) -> str:
    return f"{counted(count, 'more goal')} of this session are not on the page, which is as large as a browser bears; the log has all"


_FILTERS = (("", "All"), ("failed", "Failed"), ("high", "High risk"), ("findings", "Findings"), ("edited", "Edited"))
_TOOLS = (
    '<div class="tools" id="tools" role="search" hidden><label class="search"><span class="sr">Search goals, commands and output</span>'
    '<input type="search" id="search" placeholder="Search goals, commands, output   /" autocomplete="off" spellcheck="false"></label>'
    '<div class="group" role="group" aria-label="Show only">'
    + "".join(
        f'<button type="button" data-filter="{key}" aria-pressed="{"false" if key else "true"}">{text}</button>'
        for key, text in _FILTERS
    )
    + '</div><div class="group" role="group" aria-label="Failures and high risk">'
    '<button type="button" id="previous" title="previous failure or high risk (p)">↑ <span class="sr">previous problem</span></button>'
    '<button type="button" id="next" title="next failure or high risk (n)">↓ <span class="wide">next problem</span></button></div>'
    '<div class="group" role="group" aria-label="View"><button type="button" id="unfold" aria-pressed="false">Unfold all</button>'
    '<button type="button" id="theme" title="light, dark, or as the system says">◐ <span class="wide" id="theme-name">auto</span></button>'
    '</div><output id="count" class="dim" aria-live="polite"></output></div>\n'
)


@cache
def _asset(name: str) -> str:
    return resources.files("agent.emitters.export").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
