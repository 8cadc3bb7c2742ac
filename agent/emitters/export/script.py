"""Export a session as a bash script of what was really run, commented. Text of strangers cannot leave its comment or its command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from agent.audit.story.model import CommandStory, GoalStory, SessionBegan
from agent.emitters.export.formats import Source
from agent.emitters.story_words import decided_words, from_words, took
from agent.protocol.records import LABEL
from agent.text.lazy_pattern import lazily
from agent.text.shown import shown, shown_line
from agent.version import __version__

_RESERVED = frozenset(
    (
        "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
        "time", "coproc", "in", "!", "[[", "]]", "{", "}",
    )
)  # fmt: skip
_ENDS_SHELL = lazily(r"(?<![\w/.-])(?:exit|exec|logout|return|suspend|kill\s+\$\$)(?![\w-])")


def quoted(text: str) -> str:
    """`text` as one word for bash; what would not be seen stands as an escape. It must not hold a NUL."""
    if text.replace("\n", "") == "" or shown(text) == text:
        return "'" + text.replace("'", "'\\''") + "'"
    return "$'" + "".join(_escaped(char) for char in text) + "'"


def statement(command: str) -> str:
    """Text that runs `command`. As it is where it is surely complete by itself, else through `eval`: a quote or a here-document
    that is not closed ends there. What may end the shell runs in a shell of its own.
    """
    if _ENDS_SHELL.search(command):
        return f"( eval -- {quoted(command)} )"
    return command if is_plain(command) else f"eval -- {quoted(command)}"


def keeps_shell(command: str) -> bool:
    """Tell whether what `command` does to the shell (its folder, its variables) lasts in the script."""
    return _ENDS_SHELL.search(command) is None


def is_plain(command: str) -> bool:
    """Tell whether it is one line of simple commands that bash reads as complete, with nothing in it that is hard to see."""
    if len(command) > 4_000 or shown(command) != command or not _complete().fullmatch(command):
        return False
    return not any(word in _RESERVED for word in re.split(r"[\s;|&]+", command))


def comment(text: str) -> str:
    """`text` as comment lines: it cannot leave them, and nothing in it is hidden. Ends with a line end."""
    return "".join(f"# {shown(line)}".rstrip() + "\n" for line in text.split("\n"))


def note(text: str, limit: int = 400) -> str:
    """`text` on a single comment line of at most `limit` characters."""
    return f"# {shown_line(text, limit)}\n"


def _escaped(char: str) -> str:
    if char in "'\\":
        return "\\" + char
    if char == "\n":
        return "\\n"
    if char.isascii() and char.isprintable():
        return char
    if shown(char) == char and char != "\t":
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


@cache
def _complete() -> re.Pattern[str]:
    """Simple commands, and what joins them. Each part begins with another character than the next, so that no text takes long."""
    variable = r"\$(?:[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_])|[0-9?$@*-]|\{[A-Za-z_][A-Za-z0-9_]*\})"
    inside = rf'(?:[^"\\`$\n]|\\[^\n]|{variable}|\$(?=[" ]))*'
    word = rf"(?:[A-Za-z0-9_./:,=@%+^~*?\[\]-]|[^\x00-\x7f\s]|\\[^\n]|'[^'\n]*'|\"{inside}\"|{variable})+"
    redirection = rf"(?:&>>|&>|>>|>\||>&|<&|<>|>|<)[ \t]*{word}"
    simple = rf"(?:{word}|{redirection})(?:[ \t]+{word}|[ \t]*{redirection})*"
    return re.compile(rf"[ \t]*{simple}(?:[ \t]*(?:\|\||&&|\|&|\||;|&(?!>))[ \t]*{simple})*(?:[ \t]*[;&])?[ \t]*")


_HEAD = """\
#!/usr/bin/env bash
# The commands of a recorded session, in order. Read it before you run it: nothing here is rated, asked or confirmed again.
# What was not run, failed, was interrupted or taken back stands as a comment.
# Like the session itself it goes on after a failure; put `set -e` here if it should not.
"""


def script(source: Source) -> Iterator[bytes]:
    """The script, goal by goal."""
    yield _text(_HEAD)
    yield _text(note(f"session{'s' if source.more else ''} {source.names}, exported by agent-shell {__version__}"))
    if source.outside:
        yield _text("# The log lies outside of the session folder: nothing vouches for what follows.\n")
    folder = ""  # where the script is at this point, "" where that is not known
    number = 0
    for item in source.items():
        if isinstance(item, SessionBegan):
            folder = ""  # a new process: its shell knows nothing of the last one's
            yield _text(note(f"a shell was opened at {item.time} in {item.cwd}"))
        elif isinstance(item, GoalStory):
            number += item.part == 1
            yield _text("\n" + note(f"goal {number}{f' ({from_words(item)})' if item.taken_from else ''}: {item.goal}"))
            status = "told in parts" if item.more else f"{item.status}, exit {item.exit_code}"
            yield _text(note(f"{item.began} · {status}"))
            for command in item.commands:
                told, folder = _command(command, folder, item.approve)
                yield _text("\n" + told)


def _command(command: CommandStory, folder: str, approve: str) -> tuple[str, str]:
    """Its lines, and the folder that the script is in after them."""
    about = note(_about(command, approve))
    reason = why_not(command)
    text = command.run or command.proposed
    if reason:
        return about + note(f"not part of this script: {reason}") + comment(text), folder
    there = command.cwd
    move = f"cd -- {quoted(there)} || exit\n" if there and there != folder else ""
    after = command.cwd_after if keeps_shell(command.run) else there
    edited = note(f"edited; proposed was: {command.proposed}") if command.edited else ""
    return about + edited + move + statement(command.run) + "\n", after


def why_not(command: CommandStory) -> str:
    """Say why a command must not stand in the script as one, "" where it may."""
    text = command.run
    if command.is_write:
        return "a tool did it, and no shell"
    if not command.ran:
        return "it was not run"
    if command.undo_state == "undone":
        return "it was taken back later"
    if command.job:
        return "it went on in the background"
    if command.exit_code is None or command.interrupted or command.timed_out:
        return "it did not end by itself"
    if command.exit_code != 0:
        return f"it failed with exit {command.exit_code}"
    if LABEL in text or LABEL in command.cwd:
        return "a secret was taken out of its text; put it back, if you know it"
    if "\0" in text + command.cwd or not _is_writable(text + command.cwd):
        return "it holds characters that no script can hold"
    if not text.strip():
        return "it is empty"
    return ""


def _about(command: CommandStory, approve: str) -> str:
    words = [command.started or command.began]
    words += [f"risk {command.level}"] if command.level else []
    words.append(decided_words(command, approve))
    if command.ran:
        words.append(f"in {command.cwd}")
        words += [f"confined ({command.confine})"] if command.confine not in ("", "off") else []
        words.append(f"exit {command.exit_code} after {took(command.duration)}")
        words += [f"then in {command.cwd_after}"] if command.cwd_after != command.cwd else []
    return " · ".join(words)


def _is_writable(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _text(piece: str) -> bytes:
    try:
        return piece.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return piece.encode("utf-8", "replace")
