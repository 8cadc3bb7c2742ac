"""Read a sed script as sed does: which files it writes, and what it has the shell run."""

from __future__ import annotations

import re

from msgspec import Struct

from agent.risk.reader.words import UNKNOWN

# For what sed would refuse, or what is not known in full: anything that could be meant.
_LOOSE_WRITE = re.compile(r"(?:^|[;{}\n/\d$!IiGgMmp\s])[wW]\s+(\S+)")
_LOOSE_EXEC = re.compile(
    r"(?:^|[;{}\n])\s*(?:\d+|\$|/[^/]*/)?(?:,(?:\d+|\$|/[^/]*/))?\s*!?\s*e(?:\s+([^\n]+)|\s*(?:$|[;}\n]))"
)
_LOOSE_EXEC_FLAG = re.compile(
    r"^\s*(?:\d+|\$|/[^/]*/)?(?:,(?:\d+|\$|/[^/]*/))?\s*s(?P<d>[^\w\s\\])(?:\\.|(?!(?P=d)).)*(?P=d)(?:\\.|(?!(?P=d)).)*(?P=d)[gpimMI\d]*e",
    re.S | re.M,
)
_INSIDES = re.compile(r"s([^\w\s\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1")
_STEP = re.compile(r"\s*(?:\d+(?:~\d+)?|[+~]\d+|\$)")
_TEXT_COMMANDS = "aic"  # the rest of the line is text
_FILE_COMMANDS = "wW"
_LABEL_COMMANDS = "btT:"
_OTHER_FILES = "rR"
_PLAIN_COMMANDS = "=dDgGhHlLnNpPqQvxzF"


class SedSyntaxError(ValueError):
    """The script is none that sed would run."""


class SedScript(Struct):
    """`writes`: files that w, W and the w of s write to. `commands`: what e runs, "" for the line that it stands
    at. `reads`: files that r and R show.

    `runs_result`: whether an s with the flag e runs what it made. `brackets`: whether a delimiter inside `[…]` is text, as
    versions of sed differ in that.
    """

    brackets: bool = True
    writes: list[str] = []
    commands: list[str] = []
    runs_result: bool = False
    unread: bool = False  # an unknown part stands where a command, a flag or a delimiter would
    reads: list[str] = []
    texts: list[str] = []  # what a, i and c put in


def judge_sed(text: str) -> SedScript:
    """Find what a script does outside of it, for each version of sed; a guess at the worst where it is no valid script."""
    found = SedScript()
    refused = 0
    for brackets in (True, False):
        try:
            read = read_sed(text, brackets=brackets)
        except SedSyntaxError:
            refused += 1
            continue
        found.writes += [name for name in read.writes if name not in found.writes]
        found.commands += [command for command in read.commands if command not in found.commands]
        found.texts += [put for put in read.texts if put not in found.texts]
        found.reads += [name for name in read.reads if name not in found.reads]
        found.runs_result = found.runs_result or read.runs_result
    if refused == 2:
        found = _guess(text)
        found.unread = UNKNOWN in text
    return found


def _guess(text: str) -> SedScript:
    return SedScript(
        writes=_LOOSE_WRITE.findall(_INSIDES.sub("/", text)),
        commands=[command.strip() for command in _LOOSE_EXEC.findall(text)],
        runs_result=_LOOSE_EXEC_FLAG.search(text) is not None,
    )


def read_sed(text: str, *, brackets: bool = True) -> SedScript:
    """The parts of a script that reach out of it. Raises SedSyntaxError for what sed would refuse."""
    script = SedScript(brackets)
    position = 0
    while True:
        position = _skip(text, position, " \t\r\n;")
        if position >= len(text):
            return script
        position = _command(text, _addresses(text, position, brackets=brackets), script)


def _command(text: str, position: int, script: SedScript) -> int:
    """One command, read to behind its end."""
    letter = text[position : position + 1]
    position += 1
    if letter in ("{", "}"):
        return position
    if letter == "#":
        return _line_end(text, position)
    if letter == "s":
        return _substitution(text, position, script)
    if letter == "y":
        return _delimited(
            text, _delimited(text, position + 1, text[position : position + 1]), text[position : position + 1]
        )
    if letter and letter in _FILE_COMMANDS:
        return _file(text, position, script)
    if letter == "e":
        end = _line_end(text, position)
        script.commands.append(text[position:end].strip())
        return end
    if letter and letter in _TEXT_COMMANDS:
        end = _text_end(text, position)
        script.texts.append(text[position:end].lstrip("\\ \t\n"))
        return end
    if letter and letter in _OTHER_FILES:
        end = _line_end(text, position)
        script.reads.append(text[position:end].strip())
        return end
    if letter and letter in _LABEL_COMMANDS:
        return _first_of(text, position, "\n;")
    if letter and letter in _PLAIN_COMMANDS:
        return _first_of(text, position, "\n;}")
    raise SedSyntaxError(f"no such command: {letter!r}")


def _addresses(text: str, position: int, *, brackets: bool) -> int:
    """Up to two addresses and `!`."""
    for _ in range(2):
        position = _skip(text, position, " \t")
        found = _STEP.match(text, position)
        if found:
            position = found.end()
        elif text[position : position + 1] == "/":
            position = _regex_flags(text, _delimited(text, position + 1, "/", brackets=brackets))
        elif text[position : position + 1] == "\\":
            position = _regex_flags(
                text, _delimited(text, position + 2, text[position + 1 : position + 2], brackets=brackets)
            )
        else:
            break
        position = _skip(text, position, " \t")
        if text[position : position + 1] != ",":
            break
        position += 1
    return _skip(text, position, " \t!")


def _substitution(text: str, position: int, script: SedScript) -> int:
    """`s/…/…/flags`, from its delimiter on."""
    mark = text[position : position + 1]
    position = _delimited(text, _delimited(text, position + 1, mark, brackets=script.brackets), mark)
    while position < len(text):
        flag = text[position]
        if flag == "w":
            return _file(text, position + 1, script)
        if flag == "e":
            script.runs_result = True
        elif flag not in "gpIiMm0123456789":
            return position
        position += 1
    return position


def _file(text: str, position: int, script: SedScript) -> int:
    """A file name: all to the end of the line, blanks and semicolons too."""
    end = _line_end(text, position)
    name = text[position:end].strip(" \t")
    if not name:
        raise SedSyntaxError("a file name is missing")
    script.writes.append(name)
    return end


def _delimited(text: str, position: int, mark: str, *, brackets: bool = False) -> int:
    """The position behind the next `mark` that is not escaped, nor in brackets where those count."""
    if not mark or mark in f"\n\\{UNKNOWN}":
        raise SedSyntaxError("a delimiter is missing")
    while position < len(text):
        letter = text[position]
        if letter == mark:
            return position + 1
        if letter == "[" and brackets:
            position = _bracket_end(text, position)
        else:
            position += 2 if letter == "\\" else 1
    raise SedSyntaxError(f"no end: {mark}")


def _bracket_end(text: str, position: int) -> int:
    """Behind `[…]`, or behind its first letter where it has no end."""
    limit = text.find("]", position + 1)
    if limit < 0 or "\n" in text[position:limit]:
        return position + 1
    end = position + 1
    end += text[end : end + 1] == "^"
    end += text[end : end + 1] == "]"
    while end < len(text) and text[end] not in "]\n":
        inner = text[end : end + 2]
        if inner in ("[:", "[.", "[="):
            close = text.find(inner[1] + "]", end + 2)
            if close >= 0:
                end = close + 2
                continue
            return position + 1
        end += 1
    return end + 1 if text[end : end + 1] == "]" else position + 1


def _text_end(text: str, position: int) -> int:
    """Behind the text of a, i or c: it goes on behind a backslash at the end of a line."""
    while position < len(text) and text[position] != "\n":
        position += 2 if text[position] == "\\" else 1
    return min(position, len(text))


def _regex_flags(text: str, position: int) -> int:
    return _skip(text, position, "IM")


def _skip(text: str, position: int, letters: str) -> int:
    while position < len(text) and text[position] in letters:
        position += 1
    return position


def _line_end(text: str, position: int) -> int:
    return _first_of(text, position, "\n")


def _first_of(text: str, position: int, letters: str) -> int:
    while position < len(text) and text[position] not in letters:
        position += 1
    return position
