"""Read the options of a program out of the text of its manual or help, and find those of a command that stand nowhere in it.

Only what is certain is said to be missing: a text that mentions an option anywhere, in any way, has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.risk.reader.words import Word
from agent.risk.tables.options import spelled_out, split_args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import lazily

_NAME = lazily(r"(?<![\w\-])(--?)(\[?no-?\]?-?)?([A-Za-z0-9?@#][\w+.-]*)?(?:\[(-?[\w-]+)\])?")
_CLUSTER = lazily(r"\[-([A-Za-z0-9@%]{2,})\]|(?<![\w-])-\[([A-Za-z0-9]+)\]")
_ENTRY = lazily(r"\s{1,24}(?=-{1,2}[\w?@#\[])")
_PLACE = lazily(r"--[A-Z]{3,}(-[a-z-]+)$")
_GAP = lazily(r"\s{2,}|\t")
_HEAD_SIGNS = lazily(r"[\s,|/]|\bor\b")
_LONGEST_HEAD, _LONGEST_MEANING = 100, 110
_PARTIAL = re.compile(
    r"--help[ =-](?:all|full|long)|-(?:all|full|long)-?help|help all|-h (?:full|long)|not the full help", re.IGNORECASE
)
_LEAST = 3  # options: a text with fewer is no list of them


class Entry(Struct, frozen=True, array_like=True):
    """One option as its text lists it: "-f, --file=ARCHIVE", what it does, and the names in it; and whether it takes a value."""

    head: str
    meaning: str
    names: tuple[str, ...]
    value: Literal["", "optional", "needed"]

    @property
    def line(self) -> str:
        return f"{self.head}: {self.meaning}" if self.meaning else self.head


class Manual(Struct, frozen=True, array_like=True):
    """Return what is known of the options of `name` from `source` ("man" or "help"). `mentioned` are all that stand anywhere in the text.

    `whole`: what stands nowhere in it does not exist. `commands`: it speaks of sub-commands, which it may leave to their own help.
    """

    name: str
    source: str
    entries: tuple[Entry, ...]
    mentioned: frozenset[str]
    whole: bool = True
    commands: bool = False

    def joined(self, other: Manual) -> Manual:
        """This one with all that `other` mentions."""
        return replace(
            self,
            entries=(*self.entries, *other.entries),
            mentioned=self.mentioned | other.mentioned,
            whole=self.whole and other.whole,
        )


def manual(name: str, text: str, source: str) -> Manual:
    """Read a plain text."""
    found = frozenset(_mentioned(text))
    whole = len(found) >= _LEAST and (source == "man" or _PARTIAL.search(text) is None)
    return Manual(name, source, tuple(entries(text)), found, whole, source == "help" and "command" in text.lower())


def entries(text: str) -> Iterator[Entry]:
    """The options that `text` lists, in its order."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        begin = _ENTRY.match(line)
        if begin is None:
            continue
        head, *rest = _GAP.split(line.strip(), maxsplit=1)
        if len(head) > _LONGEST_HEAD:
            continue
        meaning = rest[0] if rest else _below(lines, at, begin.end())
        names = tuple(dict.fromkeys(_mentioned(head)))
        if names:
            yield Entry(head, _first_sentence(meaning), names, _value(head))


def _below(lines: Sequence[str], at: int, indent: int) -> str:
    """Return what is indented more than the line `at`, up to a blank line."""
    said = []
    for line in lines[at + 1 : at + 6]:
        if not line.strip() or len(line) - len(line.lstrip()) <= indent:
            break
        said.append(line.strip())
    return " ".join(said)


def _first_sentence(text: str) -> str:
    cut = " ".join(text[: 2 * _LONGEST_MEANING].split())
    stop = re.search(r"[.;](?=\s|$)", cut)
    cut = cut[: stop.start()] if stop else cut
    return cut if len(cut) <= _LONGEST_MEANING else f"{cut[: _LONGEST_MEANING - 1].rstrip()}…"


def _value(head: str) -> Literal["", "optional", "needed"]:
    """Return what stands behind the names; what may be left out never stands apart from them."""
    rest = _HEAD_SIGNS.sub("", _NAME.sub("", head)).lstrip("=:")
    return "optional" if rest[:1] == "[" else "needed" if rest else ""


def _mentioned(text: str) -> Iterator[str]:
    for dashes, negated, name, more in _NAME.findall(text):
        name = name.rstrip(".-+" if len(name) > 1 else ".-")  # noqa: PLW2901
        if not name:
            continue
        yield f"{dashes}{name}"
        if negated:
            yield f"{dashes}no-{name}"
            yield f"{dashes}no{name}"
        if more:
            yield f"{dashes}{name}{more}"
    for inside, letters in _CLUSTER.findall(text):
        yield from (f"-{letter}" for letter in inside + letters)


def missing(manual: Manual, words: Sequence[str], program: Program) -> tuple[str, ...]:
    """Options among the `words` behind the program that its manual does not have."""
    mentioned, one_dash = manual.mentioned, program.style in ("long", "none")
    if not manual.whole or not _covers(mentioned, program, 0.8 if one_dash else 0.5):
        return ()
    values = program.value | {name for entry in manual.entries if entry.value == "needed" for name in entry.names}
    ends = {name[1] for entry in manual.entries if entry.value == "optional" for name in entry.names if name[1] != "-"}
    known = program.singles | {word for word in words if len(word) > 2 and word in mentioned}
    table = replace(program, style="long" if one_dash else program.style, value=values, singles=known)
    texts = [text for text, _ in spelled_out(program.name, words) or [(word, 0) for word in words]]
    given = [text if text in known else _cut(text, ends) for text in texts if "…" not in text]
    args = split_args([Word(text, at, at + 1) for at, text in enumerate(given)], table)
    names = dict.fromkeys(name for name, _ in args.options if name not in known)
    return tuple(name for name in names if not _has(mentioned, name, one_dash=one_dash))


def _cut(text: str, ends: set[str]) -> str:
    """Letters in one word, up to one that may have its value behind it."""
    if text[:1] != "-" or text[:2] == "--":
        return text
    return text[: next((at + 1 for at in range(1, len(text)) if text[at] in ends), len(text))]


def _covers(mentioned: frozenset[str], program: Program, share: float) -> bool:
    """Tell whether a text lists that much of what is known of a program without it: some send to other pages, or to other programs'."""
    known = [name for name in (*program.value, *program.longs, *program.singles) if name[:1] == "-"]
    return sum(name in mentioned for name in known) >= share * len(known)


def _has(mentioned: frozenset[str], name: str, *, one_dash: bool) -> bool:
    letters = name.lstrip("-+")
    if name in mentioned or name in ("--help", "--version", "-h", "-V") or name[0] == "+" or not letters[:1].isalpha():
        return True
    if name[:2] == "--":  # may be shortened, or turned round
        turned = f"--{letters.removeprefix('no-')}"
        if turned in mentioned or f"--no-{letters}" in mentioned or any(each.startswith(name) for each in mentioned):
            return True
        kinds = (found[1] for each in mentioned if (found := _PLACE.match(each)))  # --LTYPE-line-format
        return any(name.endswith(kind) for kind in kinds)
    # A letter with its value, or a name that is shortened.
    return one_dash and any(each.startswith(name) or (len(each) == 2 and name.startswith(each)) for each in mentioned)
