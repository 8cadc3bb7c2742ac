"""Fill a remembered command with other literals: what stood for a path, a number or a text of the old goal stands for that of the new one.

Only where nothing is left to guess: each literal that differs is exactly one word of the command, written so that its meaning is plain, and
the new one can be written the same way. Everything else gives None.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from msgspec import Struct

from agent.memory.model import Slot

_PLAIN = re.compile(r"[\w./@%+=:,*?~-]+\Z", re.ASCII)
_SAFE_NUMBER = re.compile(r"\d{1,9}\Z", re.ASCII)
_GLOBS = re.compile(r"[*?\[]")
_OPERATORS = ";|&<>()"
# Programs whose literals are what they change: asked for in other words, they are planned anew.
_CHANGES = frozenset((
    "apt", "apt-get", "bash", "brew", "cargo", "chgrp", "chmod", "chown", "cp", "crontab", "curl", "dd", "dnf", "docker", "eval", "fdisk",
    "fish", "install", "kill", "killall", "ln", "make", "mkfs", "mount", "mv", "npm", "passwd", "perl", "pip", "pip3", "pkill", "python",
    "python3", "rm", "rmdir", "rsync", "ruby", "scp", "sh", "shred", "shutdown", "sponge", "ssh", "sudo", "systemctl", "tar", "tee",
    "truncate", "umount", "unlink", "unzip", "useradd", "wget", "xargs", "zip", "zsh",
))  # fmt: skip
_CHANGING_WORDS = frozenset(
    ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-i", "--in-place", "-fprint", "-fprintf", "-fls")
)
_GIT_READS = frozenset(("blame", "diff", "grep", "log", "ls-files", "rev-list", "shortlog", "show", "status"))


class _Word(Struct, frozen=True):
    """A word of a command line: its place, its value, and how it is written ("plain", "single", "double" or "other")."""

    start: int
    end: int
    value: str
    written: str
    redirected: bool


def fill(command: str, old: Sequence[Slot], new: Sequence[Slot]) -> str | None:
    """`command` with the literals `new` in place of `old`, None where that is not certain to mean the same with them."""
    if len(old) != len(new) or any(a.kind != b.kind for a, b in zip(old, new, strict=True)):
        return None
    changed = {a: b for a, b in zip(old, new, strict=True) if a != b}
    texts = [slot.text for slot in old]
    if not changed or any(texts.count(slot.text) > 1 for slot in changed):
        return None
    words = _split(command)
    if words is None or not _only_reads(command, words):
        return None
    pieces: dict[_Word, str] = {}
    for before, after in changed.items():
        word = _only_word(words, before)
        written = _written(word, before, after) if word is not None else None
        if word is None or written is None or word in pieces:
            return None
        pieces[word] = written
    filled = command
    for word in sorted(pieces, key=lambda word: -word.start):
        filled = filled[: word.start] + pieces[word] + filled[word.end :]
    return filled if _differs_only_there(command, filled, len(pieces)) else None


def _split(command: str) -> list[_Word] | None:
    """The words of a command line, None for one that is more than simple commands in a row."""
    if any(mark in command for mark in ("\n", "`", "$", "#", "<<", "\\", "{", "!")):
        return None
    words: list[_Word] = []
    at, redirected = 0, False
    while at < len(command):
        letter = command[at]
        if letter.isspace():
            at += 1
        elif letter in _OPERATORS:
            redirected = letter in "<>"
            at += 1
        else:
            word = _word_at(command, at, redirected)
            if word is None:
                return None
            words.append(word)
            at, redirected = word.end, False
    return words


def _word_at(command: str, start: int, redirected: bool) -> _Word | None:
    at, value, parts = start, "", []
    while at < len(command) and not command[at].isspace() and command[at] not in _OPERATORS:
        if command[at] in "'\"":
            end = command.find(command[at], at + 1)
            if end < 0:
                return None
            parts.append("single" if command[at] == "'" else "double")
            value += command[at + 1 : end]
            at = end + 1
        else:
            if not parts or parts[-1] != "plain":
                parts.append("plain")
            value += command[at]
            at += 1
    return _Word(start, at, value, parts[0] if len(parts) == 1 else "other", redirected)


def _only_reads(command: str, words: list[_Word]) -> bool:
    """Tell whether it is of programs whose words can be others without changing another file. A redirection writes one."""
    if re.search(r">(?!\s*(?:&|/dev/null))", command):
        return False
    values = [word.value for word in words]
    programs = {value.rpartition("/")[2] for value in values}
    if (
        programs & _CHANGES
        or set(values) & _CHANGING_WORDS
        or any(value.startswith("-i") for value in values if "sed" in programs)
    ):
        return False
    return "git" not in programs or bool(set(values) & _GIT_READS)


def _only_word(words: list[_Word], slot: Slot) -> _Word | None:
    """The one word of the command that is the literal, or for a number the one option that ends in it (`-5`, `-n5`)."""
    whole = [word for word in words if word.value == slot.text]
    if slot.kind == "number":
        whole += [word for word in words if re.fullmatch(rf"-[A-Za-z]?{re.escape(slot.text)}", word.value)]
        # Any other place where the number stands may come from it as well.
        loose = [
            word
            for word in words
            if word not in whole and re.search(rf"(?<!\d){re.escape(slot.text)}(?!\d)", word.value)
        ]
        if loose:
            return None
    elif any(slot.text in word.value for word in words if word not in whole):
        return None
    if len(whole) != 1 or whole[0].redirected or whole[0] is words[0]:
        return None
    return whole[0]


def _written(word: _Word, before: Slot, after: Slot) -> str | None:
    """The new literal written as the old one was."""
    text = after.text
    if not text or text.startswith("-") or not text.isprintable():
        return None
    if before.kind == "number":
        if not _SAFE_NUMBER.match(text) or word.written != "plain":
            return None
        return word.value[: len(word.value) - len(before.text)] + text
    if word.written == "other" or (word.written == "plain" and not _PLAIN.match(word.value)):
        return None
    if word.written == "plain":
        expands = bool(_GLOBS.search(before.text)), before.text.startswith("~")
        if expands != (bool(_GLOBS.search(text)), text.startswith("~")):
            return None
        if any(expands):
            return text if _PLAIN.match(text) and "=" not in text else None
        return shlex.quote(text)
    # A pattern for find or grep keeps being one: what was no pattern must not become one, nor the other way round.
    if bool(_GLOBS.search(before.text)) != bool(_GLOBS.search(text)) or text.startswith("~"):
        return None
    if _is_expression(before.text) != _is_expression(text):
        return None
    return shlex.quote(text) if "'" in text else f"'{text}'"


def _is_expression(text: str) -> bool:
    return bool(re.search(r"[\\^$.|+(){}\[\]]", text.replace(".", "", 1) if "*" in text else text))


def _differs_only_there(command: str, filled: str, places: int) -> bool:
    """Tell whether the shell splits both alike, but for so many words: a second look with other eyes."""
    try:
        before, after = (_shell_words(text) for text in (command, filled))
    except ValueError:
        return False
    return len(before) == len(after) and sum(a != b for a, b in zip(before, after, strict=True)) == places


def _shell_words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)
