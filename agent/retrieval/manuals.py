"""Say what the programs installed here take as options, by their manual pages, or their `--help` where they have none.

Read when first asked about, and kept in the cache folder by the identity of the file that it was read from. Where there is no text,
nothing is said.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from agent.config.paths import make_folder
from agent.protocol.decisions import ProgramRun, RiskContext, RiskReport
from agent.retrieval.manual_files import Source, may_be_asked, page_of, page_text, pages_beside, program_path, stamp_of
from agent.retrieval.options import Entry, Manual, manual, missing
from agent.risk.reader.words import Word
from agent.risk.shell.builtins import is_builtin
from agent.risk.tables.options import split_args
from agent.risk.tables.store import INTERPRETERS, Program
from agent.risk.tables.store import program as table_of
from agent.struct_types import built

_VERSION = 1
_MOST_BESIDE = 40
_NEAR, _FITTING, _NAMED = 3, 3, 2
_WORD = re.compile(r"[a-z0-9]+")
_VERB = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_NAME = re.compile(r"(?<![\w./-])[a-z][a-z0-9._+-]*[a-z0-9](?![\w/])")
_COMMON = frozenset(
    "the and for with from that this into all are not use file files folder directory of in to it is a an".split()
)


class Missing(NamedTuple):
    """Options of one program of a command that it does not have here, by its manual."""

    program: str
    options: tuple[str, ...]
    manual: Manual

    def near(self, goal: str) -> tuple[str, ...]:
        """Lines of the manual that may help."""
        return tuple(_near(self.manual.entries, self.options, goal))

    @property
    def text(self) -> str:
        return f"{self.program} here has no {' and no '.join(self.options)}"


class _Kept(Struct, frozen=True, array_like=True):
    version: int
    path: str
    stamp: str
    manual: Manual


class Manuals:
    """Texts of this machine. `folder`: the cache, "" for none. `ask(path)`: what a program prints for `--help`. Safe in several threads."""

    def __init__(self, folder: str, ask: Callable[[str], str]) -> None:
        self._folder = folder
        self._ask = ask
        self._read: dict[str, Manual | None] = {}
        self._beside: dict[str, tuple[Source, ...]] = {}
        self.found: tuple[str, tuple[Missing, ...]] = ("", ())  # of the command that was looked at last

    def missing(self, report: RiskReport) -> tuple[Missing, ...]:
        """Say what the programs of a rated command lack. Blocks; `--help` of one without a page takes as long as that takes."""
        found: list[Missing] = []
        for index, run in enumerate(report.programs):
            inner = {each.words[0] for each in report.programs if each.parent == index and each.words}
            if not (run.remote or run.suspected or not run.words or set(run.via) & _ELSEWHERE):
                found += self._missing_of(run, inner)
        return tuple({each.text: each for each in found}.values())

    def missing_in(self, command: str) -> tuple[Missing, ...]:
        """The same of a command that was not rated; nothing where that fails."""
        from agent.risk.classifier import classify

        found: tuple[Missing, ...] = ()
        with contextlib.suppress(Exception):  # it only helps, so whatever is wrong with a name or a page stops nobody
            found = self.missing(classify(command, RiskContext()))
        self.found = (command, found)
        return found

    def facts(self, goal: str) -> tuple[str, ...]:
        """Lines from the manuals of programs that a goal names, which fit its words best."""
        lines = []
        for name in list(dict.fromkeys(_NAME.findall(goal)))[:40]:
            path = "" if table_of(name) is None or is_builtin(name) else program_path(name)
            known = self._manual(name, path) if path else None
            fitting = _fitting(known.entries, goal, {name}) if known is not None else []
            lines += [f"{name} {entry.line}" for entry in fitting]
            if len(lines) >= _NAMED * _FITTING:
                break
        return tuple(lines)

    def _missing_of(self, run: ProgramRun, inner: set[str]) -> Iterator[Missing]:
        name = os.path.basename(run.words[0])
        path = run.words[0] if os.path.isabs(run.words[0]) else program_path(run.words[0])
        table = table_of(name) or Program(name)
        if not path or is_builtin(name) or name in _OF_THE_SHELL or table.handler.startswith(INTERPRETERS):
            return
        words: Sequence[str] = run.words[1:]
        cut = next((at for at, word in enumerate(words) if word in inner), len(words))
        words = words[:cut]
        if not any(word[:1] == "-" for word in words) and name not in _BUNDLES:
            return
        words, pages, title = self._pages(name, path, table, words)
        known = None if None in pages else self._joined(pages)
        if known is None or not (lost := missing(known, words, table)):
            return
        page = page_of(name, path)
        if page is not None and not table.cases:
            if page.path not in self._beside:  # a folder may hold thousands
                self._beside[page.path] = tuple(pages_beside(page, name))[:_MOST_BESIDE]
            known = self._joined([known, *map(self._of_page, self._beside[page.path])]) or known
            lost = missing(known, words, table)
        if lost:
            yield Missing(title, lost, known)

    def _pages(
        self, name: str, path: str, table: Program, words: Sequence[str]
    ) -> tuple[Sequence[str], list[Manual | None], str]:
        """The words that manuals here can judge; those of the program and its sub-command, if it has one; what that is called."""
        main = self._manual(name, path)
        operands = split_args([Word(word, at, at + 1) for at, word in enumerate(words)], table).operands
        verbs = [word.text for word in operands[:2]]
        for size in range(len(verbs), 0, -1):
            page = page_of("-".join([name, *verbs[:size]]), path) if all(map(_VERB.fullmatch, verbs[:size])) else None
            if page is not None:
                return words, [main, self._of_page(page)], " ".join([name, *verbs[:size]])
        apart = bool(table.cases) or (main is not None and main.commands)
        return (words[: operands[0].start] if apart and operands else words), [main], name

    @staticmethod
    def _joined(manuals: Iterable[Manual | None]) -> Manual | None:
        known = [each for each in manuals if each is not None]
        return functools.reduce(Manual.joined, known) if known else None

    def _manual(self, name: str, path: str) -> Manual | None:
        """The manual of a program, its help where it has no page; None where it has neither."""
        page = page_of(name, path)
        if page is not None:
            return self._of_page(page)
        stamp = stamp_of(os.path.realpath(path))

        def text() -> str:
            return self._ask(path) if may_be_asked(name, path) else ""

        return self._kept(name, "help", Source(path, stamp), text) if stamp else None

    def _of_page(self, page: Source) -> Manual | None:
        name = os.path.basename(page.path).removesuffix(".gz").rpartition(".")[0]
        return self._kept(name, "man", page, lambda: page_text(page.path))

    def _kept(self, name: str, kind: str, source: Source, text: Callable[[], str]) -> Manual | None:
        key = f"{kind}:{source.path}:{source.stamp}"
        if key not in self._read:
            known = self._from_cache(name, kind, source)
            if known is None and (said := text()):
                known = manual(name, said, kind)
                self._to_cache(name, kind, source, known)
            self._read[key] = known
        return self._read[key]

    def _from_cache(self, name: str, kind: str, source: Source) -> Manual | None:
        if not self._folder:
            return None
        with contextlib.suppress(OSError, msgspec.MsgspecError), open(self._place(name, kind), "rb") as file:
            kept = msgspec.msgpack.decode(file.read(), type=built(_Kept))
            if (kept.version, kept.path, kept.stamp) == (_VERSION, *source):
                return kept.manual
        return None

    def _to_cache(self, name: str, kind: str, source: Source, known: Manual) -> None:
        if not self._folder:
            return
        place = self._place(name, kind)
        with contextlib.suppress(OSError):
            make_folder(self._folder)
            beside = f"{place}.{os.getpid()}.{threading.get_ident()}"
            try:
                with open(beside, "xb") as file:
                    file.write(msgspec.msgpack.encode(_Kept(_VERSION, *source, known)))
                os.replace(beside, place)
            except OSError:
                os.unlink(beside)

    def _place(self, name: str, kind: str) -> str:
        return os.path.join(self._folder, f"{name}.{kind}")


_ELSEWHERE = frozenset(
    ("docker", "podman", "nerdctl", "kubectl", "chroot", "ssh", "nsenter", "systemd-nspawn", "busybox", "toybox")
)
_OF_THE_SHELL = frozenset(("kill", "echo", "printf", "pwd", "test", "[", "time", "true", "false"))
"""Programs that bash has in itself, with other options."""
_BUNDLES = frozenset(("tar",))


def _fitting(known: Sequence[Entry], goal: str, without: set[str]) -> list[Entry]:
    """The entries that share most words with a goal, in the order of the text; a word that is an option's name counts twice."""
    wanted = _words(goal) - without
    scored = [
        (
            len(wanted & _words(entry.line)) / (3 + len(entry.line) ** 0.5)
            + len(wanted & _words(" ".join(entry.names))) / 10,
            at,
        )
        for at, entry in enumerate(known)
    ]
    best = sorted(sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:_FITTING], key=lambda pair: pair[1])
    return [known[at] for score, at in best if score]


def _words(text: str) -> set[str]:
    found = set(_WORD.findall(text.lower())) - _COMMON
    return {word[:-1] if len(word) > 3 and word[-1] == "s" else word for word in found if len(word) > 2}


def _near(known: Sequence[Entry], lost: Sequence[str], goal: str) -> Iterator[str]:
    """Lines whose names are like those that were looked for, and such as fit the goal."""
    import difflib

    names = {name: entry for entry in reversed(known) for name in entry.names}  # the first that lists it counts
    close = [each for name in lost for each in difflib.get_close_matches(name, names, _NEAR, 0.5)]
    spoken = " ".join([goal, *(name.replace("-", " ") for name in lost)])
    yield from dict.fromkeys(entry.line for entry in (*map(names.__getitem__, close), *_fitting(known, spoken, set())))
