"""The person's terminal: events as they should look there."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent.emitters import describe
from agent.emitters.assistant_text import AssistantText
from agent.emitters.display import Display, StreamName
from agent.emitters.paint import paint, prose, safe_line
from agent.emitters.rich_markdown import RichRenderer
from agent.emitters.spinner import Spinner
from agent.emitters.streams import sink_of
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import ClientDisconnected, EmitError
from agent.protocol.events import (
    AssistantDelta,
    AssistantMessage,
    CommandConfirmed,
    CommandFinished,
    CommandProposed,
    CommandRated,
    CommandStarted,
    CompressionFinished,
    CompressionStarted,
    ContinueTriggered,
    CoreCommandFinished,
    Event,
    Failed,
    GoalFinished,
    GoalStarted,
    JobFinished,
    Notice,
    PlannerFinished,
    PlannerStarted,
    Record,
    RehearsalFinished,
    RehearsalStarted,
    SessionNamed,
    ToolFinished,
    ToolStarted,
    UndoFinished,
    Warned,
)
from agent.protocol.outcomes import WORD_NOT_TYPED

if TYPE_CHECKING:
    from agent.emitters.terminal_filter import TerminalFilter

LONGEST_LINE = 4096  # characters of an output line that are shown; log and planner get what their own limits allow
_SLOW_PLANNER = 0.25  # seconds


class TerminalEmitterOptions(Struct, frozen=True, kw_only=True):
    """`highlight`: render Markdown (colour terminals only). `theme`: a pygments style for code. `show_commands`: print each
    command with its level before it runs, for when no prompt has shown it. `color` None: as the terminal says.
    """

    highlight: bool = True
    theme: str | None = None
    verbose_tool_calls: bool = False
    show_spinner: bool = True
    show_commands: bool = False
    summary: bool = True
    color: bool | None = None


class TerminalEmitter:
    """ports.Emitter for people. `out` and `err` are streams or sinks.

    Answers and output of commands go to stdout, everything else to stderr. Nothing from outside reaches the terminal
    unescaped. No animation unless both streams are terminals.
    """

    def __init__(self, options: TerminalEmitterOptions | None = None, out: Any = None, err: Any = None) -> None:
        self._options = options or TerminalEmitterOptions()
        color = self._options.color
        self._display = Display(sink_of(out or sys.stdout, color=color), sink_of(err or sys.stderr, color=color))
        self._lock = threading.RLock()
        self._spinner = Spinner(self._display)
        self._words = AssistantText(self._display, self._renderer(), self._locked)
        self._said: set[str] = set()  # in this goal; the summary does not repeat it
        self._planning = 0.0  # seconds that the planner took for this goal
        self._reports: dict[str, RiskReport] = {}
        self._proposed: dict[str, str] = {}
        self._unseen: dict[str, str] = {}  # what runs without having been shown, and what let it
        self._rehearsed: dict[str, RehearsalFinished] = {}  # likewise: what nobody has looked at yet
        self._folder = ""
        self._filters: dict[StreamName, TerminalFilter] = {}
        self._failure: EmitError | None = None
        self._waiting = False

    async def emit(self, record: Record) -> None:
        """Show a record. Raises EmitError, also for what went wrong in the background since the last call."""
        with self._lock:
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            self._show(record.event)

    def output(self, stream: str, data: bytes) -> None:
        """Live output of a command, filtered for a terminal, exact for a pipe or file. Any thread; never raises."""
        name: StreamName = "stderr" if stream == "stderr" else "stdout"
        with self._lock:
            try:
                self._spinner.stop()
                self._display.write(name, self._filter(name).feed(name, data) if self._is_screen(name) else data)
            except EmitError as error:
                self._failure = self._failure or error

    def pause(self) -> None:
        """Take the spinner away, before somebody else draws on the terminal."""
        with self._lock:
            self._spinner.stop()

    # --- events ---

    def _show(self, event: Event) -> None:
        if isinstance(event, AssistantDelta):
            self._spinner.stop()
            self._words.delta(event.text)
            return
        if isinstance(event, PlannerStarted):
            self._words.end()
            self._thinking()
            return
        self._waiting = False
        self._spinner.stop()
        if isinstance(event, (PlannerFinished, ToolStarted, ToolFinished)):
            self._show_work(event)
        elif isinstance(event, (CommandProposed, CommandRated, CommandConfirmed, CommandStarted, CommandFinished)):
            self._show_command(event)
        elif isinstance(event, (RehearsalStarted, RehearsalFinished, UndoFinished)):
            self._show_rehearsal(event)
        else:
            self._show_message(event)

    def _show_message(self, event: Event) -> None:
        color = self._display.err.color
        match event:
            case AssistantMessage(text=text):
                self._said.add(text)
                self._words.message(text)
            case Notice(text=text):
                self._answer(prose(text))
            case CoreCommandFinished(text=text) if text:
                self._answer(prose(text))
            case JobFinished():
                self._aside(describe.job_ending(event, color=color))
            case Warned(text=text):
                self._aside(paint(f"warning: {prose(text)}", "yellow", color=color))
            case Failed(error=error) if error.code != "cancelled":
                self._said.add(error.message)
                self._aside(describe.error_lines(error, color=color))
            case ContinueTriggered():
                self._aside(describe.continuing(event, color=color))
            case CompressionStarted():
                self._aside("Compressing session...")
            case CompressionFinished():
                self._aside("Session compressed.")
            case SessionNamed(name=name):
                self._aside(f"Session auto-named: {safe_line(name)}")
            case GoalStarted():
                self._said.clear()
                self._planning = 0.0
            case GoalFinished():
                self._goal_finished(event)

    def _show_work(self, event: PlannerFinished | ToolStarted | ToolFinished) -> None:
        if isinstance(event, PlannerFinished):
            self._planning += event.duration
        if not self._options.verbose_tool_calls:
            return
        color = self._display.err.color
        if isinstance(event, ToolStarted):
            self._aside(paint(f"⚙ Using {safe_line(event.name, 100)}", "dim", color=color))
        elif isinstance(event, ToolFinished):
            self._aside(describe.tool_result(event, color=color))

    def _show_command(self, event: Event) -> None:
        match event:
            case CommandProposed(command_id=key, command=command):
                self._proposed[key] = command
            case CommandRated(command_id=key, report=report):
                self._reports[key] = report
            case CommandConfirmed(command_id=key):
                self._confirmed(event)
            case CommandStarted(command_id=key, command=command):
                if self._options.show_commands or key in self._unseen:
                    self._command_line(key, command, self._unseen.get(key, ""))
            case CommandFinished():
                self._command_finished(event)

    def _show_rehearsal(self, event: Event) -> None:
        """A rehearsal is shown by whoever asks about it; what nobody is asked about is shown when that is decided."""
        color = self._display.err.color
        match event:
            case RehearsalStarted(cwd=cwd):
                self._folder = cwd
                self._aside(paint(describe.rehearsing(event), "dim", color=color))
            case RehearsalFinished(command_id=key):
                self._end_output()
                self._rehearsed[key] = event
            case UndoFinished():
                self._aside(describe.undone(event, color=color))

    def _confirmed(self, event: CommandConfirmed) -> None:
        """Show what no prompt has shown: what ran without asking, and what was not run without asking."""
        key = event.command_id
        rehearsed = self._rehearsed.pop(key, None)
        if rehearsed is not None and event.by != "person" and rehearsed.exit_code is not None:
            self._aside(describe.rehearsed(rehearsed, self._folder, color=self._display.err.color))
        if event.decision in ("approved", "edited"):
            if event.by != "person":
                self._unseen[key] = f"({safe_line(event.remark, 200)})" if event.remark else ""
            return
        if event.by != "person" or self._options.show_commands:
            suffix = {"dry-run": "not run: dry run", "declined": "not run"}.get(event.decision, event.decision)
            self._command_line(key, event.command or self._proposed.get(key, ""), suffix)
        elif event.decision == "declined" and event.command:  # confirmed, but the second prompt was not
            self._said.add(WORD_NOT_TYPED)
            self._aside(paint(WORD_NOT_TYPED, "yellow", color=self._display.err.color))
        self._forget(key)

    def _command_line(self, key: str, command: str, suffix: str = "") -> None:
        color = self._display.err.color
        self._aside(describe.command_line(command, self._reports.get(key), color=color, suffix=suffix))

    def _end_output(self) -> None:
        for name, filtered in self._filters.items():
            self._display.write(name, filtered.close())
        self._filters.clear()
        self._fresh_lines()

    def _command_finished(self, event: CommandFinished) -> None:
        self._end_output()
        if event.conflict:
            return  # whoever asks again says why
        color = self._display.err.color
        line = describe.ending_line(event, color=color)
        if line:
            self._aside(line)
        if event.undo_id:
            self._aside(paint(describe.undo_hint(event.undo_id), "dim", color=color))
        self._forget(event.command_id)

    def _forget(self, key: str) -> None:
        self._reports.pop(key, None)
        self._proposed.pop(key, None)
        self._unseen.pop(key, None)

    def _goal_finished(self, event: GoalFinished) -> None:
        self._words.end()
        self._fresh_lines()
        if self._options.summary:
            color = self._display.err.color
            self._aside(describe.summary_line(event, color=color, said=self._said, planning=self._planning))

    # --- plumbing ---

    def _thinking(self) -> None:
        self._waiting = True
        if self._words.wants_preparation:
            asyncio.get_running_loop().call_later(_SLOW_PLANNER, self._prepare)
        if self._options.show_spinner and self._display.out.is_tty and self._display.err.is_tty:
            self._spinner.start(self._tick)

    def _prepare(self) -> None:
        """Load what renders the answer while there is time: a planner that takes so long is a model."""
        if self._waiting:
            self._words.prepare()

    def _tick(self) -> None:
        self._locked(lambda: self._spinner.draw(self._tick))

    def _locked(self, draw: Callable[[], None]) -> None:
        """Draw from a timer; a fault waits for the next event."""
        with self._lock:
            try:
                draw()
            except EmitError as error:
                self._failure = self._failure or error

    def _renderer(self) -> RichRenderer | None:
        renders = self._options.highlight and self._display.out.is_tty and self._display.out.color
        return RichRenderer(self._options.theme or "") if renders else None

    def _answer(self, text: str) -> None:
        self._words.end()
        self._display.line("stdout", text)

    def _aside(self, text: str) -> None:
        self._words.end()
        try:
            self._display.line("stderr", text)
        except ClientDisconnected:
            if self._display.out.is_tty:
                raise  # the terminal is gone, not just somebody's log

    def _fresh_lines(self) -> None:
        self._display.fresh_line("stdout")
        self._display.fresh_line("stderr")

    def _is_screen(self, name: StreamName) -> bool:
        """Whether people look at it: a terminal, also one that is called dumb."""
        return self._display.sink(name).is_screen

    def _filter(self, name: StreamName) -> TerminalFilter:
        if name not in self._filters:
            from agent.emitters.terminal_filter import TerminalFilter

            sink = self._display.sink(name)
            self._filters[name] = TerminalFilter(sink.color, LONGEST_LINE, moves=sink.is_tty)
        return self._filters[name]
