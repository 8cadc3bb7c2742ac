"""Find the sub-command of a command line, where options stand before its name: `agent-shell --json sessions list`."""

from __future__ import annotations

from collections.abc import Collection

_SHORTEST = 3
_LONG = 7


def split(arguments: list[str], names: Collection[str]) -> tuple[list[str], str, list[str]]:
    """The options in front, which of `names` comes after them, and what stands behind it.

    The first word decides, and words behind `--` are a goal's: where it is none of `names`, the name is "" and all of `arguments` stands
    behind it. Options that do not exist are taken along, with a value where only that explains the name that follows: whoever
    parses them can then say for which command they are not.
    """
    if not arguments or not arguments[0].startswith("-"):  # nearly always: no need to know any option
        found = bool(arguments) and arguments[0] in names
        return ([], arguments[0], arguments[1:]) if found else ([], "", arguments)
    valued, plain = _options()
    place = 0
    while place < len(arguments):
        word = arguments[place]
        if word in names:
            return arguments[:place], word, arguments[place + 1 :]
        if word in ("--", "-", "-V", "--version") or not word.startswith("-"):
            break
        place += 1
        if word in plain or (word.startswith("--") and "=" in word):
            continue
        following = arguments[place : place + 2]
        if word in valued:
            if not following or following[0].startswith("-"):
                break  # its value is missing: the parser says so
            place += 1
        elif len(following) == 2 and following[0] not in names and following[1] in names:
            place += 1
    return [], "", arguments


def meant(words: list[str], names: Collection[str]) -> str:
    """The sub-command that a line of one word misspells, or of two where an action of it follows; "" for a goal."""
    word, *behind = words
    if len(behind) > 1 or not word.isalpha() or len(word) < _SHORTEST:
        return ""
    from agent.text.fuzzy import within_slips

    found = within_slips(word.lower(), (*names, "help", "version"), 1 if len(word) < _LONG else 2)
    near = sorted(found, key=lambda name: (found[name], name))
    if behind:
        from agent.config.session_actions import ACTIONS

        near = [name for name in near if name == "sessions" and behind[0] in ACTIONS]
    if not near:
        return ""
    from shutil import which

    return near[0] if behind or not which(word) else ""  # a program of that name is a command of the person's own


def is_option(word: str) -> bool:
    """Tell whether it is an option of the program itself."""
    return any(word in options for options in _options())


def _options() -> tuple[set[str], set[str]]:
    """The options of the program itself that take a value, and those that take none."""
    from agent.config.table import SETTINGS

    valued, plain = set[str](), {"-h", "--help"}
    for setting in SETTINGS:
        if setting.flag is not None:
            kind = plain if setting.kind == "bool" else valued
            kind.update(name for name in (setting.flag, setting.short) if name)
        if setting.off_flag:
            plain.add(setting.off_flag)
    return valued, plain
