"""Retell a session with its timing: one generator of timed text, for the player in the terminal and for asciicast.

What the program itself said is said by the same emitter as then. In the place of a prompt stands what was asked about, and the answer.
Output of commands passes the emitter's own filter, so no title, clipboard, query or alternate screen of a hostile log reaches a screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from agent.emitters import describe
from agent.emitters.export.frames import (
    DrawnScreen,
    Frame,
    Look,
    Timeline,
    at_once,
    ends_line,
    goal_prompt,
    log_line,
    session_lines,
    typed,
)
from agent.emitters.paint import paint, safe_line
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.protocol.events.command import (
    OF_COMMAND,
    ApprovalRequested,
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandRated,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.protocol.events.goal import GoalFinished, GoalStarted, PlannerStarted, RunFinished, RunStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import LogRepaired, LogScrubbed, SessionFinished, SessionPruned, SessionStarted
from agent.protocol.outcomes import CapturedStream
from agent.protocol.records import Record, event_type

MOST_OUTPUT = 1024 * 1024
"""Characters of one command's output that are shown; the report and the log have the rest."""

_THINKING = "⠋ thinking…"
_ENTER = 0.3  # seconds between a prompt and what is typed there


def screen_script(records: Iterable[object], look: Look | None = None, *, goal: int = 0) -> Iterator[Frame]:
    """The frames of a session. What is no `Record` (a line that could not be read) is passed over.

    `goal`: only that one, counted from 1; 0 for all. Streams: only one goal's open state is kept in memory.
    """
    script = _Script(look or Look())
    number, begun = 0, False
    for record in records:
        if not isinstance(record, Record):
            continue
        if isinstance(record.event, GoalStarted):
            number += 1
        for frame in script.take(record):
            if not goal:
                yield frame
            elif number == goal and (begun or frame.marker):
                yield frame if begun else structs.replace(frame, delay=0.0)
                begun = True
    if not goal or (begun and number == goal):
        yield from script.end()


class _Script:
    def __init__(self, look: Look) -> None:
        self._look = look
        self._screen = DrawnScreen(look)
        self._emitter = self._new_emitter("")
        self._timeline = Timeline()
        self._shown_at: float | None = None
        self._frames: list[Frame] = []
        self._asked: set[str] = set()  # commands that a person was asked about
        self._told: set[str] = set()  # of all rehearsals
        self._folder = ""  # of the last rehearsal
        self._started = SessionStarted(session_id="")
        self._thinking = False
        self._fresh = True  # whether the cursor stands at the start of a line
        self._output: dict[str, int] = {}  # characters that the running command has printed, by stream
        self._exit_code = 0

    def take(self, record: Record) -> list[Frame]:
        """The frames of the next record."""
        at = self._timeline.position(record)
        if self._shown_at is None:
            self._shown_at = at
        event = record.event
        if isinstance(event, OF_COMMAND):
            self._command(event, record, at)
        else:
            self._other(event, record, at)
        return self._taken()

    def end(self) -> list[Frame]:
        """Draw what is left when the log ends, whether the session did or not."""
        if self._shown_at is not None:
            self._stop_thinking()
        return self._taken()

    # --- what is shown ---

    def _command(self, event: Event, record: Record, at: float) -> None:
        match event:
            case CommandStarted():
                self._output = {}
                self._emit(record, at)
            case CommandOutput():
                self._print(event.stream, event.data, at)
            case CommandFinished():
                self._command_ended(event, record, at)
            case _:
                self._decision(event, record, at)

    def _other(self, event: Event, record: Record, at: float) -> None:
        match event:
            case SessionStarted():
                self._session(event, record, at)
            case SessionFinished():
                self._session_ended(at)
            case GoalStarted():
                self._goal(event, at)
                self._emit(record, at)
            case GoalFinished():
                self._exit_code = event.exit_code
                self._emit(record, at)
            case PlannerStarted():
                self._think(at)
            case LogRepaired(text="") | LogScrubbed() | SessionPruned():
                self._line(log_line(event), at)
            case ApprovalRequested(preview=text) if text:
                self._line(paint(safe_line(text, 500), "dim", color=self._look.color), at)
            case _ if not isinstance(event, (RunStarted, RunFinished)):
                self._emit(record, at)

    def _session(self, event: SessionStarted, record: Record, at: float) -> None:
        self._started = event
        self._emitter = self._new_emitter(event.frontend)
        for line in session_lines(event, record.time, self._look.columns):
            self._line(paint(line, "dim", color=self._look.color), at)

    def _new_emitter(self, frontend: str) -> TerminalEmitter:
        """Build the emitter that spoke to the person: at the prompt of the REPL it advised other words than elsewhere."""
        options = TerminalEmitterOptions(
            show_spinner=False, verbose_tool_calls=True, color=self._look.color, at_prompt=frontend == "repl"
        )
        return TerminalEmitter(options, out=self._screen, err=self._screen)

    def _goal(self, event: GoalStarted, at: float) -> None:
        self._stop_thinking()
        self._asked.clear()
        goal = f"!{event.goal}" if event.origin == "shell" and not event.goal.startswith("!") else event.goal
        marker = safe_line(goal, 200)
        prompt = goal_prompt(
            is_root=self._started.is_root,
            safety_off=event.safety_off or self._started.safety_off,
            color=self._look.color,
        )
        self._fresh_line()
        self._add(Frame(delay=self._delay(at), text="\n" + prompt, marker=marker, stop=True))
        self._add(Frame(delay=_ENTER, text=typed(goal) + "\n"))
        if event.private:
            self._line(paint("private: kept from the planner", "dim", color=self._look.color), at)

    def _think(self, at: float) -> None:
        if self._look.animate and not self._thinking:
            self._fresh_line()
            self._write(paint(_THINKING, "dim", color=self._look.color), at)
            self._thinking = True

    def _stop_thinking(self, at: float | None = None) -> None:
        if self._thinking:
            self._thinking = False
            self._write("\r\x1b[K", self._shown_at or 0.0 if at is None else at)
            self._fresh = True

    def _decision(self, event: Event, record: Record, at: float) -> None:
        """Show a command that a person is asked about, as it was rated, and what they say to it."""
        color = self._look.color
        match event:
            case CommandRated(report=report, verdict=verdict) if verdict.action in ("ask", "type"):
                self._asked.add(event.command_id)
                suffix = "(edited)" if event.stage == "edited" else ""
                self._line(describe.command_line(report.command, report, color=color, suffix=suffix), at)
                self._add(Frame(delay=0.0, stop=True))
            case RehearsalStarted():
                self._output = {}
                self._folder = event.cwd
            case RehearsalFinished(preview=False) if event.command_id in self._asked and event.exit_code is not None:
                self._line(describe.rehearsed(event, self._folder, self._told, color=color), at)
            case CommandConfirmed(by="person", decision=decision) if event.command_id in self._asked:
                told = {"approved": "", "edited": ""}.get(decision, safe_line(decision, 40))
                said = "; ".join(
                    filter(
                        None, (told, "the word was typed" if event.word_typed else "", safe_line(event.remark, 1000))
                    )
                )
                if said:
                    self._line(paint(f"({said})", "dim", color=color), at)
        self._emit(record, at)

    def _print(self, stream: str, data: str, at: float) -> None:
        self._stop_thinking(at)
        so_far = self._output.get(stream, 0)
        self._output[stream] = so_far + len(data)
        if so_far >= MOST_OUTPUT or not data:
            return
        piece = data[: MOST_OUTPUT - so_far]
        self._emitter.output(stream, piece.encode("utf-8", "replace"))
        self._write(self._screen.take(), at)
        if so_far + len(data) > MOST_OUTPUT:
            self._line(paint("[… more than is shown here]", "dim", color=self._look.color), at)

    def _command_ended(self, event: CommandFinished, record: Record, at: float) -> None:
        result = event.result
        for name, stream in (("stdout", result.stdout), ("stderr", result.stderr)):
            if not self._output.get(name) and stream.head:
                self._print(name, stream.head, at)
            self._tail(name, stream, at)
        self._output = {}
        self._emit(record, at)
        self._add(Frame(delay=0.0, stop=True))

    def _tail(self, name: str, stream: CapturedStream, at: float) -> None:
        if stream.dropped_bytes:
            self._line(paint(f"[… {stream.dropped_bytes:,} bytes not kept …]", "dim", color=self._look.color), at)
        if stream.tail:
            self._output[name] = 0
            self._print(name, stream.tail, at)

    def _session_ended(self, at: float) -> None:
        self._stop_thinking(at)
        code = 0 if self._started.frontend == "repl" else self._exit_code
        self._fresh_line()
        self._add(Frame(delay=self._delay(at), exit_code=code, stop=True))

    # --- plumbing ---

    def _emit(self, record: Record, at: float) -> None:
        self._stop_thinking(at)
        try:
            at_once(self._emitter.emit(record))
        except (ValueError, TypeError, ArithmeticError, LookupError):  # what no emitter is handed by the engine
            self._write(self._screen.take(), at)
            self._line(paint(f"[{event_type(record.event)}: cannot be shown]", "dim", color=self._look.color), at)
            return
        self._write(self._screen.take(), at)

    def _line(self, text: str, at: float) -> None:
        self._stop_thinking(at)
        self._fresh_line()
        self._write(f"{text}\n", at)

    def _write(self, text: str, at: float) -> None:
        if text:
            self._add(Frame(delay=self._delay(at), text=text))

    def _fresh_line(self) -> None:
        if not self._fresh:
            self._add(Frame(delay=0.0, text="\n"))

    def _add(self, frame: Frame) -> None:
        self._frames.append(frame)
        if frame.text:
            self._fresh = ends_line(frame.text)

    def _delay(self, at: float) -> float:
        """Seconds since what was shown last, which this now is."""
        assert self._shown_at is not None
        delay = max(at - self._shown_at, 0.0)
        self._shown_at = max(at, self._shown_at)
        return delay if self._look.idle is None else min(delay, self._look.idle)

    def _taken(self) -> list[Frame]:
        frames, self._frames = self._frames, []
        return frames
