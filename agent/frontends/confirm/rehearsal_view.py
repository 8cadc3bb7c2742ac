"""What a rehearsal showed, on the person's terminal: the list of changes, the beginning of the diffs, and all of it in the pager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.emitters.rehearsal_text import Line, change_lines, diff_lines, of_any, plain, summary_lines
from agent.frontends.external_programs import show_long
from agent.frontends.screen import Fragments, Screen
from agent.frontends.wrapping import wrapped
from agent.protocol.ports import Processes
from agent.protocol.rehearsals import Rehearsal

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

        What is true of every rehearsal is said in full once on a screen; `show_all` says it always.
        """
        room = max(self.screen.rows * 2, 3 * _FEWEST)
        changes = change_lines(rehearsal.changes, cwd=rehearsal.cwd, more=rehearsal.more, limit=room // 2)
        diffs = diff_lines(rehearsal.changes, cwd=rehearsal.cwd)
        shown = diffs[: max(room - len(changes), _FEWEST)]
        summary = summary_lines(rehearsal, known=self.screen.told)
        self.screen.say_all(wrapped(map(fragments, summary), self.screen.columns))
        self.screen.told.update(of_any(rehearsal))
        self._say([*changes, *shown])
        left = len(diffs) - len(shown)
        if left:
            self._say([[("dim", f"   … and {left:,} more lines of diffs; v shows all of it")]])
        listed = len(change_lines(rehearsal.changes, cwd=rehearsal.cwd, more=rehearsal.more))
        return not left and listed <= len(changes)

    async def show_all(self, rehearsal: Rehearsal) -> None:
        """Every change and every diff, in the pager where that is long."""
        lines: list[Line] = [
            *summary_lines(rehearsal),
            *change_lines(rehearsal.changes, cwd=rehearsal.cwd, more=rehearsal.more),
            *diff_lines(rehearsal.changes, cwd=rehearsal.cwd),
        ]
        await show_long(plain(lines, color=False), self.screen, self.processes, self.environ)
        self.screen.discard_typed_ahead()  # keys meant for the pager

    def _say(self, lines: list[Line]) -> None:
        self.screen.say_all([fragments(line) for line in lines])


def fragments(line: Line) -> Fragments:
    """A painted line in the classes of the prompt."""
    return [(_CLASSES[style], text) for style, text in line]
