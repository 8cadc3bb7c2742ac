"""Keep what walks through folders out of repositories, and changes out of what package managers installed, unless they are named."""

from __future__ import annotations

import os
import re
from itertools import takewhile

from agent.planner.offline.grammar.changes import operations
from agent.text.lazy_pattern import LazyPattern

SPARED = (".git", ".hg", ".svn", ".jj", "node_modules", ".venv")
_LOOKED_AT = 2_000  # entries below a folder; behind these any of them may be there
_CHANGES = frozenset(("delete", "move", "mode", "owner", "empty", "edit"))
_EACH = LazyPattern(r"-exec(?:dir)? (?:gzip|bzip2|xz|zstd|touch|gunzip|dos2unix)\b")
_WORD = LazyPattern(r"""\s*((?:[^\s'"\\|;&()<>]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|<\w+>)+)""")
_WALKS = LazyPattern(
    r"(?:(?<=\A)|(?<=[|;&({]\s)|(?<=sudo )|(?<=&& )|(?<=do ))(?:find|grep -r\w*|ch(?:mod|own|grp) -R) "
)
_END = LazyPattern(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|(&&|\|\||;|\n)""")
_LOOP = re.compile(r"\b(?:while|for)\b")
_LINKS = ("-H", "-L", "-P")
# It may look in other folders than those below.
_FURTHER = LazyPattern(r"""(?:\A|\s)["']?(?:[/~]|\.\.)|(?:\A|\s)-(?:L|follow)\b|\A[^']*(?:'[^']*'[^']*)*\$""")
_CHOSEN = LazyPattern(r"(?<!-not )-(?:i?name|i?path|i?regex|samefile|inum) |-maxdepth [01] |--include=")


def _spared_below(folder: str) -> tuple[str, ...] | None:
    """Those of the folders that are below `folder`, all of them where there is too much to look at; None where there is no such folder."""
    found: set[str] = set()
    folders, left = [folder or "\0"], _LOOKED_AT
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if entry.name in SPARED:
                        found.add(entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    if left < 0:
                        return SPARED
        except (OSError, ValueError):
            if left == _LOOKED_AT:
                return None
    return tuple(name for name in SPARED if name in found)


def without_spared_folders(command: str, cwd: str = "") -> str:
    """The command as it was composed, with conditions that leave those folders out where it changes what it finds, and repositories
    where it lists or counts whatever is there. `cwd`: where it runs, which tells what is to be left out; "" where that is not known."""
    done = 0
    here = _spared_below(cwd) if _WALKS.search(command) else None
    while (found := _WALKS.search(command, done)) is not None:
        part = _pipeline(command, found.start())
        kept = _kept_out(part, found[0], here)
        command = command[: found.start()] + kept + command[found.start() + len(part) :]
        done = found.end() + len(kept) - len(part) if kept != part else found.end()
    return command


def _pipeline(command: str, start: int) -> str:
    """The text from `start` to the end of its pipeline; with a loop in it, all the rest."""
    if _LOOP.search(command, start):
        return command[start:]
    end = next((found.start(1) for found in _END.finditer(command, start) if found[1]), len(command))
    return command[start:end]


def _kept_out(part: str, program: str, here: tuple[str, ...] | None) -> str:
    changes = operations(part) & _CHANGES or _EACH.search(part)
    if not changes:
        return _read_outside(part, program, here or ())
    spared = SPARED if here is None or _FURTHER.search(part) else here
    names = [name for name in spared if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.*?-])", part)]
    if not names:
        return part
    if program.startswith("grep"):
        excluded = "".join(f"--exclude-dir={name} " for name in names)
        return f"{program}{excluded}{part[len(program) :]}"
    words = _words(part)
    if program.startswith("ch"):
        return _each_below(words, part, names)
    return _found(words, part, names)


def _read_outside(part: str, program: str, here: tuple[str, ...]) -> str:
    """Let what only looks at whatever is there leave out the files that a repository keeps for itself."""
    words = _words(part)
    if _CHOSEN.search(part) or _FURTHER.search(part) or re.search(r"\.(?:git|hg|svn|jj)\b", part):
        return part
    names = [name for name in here if name in SPARED[:4]]
    if program.startswith("grep"):
        return program + "".join(f"--exclude-dir={name} " for name in names) + part[len(program) :]
    if program != "find " or "-type" not in words:
        return part
    at = words.index("-type")
    own = "-not -name {0} " * (words[at + 1] != "f")
    left_out = [(own + "-not -path '*/{0}/*'").format(name) for name in names]
    return " ".join([*words[: at + 2], *left_out, *words[at + 2 :]]) + part[_length(words, part) :]


def _words(part: str) -> list[str]:
    """The words of the first command in `part`, as they are written."""
    words, at = [], 0
    while (found := _WORD.match(part, at)) is not None:
        words.append(found[1])
        at = found.end()
    return words


def _pruned(names: list[str]) -> str:
    listed = " -o ".join(f"-name {name}" for name in names)
    return rf"\( {listed} \) -prune -o" if len(names) > 1 else f"{listed} -prune -o"


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
