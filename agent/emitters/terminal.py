"""Show events on the person's terminal as they should look there."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from agent.emitters.assistant_text import AssistantText
from agent.emitters.command_lines import OF_COMMANDS, CommandLines
from agent.emitters.display import Display, LiveOutput, Spinner, StreamName, notification
from agent.emitters.goal_ending import GoalEnding
from agent.emitters.interview_lines import InterviewLines
from agent.emitters.notices import OF_PLANS, Notices, PlanLines
from agent.emitters.paint import paint, prose
from agent.emitters.rich_markdown import RichRenderer
from agent.emitters.streams import sink_of
from agent.emitters.work_lines import WorkLines
from agent.protocol.errors import ClientDisconnected, EmitError
from agent.protocol.events.command import CommandFinished, CommandOutput, CommandStarted
from agent.protocol.events.goal import (
    GoalFinished,
    GoalStarted,
    PlannerFinished,
    PlannerNoted,
    PlannerStarted,
    RunStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantDelta, AssistantMessage, AssistantThought
from agent.protocol.records import Record

_SLOW_PLANNER = 0.25  # seconds
_RECIPES = "offline"  # the planner, or whose answer it is where others were asked first


class TerminalEmitterOptions(Struct, frozen=True, kw_only=True):
    """`highlight`: render Markdown (colour terminals only). `theme`: of code, another than the one in use. `show_commands`: print each
    command with its level before it runs, for when no prompt has shown it. `color` None: as the terminal says.
    `at_prompt`: what is advised is typed at the prompt of the REPL. `notify` (auto, osc9, osc777, off): how the end of a long
    command is told to a terminal that describes itself by `environ`. `interview`: its turns are what is shown, and it tells whether a
    panel says already what the line after each of them does.
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
    interview: Callable[[], bool] | None = None


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
        self._output = LiveOutput(self._display)
        self._spinner = Spinner(self._display)
        self._words = AssistantText(self._display, self._renderer(), self._locked)
        self._said: set[str] = set()  # in this goal, or this run outside of one; nothing repeats it
        self._commands = CommandLines(
            self._aside,
            self._output.end,
            self._said,
            color=self._display.err.color,
            show_all=self._options.show_commands,
            at_prompt=self._options.at_prompt,
        )
        self._ending = GoalEnding(self._display, self._words, self._commands, self._said, self._aside)
        way = ":work" if self._options.at_prompt else "agent-shell work"
        self._work = WorkLines(self._aside, self._answer, self._wait, color=self._display.err.color, way=way)
        self._notices = Notices(
            self._answer,
            self._aside,
            self._said,
            color=self._display.err.color,
            tools=self._options.verbose_tool_calls,
            at_prompt=self._options.at_prompt,
        )
        self._plans = PlanLines(
            self._aside, self._apart, color=self._display.err.color, at_prompt=self._options.at_prompt
        )
        self._interview = InterviewLines(
            self._aside, color=self._display.err.color, quiet=self._options.interview or bool
        )
        self._planning = 0.0  # seconds that the planner took for this goal
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
                self._output.write(name, data)
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
            self._ending.by_recipes = event.planner == _RECIPES
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
        elif isinstance(event, OF_COMMANDS):
            self._show_command(event)
        elif isinstance(event, OF_PLANS):
            step = self._plans.show(event)
            self._commands.step = self._commands.step if step is None else step
        else:
            self._interview.show(event)
            self._notices.show(event)
            self._follow_goal(event)

    def _show_command(self, event: Event) -> None:
        self._commands.quiet = self._work.is_quiet and not self._options.verbose_tool_calls
        self._commands.show(event)
        self._notify(event)
        if isinstance(event, CommandStarted):
            self._work.go_on()
        if isinstance(event, CommandFinished):
            self._notices.end_command(event)

    def _notify(self, event: Event) -> None:
        """Call a person back who looks elsewhere."""
        if isinstance(event, CommandStarted):
            self._running, self._came = event.command, False
            self._notices.begin_command()
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

    def _follow_goal(self, event: Event) -> None:
        match event:
            case PlannerFinished(duration=duration):
                self._planning += duration
                if event.model:
                    self._ending.by_recipes = event.model == _RECIPES
            case RunStarted():
                self._said.clear()
            case GoalStarted(typed=typed, goal=goal):
                self._said.clear()
                self._planning = 0.0
                self._ending.begin_goal()
                self._commands.typed = goal if typed else ""
                # After a command of one's own a shell says nothing either.
                self._commands.summarized = self._options.summary and not typed
            case GoalFinished():
                talks = self._interview.turned or self._options.interview is not None
                if talks and event.status == "skipped" and event.message not in self._said:
                    self._aside(prose(event.message))
                self._ending.show(event, planning=self._planning, summary=self._options.summary and not talks)

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

    def _apart(self, text: str) -> None:
        self._display.fresh_lines()
        self._aside(text)
