"""Print what is said beside answers and commands: notices, warnings and errors, the to-do list, plans, and the calls of tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from agent.emitters import describe
from agent.emitters.paint import LEVEL_STYLE, paint, prose, safe_line
from agent.protocol.events.command import CommandFinished, JobFinished
from agent.protocol.events.goal import (
    CompressionFinished,
    CompressionStarted,
    ContinueTriggered,
    PlanFinished,
    PlanProposed,
    PlanStepped,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import (
    CoreCommandFinished,
    Failed,
    LogRepaired,
    Notice,
    SessionChanged,
    SessionNamed,
    Warned,
)
from agent.protocol.outcomes import NOTE_DETAILS, TIME_OUT_NOTE
from agent.text.shown import shown
from agent.text.sizes import counted

OF_PLANS = (PlanProposed, PlanStepped, PlanFinished)
"""The events that `PlanLines` shows."""
_SHOWN_COMMAND = 2_000  # characters of a step's command; all of it stands at its confirmation


@dataclass
class Notices:
    """`answer` prints on stdout, `aside` on stderr. `said`: what was said of this goal, or in this run outside of one.

    `tools`: their calls are told.
    """

    answer: Callable[[str], None]
    aside: Callable[[str], None]
    said: set[str]
    _: KW_ONLY
    color: bool
    tools: bool
    at_prompt: bool
    _news: tuple[str, ...] = ()  # what became of a command that goes on as a job, and no warning
    _notes: tuple[str, ...] = ()  # of the latest command

    def begin_command(self) -> None:
        """Forget what the one before it came to."""
        self._news = self._notes = ()

    def end_command(self, event: CommandFinished) -> None:
        """Take what is said of a command that goes on as a job for news."""
        self._notes = event.result.notes
        if event.result.job:
            self._news = event.result.notes

    def _answer_once(self, text: str) -> None:
        if text not in self.said:  # a planner says it each time that it is asked
            self.said.add(text)
            self.answer(prose(text))

    def show(self, event: Event) -> None:
        """Show `event`, if it is one of these."""
        match event:
            case Notice(text=text):
                self._answer_once(text)
            case CoreCommandFinished(text=text) if text:
                self.answer(prose(text))
            case JobFinished():
                self.aside(describe.job_ending(event, color=self.color))
            case Warned(text=text) | LogRepaired(text=text):
                self._warn(text)
            case Failed(error=error) if error.code != "cancelled":
                self.said.add(error.message)
                self.aside(describe.error_lines(error, color=self.color, at_prompt=self.at_prompt))
            case ContinueTriggered():
                self.aside(describe.continuing(event, color=self.color))
            case SessionChanged(key="todo", to=todo, by="agent" | "person") if todo:
                self.aside(describe.todo_lines(todo, color=self.color))
            case CompressionStarted():
                self.aside("Compressing session...")
            case CompressionFinished():
                self.aside("Session compressed.")
            case SessionNamed(name=name, by="auto"):
                self.aside(f"Session auto-named: {safe_line(name)}")
            case ToolStarted(name=name) if self.tools:
                self.aside(paint(f"⚙ Using {safe_line(name, 100)}", "dim", color=self.color))
            case ToolFinished() if self.tools:
                self.aside(describe.tool_result(event, color=self.color))

    def _warn(self, text: str) -> None:
        """Show a warning, or a note of the executor without what the line about the command's end and `:jobs` say."""
        told = text
        if text in self._notes:
            if text.startswith(TIME_OUT_NOTE):
                return
            head, details, _ = text.partition(NOTE_DETAILS)
            told = f"{head}; see :jobs" if details and self.at_prompt else text
        is_news = text in self._news
        self.aside(prose(told) if is_news else paint(f"warning: {prose(told)}", "yellow", color=self.color))


def plan_lines(event: PlanProposed, *, color: bool) -> str:
    """The steps in order, each with its command and how risky that looks from here."""
    total = len(event.planned)
    head = f"plan · {counted(total, 'step')}; nothing has run yet"
    if event.done:
        head = f"plan · resumed at step {event.done + 1} of {total}"
    lines = [paint(head, "cyan", color=color)]
    if event.message:
        lines.append(prose(event.message))
    width = len(str(total))
    for number, step in enumerate(event.planned, 1):
        done = number <= event.done
        mark = "✓" if done else " "
        lines.append(
            f"{mark} {number:>{width}}  {paint(safe_line(step.goal, 300), 'dim' if done else 'bold', color=color)}"
        )
        if done:
            continue
        indent = " " * (width + 4)
        if not step.command:
            lines.append(indent + paint("(its command is planned when it is reached)", "dim", color=color))
            continue
        level = event.levels[number - 1] if number <= len(event.levels) else ""
        lines.append(indent + _command(step.command, level, indent, color=color))
    return "\n".join(lines)


def _command(command: str, level: str, indent: str, *, color: bool) -> str:
    words = shown(command[:_SHOWN_COMMAND]).replace("\n", f"\n{indent}  ")
    if len(command) > _SHOWN_COMMAND:
        words += f" … {len(command) - _SHOWN_COMMAND:,} more characters"
    mark = paint(f"  [{level}]", LEVEL_STYLE[level], color=color) if level in LEVEL_STYLE else ""
    return f"$ {words}{mark}"


def step_line(event: PlanStepped, *, color: bool) -> str:
    """`step 2/3 · copy all pdf files into it`."""
    return paint(f"step {event.step}/{event.total} · {safe_line(event.goal, 300)}", "cyan", color=color)


def plan_ending(event: PlanFinished, *, color: bool, resume: str) -> str | None:
    """Say what is left, and what goes on with it (`resume`); None where nothing is."""
    if event.outcome == "replaced":
        return paint(f"the plan was changed after {counted(event.done, 'step')}", "dim", color=color)
    if event.outcome != "stopped" or not event.left:
        return None
    lines = [paint(f"plan stopped: {event.done} of {counted(event.total, 'step')} done; left:", "yellow", color=color)]
    first = event.total - len(event.left) + 1
    lines += [f"  {number}  {safe_line(goal, 300)}" for number, goal in enumerate(event.left, first)]
    lines.append(paint(f"{resume} continues it", "dim", color=color))
    return "\n".join(lines)


@dataclass(frozen=True)
class PlanLines:
    """`aside` prints lines beside the output, `apart` those that begin in a line of their own. `at_prompt`: of the REPL."""

    aside: Callable[[str], None]
    apart: Callable[[str], None]
    _: KW_ONLY
    color: bool
    at_prompt: bool

    def show(self, event: Event) -> str | None:
        """Show `event` and return the line that stands above the commands of its step; None where that stays as it is."""
        match event:
            case PlanProposed():
                self.aside(plan_lines(event, color=self.color))
                return None
            case PlanStepped(state="begun"):
                return step_line(event, color=self.color)
            case PlanFinished():
                resume = ":resume" if self.at_prompt else "`:resume` in this session"
                if (ending := plan_ending(event, color=self.color, resume=resume)) is not None:
                    self.apart(ending)
        return ""
