"""End a goal on the terminal with one line that says how it went, and nothing that stands above it already."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from agent.emitters import describe
from agent.emitters.assistant_text import AssistantText
from agent.emitters.command_lines import CommandLines
from agent.emitters.display import Display
from agent.emitters.paint import cell_width, paint, prose
from agent.protocol.events.command import CommandOutput
from agent.protocol.events.goal import GoalFinished

_DONE = ("done: ", "done; ")  # how the words begin that only say that it is done
_SILENT = "it printed nothing"
_FAILED = "failed: "
_TOLD = ("completed", "failed", "interrupted", "handed_off")  # how a command ends that says so itself
_KEPT = 8192  # characters of an output


class GoalEnding:
    """`said`: in this goal; the summary does not repeat it. `aside`: prints a line that is no answer."""

    def __init__(
        self,
        display: Display,
        answer: AssistantText,
        commands: CommandLines,
        said: set[str],
        aside: Callable[[str], None],
    ) -> None:
        self._display = display
        self._answer = answer
        self._commands = commands
        self._said = said
        self._aside = aside
        self.words = ""  # the planner's last ones, until it is known whether the goal ends with them
        self.by_recipes = False  # they are
        self.begin_goal()

    def begin_goal(self) -> None:
        self.begin_command()
        self._ran = False

    def begin_command(self) -> None:
        self._ran = True
        self._printed = ""  # by the latest command, the beginning
        self._lines, self._line = 0, ""  # how many there were that are not blank, and whether one is open

    def take_printed(self, event: CommandOutput) -> None:
        self._printed = (self._printed + event.data)[:_KEPT]
        if event.stream == "stdout":
            *lines, rest = (self._line + event.data).split("\n")
            self._lines += sum(bool(line.strip()) for line in lines)
            self._line = "+" if rest.strip() else ""

    def may_hold(self, text: str) -> bool:
        """Tell whether `text` may be no answer: it only says how it ended, as the line that ends the goal can, or recipes
        say it of what a command has printed, which is all that a pipe is for.
        """
        is_ending = self._commands.summarized and text.startswith((*_DONE, _FAILED)) and "\n" not in text
        return not self._answer.streamed and (is_ending or (self._ran and not self._display.out.is_tty))

    def say(self, message: str = "") -> None:
        """Show what waited, unless it is the beginning of what waits for the same: the `message` that was streamed."""
        text, self.words = self.words, ""
        if text != message:
            (self._aside if self._is_comment else self._answer.delta)(prose(text))

    @property
    def _is_comment(self) -> bool:
        return self.by_recipes and self._ran and not self._display.out.is_tty

    def show(self, event: GoalFinished, *, planning: float, summary: bool) -> None:
        """`planning`: seconds that the planner took."""
        begins = _FAILED if event.status == "failed" else _DONE if event.status == "completed" else ()
        if self.words and not (begins and self.words.startswith(begins)):
            self.say()
        self._answer.end()
        self._display.fresh_lines()
        undo = self._commands.undo_hint()
        as_typed = bool(self._commands.typed and event.commands) and event.status in _TOLD
        if not summary or as_typed:
            return
        prefix = _FAILED if self.words.startswith(_FAILED) else _DONE[0]
        done, self.words = self.words[len(prefix) :], ""
        printed = self._printed.strip()
        if done in (printed, printed.rpartition("\n")[2], f"{self._lines + bool(self._line)} lines of output"):
            done = ""
        one_screen = self._display.out.is_tty and self._display.err.is_tty
        if done == _SILENT:
            done = self._commands.made or ("done" if one_screen else "")
        line = partial(
            describe.summary_line,
            event,
            said=self._said,
            planning=planning,
            shell=not self._commands.at_prompt,
            told=self._is_told(event),
        )
        color, columns = self._display.err.color, self._display.err.size()[0]
        if done and not (one_screen and cell_width(line(color=False, done=done, undo=undo)) <= columns):
            (self._aside if self._is_comment else self._answer.message)(prose(prefix + done))
            done = ""
        if undo and cell_width(line(color=False, done=done, undo=undo)) > columns:
            self._aside(paint(undo, "dim", color=color))
            undo = ""
        if text := line(color=color, done=done, undo=undo):
            self._aside(text)

    def _is_told(self, event: GoalFinished) -> bool:
        """Tell whether what stands above says how the goal ended."""
        if event.message and event.message in self._said:
            return True
        if event.status == "blocked_by_policy":  # a warning has said why, unless the message does
            return not event.message
        return bool(self._printed.strip()) if event.status == "completed" else self._commands.ended == event.status
