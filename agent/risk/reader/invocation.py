"""Hold one program about to be run, after expansion and unwrapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.risk.reader.tree import Sequence
    from agent.risk.reader.words import Word

Output = tuple[str | None, str]
"""What a command writes to stdout, as far as that is known: (text or None, taint)."""

NOTHING: Output = ("", "")


class Target:
    """A resolved redirection: operator, descriptor, the word behind it, and the commands of `>(…)` in that word."""

    __slots__ = ("fd", "operator", "sinks", "word")

    def __init__(self, operator: str, fd: str, word: Word) -> None:
        self.operator = operator
        self.fd = fd
        self.word = word
        self.sinks: list[Sequence] = []


class Invocation:
    """Words (the first is the program), redirections, standard input, and the circumstances.

    `stdin` is None where the input is the terminal's. `via` names the wrappers that were peeled off, outermost first.
    `remote` is set inside ssh, containers and the like, where paths are not this machine's.
    """

    __slots__ = ("cwd", "elevated", "end", "environment", "redirects", "remote", "start", "stdin", "via", "words")

    def __init__(self, words: list[Word], start: int, end: int, *, cwd: str, stdin: Output | None = None) -> None:
        self.words = words
        self.start = start
        self.end = end
        self.cwd = cwd
        self.stdin = stdin
        self.redirects: list[Target] = []
        self.environment: list[tuple[str, Word]] = []
        self.via: tuple[str, ...] = ()
        self.remote = False
        self.elevated = False

    @property
    def place(self) -> tuple[int, int]:
        return self.start, self.end

    def place_of(self, word: Word) -> tuple[int, int]:
        """Where a word of it stands; all of it for one that does not stand in the text."""
        return (word.start, word.end) if word.end > word.start else self.place

    def read_as(self, words: list[Word]) -> Invocation:
        """The same command with other words, where it is not known which of them it has."""
        if words is self.words:
            return self
        other = self.inner(words, "")
        other.via, other.redirects = self.via, self.redirects
        return other

    def inner(self, words: list[Word], via: str, *, remote: bool = False, elevated: bool = False) -> Invocation:
        """What a wrapper runs, in the wrapper's circumstances, or on another machine, or with more rights."""
        other = Invocation(words, self.start, self.end, cwd=self.cwd, stdin=self.stdin)
        other.environment = self.environment
        other.via = (*self.via, via) if len(self.via) < 8 else self.via
        other.remote = self.remote or remote
        other.elevated = self.elevated or elevated
        return other
