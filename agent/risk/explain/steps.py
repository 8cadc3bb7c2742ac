"""Tell the steps of a command that only reads: `finds files below src, sorts them by size, shows the first 3`. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agent.protocol.decisions import ProgramRun
from agent.risk.explain.layout import one_line
from agent.risk.explain.reading_programs import NAMED, TOLD, UNKNOWN
from agent.risk.reader.words import Word
from agent.risk.tables.options import split_args
from agent.risk.tables.store import WRAPPERS
from agent.risk.tables.store import program as find_program

_FIRST, _LATER = 3, 1  # how much a step matters where not all can be told; what is searched for matters as well
_PLAIN = frozenset(("sort", "uniq", "cut", "tr", "sed", "awk", "gawk", "mawk", "column", "nl", "rev"))


def step_words(run: ProgramRun) -> str:
    """Say what one program does with what it is given, or with "them" that come in; "" where its table says enough."""
    name = _name(run)
    if run.words[1:] == ("--version",):
        return f"shows the version of {one_line(name, NAMED)}"
    tell, table = TOLD.get(name), find_program(name)
    if tell is None or table is None:
        return ""
    from_input = run.via[-1:] == ("xargs",)  # its operands are what came in
    given = [
        "them" if from_input and UNKNOWN in text else text for text in run.words[1:] if text != UNKNOWN or from_input
    ]
    words = [Word(text, index, index + 1) for index, text in enumerate(given)]
    return tell(split_args(words, table), given, "them" if run.fed and not from_input else "")


def reading_runs(programs: Sequence[ProgramRun]) -> list[ProgramRun]:
    """The programs that do something by themselves: instead of a wrapper what it runs."""
    wrapping = {
        run.parent for run in programs if run.parent >= 0 and not run.suspected and _is_wrapper(programs[run.parent])
    }
    return [
        run
        for index, run in enumerate(programs)
        if run.words and not run.suspected and index not in wrapping and (run.parent < 0 or run.parent in wrapping)
    ]


def joined(steps: Sequence[tuple[ProgramRun, str]], room: int) -> str:
    """All steps in one sentence; of one that is too long, the first, the last and what is searched for."""
    kept = list(range(len(steps)))
    while len(kept) > 2 and len(_sentence(steps, kept)) > room:
        weights = {index: _weight(steps[index][0], index, len(steps)) for index in kept[1:-1]}
        kept.remove(min(weights, key=lambda index: (weights[index], -index)))
    return _sentence(steps, kept)


def _sentence(steps: Sequence[tuple[ProgramRun, str]], kept: list[int]) -> str:
    text, before = "", -1
    for index in kept:
        run, said = steps[index]
        gap = ", …" if index != before + 1 else ""
        text += said if not text else f"{gap}, {'' if run.fed or run.via[-1:] == ('xargs',) else 'then '}{said}"
        before = index
    return text


def _weight(run: ProgramRun, index: int, count: int) -> int:
    if run.words == ("sort",):  # what `uniq` needs, and nobody asked for
        return -1
    return 0 if _name(run) in _PLAIN else _LATER if index < count - 1 else _FIRST


def _name(run: ProgramRun) -> str:
    return run.words[0].rpartition("/")[2]


def _is_wrapper(run: ProgramRun) -> bool:
    table = find_program(_name(run)) if run.words else None
    return table is not None and (bool(table.wrap) or table.handler.startswith(WRAPPERS))
