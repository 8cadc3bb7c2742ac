"""Keep changes that walk through folders out of repositories and of what package managers installed, unless they are named."""

from __future__ import annotations

import re
from itertools import takewhile

from agent.planner.offline.grammar.changes import operations
from agent.text.lazy_pattern import LazyPattern

SPARED = (".git", ".hg", ".svn", ".jj", "node_modules", ".venv")
_CHANGES = frozenset(("delete", "move", "mode", "owner", "empty", "edit"))
_EACH = LazyPattern(r"-exec(?:dir)? (?:gzip|bzip2|xz|zstd|touch|gunzip|dos2unix)\b")
_WORD = LazyPattern(r"""\s*((?:[^\s'"\\|;&()<>]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)""")
_WALKS = LazyPattern(
    r"(?:(?<=\A)|(?<=[|;&({]\s)|(?<=sudo )|(?<=&& )|(?<=do ))(?:find|grep -r\w*|ch(?:mod|own|grp) -R) "
)
_END = LazyPattern(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|(&&|\|\||;|\n)""")
_LOOP = re.compile(r"\b(?:while|for)\b")
_LINKS = ("-H", "-L", "-P")


def without_spared_folders(command: str) -> str:
    """The command as it was composed, with conditions that leave those folders out where it changes what it finds."""
    done = 0
    while (found := _WALKS.search(command, done)) is not None:
        part = _pipeline(command, found.start())
        kept = _kept_out(part, found[0])
        command = command[: found.start()] + kept + command[found.start() + len(part) :]
        done = found.end() + len(kept) - len(part) if kept != part else found.end()
    return command


def _pipeline(command: str, start: int) -> str:
    """The text from `start` to the end of its pipeline; with a loop in it, all the rest."""
    if _LOOP.search(command, start):
        return command[start:]
    end = next((found.start(1) for found in _END.finditer(command, start) if found[1]), len(command))
    return command[start:end]


def _kept_out(part: str, program: str) -> str:
    changes = operations(part) & _CHANGES or _EACH.search(part)
    names = [name for name in SPARED if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.*?-])", part)]
    if not changes or not names:
        return part
    if program.startswith("grep"):
        excluded = "".join(f"--exclude-dir={name} " for name in names)
        return f"{program}{excluded}{part[len(program) :]}"
    words = _words(part)
    if program.startswith("ch"):
        return _each_below(words, part, names)
    return _found(words, part, names)


def _words(part: str) -> list[str]:
    """The words of the first command in `part`, as they are written."""
    words, at = [], 0
    while (found := _WORD.match(part, at)) is not None:
        words.append(found[1])
        at = found.end()
    return words


def _pruned(names: list[str]) -> str:
    listed = " -o ".join(f"-name {name}" for name in names)
    return rf"\( {listed} \) -prune -o"


def _found(words: list[str], part: str, names: list[str]) -> str:
    """`find`: what is left out is not entered; `-delete` looks at what is inside first, so that its files are deleted by rm."""
    rest = part[_length(words, part) :]
    start = 1 + sum(1 for _ in takewhile(lambda word: word in _LINKS, words[1:]))
    start += sum(1 for _ in takewhile(lambda word: word[0] not in "-!\\(", words[start:]))
    while words[start : start + 1] in (["-maxdepth"], ["-mindepth"]):
        start += 2
    if words[-1] == "-delete" and not re.search(r"(?<=-type )[fl](?= )", " ".join(words)):
        own = "-not -name {} " * ("-empty" not in words)  # a repository is not empty
        left_out = " ".join(f"{own.format(name)}-not -path '*/{name}/*'" for name in names)
        return f"{' '.join(words[:-1])} {left_out} -delete{rest}"
    if words[-1] == "-delete":
        words[-1:] = ["-exec", "rm", "-f", "{}", "+"]
    elif not any(word.startswith(("-exec", "-ok", "-print")) for word in words):
        words.append("-print")
    return " ".join([*words[:start], _pruned(names), *words[start:]]) + rest


def _each_below(words: list[str], part: str, names: list[str]) -> str:
    """`chmod -R`: each file that is no link, as it would do."""
    program, _, value, *places = words
    if not places:
        return part
    each = f"chmod {value}" if program == "chmod" else f"{program} -h {value}"
    links = "-not -type l " if program == "chmod" else ""
    return f"find {' '.join(places)} {_pruned(names)} {links}-exec {each} {{}} +{part[_length(words, part) :]}"


def _length(words: list[str], part: str) -> int:
    at = 0
    for word in words:
        at = part.index(word, at) + len(word)
    return at
