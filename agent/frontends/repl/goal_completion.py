"""Complete at the goal prompt: command names and their arguments while typing; on Tab paths, sub-commands of programs, and branches
of git, which are read from the files of the repository. Nothing is run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
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
            row.name, start_position=-len(name), display=f"{text[0]}{row.name} {row.arguments}", display_meta=row.help
        )


def _words(text: str, cwd: str) -> Iterator[Completion]:
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


_SUB_COMMANDS = {
    "git": """add am apply archive bisect blame branch bundle checkout cherry-pick clean clone commit config describe diff fetch
        format-patch gc grep init log merge mv notes pull push range-diff rebase reflog remote reset restore revert rm shortlog show
        sparse-checkout stash status submodule switch tag worktree""",
    "docker": """attach build buildx compose container context cp create diff events exec export history image images import info
        inspect kill load login logout logs manifest network node pause plugin port ps pull push rename restart rm rmi run save
        search stack start stats stop swarm system tag top unpause update version volume wait""",
    "kubectl": """annotate api-resources apply attach auth autoscale certificate cluster-info completion config cordon cp create
        debug delete describe diff drain edit events exec explain expose get label logs patch port-forward proxy replace rollout run
        scale set taint top uncordon version wait""",
    "systemctl": """cat daemon-reload disable edit enable is-active is-enabled is-failed isolate kill list-dependencies list-jobs
        list-timers list-unit-files list-units mask reload restart show start status stop unmask""",
    "npm": "audit ci exec init install link list outdated pack prune publish run search start test uninstall update version view",
    "cargo": "add bench build check clean clippy doc fetch fmt init install metadata new publish remove run search test tree update",
}
_SUB_COMMANDS["podman"] = _SUB_COMMANDS["docker"]
_TAKE_BRANCHES = frozenset(
    {"checkout", "switch", "merge", "rebase", "branch", "diff", "log", "show", "cherry-pick", "reset", "push"}
)
_TAKE_NO_FILES = frozenset({"switch", "merge", "rebase", "branch", "cherry-pick", "push"})
_MOST_BRANCHES = 500
_MOST_TEXT = 1 << 20


def program_words(text: str, cwd: str) -> list[str]:
    """List what may continue the last word of `text`, "!" in front of it left out; [] where it is no such line."""
    words = text.lstrip("! ").split(" ")
    if len(words) < 2 or words[0] not in _SUB_COMMANDS:
        return []
    begun = words[-1]
    if len(words) == 2:
        return [word for word in sorted(_SUB_COMMANDS[words[0]].split()) if word.startswith(begun)]
    if words[0] == "git" and words[1] in _TAKE_BRANCHES and not begun.startswith("-"):
        return [name for name in branches(cwd) if name.startswith(begun)]
    return []


def takes_files(text: str) -> bool:
    """Tell whether a file may stand at the end of `text`: not where a sub-command or only a branch can."""
    words = text.lstrip("! ").split(" ")
    if words[0] not in _SUB_COMMANDS:
        return True
    return len(words) > 2 and not (words[0] == "git" and words[1] in _TAKE_NO_FILES)


def branches(cwd: str) -> list[str]:
    """Names of the local branches of the repository around `cwd`, as its files tell; [] where there is none."""
    folder = _repository(cwd)
    if not folder:
        return []
    heads = os.path.join(folder, "refs", "heads")
    found = set()
    for place, _folders, files in os.walk(heads):
        found |= {os.path.relpath(os.path.join(place, file), heads) for file in files if not file.endswith(".lock")}
        if len(found) > _MOST_BRANCHES:
            break
    found |= set(_packed(os.path.join(folder, "packed-refs")))
    return sorted(name for name in found if name.isprintable() and " " not in name)[:_MOST_BRANCHES]


def _repository(cwd: str) -> str:
    """The folder with the references: of a linked work tree that of the main one."""
    folder = cwd
    while not os.path.lexists(os.path.join(folder, ".git")):
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    inside = os.path.join(folder, ".git")
    if not os.path.isdir(inside):
        inside = os.path.join(folder, _text(inside).removeprefix("gitdir:").strip())
    common = _text(os.path.join(inside, "commondir")).strip()
    return os.path.join(inside, common) if common else inside


def _packed(path: str) -> Iterator[str]:
    for line in _text(path).splitlines():
        _hash, _, name = line.partition(" ")
        if name.startswith("refs/heads/"):
            yield name.removeprefix("refs/heads/")


def _text(path: str) -> str:
    """The beginning of a file, "" where there is none to read; a pipe there makes nobody wait."""
    with suppress(OSError, ValueError):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_TEXT).replace("\0", "")
    return ""
