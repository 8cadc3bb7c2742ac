"""Complete at the goal prompt: command names and their arguments while typing; on Tab paths, sub-commands of programs, branches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

if TYPE_CHECKING:
    from agent.commands.context import CommandServices


_MAX_ENTRIES = 2_000
_MAX_SHOWN = 200
_SPECIAL = set(" \t\"'`$&|;<>()[]{}*?!#~\\")


class GoalCompleter(Completer):
    """`cwd()` is where relative paths start, `services()` what commands complete from. Nothing is looked up before the first completion."""

    def __init__(self, cwd: Callable[[], str], services: Callable[[], CommandServices] | None = None) -> None:
        self._cwd = cwd
        self._services = services

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if text[:1] in (":", ".") and "\n" not in text:
            found = list(_commands(text, self._services))
            if found or text[:1] == ":":
                return found
        if not complete_event.completion_requested:
            return ()
        from agent.frontends.repl.program_completion import takes_files

        words = list(_words(text, self._cwd()))
        if words and not takes_files(text):
            return words
        return [*words, *_paths(text, self._cwd(), quote=text.lstrip().startswith("!"))]


def _commands(text: str, services: Callable[[], CommandServices] | None) -> Iterator[Completion]:
    from agent.commands.registry import definitions, find

    name, blank, rest = text[1:].partition(" ")
    if blank:
        row = find(name)
        named = row.complete(services()) if row and row.complete and services else ()
        for choice in (*row.choices, *named) if row else ():
            if choice.startswith(rest) and choice.isprintable():  # names of models are a server's
                yield Completion(choice, start_position=-len(rest))
        return
    begun = [row for row in definitions() if row.name.startswith(name)]
    for row in sorted(begun, key=lambda row: row.name != name):  # a whole name stands before longer ones
        yield Completion(
            row.name,
            start_position=-len(name),
            display=f"{text[0]}{row.name} {row.arguments}",
            display_meta=row.help,
        )


def _words(text: str, cwd: str) -> Iterator[Completion]:
    from agent.frontends.repl.program_completion import program_words

    begun = text.rpartition(" ")[2]
    for word in program_words(text, cwd):
        yield Completion(word, start_position=-len(begun))


def _paths(text: str, cwd: str, *, quote: bool) -> Iterator[Completion]:
    """Names that continue the last word. Names with control characters are left out: they would not survive the line."""
    word = _last_word(text)
    plain = _unquoted(word) if quote else word
    folder, partial = os.path.split(plain)
    base = os.path.join(cwd, os.path.expanduser(folder)) if folder else cwd
    try:
        with os.scandir(base) as entries:
            names = [(entry.name, _is_folder(entry)) for entry, _ in zip(entries, range(_MAX_ENTRIES), strict=False)]
    except (OSError, ValueError):
        return
    shown = 0
    for name, is_folder in sorted(names):
        hidden = name.startswith(".") and not partial.startswith(".")
        if hidden or not name.startswith(partial) or not name.isprintable():
            continue
        written = _quoted(name) if quote else name
        start = len(
            _quoted(partial) if quote and _quoted(partial) == word[len(word) - len(_quoted(partial)) :] else partial
        )
        yield Completion(
            written + ("/" if is_folder else ""), start_position=-start, display=name + ("/" if is_folder else "")
        )
        shown += 1
        if shown >= _MAX_SHOWN:
            return


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _last_word(text: str) -> str:
    """The word at the end of `text`; a backslash keeps the blank after it in the word."""
    start = len(text)
    while start > 0:
        char = text[start - 1]
        if char in " \t\n'\"=:!" and not (start > 1 and text[start - 2] == "\\"):
            break
        start -= 1
    return text[start:]


def _quoted(name: str) -> str:
    return "".join("\\" + char if char in _SPECIAL else char for char in name)


def _unquoted(word: str) -> str:
    out, escaped = [], False
    for char in word:
        if char == "\\" and not escaped:
            escaped = True
            continue
        out.append(char)
        escaped = False
    return "".join(out)
