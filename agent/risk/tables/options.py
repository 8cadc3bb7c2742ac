"""Split a program's words into options, their values and operands, as its knowledge table says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.risk.reader.words import Word
from agent.risk.tables.store import CaseRule, Program, level_row


class Args:
    """`options`: every option as given, in order, with its value or None; `names` their names; `operands` the rest."""

    __slots__ = ("names", "operands", "options", "rest")

    def __init__(self) -> None:
        self.options: list[tuple[str, Word | None]] = []
        self.names: set[str] = set()
        self.operands: list[Word] = []
        self.rest: list[Word] = []

    def has(self, *names: str) -> bool:
        return not self.names.isdisjoint(names)

    def value(self, *names: str) -> Word | None:
        """The last value given to any of `names`."""
        for name, word in reversed(self.options):
            if name in names and word is not None:
                return word
        return None

    def values(self, *names: str) -> list[Word]:
        return [word for name, word in self.options if name in names and word is not None]

    def add(self, name: str, value: Word | None = None) -> None:
        self.options.append((name, value))
        self.names.add(name)


def split_args(words: list[Word], program: Program) -> Args:
    """Options and operands of `words` (without the program).

    Styles: "gnu" (options anywhere, short ones cluster, long ones may be shortened), "posix" (options end at the first
    operand; the rest is `rest`), "long" (one dash, many letters: find, java, terraform), "none" (everything operands).
    """
    args = Args()
    style = program.style
    takes_value = program.value
    index, count = 0, len(words)
    while index < count:
        word = words[index]
        text = word.text
        index += 1
        if style == "none" or len(text) < 2 or text[0] not in "-+" or (text[0] == "+" and not program.plus):
            args.operands.append(word)
            if style == "posix":
                args.rest = words[index - 1 :]
                args.operands.extend(words[index:])
                break
            continue
        if text == "--":
            args.operands.extend(words[index:])
            args.rest = words[index:]
            break
        if text[1] == "-" or style == "long":
            name, equals, value = text.partition("=")
            if text[1] != "-" and name not in takes_value and equals and text in takes_value:
                name, equals = text, ""
            if name not in takes_value and name[:2] == "--":
                name = complete(name, program.longs, 3 if equals else 4)
            if equals:
                args.add(name, word.part(value))
            elif name in takes_value and index < count:
                args.add(name, words[index])
                index += 1
            else:
                args.add(name)
            continue
        if text in takes_value and len(text) > 2:  # single-dash long option of a program that mixes both
            args.add(text, words[index] if index < count else None)
            index += 1
            continue
        if text in program.singles:
            args.add(text)
            continue
        index = _cluster(args, word, words, index, program)
    return args


_SAID = frozenset("true false t f yes no 1 0".split())


def _cluster(args: Args, word: Word, words: list[Word], index: int, program: Program) -> int:
    """`-rf`, `-n5`, `-o file`."""
    text = word.text
    sign = text[0]
    takes_value = program.value
    if sign + text[1] in program.singles and sign + text[-1] in takes_value and text[1:].isalpha():
        takes_value = takes_value - program.singles  # `ex -sc command`: one that takes a value only apart
    letters, _, said = text.partition("=")
    end = (
        len(letters) if said.casefold() in _SAID else len(text)
    )  # `-h=false` of programs in Go: `-s` is no letter of it
    for offset in range(1, end):
        name = sign + text[offset]
        if name not in takes_value:
            args.add(name)
            continue
        if offset + 1 < len(text):
            args.add(name, word.part(text[offset + 1 :]))
        elif index < len(words):
            args.add(name, words[index])
            index += 1
        else:
            args.add(name)
        break
    return index


def complete(name: str, longs: tuple[str, ...], least: int = 4) -> str:
    """The one long option that `name` abbreviates by at least so many characters, else `name` itself."""
    if name in longs or len(name) < least:
        return name
    candidates = [long for long in longs if long.startswith(name)]
    return candidates[0] if len(candidates) == 1 else name


_MODES = frozenset("cxtruAd")
_TAKES_VALUE = frozenset("fbCFgIKLNTVXH")
_PROGRAMS = frozenset(("tar", "gtar", "bsdtar", "star"))


def spelled_out(name: str, texts: Sequence[str]) -> list[tuple[str, int]] | None:
    """The words behind the program with each option written with its dash, and the index each comes from.

    None where the first word is no bundle, or `name` no program that knows them.
    """
    if (
        name not in _PROGRAMS
        or not texts
        or re.fullmatch(r"[A-Za-z]{1,20}", texts[0]) is None
        or _MODES.isdisjoint(texts[0])
    ):
        return None
    found: list[tuple[str, int]] = []
    following = 1
    for letter in texts[0]:
        found.append((f"-{letter}", 0))
        if letter in _TAKES_VALUE and following < len(texts):
            found.append((texts[following], following))
            following += 1
    return [*found, *((text, index) for index, text in enumerate(texts[following:], following))]


def choose_case(table: Program, args: Args) -> tuple[CaseRule | None, int]:
    """The rule for the sub-command: most words that it names, then most words, then one with options, then the worst."""
    if not table.cases or not args.operands:
        return None, 0
    verbs = [word.text for word in args.operands[:5]]
    best: CaseRule | None = None
    best_key = (-1, -1, -1, -1)
    for first in (verbs[0], "*"):
        for rule in table.cases.get(first, ()):
            size = len(rule.verbs)
            if size > len(verbs) or any(a not in (b, "*") for a, b in zip(rule.verbs[1:], verbs[1:], strict=False)):
                continue
            if not matches_options(rule, args):
                continue
            if rule.effect == "dry":
                return CaseRule(rule.verbs, rule.options, "none", ""), size
            named = size - rule.verbs.count("*")
            key = (named, size, 1 if rule.options else 0, _badness(rule))
            if key > best_key:
                best, best_key = rule, key
    return best, len(best.verbs) if best is not None else 0


def matches_options(rule: CaseRule, args: Args) -> bool:
    """Tell whether one option of each group was given; `--name=value` asks for that value, `+x` for an operand's beginning."""
    for group in rule.options:
        for option in group:
            name, equals, value = option.partition("=")
            if name[0] == "^":
                if any(word.text.startswith(name[1:]) for word in args.operands):
                    break
            elif equals:
                if any(word.text == value for word in args.values(name)):
                    break
            elif name in args.names:
                break
        else:
            return False
    return True


def _badness(rule: CaseRule) -> int:
    if rule.level:
        return ("low", "medium", "high").index(rule.level)
    row = level_row(rule.effect)
    return {"L": 0, "M": 1, "H": 2}.get(
        (row.level or row.scopes.get("workspace", row.scopes.get("*", "M")))[:1], 1
    )  # reading is low there, too


def operand_roles(table: Program, args: Args) -> list[tuple[str, list[Word]]]:
    """Roles of operands in order, each with its words; the one with a star takes all that is left over."""
    roles = list(table.operands)
    words = args.operands
    if table.drop_first and not args.names.isdisjoint(table.drop_first):
        roles = roles[1:]
    if not words or not roles:
        return []
    star = next((index for index, role in enumerate(roles) if role.endswith("*")), -1)
    if star < 0 or len(words) < len(roles):
        return [(role.rstrip("*"), [word]) for role, word in zip(roles, words, strict=False)]
    tail = len(roles) - star - 1
    groups = [(role, [word]) for role, word in zip(roles[:star], words[:star], strict=True)]
    groups.append((roles[star][:-1], words[star : len(words) - tail]))
    if tail:
        groups.extend((role, [word]) for role, word in zip(roles[star + 1 :], words[-tail:], strict=True))
    return groups
