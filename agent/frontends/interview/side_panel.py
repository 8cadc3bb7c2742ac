"""Lay out the panel beside an interview: phase, progress, obligations with their state, what was learnt, in the rows that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agent.conversation.framework.progress.sidebar import SidebarBuilder
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.registry.loading import Engine
from agent.emitters.interview_lines import MARKS, phase_name, progress
from agent.emitters.paint import cell_width, cut_to_width, safe_line
from agent.frontends.screen import Fragments, Screen

PANEL_KEY = "f3"
_COLUMNS, _ROWS = 100, 16  # of the smallest terminal with room for it
_NARROWEST, _WIDEST = 36, 60
_STYLES = {"green": "class:low", "yellow": "class:warn", "dim": "class:hint"}
_EDGE = ("class:hint", "│ ")
_TEXT = 200  # characters of a label or a value that are looked at


@dataclass(eq=False)
class PanelSwitch:
    """Knows whether the panel stands beside the answers: where it is wanted, and the `screen` that is talked at has room for it."""

    wanted: bool = True
    screen: Screen | None = None
    _laid: list[Fragments] = field(default_factory=list)
    _laid_for: tuple[Any, int, int] = (None, 0, 0)

    @property
    def has_room(self) -> bool:
        screen = self.screen
        if screen is None or screen.dumb or not screen.is_terminal:
            return False
        return screen.columns >= _COLUMNS and screen.rows >= _ROWS

    @property
    def stands(self) -> bool:
        return self.wanted and self.has_room

    def laid(
        self, state: Any, engine: Callable[[], Engine], memory: Callable[[], WorkingMemory], *, columns: int, rows: int
    ) -> list[Fragments]:
        """Lay the panel out, anew where state or size has changed: each frame asks several times. None of it where it does not stand."""
        key = (state, columns, rows)
        if self.stands and not all(one is other for one, other in zip(key, self._laid_for, strict=True)):
            known = memory()
            sidebar = sidebar_of(engine(), known)
            self._laid = panel_rows(sidebar, known.completeness.overall, known.turn_number, columns=columns, rows=rows)
            self._laid_for = key
        return self._laid if self.stands else []


def sidebar_of(engine: Engine, memory: WorkingMemory) -> dict[str, Any]:
    """Return it for a state, {} in a phase that its engine does not have any more."""
    phase = engine.config.phase(memory.phase.current)
    if phase is None:
        return {}
    built = SidebarBuilder(engine.config, engine.evaluators).build(memory, phase)
    data: dict[str, Any] = msgspec.to_builtins(built)
    return data


def panel_rows(sidebar: dict[str, Any], completeness: float, turn: int, *, columns: int, rows: int) -> list[Fragments]:
    """Return its rows, all of one width, for a terminal of that size; none where it has nothing to show.

    Where not all of it fits, these go first: values that are not from the last `turn`, what is open, what has been known for longer.
    """
    if not sidebar:
        return []
    width, most = min(max(columns * 2 // 5, _NARROWEST), _WIDEST) - 2, rows // 2
    head: list[Fragments] = [[("class:strong", safe_line(phase_name(sidebar), _TEXT))], [("", progress(completeness))]]
    shown = [each for each in sidebar.get("sections", ()) if each.get("visible") and each.get("items")]
    sections = [_Section(each, turn) for each in shown]
    while (laid := [*head, *(row for each in sections for row in each.rows(width))])[most:] and _shorten(sections):
        pass
    if len(laid) > most:
        laid = [*laid[: most - 1], [("class:hint", "… :panel shows all")]]
    return [[_EDGE, *_fitted(row, width)] for row in laid]


@dataclass(eq=False)
class _Section:
    """One of them, as it is shown: with all values or those of the last turn, and without what was left out."""

    data: dict[str, Any]
    turn: int
    with_values: bool = True
    left_out: list[dict[str, Any]] = field(default_factory=list)

    def rows(self, width: int) -> Iterator[Fragments]:
        items = self.data["items"]
        done = sum(each.get("status") == "satisfied" for each in items)
        title = safe_line(str(self.data.get("title", "")), _TEXT)
        yield [("class:strong", title), ("class:hint", f"  {done}/{len(items)}")]
        if self.data.get("collapsed"):
            return
        for each in items:
            if each not in self.left_out:
                yield from _item(each, width, with_value=self.with_values or self.is_new(each))
        known = sum(each.get("status") == "satisfied" for each in self.left_out)
        told = ((known, "known"), (len(self.left_out) - known, "open"))
        if self.left_out:
            yield [("class:hint", "  " + " · ".join(f"{count} {word}" for count, word in told if count))]

    def is_new(self, item: dict[str, Any]) -> bool:
        return self.turn in item.get("turns", ())

    def leave_out(self, status: str) -> bool:
        """Leave the last one of that state out; False where there is none."""
        items = [] if self.data.get("collapsed") else reversed(self.data["items"])
        for each in items:
            if each.get("status", "pending") == status and each not in self.left_out and not self.is_new(each):
                self.left_out.append(each)
                return True
        return False


def _shorten(sections: Sequence[_Section]) -> bool:
    """Take away what matters least; False where all that is left matters."""
    if any(each.with_values for each in sections):
        for each in sections:
            each.with_values = False
        return True
    return any(each.leave_out(status) for status in ("pending", "satisfied") for each in reversed(sections))


def _item(item: dict[str, Any], width: int, *, with_value: bool) -> Iterator[Fragments]:
    mark, color = MARKS.get(str(item.get("status")), MARKS["pending"])
    sure = f"{round(float(item.get('confidence', 0)) * 100)} %" if item.get("learnt") else ""
    label = cut_to_width(safe_line(str(item.get("label", "")), _TEXT), width - len(sure) - 3)
    gap = " " * max(width - 2 - cell_width(label) - len(sure), 1)
    yield [(_STYLES[color], f"{mark} "), ("", label), ("class:hint", f"{gap}{sure}" if sure else "")]
    if with_value and item.get("learnt"):
        turns = f" · {_of_turns(item.get('turns', ()))}" if item.get("turns") else ""
        value = cut_to_width(safe_line(str(item["learnt"]), _TEXT), width - 2 - len(turns))
        yield [("class:edited", f"  {value}"), ("class:hint", turns)]


def _of_turns(turns: Sequence[int]) -> str:
    """`turn 3`, `turns 1, 4`, `turns 1 … 9`."""
    if len(turns) > 2:
        return f"turns {turns[0]} … {turns[-1]}"
    return f"turn{'s' if len(turns) > 1 else ''} {', '.join(map(str, turns))}"


def _fitted(row: Fragments, width: int) -> Fragments:
    """Fill it up with blanks to `width` columns, or cut its last words."""
    kept: Fragments = []
    for style, text in row:
        part = cut_to_width(text, width)
        kept.append((style, part))
        width -= cell_width(part)
        if width <= 0:
            break
    return [*kept, ("", " " * width)] if width > 0 else kept
