"""Ask after a rehearsal: make it real, edit the command, rehearse with the network, or throw it away. Nothing is a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.emitters.rehearsal_text import Line, diff_lines, of_any, plain, rehearsal_lines
from agent.frontends.confirm.heading import level_words
from agent.frontends.external_programs import show_long
from agent.frontends.screen import Fragments, Screen
from agent.frontends.wrapping import wrapped
from agent.gate.rehearsal_runs import wanted_network
from agent.policy.confining import beyond
from agent.protocol.confirmations import CancelGoal, Commit, ConfirmationRequest, Discard, EditAgain, Rehearse, Review
from agent.protocol.execution import Processes
from agent.protocol.rehearsals import Rehearsal
from agent.text.shown import shown

_WORDS = {
    "c": "commit", "e": "edit", "d": "discard", "v": "view all", "n": "again, with the network",
}  # fmt: skip


@dataclass(frozen=True)
class RehearsalReview:
    """The dialogue at one terminal. No key, no time-out and no fault commits anything: only `c` does."""

    screen: Screen
    processes: Processes
    environ: Mapping[str, str]
    edit_mode: str = "emacs"

    async def ask(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        """Show it and ask until there is an answer; Ctrl-C and the end of input cancel the goal, and nothing was changed."""
        view = RehearsalView(self.screen, self.processes, self.environ)
        self._say_command(request, rehearsal)
        is_whole = view.show(rehearsal)
        for line in request.note.split("\n"):
            if line:
                self.screen.say(shown(line), "class:warn")
        choices = _choices(request, rehearsal)
        if _is_kept_out(request, rehearsal):
            self.screen.say("so it cannot be committed: a rehearsal does not widen what a command may do", "class:warn")
        self.screen.set_aside_typed_ahead()
        while True:
            answer = await self._line(_question(choices, rehearsal, high=request.verdict.action == "type"))
            if answer is None:
                return CancelGoal()
            letter = answer.strip().lower()
            letter = next((key for key in choices if letter in (key, _WORDS[key])), letter)
            if not letter and _is_done(rehearsal):
                return Commit()
            if letter == "c" and letter in choices and not is_whole:
                await view.show_all(rehearsal)
                is_whole = True
                self.screen.say("this was all of it; c commits it now", "class:warn")
                continue
            if letter == "v":
                await view.show_all(rehearsal)
                is_whole = True
                continue
            review = _review(letter, rehearsal) if letter in choices else None
            if review is not None:
                return review
            self.screen.say("a letter out of this row, then Enter; nothing has been changed", "class:warn")

    def _say_command(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> None:
        level = request.report.level
        self.screen.say([("class:hint", "$ "), ("class:strong", shown(rehearsal.command)), ("", "  "),
                         (f"class:{level.value}", f"[{level_words(level)}]")])  # fmt: skip

    async def _line(self, question: str) -> str | None:
        if self.screen.dumb:
            from agent.frontends.confirm.questions import read_plain_line

            return await read_plain_line(self.screen, question)
        from agent.frontends.confirm.questions import ask_line

        if len(question) + 3 > self.screen.columns:  # broken between words, and not where the row ends
            self.screen.say_all(wrapped([[("class:strong", question)]], self.screen.columns))
            question = ""
        strong, arrow = ("class:strong", f"{question} " if question else ""), ("class:arrow", "❯ ")
        return await ask_line(self.screen, [strong, arrow], edit_mode=self.edit_mode)


def _is_done(rehearsal: Rehearsal) -> bool:
    """It changed nothing and wanted nothing that a rehearsal does not have: there is nothing to decide about files."""
    complete = not rehearsal.obstacle and not wanted_network(rehearsal)
    return complete and not rehearsal.changes and not rehearsal.more


def _is_kept_out(request: ConfirmationRequest, rehearsal: Rehearsal) -> bool:
    """It would change what confinement keeps it from: that is never made real."""
    return not request.confining.reason and bool(beyond(request.confining, rehearsal))


def _choices(request: ConfirmationRequest, rehearsal: Rehearsal) -> tuple[str, ...]:
    stuck = rehearsal.obstacle or _is_kept_out(request, rehearsal)
    keys = [] if stuck or _is_done(rehearsal) else ["c"]
    keys += ["e", "d"]
    if wanted_network(rehearsal):
        keys.append("n")
    return (*keys, "v") if rehearsal.changes else tuple(keys)


def _question(choices: tuple[str, ...], rehearsal: Rehearsal, *, high: bool) -> str:
    words = [f"{key} {_WORDS[key]}" for key in choices]
    if high and choices[0] == "c":
        words[0] += " (asks for the word)"
    if _is_done(rehearsal):
        kept = " and left in the shell" if rehearsal.shell else ""
        words.insert(0, f"Enter done, with what it printed{kept}" + (" (asks for the word)" if high else ""))
    return " · ".join(words)


def _review(letter: str, rehearsal: Rehearsal) -> Review | None:
    match letter:
        case "c":
            return Commit()
        case "e":
            return EditAgain()
        case "d":
            return Discard()
        case "n":
            return Rehearse(command=rehearsal.command, network=True)
    return None


_CLASSES = {
    "": "", "dim": "class:hint", "bold": "class:strong", "red": "class:alert",
    "green": "class:low", "yellow": "class:warn", "cyan": "class:edited",
}  # fmt: skip
_FEWEST = 10


@dataclass(frozen=True)
class RehearsalView:
    """Draws on `screen`; `processes` and `environ` are for the person's pager."""

    screen: Screen
    processes: Processes
    environ: Mapping[str, str]

    def show(self, rehearsal: Rehearsal) -> bool:
        """Summary, changes and diffs, about as much as fits on the screen; whether that was everything.

        What is true of every rehearsal is said once on a screen.
        """
        room = max(self.screen.rows * 2, 3 * _FEWEST)
        lines = rehearsal_lines(rehearsal, known=self.screen.told, limit=room // 2)
        whole = len(rehearsal_lines(rehearsal, known=self.screen.told))
        diffs = diff_lines(rehearsal.changes, cwd=rehearsal.cwd)
        shown = diffs[: max(room - len(lines), _FEWEST)]
        self.screen.say_all(wrapped(map(fragments, lines), self.screen.columns))
        self.screen.told.update(of_any(rehearsal))
        self._say(shown)
        left = len(diffs) - len(shown)
        if left:
            self._say([[("dim", f"   … and {left:,} more lines of diffs; v shows all of it")]])
        return not left and whole <= len(lines)

    async def show_all(self, rehearsal: Rehearsal) -> None:
        """Every change and every diff, in the pager where that is long."""
        lines = [
            *wrapped(rehearsal_lines(rehearsal, known=self.screen.told), self.screen.columns),
            *diff_lines(rehearsal.changes, cwd=rehearsal.cwd),
        ]
        self.screen.told.update(of_any(rehearsal))
        await show_long(plain(lines, color=False), self.screen, self.processes, self.environ)
        self.screen.discard_typed_ahead()  # keys meant for the pager

    def _say(self, lines: list[Line]) -> None:
        self.screen.say_all([fragments(line) for line in lines])


def fragments(line: Line) -> Fragments:
    """A painted line in the classes of the prompt."""
    return [(_CLASSES[style], text) for style, text in line]
