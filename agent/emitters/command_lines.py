"""Print commands, their rehearsals and plans on the terminal: what no prompt has shown, how it ended, how to take it back."""

from __future__ import annotations

from collections.abc import Callable

from agent.emitters import describe
from agent.emitters.paint import paint, safe_line
from agent.protocol.decisions import RiskReport
from agent.protocol.events.command import (
    UNDO_INTERRUPTED,
    CommandConfirmed,
    CommandFinished,
    CommandProposed,
    CommandRated,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
    UndoFinished,
)
from agent.protocol.events.known import Event
from agent.protocol.outcomes import WORD_NOT_TYPED
from agent.protocol.rehearsals import Totals

OF_COMMANDS = (
    CommandProposed,
    CommandRated,
    CommandConfirmed,
    CommandStarted,
    CommandFinished,
    RehearsalStarted,
    RehearsalFinished,
    UndoFinished,
)
"""The events that are shown here."""


class CommandLines:
    """`aside` prints a line beside the output, `end_output` ends what a command printed. `said`: what was said of this goal;
    `show_all`: also what a prompt may have shown. `at_prompt`: of the REPL.
    """

    def __init__(
        self,
        aside: Callable[[str], None],
        end_output: Callable[[], None],
        said: set[str],
        *,
        color: bool,
        show_all: bool,
        at_prompt: bool = False,
    ) -> None:
        self._aside = aside
        self._end_output = end_output
        self._said = said
        self._color = color
        self._show_all = show_all
        self.at_prompt = at_prompt
        self._undo = ":undo" if at_prompt else "agent-shell undo"
        self._reports: dict[str, RiskReport] = {}
        self._proposed: dict[str, str] = {}
        self._unseen: dict[str, str] = {}  # what runs without having been shown, and what let it
        self._rehearsed: dict[str, RehearsalFinished] = {}  # likewise: what nobody has looked at yet
        self._previewed: set[str] = set()
        self._told: set[str] = set()  # of all rehearsals
        self._totals: dict[str, Totals] = {}  # what its rehearsal would change
        self.made = ""  # what the latest command changed, where it made its rehearsal real
        self.ended = ""  # the status of a goal that ends as the latest command did, where that was told
        self.typed = ""  # a command that the person typed themselves, and sees already
        self.step = ""  # the line of the step of a plan that has begun, until it stands on the screen
        self.quiet = False  # who is told of these commands is told by somebody else
        self.summarized = False  # the goal ends with a line that says how to take it back
        self._undo_hints: list[str] = []
        self._folder = ""
        self._is_commit = False

    def show(self, event: Event) -> None:
        """Show one of `OF_COMMANDS`, at once or when more is known."""
        match event:
            case CommandProposed(command_id=key, command=command):
                self._proposed[key] = command
            case CommandRated(command_id=key, report=report):
                self._reports[key] = report
            case CommandConfirmed(command_id=key):
                self._confirmed(event)
            case CommandStarted(command_id=key, command=command):
                self._is_commit = event.via == "rehearsal" and key not in self._previewed
                totals = self._totals.pop(key, None) if event.via == "rehearsal" else None
                self.made = "" if totals is None else describe.made(totals)
                self.ended = ""
                if (self._show_all or key in self._unseen) and command != self.typed and not self.quiet:
                    self._command_line(key, command, self._unseen.get(key, ""))
            case CommandFinished():
                self._command_finished(event)
            case RehearsalStarted(preview=True):
                self._previewed = {event.command_id}  # the prompt shows what it would do
            case RehearsalFinished(preview=True, command_id=key):
                self._previewed, self._totals = {key}, {key: event.totals}
            case RehearsalStarted(cwd=cwd):
                self._folder = cwd
                self._previewed = set()
                self._aside(paint(describe.rehearsing(event), "dim", color=self._color))
            case RehearsalFinished(command_id=key):
                # Whoever asks about it shows it; what nobody is asked about is shown when that is decided.
                self._end_output()
                self._rehearsed[key], self._totals = event, {key: event.totals}
            case UndoFinished(reason=reason) if event.resumed or reason in ("", UNDO_INTERRUPTED):
                self._aside(describe.undone(event, way=self._undo, color=self._color))

    def _confirmed(self, event: CommandConfirmed) -> None:
        """Show what no prompt has shown: what ran without asking, and what was not run without asking."""
        key = event.command_id
        rehearsed = self._rehearsed.pop(key, None)
        if rehearsed is not None and event.by != "person" and rehearsed.exit_code is not None:
            self._aside(describe.rehearsed(rehearsed, self._folder, self._told, color=self._color))
        if event.decision in ("approved", "edited"):
            if event.by == "person":
                self.step = ""  # it stood above the prompt
            else:
                self._unseen[key] = f"({safe_line(event.remark, 200)})" if event.remark else ""
            return
        if event.by != "person" or self._show_all:
            suffix = {"dry-run": "not run: dry run", "declined": "not run"}.get(event.decision, event.decision)
            self._command_line(key, event.command or self._proposed.get(key, ""), suffix)
        elif event.decision == "declined" and event.command:  # confirmed, but the second prompt was not
            self._said.add(WORD_NOT_TYPED)
            self._aside(paint(WORD_NOT_TYPED, "yellow", color=self._color))
        self._forget(key)

    def _command_line(self, key: str, command: str, suffix: str = "") -> None:
        if self.step:
            self._aside(self.step)
            self.step = ""
        self._aside(describe.command_line(command, self._reports.get(key), color=self._color, suffix=suffix))

    def _command_finished(self, event: CommandFinished) -> None:
        self._end_output()
        if event.conflict:
            return  # whoever asks again says why
        line = describe.ending_line(event, color=self._color)
        if line and not self.quiet:
            self._aside(line)
            self.ended = describe.ended_as(event.result)
        elif event.result.job:
            self.ended = "handed_off"  # its notes tell
        if event.undo_id:
            self._undo_hints.append(describe.undo_hint(event.undo_id, way=self._undo, made_real=self._is_commit))
            if not self.summarized:
                self._aside(paint(self.undo_hint(), "dim", color=self._color))
        if event.result.refused:
            self._unseen.pop(event.command_id, None)  # it was ended, and is asked for
        else:
            self._forget(event.command_id)

    def undo_hint(self) -> str:
        """Say how to take back what was not told of yet, once: the one run, or which there are."""
        hints, self._undo_hints = self._undo_hints, []
        if len(hints) > 1:
            return f"undo: {self._undo} {'list' if self._undo.startswith(':') else '--list'}"
        return hints[0] if hints else ""

    def _forget(self, key: str) -> None:
        self._reports.pop(key, None)
        self._proposed.pop(key, None)
        self._unseen.pop(key, None)
