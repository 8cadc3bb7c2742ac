"""Keep the programs that a rated command would run, for policy rules, and for explaining a command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level, ProgramRun
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.levels import MAX_SHOWN, show

if TYPE_CHECKING:
    from agent.risk.shell.state import Value

MAX_PROGRAMS = 400
MAX_WORDS = 100
_MAX_NAMES = 10
_NOBODY = -1
_LOOKS = frozenset("LANG LANGUAGE TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CI DEBIAN_FRONTEND".split())


def _matters(name: str) -> bool:
    return name not in _LOOKS and not name.startswith("LC_")


class Programs:
    """The programs of one walk, in the order met. `current` is the index of the one being judged, -1 for none."""

    def __init__(self) -> None:
        self.met: list[tuple[Invocation, int]] = []
        self.levels: list[Level] = []
        self.guesses: set[int] = set()
        self.guessing = False  # what is met now are words that may be run, or may not
        self.environments: list[tuple[str, ...]] = []
        self.inherited: dict[str, Value] = {}  # what earlier commands set
        self.current = _NOBODY
        self.cut = False
        self._assigned: tuple[int, tuple[str, ...]] = (0, ())

    def begin(self, invocation: Invocation, variables: dict[str, Value]) -> None:
        """Let findings from now on belong to `invocation`, until `current` is put back."""
        if len(self.met) < MAX_PROGRAMS:
            if self.guessing:
                self.guesses.add(len(self.met))
            self.met.append((invocation, self.current))
            self.levels.append(Level.LOW)
            self.environments.append(self._set_for(invocation, variables))
        else:
            self.cut = True
        self.current = len(self.met) - 1

    def forget_repeated(self, first: int, second: int) -> None:
        """Keep once what runs from `second` on if it is the same as from `first` on, as in the next round of a loop."""
        texts = [[word.text for word in invocation.words] for invocation, _ in self.met[first:]]
        if texts[: second - first] == texts[second - first :]:
            del self.met[second:], self.levels[second:], self.environments[second:]
            self.guesses = {index for index in self.guesses if index < second}

    def around(self) -> Iterator[Invocation]:
        """The programs that the current one is run by, innermost first."""
        index = self.met[self.current][1] if self.current >= 0 else _NOBODY
        while index >= 0:
            invocation, index = self.met[index]
            yield invocation

    def _set_for(self, invocation: Invocation, variables: dict[str, Value]) -> tuple[str, ...]:
        """Names of variables set in front of a program or before it, unless they only change how it looks. Told are a few."""
        if variables and self._assigned[0] != len(variables):
            names = [
                name
                for name, value in variables.items()
                if self.inherited.get(name) is not value
                and _matters(name)
                and (not name.islower() or name.endswith("_proxy"))
            ]
            self._assigned = len(variables), tuple(names[:_MAX_NAMES])
        if not invocation.environment:
            return self._assigned[1] if variables else ()
        own = [name for name, _ in invocation.environment if _matters(name)]
        return (*own[:_MAX_NAMES], *(self._assigned[1] if variables else ()))

    def found(self, level: Level) -> None:
        """Something of `level` was found about the current program."""
        if self.current >= 0 and level.rank > self.levels[self.current].rank:
            self.levels[self.current] = level

    def report(self, first: int = 0) -> tuple[ProgramRun, ...]:
        """As data; parents count from `first`, the number of programs that are reported before these."""
        shown: dict[Word, tuple[str, bool]] = {}  # a wrapper and what it wraps share their words
        for invocation, _ in self.met:
            for word in invocation.words[:MAX_WORDS]:
                if word not in shown:
                    shown[word] = show(word), UNKNOWN not in word.text and len(word.text) <= MAX_SHOWN
        told = [[shown[word] for word in invocation.words[:MAX_WORDS]] for invocation, _ in self.met]
        return tuple(
            ProgramRun(
                words=tuple([text for text, _ in told[index]]),
                whole=len(invocation.words) <= MAX_WORDS and False not in [whole for _, whole in told[index]],
                span=invocation.place,
                via=invocation.via,
                remote=invocation.remote,
                elevated=invocation.elevated,
                cwd=invocation.cwd,
                level=level,
                parent=parent + first if parent >= 0 else _NOBODY,
                suspected=index in self.guesses,
                environment=self.environments[index],
                fed=invocation.stdin is not None,
            )
            for index, ((invocation, parent), level) in enumerate(zip(self.met, self.levels, strict=True))
        )
