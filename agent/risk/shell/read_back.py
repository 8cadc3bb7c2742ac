"""Overwriting what was just read: `sort f > f` finds `f` empty, because the shell makes it so before sort begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.risk.reader.invocation import Invocation, Target
from agent.risk.reader.tree import Pipeline, Sequence, Simple
from agent.risk.reader.words import Word
from agent.risk.shell.endless import nodes
from agent.risk.tables.scopes import absolute

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

# These read the files they are given and print what they make of them.
_FILTERS = frozenset(
    ("sort", "uniq", "sed", "gsed", "awk", "gawk", "mawk", "grep", "egrep", "fgrep", "rg", "cat", "tac", "rev", "tr", "cut",
     "head", "tail", "jq", "yq", "column", "nl", "fold", "fmt", "pr", "paste", "join", "comm", "expand", "unexpand", "iconv",
     "dos2unix", "xmllint", "tidy", "envsubst", "shuf", "strings", "base64", "xxd", "hexdump", "od", "m4", "csvcut", "csvsort",
     "csvgrep", "mlr", "xsv", "prettier", "shfmt", "gofmt", "bat", "pandoc", "perl", "cpp", "gzip", "gunzip", "zcat", "bzcat",
     "xzcat", "openssl", "gpg", "diff", "crontab", "ts", "tsort", "html2text", "xsltproc")
)  # fmt: skip
_OVERWRITES = frozenset((">", ">|", "&>"))


class ReadBack:
    """What one pipeline reads and what it overwrites, by absolute names."""

    __slots__ = ("read", "written")

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.written: dict[str, Word] = {}

    def redirected(self, targets: list[Target], cwd: str) -> None:
        """Files that the shell opens for a command."""
        for target in targets:
            if target.operator == "<":
                self.read.add(absolute(target.word.text, cwd))
            elif target.operator in _OVERWRITES and target.fd in ("", "1"):
                self._write(target.word, cwd)

    def given(self, name: str, invocation: Invocation) -> None:
        """Files that a program is given, whatever it is wrapped in."""
        if name in _FILTERS:
            self.read.update(
                absolute(word.text, invocation.cwd) for word in invocation.words[1:] if word.text[:1] not in ("-", "")
            )
        elif name == "tee":
            for word in invocation.words[1:]:
                if word.text[:1] not in ("-", ""):
                    self._write(word, invocation.cwd)

    def _write(self, word: Word, cwd: str) -> None:
        if word.known and not word.text.startswith("/dev/"):
            self.written.setdefault(absolute(word.text, cwd), word)

    def judge(self, walker: Walker) -> None:
        """Keep the files that are read and overwritten at once."""
        for name in [name for name in self.written if name in self.read]:
            walker.overwritten.append(self.written.pop(name).text)


def read_back(text: str, tree: Sequence) -> Iterator[str]:
    """The files, as written in `text`, that a pipeline below `tree` reads and overwrites at once: also unknown ones, `$f`."""
    inside: set[int] = set()
    for node in nodes([tree]):
        if isinstance(node, Pipeline):
            commands = [command for command in node.commands if isinstance(command, Simple)]
            inside.update(id(command) for command in commands)
        elif isinstance(node, Simple) and id(node) not in inside:
            commands = [node]
        else:
            continue
        written = {target for command in commands for target in _written(text, command)}
        if written:
            yield from dict.fromkeys(name for command in commands for name in _read(text, command) if name in written)


def _plain(text: str) -> str:
    return text.strip("\"'").removeprefix("./")


def _written(text: str, command: Simple) -> Iterator[str]:
    for redirect in command.redirects:
        if redirect.operator in _OVERWRITES and redirect.fd in ("", "1"):
            target = redirect.target
            yield _plain(text[target.start : target.end])
    if command.words and command.words[0].unquoted() == "tee":
        yield from (
            _plain(text[word.start : word.end])
            for word in command.words[1:]
            if text[word.start : word.start + 1] != "-"
        )


def _read(text: str, command: Simple) -> Iterator[str]:
    for redirect in command.redirects:
        if redirect.operator == "<":
            yield _plain(text[redirect.target.start : redirect.target.end])
    name = (command.words[0].unquoted() or "") if command.words else ""
    if name.rpartition("/")[2] in _FILTERS:
        for word in command.words[1:]:
            piece = text[word.start : word.end]
            if not piece.startswith(("-", "/dev/")):
                yield _plain(piece)
