"""What a rating kept of each program that would run: for policy rules, and for explaining a command."""

from __future__ import annotations

from collections.abc import Iterator

from agent.protocol.decisions import Level, ProgramRun
from agent.risk.invocation import Invocation
from agent.risk.rating import MAX_SHOWN, show

MAX_PROGRAMS = 400
MAX_WORDS = 100
_NOBODY = -1


class Programs:
    """The programs of one walk, in the order met. `current` is the index of the one being judged, -1 for none."""

    def __init__(self) -> None:
        self.met: list[tuple[Invocation, int]] = []
        self.levels: list[Level] = []
        self.guesses: set[int] = set()
        self.guessing = False  # what is met now are words that may be run, or may not
        self.current = _NOBODY
        self.cut = False

    def begin(self, invocation: Invocation) -> None:
        """What is found from now on belongs to `invocation`, until `current` is put back."""
        if len(self.met) < MAX_PROGRAMS:
            if self.guessing:
                self.guesses.add(len(self.met))
            self.met.append((invocation, self.current))
            self.levels.append(Level.LOW)
        else:
            self.cut = True
        self.current = len(self.met) - 1

    def around(self) -> Iterator[Invocation]:
        """The programs that the current one is run by, innermost first."""
        index = self.met[self.current][1] if self.current >= 0 else _NOBODY
        while index >= 0:
            invocation, index = self.met[index]
            yield invocation

    def found(self, level: Level) -> None:
        """Something of `level` was found about the current program."""
        if self.current >= 0 and level.rank > self.levels[self.current].rank:
            self.levels[self.current] = level

    def report(self, first: int = 0) -> tuple[ProgramRun, ...]:
        """As data; parents count from `first`, the number of programs that are reported before these."""
        return tuple(
            ProgramRun(
                words=tuple(show(word) for word in invocation.words[:MAX_WORDS]),
                whole=len(invocation.words) <= MAX_WORDS
                and all(word.known and len(word.text) <= MAX_SHOWN for word in invocation.words),
                span=invocation.place,
                via=invocation.via,
                remote=invocation.remote,
                elevated=invocation.elevated,
                cwd=invocation.cwd,
                level=level,
                parent=parent + first if parent >= 0 else _NOBODY,
                suspected=index in self.guesses,
            )
            for index, ((invocation, parent), level) in enumerate(zip(self.met, self.levels, strict=True))
        )
