"""Draw the dialogue about a command again, with its prompts, from what was proposed, rated and decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agent.emitters import describe
from agent.emitters.export.frames import Frame, Look
from agent.emitters.paint import LEVEL_STYLE, paint, safe_line
from agent.protocol.actions import action_of
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.events.command import (
    ApprovalRequested,
    CommandConfirmed,
    CommandProposed,
    CommandRated,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.protocol.events.known import Event
from agent.risk.explain.sentence import sentence
from agent.text.shown import LEVEL_MARKS, shown

_SHOWN_CHARS = 4_000
_SHOWN_LINES = 40
ARROW = "❯"


def goal_prompt(*, is_root: bool, safety_off: bool, color: bool) -> str:
    """Draw what stands before a goal: `root SAFETY OFF ❯ `."""
    marks = [word for word, given in (("root", is_root), ("SAFETY OFF", safety_off)) if given]
    said = paint(" ".join(marks), "red", color=color) + " " if marks else ""
    return f"{said}{paint(ARROW, 'bold', color=color)} "


def heading(report: RiskReport | None, *, color: bool, preview: str = "") -> str:
    """The lines above a confirmation: what the command does, and below that what would be safer where it is high; "" unrated."""
    if report is None:
        return ""
    first = paint(f"{LEVEL_MARKS[report.level]} {report.level.value}", LEVEL_STYLE[report.level], color=color)
    lines = [f"{first} · {safe_line(preview, 500) if preview else safe_line(sentence(report).text, 300)}"]
    safer = next((finding.safer for finding in report.findings if finding.safer), "")
    if safer and report.level is Level.HIGH:
        lines.append(paint(f"safer: {safe_line(safer, 300)}", "dim", color=color))
    return "".join(f"{line}\n" for line in lines)


def badge(report: RiskReport | None, *, edited: bool, color: bool) -> str:
    """Draw what stands before the editable command: `▲ ❯ `, or `▲ medium edited ❯ `."""
    word = f" {report.level.value}" if report is not None and edited else ""
    level = "? not rated" if report is None else LEVEL_MARKS[report.level] + word
    said = paint(level, "dim" if report is None else LEVEL_STYLE[report.level], color=color)
    if edited:
        said += paint(" edited", "cyan", color=color)
    return f"{said} {paint(ARROW, 'bold', color=color)} "


def word_prompt(*, color: bool) -> str:
    """Draw what stands before the word that a high-risk command needs."""
    return paint(f"{LEVEL_MARKS[Level.HIGH]} word ", "red", color=color) + paint(ARROW, "bold", color=color) + " "


def typed(text: str) -> str:
    """A goal or a command as it stands in a prompt: made visible, its further lines indented, its length bounded."""
    lines = shown(text[:_SHOWN_CHARS]).split("\n")
    cut = len(text) > _SHOWN_CHARS or len(lines) > _SHOWN_LINES
    kept = "\n  · ".join(lines[:_SHOWN_LINES])
    return f"{kept} [… {len(text):,} characters]" if cut else kept


_ASKING = ("ask", "type")
ENTER = 0.3  # seconds between a prompt and what is typed there
_REVIEW = "commit it? (c commit · e edit · d discard)"
_ANSWERS = {"approved": "c", "declined": "d", "skipped": "d", "edited": "e", "cancelled": "^C"}
_AFTERWARDS = {"regenerate": "another command was asked for", "refused": "refused"}


class Confirming:
    """`delay(at)` gives the seconds since what was shown last, and counts as shown. Frames begin at the start of a line and end one."""

    def __init__(self, look: Look, delay: Callable[[float], float]) -> None:
        self._look = look
        self._delay = delay
        self._proposed: CommandProposed | None = None
        self._clear()

    def _clear(self) -> None:
        self._reports: dict[str, RiskReport] = {}  # by the stage that was rated
        self._asks = False
        self._rated_at = 0.0
        self._decided = False
        self._prompted = False
        self._rehearsal: RehearsalFinished | None = None
        self._rehearsed_at = 0.0
        self._folder = ""
        self._preview = ""

    @property
    def waits(self) -> bool:
        """Tell whether a prompt may be on the screen: what is said meanwhile comes below it."""
        return self._proposed is not None and self._asks and not self._decided and self._rehearsal is None

    def take(self, event: Event, at: float) -> Iterator[Frame]:
        """Draw what the next event of a command adds to the dialogue."""
        match event:
            case CommandProposed():
                self._proposed = event
                self._clear()
                self._rated_at = at
            case CommandRated():
                stage = event.stage
                if stage == "again":  # the text that stands there, as it is rated now
                    stage = "edited" if "edited" in self._reports else "proposed"
                self._reports[stage] = event.report
                self._asks = self._asks or event.verdict.action in _ASKING
                if event.stage == "proposed":
                    self._rated_at = at
            case ApprovalRequested(preview=text) if text and not self._decided:
                self._preview = text
            case RehearsalStarted(preview=True) | RehearsalFinished(preview=True):
                pass  # the question says what it showed
            case RehearsalStarted():
                if self.waits and not self._prompted:
                    yield from self._prompt(event.command, at)
                    self._prompted = True
                self._folder = event.cwd
            case RehearsalFinished():
                self._rehearsal, self._rehearsed_at = event, at
            case CommandConfirmed():
                if event.by == "person":
                    yield from self._answer(event, at)
                self._decided = True
                self._prompted = False
                self._rehearsal = None

    def left_open(self) -> Iterator[Frame]:
        """The prompt that nobody answered before the log ended."""
        if self._proposed is not None and self._asks and not self._decided and not self._prompted:
            yield self._heading()
            yield Frame(delay=0.0, text=self._badge() + typed(self._proposed.command) + "\n")
        self._proposed = None

    def _answer(self, event: CommandConfirmed, at: float) -> Iterator[Frame]:
        color = self._look.color
        if self._rehearsal is not None and self._rehearsal.exit_code is not None:
            shown = describe.rehearsed(self._rehearsal, self._folder, color=color)
            yield Frame(delay=self._delay(self._rehearsed_at), text=f"{shown}\n")
            yield Frame(delay=0.0, text=f"{paint(_REVIEW, 'bold', color=color)} {ARROW} ", stop=True)
            answer = _ANSWERS.get(event.decision, safe_line(event.decision, 20))
            yield Frame(delay=self._delay(at), text=f"{answer}\n")
            if event.decision == "edited":
                yield Frame(delay=ENTER, text=f"{self._badge(edited=True)}{typed(event.command)}\n", stop=True)
            return
        decision = event.decision
        proposed = self._proposed
        if proposed is not None and proposed.origin == "tool" and action_of(proposed.command) is not None:
            yield from self._write(proposed.command, decision, at)
        elif decision == "skipped":
            yield from self._prompt("", at)
        elif decision == "remark":
            yield from self._prompt(self._text(), at, ended=False)
            prompt = paint("remark to the planner ", "bold", color=color)
            yield Frame(delay=0.0, text=f"\n{prompt}{ARROW} {safe_line(event.remark, 1000)}\n")
        elif decision == "cancelled":
            yield from self._prompt(self._text(), at, ended=False)
            yield Frame(delay=0.0, text="^C\n")
        else:
            yield from self._prompt(event.command or self._text(), at)
            yield from self._afterwards(event)

    def _write(self, wish: str, decision: str, at: float) -> Iterator[Frame]:
        """A tool that wants to write a file is asked about in a word."""
        color = self._look.color
        yield self._heading()
        verb, _, what = typed(wish).partition(" ")[0].partition("_")
        question = paint(f"{verb} this {what.replace('_', ' ')}? [y/N, v: view all]", "bold", color=color)
        yield Frame(delay=0.0, text=f"{paint(typed(wish), 'bold', color=color)}\n{question} {ARROW} ", stop=True)
        answer = {"approved": "y", "cancelled": "^C"}.get(decision, "n")
        yield Frame(delay=self._delay(at), text=f"{answer}\n")

    def _afterwards(self, event: CommandConfirmed) -> Iterator[Frame]:
        color = self._look.color
        if event.word_typed or (event.decision == "declined" and event.command):
            yield Frame(delay=0.1, text=word_prompt(color=color), stop=True)
            yield Frame(delay=ENTER, text="proceed\n" if event.word_typed else "\n")
        elif event.decision in _AFTERWARDS:
            yield Frame(delay=0.0, text=paint(f"({_AFTERWARDS[event.decision]})", "dim", color=color) + "\n")

    def _prompt(self, wanted: str, at: float, *, ended: bool = True) -> Iterator[Frame]:
        """The proposed text under its heading, and what became of it; `wanted` "" is a line that was blanked."""
        before = self._text()
        yield self._heading()
        last = "\n" if ended else ""
        yield Frame(delay=0.0, text=self._badge() + typed(before), stop=True)
        pause = self._delay(at)
        if wanted == before:
            yield Frame(delay=pause, text=last)
            return
        yield Frame(delay=pause, text=f"\n{self._badge(edited=True, blank=not wanted)}{typed(wanted)}{last}")

    def _heading(self) -> Frame:
        text = heading(self._reports.get("proposed"), color=self._look.color, preview=self._preview)
        return Frame(delay=self._delay(self._rated_at), text=text)

    def _badge(self, *, edited: bool = False, blank: bool = False) -> str:
        if blank:
            return paint("skip", "dim", color=self._look.color) + f" {ARROW} "
        report = (self._reports.get("edited") if edited else None) or self._reports.get("proposed")
        return badge(report, edited=edited, color=self._look.color)

    def _text(self) -> str:
        return self._proposed.command if self._proposed is not None else ""
