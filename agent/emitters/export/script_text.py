"""A recorded command as text of a bash script that cannot reach beyond its own place there."""

from __future__ import annotations

import re
from functools import cache

from agent.emitters.paint import safe

_RESERVED = frozenset(
    (
        "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
        "time", "coproc", "in", "!", "[[", "]]", "{", "}",
    )
)  # fmt: skip


def quoted(text: str) -> str:
    """`text` as one word for bash; what would not be seen stands as an escape. It must not hold a NUL."""
    if text.replace("\n", "") == "" or safe(text) == text:
        return "'" + text.replace("'", "'\\''") + "'"
    return "$'" + "".join(_escaped(char) for char in text) + "'"


def statement(command: str) -> str:
    """Text that runs `command`. As it is where it is surely complete by itself, else through `eval`: a quote or a here-document
    that is not closed ends there. What may end the shell runs in a shell of its own.
    """
    if _ends_shell().search(command):
        return f"( eval -- {quoted(command)} )"
    return command if is_plain(command) else f"eval -- {quoted(command)}"


def keeps_shell(command: str) -> bool:
    """Tell whether what `command` does to the shell (its folder, its variables) lasts in the script."""
    return _ends_shell().search(command) is None


def is_plain(command: str) -> bool:
    """Tell whether it is one line of simple commands that bash reads as complete, with nothing in it that is hard to see."""
    if len(command) > 4_000 or safe(command) != command or not _is_complete(command):
        return False
    return not any(word in _RESERVED for word in re.split(r"[\s;|&]+", command))


def comment(text: str) -> str:
    """`text` as comment lines: it cannot leave them, and nothing in it is hidden. Ends with a line end."""
    return "".join(f"# {safe(line)}".rstrip() + "\n" for line in text.split("\n"))


def note(text: str, limit: int = 400) -> str:
    """`text` on a single comment line of at most `limit` characters."""
    line = safe(" ".join(text[: limit * 4].split())).replace("\n", "␊").replace("\t", " ")
    return f"# {line if len(line) <= limit else line[: limit - 1] + '…'}\n"


def _escaped(char: str) -> str:
    if char in "'\\":
        return "\\" + char
    if char == "\n":
        return "\\n"
    if char.isascii() and char.isprintable():
        return char
    if safe(char) == char and char != "\t":
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


@cache
def _ends_shell() -> re.Pattern[str]:
    return re.compile(r"(?<![\w/.-])(?:exit|exec|logout|return|suspend|kill\s+\$\$)(?![\w-])")


@cache
def _piece() -> re.Pattern[str]:
    """A part of a line. Each alternative begins with another character and can match in one way only, so that no text takes long."""
    variable = r"\$(?:[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_])|[0-9?$@*-]|\{[A-Za-z_][A-Za-z0-9_]*\})"
    inside = rf'(?:[^"\\`$\n]|\\[^\n]|{variable}|\$(?=[" ]))*'
    return re.compile(
        rf"(?P<word>[A-Za-z0-9_./:,=@%+^~*?\[\]-]|[^\x00-\x7f\s]|\\[^\n]|'[^'\n]*'|\"{inside}\"|{variable})"
        r"|(?P<redirect>&>>|&>|>>|>\||>&|<&|<>|>|<)"
        r"|(?P<joint>\|\||&&|\|&|\||;|&)"
        r"|[ \t]"
    )


def _is_complete(command: str) -> bool:
    """Tell whether it is simple commands, and what joins them, from beginning to end."""
    at = 0
    is_begun = awaits_file = False  # of the simple command that is being read
    joint = "none"
    while at < len(command):
        piece = _piece().match(command, at)
        if piece is None:
            return False
        at = piece.end()
        if piece["word"] is not None:
            is_begun, awaits_file = True, False
        elif piece["redirect"] is not None or piece["joint"] is not None:
            if awaits_file or (piece["joint"] and not is_begun):
                return False
            awaits_file = piece["redirect"] is not None
            if piece["joint"]:
                is_begun, joint = False, piece["joint"]
    return not awaits_file and (is_begun or joint in (";", "&"))
