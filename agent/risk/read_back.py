"""Overwriting what was just read: `sort f > f` finds `f` empty, because the shell makes it so before sort begins."""

from __future__ import annotations

from collections.abc import Iterator

from agent.risk.endless import nodes
from agent.risk.tree import Pipeline, Sequence, Simple

# These read the files they are given and print what they make of them.
_FILTERS = frozenset(
    ("sort", "uniq", "sed", "gsed", "awk", "gawk", "mawk", "grep", "egrep", "fgrep", "rg", "cat", "tac", "rev", "tr", "cut",
     "head", "tail", "jq", "yq", "column", "nl", "fold", "fmt", "pr", "paste", "join", "comm", "expand", "unexpand", "iconv",
     "dos2unix", "xmllint", "tidy", "envsubst", "shuf", "strings", "base64", "xxd", "hexdump", "od", "m4", "csvcut", "csvsort",
     "csvgrep", "mlr", "xsv", "prettier", "shfmt", "gofmt", "bat", "pandoc", "perl", "cpp", "gzip", "gunzip", "zcat", "bzcat",
     "xzcat", "openssl", "gpg", "diff", "crontab", "ts", "tsort", "html2text", "xsltproc")
)  # fmt: skip


def read_back(text: str, tree: Sequence) -> Iterator[str]:
    """The files, as written in `text`, that a pipeline below `tree` reads and overwrites at once."""
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
        if redirect.operator in (">", ">|", "&>") and redirect.fd in ("", "1"):
            target = redirect.target
            yield _plain(text[target.start : target.end])
    if command.words and command.words[0].literal() == "tee":
        yield from (
            _plain(text[word.start : word.end])
            for word in command.words[1:]
            if text[word.start : word.start + 1] != "-"
        )


def _read(text: str, command: Simple) -> Iterator[str]:
    for redirect in command.redirects:
        if redirect.operator == "<":
            yield _plain(text[redirect.target.start : redirect.target.end])
    name = (command.words[0].literal() or "") if command.words else ""
    if name.rpartition("/")[2] in _FILTERS:
        for word in command.words[1:]:
            piece = text[word.start : word.end]
            if not piece.startswith(("-", "/dev/")):
                yield _plain(piece)
