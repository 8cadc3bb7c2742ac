"""Print what is said beside answers and commands: notices, warnings and errors, the to-do list, and the calls of tools."""

from __future__ import annotations

from collections.abc import Callable

from agent.emitters import describe
from agent.emitters.paint import paint, prose, safe_line
from agent.protocol.events.command import CommandFinished, JobFinished
from agent.protocol.events.goal import (
    CompressionFinished,
    CompressionStarted,
    ContinueTriggered,
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


class Notices:
    """`answer` prints on stdout, `aside` on stderr. `said`: what was said of this goal. `tools`: their calls are told."""

    def __init__(
        self,
        answer: Callable[[str], None],
        aside: Callable[[str], None],
        said: set[str],
        *,
        color: bool,
        tools: bool,
        at_prompt: bool,
    ) -> None:
        self._answer = answer
        self._aside = aside
        self._said = said
        self._color = color
        self._tools = tools
        self._at_prompt = at_prompt
        self._news: tuple[str, ...] = ()  # what became of a command that goes on as a job, and no warning

    def begin_command(self) -> None:
        """Forget what the one before it came to."""
        self._news = ()

    def end_command(self, event: CommandFinished) -> None:
        """Take what is said of a command that goes on as a job for news."""
        if event.result is not None and event.result.job:
            self._news = event.result.notes

    def show(self, event: Event) -> None:
        """Show `event`, if it is one of these."""
        match event:
            case Notice(text=text):
                self._answer(prose(text))
            case CoreCommandFinished(text=text) if text:
                self._answer(prose(text))
            case JobFinished():
                self._aside(describe.job_ending(event, color=self._color))
            case Warned(text=text) | LogRepaired(text=text):
                is_news = text in self._news
                self._aside(prose(text) if is_news else paint(f"warning: {prose(text)}", "yellow", color=self._color))
            case Failed(error=error) if error.code != "cancelled":
                self._said.add(error.message)
                self._aside(describe.error_lines(error, color=self._color, at_prompt=self._at_prompt))
            case ContinueTriggered():
                self._aside(describe.continuing(event, color=self._color))
            case SessionChanged(key="todo", to=todo, by="agent" | "person") if todo:
                self._aside(describe.todo_lines(todo, color=self._color))
            case CompressionStarted():
                self._aside("Compressing session...")
            case CompressionFinished():
                self._aside("Session compressed.")
            case SessionNamed(name=name, by="auto"):
                self._aside(f"Session auto-named: {safe_line(name)}")
            case ToolStarted(name=name) if self._tools:
                self._aside(paint(f"⚙ Using {safe_line(name, 100)}", "dim", color=self._color))
            case ToolFinished() if self._tools:
                self._aside(describe.tool_result(event, color=self._color))
