"""Look up what a failed program said in the rules of repairs/*.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from msgspec import Struct

from agent.lexicon.exit_answers import deciding_programs
from agent.planner.offline.book_tables import HERE
from agent.planner.offline.recipe_files import read_toml
from agent.struct_types import built

_HEAD_LIMIT, _TAIL_LIMIT = 16_384, 65_536  # characters; what explains an error stands at its start or at its end
_LINE_LIMIT = 500  # a log line can be a megabyte
_LINES_LIMIT = 2000
_GROUP_SHOWN = 120
_HINT_LENGTH = 3  # letters; shorter ones are in every text
_GENERAL = "general.toml"  # rules that hold for any program: tried last
_OTHERS = frozenset(("swaps.toml", "exits.toml", "names.toml"))
_CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]"
)


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One known error; general.toml tells what the keys mean."""

    id: str
    when: str
    says: str
    fix: str = ""
    command: str = ""
    edit: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    general: bool = False


class Diagnosis(Struct, frozen=True, kw_only=True):
    """A rule that matched, the line it matched, and what its groups caught."""

    rule: Rule
    line: str
    caught: dict[str, str]

    @property
    def sentence(self) -> str:
        """The rule's words with what was caught."""
        return re.sub(r"<(\w+)>", lambda match: self.caught.get(match[1], "")[:_GROUP_SHOWN] or "it", self.rule.says)


class Diagnoser:
    """The rules, read once; a regular expression is compiled when a text has the words that it needs."""

    def __init__(self) -> None:
        self._rules = [(rule, literal_hints(rule.when)) for rule in load_rules()]
        self._compiled: dict[str, re.Pattern[str]] = {}

    def diagnose(self, text: str, command: str = "") -> list[Diagnosis]:
        """Known errors in a text, at most one of each rule: the special before the general, each in the order of the lines.

        `command` is what said it, "" for a text of unknown origin; a rule for certain programs is silent about others.
        """
        lines = shortened_lines(text)
        joined = "\n".join(lines)
        programs = deciding_programs(command) if command else set()
        rules = [
            (self._pattern(rule), rule)
            for rule, hints in self._rules
            if (not hints or any(hint in joined for hint in hints))
            and (not command or not rule.programs or programs & set(rule.programs))
        ]
        found: dict[str, Diagnosis] = {}
        for line in lines:
            for pattern, rule in rules:
                match = pattern.search(line)
                if match is None:
                    continue
                caught: dict[str, str] = {}
                for name, value in match.groupdict().items():
                    if value is not None:
                        caught.setdefault(name.rstrip("0123456789"), value)
                found.setdefault(rule.id, Diagnosis(rule=rule, line=line, caught=caught))
                break
        return sorted(found.values(), key=lambda diagnosis: diagnosis.rule.general)

    def _pattern(self, rule: Rule) -> re.Pattern[str]:
        if rule.id not in self._compiled:
            self._compiled[rule.id] = re.compile(rule.when)
        return self._compiled[rule.id]


def load_rules() -> list[Rule]:
    """All rules, the general ones last. msgspec.ValidationError for a malformed one."""
    import msgspec

    names = sorted(set(os.listdir(os.path.join(HERE, "repairs"))) - _OTHERS, key=lambda name: (name == _GENERAL, name))
    rules = []
    for name in names:
        if name.endswith(".toml"):
            for entry in read_toml("repairs", name)["rule"]:
                rules.append(msgspec.convert({**entry, "general": name == _GENERAL}, built(Rule)))
    return rules


def shortened_lines(text: str) -> list[str]:
    """The different lines at the head and the tail of a text, harmless and short; what a huge one has in between is left out."""
    if len(text) > _HEAD_LIMIT + _TAIL_LIMIT:
        text = text[:_HEAD_LIMIT] + "\n" + text[-_TAIL_LIMIT:]
    # Cut before anything else looks at a line.
    raw = dict.fromkeys(line[:_LINE_LIMIT] for line in text.splitlines())
    lines = [clean for line in _ends(list(raw)) if (clean := _CONTROL.sub("", line).strip())]
    return list(dict.fromkeys(lines))


def _ends(lines: list[str]) -> Iterable[str]:
    return lines if len(lines) <= _LINES_LIMIT else [*lines[: _LINES_LIMIT // 2], *lines[-_LINES_LIMIT // 2 :]]


def shown(line: str) -> str:
    """A line of foreign text, harmless and short."""
    line = _CONTROL.sub("", line[: 4 * _LINE_LIMIT])
    return line if len(line) <= 200 else line[:199] + "…"


def literal_hints(pattern: str) -> tuple[str, ...]:
    """Texts of which at least one is in every match of a regular expression; () where none can be told.

    Only what stands outside all groups and classes counts, so the answer may miss a hint but never names a wrong one.
    """
    hints = []
    for runs in _literal_runs(pattern):
        longest = max(runs, key=len, default="")
        if len(longest) < _HINT_LENGTH:
            return ()
        hints.append(longest)
    return tuple(hints)


def _literal_runs(pattern: str) -> list[list[str]]:
    """The unbroken literal texts of each top-level alternative."""
    if pattern.startswith("(?i)"):
        return [[]]
    alternatives: list[list[str]] = [[""]]
    at = 0
    while at < len(pattern):
        char, runs = pattern[at], alternatives[-1]
        if char == "\\":
            escaped = pattern[at + 1]
            at += 2
            if escaped.isalnum():
                runs.append("")
            else:
                runs[-1] += escaped
            continue
        if char in "([":
            at = _after_bracket(pattern, at)
            runs.append("")
            continue
        if char == "|":
            alternatives.append([""])
        elif char in "?*{":
            # What stands before may be absent.
            runs[-1] = runs[-1][:-1]
            runs.append("")
            at = pattern.index("}", at) if char == "{" else at
        elif char in ".^$+":
            runs.append("")
        else:
            runs[-1] += char
        at += 1
    return alternatives


def _after_bracket(pattern: str, at: int) -> int:
    """The place behind the group or class that starts at `at`."""
    depth = 0
    in_class = False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 2
            continue
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            if pattern[at + 1 : at + 2] in ("^", "]"):
                at += 2 if pattern[at + 1] == "^" and pattern[at + 2 : at + 3] == "]" else 1
        elif char in "()":
            depth += 1 if char == "(" else -1
        at += 1
        if not in_class and depth == 0:
            return at
    return at
