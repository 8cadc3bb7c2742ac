"""Print a cycle of the repo agent: its task, the model's plan, a line for each call with how it went, and what the cycle came to."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from agent.emitters.paint import MARKS, paint, prose, safe_line
from agent.protocol.events.goal import (
    CycleFinished,
    CyclePlanned,
    CycleStarted,
    GoalFinished,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantDelta, AssistantMessage, Failed, SessionFinished, SessionStarted
from agent.text.shown import shown_line
from agent.text.sizes import counted, seconds

_OF_CYCLES = (CycleStarted, CyclePlanned, CycleFinished, SessionStarted, SessionFinished)
_IN_CYCLES = (ToolStarted, ToolFinished, AssistantDelta, AssistantMessage, Failed, GoalFinished)
_SKIPPED = "skipped"
_TOLD = ("finish_feature", "submit_for_review", "run_command")
"""Calls whose result is news to a person where they went well."""
_STYLES = {"complete": "green", "no_tasks": "green", "one_plan": "green", "failed": "red", "budget": "red"}
_WORDS = {
    "complete": "for review",
    "one_plan": "one plan is done",
    "budget": "the budget is used up",
    "cancelled": "stopped",
}
_PLAN_LINES, _FILES, _WIDTH = 12, 6, 100


class WorkLines:
    """`aside` prints a line beside the answers, `answer` an answer. `wait(words, after)` shows what is under way until the next line.

    `way`: how the agent is started here, as it is typed.
    """

    def __init__(
        self,
        aside: Callable[[str], None],
        answer: Callable[[str], None],
        wait: Callable[[str, str], None],
        *,
        color: bool,
        way: str,
    ) -> None:
        self._aside, self._answer, self._wait = aside, answer, wait
        self._color = color
        self._way = way
        self._started: CycleStarted | None = None
        self._finished: CycleFinished | None = None
        self._waiting: list[str] = []  # calls of this reply that have not begun
        self._skipped: list[str] = []
        self._call = ""
        self._features: dict[str, str] = {}  # what is told of those that have their commit
        self._hint = ""  # what to do about the error that ended it
        self.is_quiet = False  # in a session of the repo agent: what programs print is not shown, nor what runs unasked

    @property
    def is_open(self) -> bool:
        """Tell whether a cycle is under way."""
        return self._started is not None

    def takes(self, event: Event) -> bool:
        """Tell whether `event` is shown here."""
        return isinstance(event, _OF_CYCLES) or (self.is_open and isinstance(event, _IN_CYCLES))

    def show(self, event: Event, planning: float = 0.0) -> None:
        """Show an event that is taken. `planning`: seconds that the model took for the goal."""
        if not isinstance(event, (ToolStarted, ToolFinished)):
            self._tell_skipped()
        match event:
            case SessionStarted() | SessionFinished():
                self.is_quiet = isinstance(event, SessionStarted) and event.profile == "work"
            case CycleStarted():
                self._started, self._finished, self._waiting, self._hint = event, None, [], ""
                self._features = {each.partition(" ")[0]: shown_line(each, _WIDTH) for each in event.features}
                if event.task:
                    self._aside(beginning(event, color=self._color))
            case CyclePlanned(plan=plan, calls=calls):
                self._waiting = list(calls)
                if plan.strip():
                    self._aside(plan_text(plan, color=self._color))
            case ToolStarted(name=name, args=args):
                self._call = f"{safe_line(name, 60)}  {subject(name, args)}".rstrip()
                self._waiting = self._waiting[1:] if name in self._waiting[:1] else self._waiting
                self.go_on()
            case ToolFinished():
                self._call_finished(event)
            case CycleFinished():
                self._cycle_finished(event)
            case Failed(error=error):
                self._hint = error.hint
            case GoalFinished():
                self._cycle_ended(event, planning)

    def _cycle_finished(self, event: CycleFinished) -> None:
        if event.task:
            self._finished = event
        else:
            self._started = self._started or CycleStarted(task=0)
            self._answer(without_task(event.reason, event.text, color=self._color))

    def go_on(self) -> None:
        """Show the call that is under way again, after something else was drawn."""
        if self._call:
            self._wait(f"● {self._call}", "".join(f"  ○ {safe_line(name, 30)}" for name in self._waiting[:3]))

    def _call_finished(self, event: ToolFinished) -> None:
        call, self._call = self._call or safe_line(event.name, 60), ""
        if event.is_error and event.result.startswith(_SKIPPED):
            self._skipped.append(safe_line(event.name, 60))
            return
        self._tell_skipped()
        mark = paint("✗", "red", color=self._color) if event.is_error else paint("✓", "green", color=self._color)
        told = result_words(event)
        if event.name == "finish_feature" and not event.is_error:
            subject_of = call.partition("  ")[2]
            self._features[subject_of.partition(" ")[0]] = f"{subject_of}  {told}"
        self._aside(f"{mark} {call}" + (paint(f"  {told}", "dim", color=self._color) if told else ""))

    def _tell_skipped(self) -> None:
        names, self._skipped = self._skipped, []
        if names:
            self._aside(paint(f"- {', '.join(names)}  skipped", "dim", color=self._color))

    def _cycle_ended(self, goal: GoalFinished, planning: float) -> None:
        """The summary comes last, with what all of it took."""
        started, finished, self._started = self._started, self._finished, None
        if started is None or finished is None:
            return
        took = planning + sum(float(command.get("duration", 0.0)) for command in goal.commands)
        tokens = goal.usage.input_tokens + goal.usage.output_tokens
        costs = [seconds(took)] if took else []
        costs += [f"{'~' if goal.usage.estimated else ''}{tokens:,} tokens"] if tokens else []
        costs += [f"${goal.usage.cost:.4f}"] if goal.usage.cost is not None else []
        features = [
            self._features.get(f"{started.task}.{each}", f"{started.task}.{each}") for each in finished.features
        ]
        told = summary(started, finished, features, costs, way=self._way, color=self._color)
        hint = paint(f"\n  {prose(self._hint)}", "dim", color=self._color) if self._hint else ""
        self._answer(told + hint)


def beginning(event: CycleStarted, *, color: bool) -> str:
    """`task 10 · Read settings`, and below it branch and worktree."""
    head = paint(f"task {event.task} · {shown_line(event.title, 200)}", "bold", color=color)
    base = f" from {safe_line(event.base, 12)}" if event.base and not event.resumed else ""
    verb = "going on with " if event.resumed else ""
    end = ", thrown away at the end" if event.rehearse else ""
    place = f"  {verb}{safe_line(event.branch, 100)}{base} in {shown_line(event.worktree)}{end}"
    return f"{head}\n{paint(place, 'dim', color=color)}"


def plan_text(plan: str, *, color: bool) -> str:
    """The model's plan, a step a line as it wrote them, cut where it is long."""
    lines = [safe_line(line, 300) for line in plan.strip().splitlines() if line.strip()]
    left = len(lines) - _PLAN_LINES
    lines = [*lines[:_PLAN_LINES], f"… {counted(left, 'more line')}"] if left > 1 else lines
    return paint("plan · " + "\n  ".join(lines), "cyan", color=color)


def subject(name: str, arguments: dict[str, Any]) -> str:
    """Say in a few words what a call is about, from whatever the model gave it."""
    match arguments:
        case {"task_id": task, "feature_id": feature}:
            return shown_line(f"{task}.{feature} {arguments.get('title', '')}", _WIDTH)
        case {"operations": [*operations]}:
            pairs = [(each.get("from_path"), each.get("to_path")) for each in operations if isinstance(each, dict)]
            return shown_line(", ".join(f"{before} → {after}" for before, after in pairs), _WIDTH)
        case {"paths": [*paths]}:
            return shown_line(", ".join(map(str, paths)), _WIDTH)
        case {"patch": str(patch)}:
            names = [line[4:].removeprefix("b/") for line in patch.splitlines() if line.startswith("+++ ")]
            return shown_line(", ".join(names), _WIDTH)
    given = (arguments.get(key) for key in ("command", "path", "pattern", "query", "task_title"))
    return shown_line(next((each for each in given if isinstance(each, str)), ""), _WIDTH)


def result_words(event: ToolFinished) -> str:
    """Say in a few words what came of a call: counts where it has some, what is wrong where it failed."""
    document = _document(event.result)
    if isinstance(document, dict):
        if document.get("total") is not None:
            return f"{document.get('passed')} of {document['total']} passed"
        if isinstance(summary := document.get("summary"), dict):
            return _summary_words(document, summary)
        if "exit_code" in document:
            return _exit_words(document) if not document.get("ok") else ""
    if not event.is_error and event.name not in _TOLD:
        return ""
    return re.sub("^feature [0-9.]+ is ", "", safe_line(event.result.strip().partition("\n")[0], 160))


def _summary_words(document: dict[str, Any], summary: dict[str, Any]) -> str:
    """Say how many of the renames went how, and why the first of them failed."""
    counts = {key: value for key, value in summary.items() if value and isinstance(value, int)}
    said = ", ".join(counted(value, "error") if key == "errors" else f"{value} {key}" for key, value in counts.items())
    results = [each for each in document.get("results") or () if isinstance(each, dict)]
    why = next((str(each.get("message")) for each in results if each.get("status") == "error"), "")
    return f"{said}: {shown_line(why, _WIDTH)}" if why else said


def _exit_words(document: dict[str, Any]) -> str:
    """Say how a program ended of which nothing was counted, with the last line that it printed."""
    printed = (str(document.get(name) or "").strip() for name in ("stderr", "stdout"))
    last = shown_line(next(filter(None, printed), "").rpartition("\n")[2], _WIDTH)
    return f"exit {safe_line(str(document['exit_code']), 20)}{': ' if last else ''}{last}"


def _document(text: str) -> Any:
    if not text.startswith("{"):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def without_task(reason: str, text: str, *, color: bool) -> str:
    """Tell of a cycle that had no task."""
    style = _STYLES.get(reason, "yellow")
    return paint(f"{MARKS[style]} {safe_line(text, 400) or 'no task can be worked on'}", style, color=color)


def summary(
    started: CycleStarted, event: CycleFinished, features: list[str], costs: list[str], *, way: str, color: bool
) -> str:
    """Tell how the cycle ended, what is proven of it, where it is, and what to do next."""
    if event.reason == "question":
        return _question(started, event, costs, way=way, color=color)
    style, at_end = _STYLES.get(event.reason, "yellow"), event.reason in ("complete", "one_plan")
    word = _WORDS.get(event.reason, event.reason)
    if started.rehearse and at_end:
        word = "rehearsed; nothing was published"
    head = " · ".join([f"{MARKS[style]} task {event.task} {shown_line(started.title, 200)}", word, *costs])
    lines = [paint(head, style, color=color)]
    if event.text and event.reason != "complete":
        lines += [f"  {line}" for line in prose(event.text).split("\n")]
    lines += [f"  {line}" for line in (*features, *_proof(event))]
    if event.url:
        lines.append(f"  {safe_line(event.url, 300)}")
    elif started.branch and event.reason != "complete" and not started.rehearse:
        kept = f"  kept on {safe_line(started.branch, 100)}; `{way} {'' if way.startswith(':') else '--task '}{event.task}` goes on"
        lines.append(paint(kept, "dim", color=color))
    return "\n".join(lines)


def _question(started: CycleStarted, event: CycleFinished, costs: list[str], *, way: str, color: bool) -> str:
    lines = [paint(f"? {prose(event.text.strip())}", "bold", color=color)]
    about = [f"task {event.task} {shown_line(started.title, 200)}"]
    if event.features:
        about.append(counted(len(event.features), "feature"))
    about += [*_proof(event), *costs]
    lines.append(paint(f"  {' · '.join(about)}", "dim", color=color))
    answer = f"{way} {event.task} ANSWER" if way.startswith(":") else f'{way} --answer "…"'
    told = "rehearsed: the question is not kept for an answer" if started.rehearse else f"answer: {answer}"
    lines.append(paint(f"  {told}", "dim", color=color))
    return "\n".join(lines)


def _proof(event: CycleFinished) -> list[str]:
    told = []
    if event.total is not None:
        told.append(f"tests {event.passed} of {event.total} passed")
    if event.test_setup:
        told.append(f"! how the tests are run was changed on this branch: {_names(event.test_setup)}")
    if event.pushed_elsewhere:
        told.append(f"! something else pushed to {_names(event.pushed_elsewhere)} meanwhile")
    if event.files:
        told.append(f"{counted(len(event.files), 'file')}: {_names(event.files)}")
    return told


def _names(files: tuple[str, ...]) -> str:
    more = f" and {len(files) - _FILES} more" if len(files) > _FILES else ""
    return ", ".join(safe_line(name, 80) for name in files[:_FILES]) + more
