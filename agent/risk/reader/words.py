"""Expand words: what a program would really be given, and the run that is given them.

Unknown parts of a value are the character NUL, which no argument can hold: "/srv/\\0/x" starts with /srv/, whatever the
rest. `taint` says where an unknown, or a whole value, came from: "var" (not set here), "cmd" (output of a command), "net"
(a download), "opaque" (decoded), "input" (read from a file or pipe), "glob", "found" (by find), "secret", "private" (asked
for by a secret's name), "file", "open" (from where others may put things). "number" alone says that what is not
known can only be digits and signs between them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.reader.tree import Sequence


UNKNOWN = "\0"
NUMBER = "number"
NUL = "\ufffd"  # how a byte 0 of known text is written, which arguments and values cannot hold
UNKNOWN_VARIABLE = "${__unknown__}"  # how an unknown part is written in shell text that is read again
MAX_ALTERNATIVES = 100
MAX_FIELDS = 400
MAX_VALUE = 1_000_000
PRIVATE = lazily("[\ue000-\ue02f]")


def bounded(texts: list[str]) -> list[str]:
    """Alternatives, no more than can be followed: what is left out stands as unknown."""
    return texts if len(texts) <= MAX_ALTERNATIVES else [*texts[: MAX_ALTERNATIVES - 1], UNKNOWN]


def join_taint(a: str, b: str) -> str:
    """Both taints, each word once."""
    if not a or a == b:
        return b or a
    for word in b.split():
        if word not in a:
            a = f"{a} {word}"
    return a


def taint_of(words: Iterable[Word]) -> str:
    """The worst that is known of the origin of `words`."""
    taint = ""
    for word in words:
        taint = join_taint(taint, word.taint)
    return taint


_HANDED_ON = frozenset(("all", "found", "listed", "glob"))


def is_name(taint: str) -> bool:
    """Tell whether a value is, or holds, a file's name that find, a listing or a wildcard hands on."""
    return bool(taint) and not _HANDED_ON.isdisjoint(taint.split())


def unseen(text: str, taint: str) -> bool:
    """Tell whether a text that is a program holds what nobody has seen: unknown parts that are no number, or names of files."""
    return (UNKNOWN in text and taint != NUMBER) or is_name(taint)


class Word:
    """One argument: text (with UNKNOWN where not known), offsets, an unquoted wildcard, and the taint."""

    __slots__ = ("end", "glob", "quoted", "start", "taint", "text")

    def __init__(
        self, text: str, start: int, end: int, *, glob: bool = False, taint: str = "", quoted: bool = False
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.glob = glob or "glob" in taint
        self.taint = taint
        self.quoted = quoted

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text

    def part(self, text: str) -> Word:
        """The same place with other text, as for the value of `--option=value`."""
        return Word(text, self.start, self.end, glob=self.glob, taint=self.taint, quoted=self.quoted)

    def __repr__(self) -> str:
        return f"Word({self.text!r})"


def one_word(word: Word) -> Word:
    """A value that is given as a single argument, whatever it holds."""
    return Word(word.text, word.start, word.end, glob=word.glob, taint=word.taint, quoted=True)


def decode_printf(text: str) -> str:
    """Backslash escapes as `echo -e` and `printf` read them."""
    if "\\" not in text:
        return text
    from agent.risk.reader.expansions import decode_ansi_c

    return decode_ansi_c(re.sub(r"\\0([0-7]{1,3})", r"\\\1", text))


_MORE_THAN_ARGUMENTS = lazily(r"[|;&$`<>()!\n]")


_SYSTEM_PROGRAMS = ("", "/bin", "/usr/bin", "/usr/local/bin")


def runs_only(text: str, programs: Container[str]) -> bool:
    """Tell whether the shell text is one of `programs` with plain arguments: nothing behind it that a shell or an editor would run.

    A path is one of them only in the system's folders: its last part proves nothing.
    """
    folder, _, name = (text.split(maxsplit=1)[0] if text.strip() else "").rpartition("/")
    return name in programs and folder in _SYSTEM_PROGRAMS and _MORE_THAN_ARGUMENTS.search(text) is None


_EMPTY_LINES = lazily(r"\n(?:[ \t\r]*\n){2,}")


def fewer_empty_lines(text: str) -> str:
    """Leave one empty line where there are more: patterns that begin at each line would all skip them."""
    return _EMPTY_LINES.sub("\n\n", text) if "\n" in text else text


_LISTS = frozenset(("file", "net", "opaque", "input", "listed", "found", "all"))


def several(word: Word) -> bool:
    """Tell whether an argument as written may be more than one when the program gets it."""
    if word.quoted or word.taint == NUMBER:
        return False
    return word.glob or not _LISTS.isdisjoint(word.taint.split())


_SECRETS = frozenset(
    ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIAL", "CREDENTIALS", "PAT", "PASS")
)


_KEYS = frozenset(("API", "ACCESS", "PRIVATE", "SECRET", "ENCRYPTION", "SIGNING", "MASTER"))


_ABOUT = frozenset(("COUNT", "URL", "FILE", "PATH", "NAME", "TYPE", "LENGTH", "ID", "TTL", "DIR", "HEADER"))


def origin(name: str) -> str:
    """The taint of a variable from the environment: "credential" where its name says that it is secret."""
    words = name.upper().split("_")
    secret = not _SECRETS.isdisjoint(words) or ("KEY" in words and not _KEYS.isdisjoint(words))
    return "var credential" if secret and words[-1] not in _ABOUT else "var"


HISTORY_VARIABLES = frozenset(("HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "HISTIGNORE"))


Output = tuple[str | None, str]
"""Output of a command, as far as that is known: (text or None, taint)."""

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
    `remote` is set inside ssh, containers and the like, where paths are not this machine's. `inside` is the folder in
    which its options have it run another program, "" for its own.
    """

    __slots__ = (
        "cwd",
        "elevated",
        "end",
        "environment",
        "inside",
        "redirects",
        "remote",
        "start",
        "stdin",
        "via",
        "words",
    )

    def __init__(self, words: list[Word], start: int, end: int, *, cwd: str, stdin: Output | None = None) -> None:
        self.words = words
        self.start = start
        self.end = end
        self.cwd = cwd
        self.inside = ""
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
        """The place of a word of it; all of it for one that does not stand in the text."""
        return (word.start, word.end) if word.end > word.start else self.place

    def read_as(self, words: list[Word]) -> Invocation:
        """The same command with other words, where it is not known which of them it has."""
        if words is self.words:
            return self
        other = self.inner(words, "")
        other.cwd, other.via, other.redirects = self.cwd, self.via, self.redirects
        return other

    def inner(self, words: list[Word], via: str, *, remote: bool = False, elevated: bool = False) -> Invocation:
        """The invocation that a wrapper runs, in the wrapper's circumstances, or on another machine, or with more rights."""
        here = self.inside if self.inside and not remote else self.cwd
        other = Invocation(words, self.start, self.end, cwd=here, stdin=self.stdin)
        other.environment = self.environment
        other.via = (*self.via, via) if len(self.via) < 8 else self.via
        other.remote = self.remote or remote
        other.elevated = self.elevated or elevated
        return other
