"""Read the text a second time: tree-sitter-bash may raise what our own reader understood, and never lowers it.

Our reader decides where words and commands are. Where it saw no error, but the grammar of others does, or sees a command
at a place where we saw none, one of the two is wrong about what would run, and the rating says so. What tree-sitter is
known to read wrongly (docs/decisions/0005-own-shell-reader.md) is left out, and so is text that would take it long.
"""

from __future__ import annotations

import re
from _thread import allocate_lock  # all that is needed of threading, without its millisecond
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent.protocol.decisions import Effect, Finding, Level
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.reader.syntax import Parser

# tree-sitter-bash needs quadratic time for many of one of these; within the bounds it needs a few milliseconds at most.
MAX_LENGTH = 4_000
_MAX_OF_EACH = 40
_MAX_HEREDOCS = 1  # two of them in one line are an error for it
_COSTLY = ("|", "(", "{", "[", "&", "=")
# Keywords that it takes for programs, and what stands behind them for arguments or for more programs.
_KEYWORDS = frozenset(("time", "coproc", "{", "}", "do", "done", "then", "else", "elif", "fi", "esac", "!"))
_UNREADABLE_FOR_IT = lazily(r"<>|\\\s*\Z|^[ \t]*\{\w*,|<<<[ \t]*\$'|-[a-zA-Z] / \]\]", re.MULTILINE)


_one_at_a_time = allocate_lock()


def second_opinion(text: str, parser: Parser) -> Finding | None:
    """Report what tree-sitter-bash sees differently in `text`, which `parser` has read without error. Never raises."""
    if not _worth_asking(text):
        return None
    try:
        return _compare(text, parser)
    except Exception:  # no tree-sitter, or one of another version: then there is no second opinion
        return None


def _worth_asking(text: str) -> bool:
    if len(text) > MAX_LENGTH or text.count("<<") > _MAX_HEREDOCS:
        return False
    # tree-sitter-bash 0.25.1 has crashed the process on private-use and control characters: plain ASCII only.
    if not text.isascii() or not text.replace("\n", "").replace("\t", "").isprintable():
        return False
    return len(text) <= _MAX_OF_EACH or max(map(text.count, _COSTLY)) <= _MAX_OF_EACH


@lru_cache(maxsize=1)
def _grammar() -> tuple[Any, int]:
    """A parser, and the kind of node that names of commands are; loaded at the first rating.

    One parser for all: crashes were only seen with a new one for each text.
    """
    import tree_sitter

    language = tree_sitter.Language(_binding().language())
    kind = language.id_for_node_kind("command_name", True)
    assert kind is not None, "a grammar of bash has names of commands"
    return tree_sitter.Parser(language), kind


def _binding() -> Any:
    """The extension module of tree_sitter_bash, without the package around it, whose imports take 10 ms that nobody needs."""
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, PathFinder

    package = PathFinder.find_spec("tree_sitter_bash")
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        spec = FileFinder(folder, (ExtensionFileLoader, EXTENSION_SUFFIXES)).find_spec("_binding")
        if spec is not None and isinstance(spec.loader, ExtensionFileLoader):
            module = spec.loader.create_module(spec)
            spec.loader.exec_module(module)
            return module
    import tree_sitter_bash

    return tree_sitter_bash


def _compare(text: str, parser: Parser) -> Finding | None:
    with _one_at_a_time:
        reader, kind = _grammar()
        root = reader.parse(text.encode("ascii")).root_node
        if root.has_error:
            if _UNREADABLE_FOR_IT.search(text):
                return None
            return _finding("a second reader of the command finds it incomplete or ambiguous", (0, len(text)))
        names = list(_spans(root, kind))
    for start, end in _unseen(names, text, parser):
        reason = (
            f"a second reader of the command sees {text[start:end][:40]} run as a program, where the first one does not"
        )
        return _finding(reason, (start, end))
    return None


def _spans(root: Any, kind: int) -> Iterator[tuple[int, int]]:
    """List where the nodes of a kind begin and end. Making a query that finds them takes longer than many texts do."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.kind_id == kind:
            yield node.start_byte, node.end_byte
        if node.named_child_count:
            waiting += reversed(node.named_children)


def _unseen(names: Iterable[tuple[int, int]], text: str, parser: Parser) -> Iterable[tuple[int, int]]:
    """Places where a command begins for tree-sitter only."""
    starts = set(parser.starts)
    for start, end in names:
        if start in starts or text[start:end] in _KEYWORDS:
            continue
        if any(low <= start < high for low, high in parser.blurred):
            continue
        yield start, end


def _finding(reason: str, span: tuple[int, int]) -> Finding:
    return Finding(
        rule="parse.second-opinion",
        level=Level.MEDIUM,
        reason=reason,
        span=span,
        effect=Effect(kind="unreadable", reversible=False),
        safer="write it in a simpler way",
    )
