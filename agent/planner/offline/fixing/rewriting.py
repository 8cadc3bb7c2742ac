"""Change one word of a command that failed, and leave out what of it was done already."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.values import quote_path

# Programs that lose something: what they are to work on is never guessed.
_PROGRAMS = (
    "rm rmdir unlink shred srm dd truncate wipefs fdisk parted del rd kill killall pkill xkill shutdown reboot halt poweroff init userdel "
    "groupdel deluser dropdb dropuser crontab"
)
_WORDS = (
    "rm rmi prune clean gc reset delete del destroy drop purge remove uninstall unpublish drain kill stop down disable mask filter-branch "
    "restore checkout-index autoremove erase expire wipe -delete -D -d --delete"
)
_WITH_SUBCOMMANDS = (
    "git docker podman kubectl systemctl npm yarn pnpm pip pip3 cargo brew apt apt-get dnf helm gh go conda terraform"
)
DESTRUCTIVE = frozenset(_PROGRAMS.split())
_DESTRUCTIVE_WORDS = frozenset(_WORDS.split())
_HAS_SUBCOMMANDS = frozenset(_WITH_SUBCOMMANDS.split())
_WRAPPERS = r"(?:(?:sudo|env|command|exec|nohup|nice|time|xargs(?:\s+-\S+)*)\s+|\w+=\S*\s+)*"


def destroys(command: str) -> bool:
    """Tell whether the command is of a kind that loses something, so that no other name may be guessed for it."""
    for stage in re.split(r"&&|\|\|?|;|\n|&|\(|\{", command):
        words = re.sub(rf"\A\s*{_WRAPPERS}", "", stage).split()
        if not words:
            continue
        program = words[0].rsplit("/", 1)[-1]
        if program in DESTRUCTIVE or program.startswith("mkfs") or "-delete" in words:
            return True
        if program in _HAS_SUBCOMMANDS and _DESTRUCTIVE_WORDS & set(words[1:]):
            return True
        if program in ("find", "xargs", "parallel") and DESTRUCTIVE & set(words[1:]):
            return True
    return False


def is_destructive_word(word: str) -> bool:
    """Tell whether a program or sub-command of this name loses something."""
    return word in DESTRUCTIVE or word in _DESTRUCTIVE_WORDS or word.startswith("mkfs")


def replace_word(command: str, old: str, new: str) -> str:
    """The command with the path `old`, however it is quoted there, replaced by `new` quoted; "" where it is not a word of it."""
    return replace_written(command, old, quote_path(new))


def replace_written(command: str, old: str, written: str) -> str:
    """As `replace_word`, with shell text in its place. What an `&&` before it did already is not done again."""
    for spelled in dict.fromkeys((quote_path(old), shlex.quote(old), f'"{old}"', old)):
        pattern = rf"(?:(?<=\A)|(?<=[\s=<>:])){re.escape(spelled)}(?=[\s;|&)]|\Z)"
        match = re.search(pattern, command)
        if match is not None:
            start = _start_of_part(command, match.start())
            return command[start : match.start()] + written + command[match.end() :]
    return ""


def replace_program(command: str, name: str, other: str) -> str:
    """The command with the program `name` replaced by shell text; "" where it is not the first word of a part."""
    pattern = rf"(?:\A|[|&;(]|\n|\bdo\b|\bthen\b)[^\S\n]*{_WRAPPERS}(?P<name>{re.escape(name)})(?=\s|\Z|[;|&)])"
    match = re.search(pattern, command)
    if match is None:
        return ""
    start = _start_of_part(command, match.start("name"))
    return command[start : match.start("name")] + other + command[match.end("name") :]


def _start_of_part(command: str, at: int) -> int:
    """Find the start of the `&&` part around `at`; 0 where the command is more than parts in a row, or one of them changes the shell."""
    if re.search(r"[;\n(){}`]|\$\(|\|\||(?<!&)&(?!&)", command) or re.search(
        r"(?:\A|&&)\s*(?:cd|pushd|popd|export|source|\.|set|unset|alias|\w+=)", command[:at]
    ):
        return 0
    start = 0
    for match in re.finditer(r"&&\s*", command[:at]):
        if _balanced(command[start : match.start()]):
            start = match.end()
    return start


def _balanced(text: str) -> bool:
    try:
        shlex.split(text)
    except ValueError:
        return False
    return True
