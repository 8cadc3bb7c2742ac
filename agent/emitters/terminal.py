"""Show events on the person's terminal as they should look there."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent.emitters import describe
from agent.emitters.assistant_text import AssistantText
from agent.emitters.command_lines import OF_COMMANDS, CommandLines, plan_ending, plan_lines, step_line
from agent.emitters.display import Display, Spinner, StreamName, notification
from agent.emitters.goal_ending import GoalEnding
from agent.emitters.interview_lines import InterviewLines
from agent.emitters.paint import paint, prose, safe_line
from agent.emitters.rich_markdown import RichRenderer
from agent.emitters.streams import sink_of
from agent.emitters.work_lines import WorkLines
from agent.protocol.errors import ClientDisconnected, EmitError
from agent.protocol.events.command import CommandFinished, CommandOutput, CommandStarted, JobFinished
from agent.protocol.events.goal import (
    CompressionFinished,
    CompressionStarted,
    ContinueTriggered,
    GoalFinished,
    GoalStarted,
    PlanFinished,
    PlannerFinished,
    PlannerNoted,
    PlannerStarted,
    PlanProposed,
    PlanStepped,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import (
    AssistantDelta,
    AssistantMessage,
    AssistantThought,
    CoreCommandFinished,
    Failed,
    LogRepaired,
    Notice,
    SessionChanged,
    SessionNamed,
    Warned,
)
from agent.protocol.records import Record

if TYPE_CHECKING:
    from agent.emitters.terminal_filter import TerminalFilter


LONGEST_LINE = 4096  # characters of an output line that are shown; log and planner get what their own limits allow
_SLOW_PLANNER = 0.25  # seconds


class TerminalEmitterOptions(Struct, frozen=True, kw_only=True):
    """`highlight`: render Markdown (colour terminals only). `theme`: of code, another than the one in use. `show_commands`: print each
    command with its level before it runs, for when no prompt has shown it. `color` None: as the terminal says.
    `at_prompt`: what is advised is typed at the prompt of the REPL. `notify` (auto, osc9, osc777, off): how the end of a long
    command is told to a terminal that describes itself by `environ`.
    """

    highlight: bool = True
    theme: str | None = None
    verbose_tool_calls: bool = False
    show_spinner: bool = True
    show_commands: bool = False
    summary: bool = True
    color: bool | None = None
    at_prompt: bool = False
    notify: str = "off"
    environ: Mapping[str, str] = {}


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
        self._news: tuple[str, ...] = ()  # what became of a command that goes on as a job, and no warning
        self._said: set[str] = set()  # in this goal; the summary does not repeat it
        self._commands = CommandLines(
            self._aside,
            self._end_output,
            self._said,
            color=self._display.err.color,
            show_all=self._options.show_commands,
            at_prompt=self._options.at_prompt,
        )
        self._ending = GoalEnding(self._display, self._words, self._commands, self._said, self._aside)
        way = ":work" if self._options.at_prompt else "agent-shell work"
        self._work = WorkLines(self._aside, self._answer, self._wait, color=self._display.err.color, way=way)
        self._interview = InterviewLines(self._aside, color=self._display.err.color)
        self._planning = 0.0  # seconds that the planner took for this goal
        self._filters: dict[StreamName, TerminalFilter] = {}
        self._failure: EmitError | None = None
        self._waiting = False
        self._thinks = False  # thoughts stand on the screen, and their line has not ended
        self._running = ""
        self._came = False  # output of the latest command came through us, and not by its own drawing on the terminal

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
            self._came = True
            try:
                if self._work.is_quiet and not self._options.verbose_tool_calls:
                    return  # a line says how the call went, and the log has all of it
                self._spinner.stop()
                self._display.write(name, self._filter(name).feed(name, data) if self._is_screen(name) else data)
            except EmitError as error:
                self._failure = self._failure or error

    def pause(self) -> None:
        """Take the spinner away and leave what stands there as it is, before somebody else draws on the terminal."""
        with self._lock:
            self._spinner.stop()
            self._words.interrupt()

    def after_echo(self) -> None:
        """Go on in a line of its own: the terminal has shown a key, as `^C`. Never raises."""
        with self._lock:
            try:
                self.pause()
                self._display.after_echo()
            except EmitError as error:
                self._failure = self._failure or error

    # --- events ---

    def _show(self, event: Event) -> None:
        if self._ending.words and not isinstance(event, (PlannerFinished, PlannerNoted, GoalFinished)):
            self._ending.say(event.text if isinstance(event, AssistantMessage) else "")
        if isinstance(event, AssistantThought):
            self._think_aloud(event.text)
            return
        self._end_thought()
        if isinstance(event, (AssistantDelta, AssistantMessage)) and not self._work.is_open:
            self._spinner.stop()
            self._show_words(event)
            return
        if isinstance(event, PlannerStarted):
            self._words.end()
            self._thinking()
            return
        self._waiting = False
        if isinstance(event, CommandOutput):
            self._ending.take_printed(event)
            return
        self._spinner.stop()
        if not isinstance(event, PlannerFinished):  # after which the whole message comes, if it was one
            self._words.interrupt()  # before anybody else draws below it
        if self._work.takes(event):
            self._work.show(event, self._planning)
            if isinstance(event, GoalFinished):
                self._commands.undo_hint()  # `undo --list` names what a whole cycle can have changed
        elif isinstance(event, (PlannerFinished, ToolStarted, ToolFinished)):
            self._show_work(event)
        elif isinstance(event, OF_COMMANDS):
            self._show_command(event)
        elif isinstance(event, (PlanProposed, PlanStepped, PlanFinished)):
            self._show_plan(event)
        else:
            self._show_message(event)

    def _show_command(self, event: Event) -> None:
        self._commands.quiet = self._work.is_quiet and not self._options.verbose_tool_calls
        self._commands.show(event)
        self._notify(event)
        if isinstance(event, CommandStarted):
            self._work.go_on()
        if isinstance(event, CommandFinished) and event.result is not None and event.result.job:
            self._news = event.result.notes

    def _notify(self, event: Event) -> None:
        """Call a person back who looks elsewhere."""
        if isinstance(event, CommandStarted):
            self._running, self._news, self._came = event.command, (), False
            self._ending.begin_command()
        elif isinstance(event, CommandFinished) and self._options.notify != "off" and self._display.err.is_tty:
            if event.result is not None and event.result.stdout.total_bytes and not self._came:
                return  # the person had a whole-screen program before them, and left it
            told = notification(event, self._running, self._options.notify, self._options.environ)
            if told:
                self._display.err.write(told)

    def _show_words(self, event: AssistantDelta | AssistantMessage) -> None:
        whole = isinstance(event, AssistantMessage)
        if whole:
            self._waiting = False
            self._said.add(event.text)
        if self._ending.may_hold(event.text):
            self._ending.words = event.text
        elif whole:
            self._words.message(event.text)
        else:
            self._words.delta(event.text)

    def _think_aloud(self, text: str) -> None:
        """Show what the model thinks, dim, for who looks at it; it is no part of the answer."""
        if not self._display.err.is_tty:
            return
        self._spinner.stop()
        if not self._thinks:
            self._words.end()
            self._display.fresh_lines()
            text = text.lstrip()
        self._thinks = self._thinks or bool(text)
        self._display.write("stderr", paint(prose(text), "dim", color=self._display.err.color))

    def _end_thought(self) -> None:
        if self._thinks:
            self._thinks = False
            self._display.end_line("stderr")

    def _show_message(self, event: Event) -> None:
        self._interview.show(event)
        color = self._display.err.color
        match event:
            case Notice(text=text):
                self._answer(prose(text))
            case CoreCommandFinished(text=text) if text:
                self._answer(prose(text))
            case JobFinished():
                self._aside(describe.job_ending(event, color=color))
            case Warned(text=text) | LogRepaired(text=text):
                is_news = text in self._news
                self._aside(prose(text) if is_news else paint(f"warning: {prose(text)}", "yellow", color=color))
            case Failed(error=error) if error.code != "cancelled":
                self._said.add(error.message)
                self._aside(describe.error_lines(error, color=color))
            case ContinueTriggered():
                self._aside(describe.continuing(event, color=color))
            case SessionChanged(key="todo", to=todo, by="agent" | "person") if todo:
                self._aside(describe.todo_lines(todo, color=color))
            case CompressionStarted():
                self._aside("Compressing session...")
            case CompressionFinished():
                self._aside("Session compressed.")
            case SessionNamed(name=name, by="auto"):
                self._aside(f"Session auto-named: {safe_line(name)}")
            case GoalStarted(typed=typed, goal=goal):
                self._said.clear()
                self._planning = 0.0
                self._commands.typed = goal if typed else ""
                # After a command of one's own a shell says nothing either.
                self._commands.summarized = self._options.summary and not typed
            case GoalFinished():
                self._ending.show(
                    event, planning=self._planning, summary=self._options.summary and not self._interview.turned
                )

    def _show_plan(self, event: PlanProposed | PlanStepped | PlanFinished) -> None:
        color = self._display.err.color
        if isinstance(event, PlanProposed):
            self._aside(plan_lines(event, color=color))
        elif isinstance(event, PlanStepped):
            self._commands.step = step_line(event, color=color) if event.state == "begun" else ""
        else:
            self._commands.step = ""
            resume = ":resume" if self._options.at_prompt else "`:resume` in this session"
            ending = plan_ending(event, color=color, resume=resume)
            if ending is not None:
                self._display.fresh_lines()
                self._aside(ending)

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

    def _end_output(self) -> None:
        for name, filtered in self._filters.items():
            self._display.write(name, filtered.close())
        self._filters.clear()
        self._display.fresh_lines()

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

    def _wait(self, words: str, after: str) -> None:
        if self._options.show_spinner and self._display.out.is_tty and self._display.err.is_tty:
            self._spinner.start(self._tick, words, after)

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
        self._display.line("stdout", text)

    def _aside(self, text: str) -> None:
        try:
            self._display.line("stderr", text)
        except ClientDisconnected:
            if self._display.out.is_tty:
                raise  # the terminal is gone, not just somebody's log

    def _is_screen(self, name: StreamName) -> bool:
        """Tell whether people look at it: a terminal, also one that is called dumb."""
        return self._display.sink(name).is_screen

    def _filter(self, name: StreamName) -> TerminalFilter:
        if name not in self._filters:
            from agent.emitters.terminal_filter import TerminalFilter

            sink = self._display.sink(name)
            self._filters[name] = TerminalFilter(sink.color, LONGEST_LINE, moves=sink.is_tty)
        return self._filters[name]
