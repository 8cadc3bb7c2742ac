"""Read the patterns of a `--safety-policy` file, and hold them against a command. They only raise and tighten. Pure.

Each is tried on the text as it was typed and on the words of every program after expansion and unwrapping, so that quoting does not
walk around one.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from msgspec import Struct

from agent.policy.linear_regex import LinearPattern
from agent.policy.model import PatternRule, PolicyFile
from agent.policy.parse import PolicyError, brief, rules_of
from agent.policy.reading import reading_of
from agent.protocol.decisions import Effect, Finding, Level, RiskReport
from agent.risk.analysers import raised as with_findings

MAX_PATTERNS = 2_000
_ENDINGS = {"json": "JSON", "yaml": "YAML", "yml": "YAML", "toml": "TOML"}
_KEYS = frozenset(("name", "pattern", "level", "require_confirmation", "allowed_flags", "description", "deny"))


def parse_patterns(text: str, *, path: str, home: str = "") -> PolicyFile:
    """The patterns of a text: a list, or a table with the list under `rules`; TOML may hold `[[rule]]` tables as well.

    What is wrong is `PolicyFile.error`; the patterns that could be read still count.
    """
    try:
        data = _decode(text, path)
        items, tables = _lists(data)
    except PolicyError as wrong:
        return PolicyFile(path=path, trust="safety", error=f"{path}: {wrong}")
    patterns: list[PatternRule] = []
    errors: list[str] = []
    for number, item in enumerate(items, 1):
        try:
            rule = _pattern(item, number)
            if any(rule.name == other.name for other in patterns):
                raise PolicyError(f"pattern {rule.name}: another one has this name")
            patterns.append(rule)
        except PolicyError as wrong:
            errors.append(str(wrong))
    error = f"{path}: {'; '.join(errors[:3])}" if errors else ""
    rules = rules_of(tables, path=path, trust="safety", home=home)
    return PolicyFile(
        path=path, trust="safety", rules=rules.rules, patterns=tuple(patterns), error=error or rules.error
    )


def _decode(text: str, path: str) -> Any:
    """By the name's ending, else by what the text is. Raises PolicyError."""
    form = _ENDINGS.get(path.rpartition(".")[2].lower())
    if form is not None:
        return _decoded(text, form)
    for likely in ("JSON", "TOML"):
        with suppress(PolicyError):
            return _decoded(text, likely)
    return _decoded(text, "YAML")


def _decoded(text: str, form: str) -> Any:
    import tomllib

    read: Any = json.loads if form == "JSON" else tomllib.loads
    wrong: tuple[type[Exception], ...] = (ValueError, RecursionError)
    if form == "YAML":
        try:
            yaml: Any = importlib.import_module("yaml")
        except ImportError:
            raise PolicyError("YAML cannot be read without PyYAML; install it, or write JSON or TOML") from None
        read, wrong = yaml.safe_load, (yaml.YAMLError, *wrong)
    try:
        return read(text)
    except wrong as error:
        raise PolicyError(f"not {form}: {brief(' '.join(str(error).split()) or 'nested too deeply')}") from None


def _lists(data: Any) -> tuple[list[Any], list[Any]]:
    """Patterns and rule tables of a decoded file. Raises PolicyError."""
    if isinstance(data, dict):
        unknown = sorted(str(key) for key in data if key not in ("rules", "rule"))
        if unknown:
            raise PolicyError(f"unknown key {brief(unknown[0])}; a list is expected, or a table with rules")
        if not data:
            raise PolicyError("there are no rules in it")
        items, tables = data.get("rules", []), data.get("rule", [])
    else:
        items, tables = data, []
    if not isinstance(items, list) or not isinstance(tables, list):
        raise PolicyError("a list of rules is expected")
    if len(items) > MAX_PATTERNS:
        raise PolicyError(f"more than {MAX_PATTERNS:,} patterns")
    return items, tables


def _pattern(item: Any, number: int) -> PatternRule:
    if not isinstance(item, dict):
        raise PolicyError(f"pattern {number}: not a table")
    name = item.get("name", f"pattern-{number}")
    if not isinstance(name, str) or not name or len(name) > 60 or not all(c.isalnum() or c in "._-" for c in name):
        raise PolicyError(f"pattern {number}: name must be letters, digits, '.', '_' and '-', at most 60")
    where = f"pattern {name}"
    for key in item:
        if key not in _KEYS:
            raise PolicyError(f"{where}: unknown key {brief(str(key))}; there are {', '.join(sorted(_KEYS))}")
    pattern = item.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        raise PolicyError(f"{where}: pattern is missing, or no text")
    try:
        LinearPattern(pattern)
    except ValueError as error:
        raise PolicyError(f"{where}: pattern: {brief(str(error))}") from None
    description = item.get("description", "")
    if not isinstance(description, str) or not description.isprintable() or len(description) > 300:
        raise PolicyError(f"{where}: description must be one printable line of at most 300 characters")
    return PatternRule(
        name=name,
        pattern=pattern,
        level=_level(item.get("level", "medium"), where),
        require_confirmation=_flag(item, "require_confirmation", True, where),
        allowed_flags=_flags(item.get("allowed_flags", []), where),
        description=description,
        deny=_flag(item, "deny", False, where),
    )


def _level(value: Any, where: str) -> Level:
    try:
        return Level(value.lower())
    except (ValueError, AttributeError):
        raise PolicyError(f"{where}: level must be low, medium or high") from None


def _flag(item: dict[str, Any], key: str, default: bool, where: str) -> bool:
    value = item.get(key, default)
    if not isinstance(value, bool):
        raise PolicyError(f"{where}: {key} must be true or false")
    return value


def _flags(value: Any, where: str) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    for flag in items:
        if not isinstance(flag, str) or len(flag) < 2 or flag[0] not in "-+" or "=" in flag:
            raise PolicyError(f"{where}: allowed_flags must be options such as --dry-run")
    return tuple(items)


_MOST_TEXTS = 400


class Hit(Struct, frozen=True):
    """A pattern that was found: in which program's words (-1: in the text as typed), and where in the text."""

    file: PolicyFile
    rule: PatternRule
    program: int
    span: tuple[int, int]


_compiled = lru_cache(maxsize=1_024)(LinearPattern)


def hits(report: RiskReport, files: Sequence[PolicyFile]) -> tuple[Hit, ...]:
    """Every pattern found in `report`, once each."""
    if not any(file.patterns for file in files):
        return ()
    texts = [" ".join(run.words) for run in report.programs[:_MOST_TEXTS]]
    found = (_hit(file, rule, report, texts) for file in files for rule in file.patterns)
    return tuple(hit for hit in found if hit is not None)


def _hit(file: PolicyFile, rule: PatternRule, report: RiskReport, texts: list[str]) -> Hit | None:
    pattern = _compiled(rule.pattern)
    excused = False
    for index, text in enumerate(texts):
        if pattern.search(text) is None:
            continue
        run = report.programs[index]
        if not run.whole or not any(reading_of(run.words).certainly(flag) for flag in rule.allowed_flags):
            return Hit(file, rule, index, run.span)
        excused = True
    # The text as typed holds it because this program does, with an option that makes it good.
    if excused and not report.cut and len(report.programs) <= _MOST_TEXTS:
        return None
    span = pattern.search(report.command)
    return None if span is None else Hit(file, rule, -1, span)


def findings(report: RiskReport, files: Sequence[PolicyFile]) -> Iterator[Finding]:
    """Yield what the patterns found, as findings `policy.<name>`."""
    for hit in hits(report, files):
        rule = hit.rule
        reason = rule.description or f"matches the pattern {rule.name} of a safety policy"
        effect = Effect(kind="policy", reversible=True)
        name = f"policy.{rule.name}"
        yield Finding(rule=name, level=rule.level, reason=reason, span=hit.span, effect=effect, program=hit.program)


def raised(report: RiskReport, files: Sequence[PolicyFile]) -> RiskReport:
    """`report` with the findings of the patterns. Its level never falls, and nothing of it is lost; twice is as once."""
    return with_findings(report, findings(report, files))
