"""Parse a policy file's text into a `PolicyFile`. Nothing here raises: what is wrong is `PolicyFile.error`, naming file, rule and key.

A file with a mistake in it allows nothing; those of its rules that tighten and could be read still count. Format: docs/policy.md.
"""

from __future__ import annotations

import re
from typing import Any

from agent.policy.covering import failing_example
from agent.policy.model import MAY_ALLOW, STRICTNESS, OptionTest, PolicyFile, Rule, Trust
from agent.protocol.confinement import CONFINEMENTS
from agent.protocol.decisions import Level

MAX_RULES = 2_000
MAX_LIST = 500
_MAX_TEXT = 1_000
_MAX_SHOWN = 300
_LISTS = ("program", "paths", "scopes", "effects", "via", "match", "not_match")
_TEXTS = ("name", "action", "reason", "workspace", "session", "until", "up_to", "confine")
_KEYS = frozenset((*_LISTS, *_TEXTS, "words", "exact_words", "options"))
_OPTION_KEYS = frozenset(("any", "all", "none", "only", "values"))
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,59}", re.ASCII)


class PolicyError(ValueError):
    """A rule is wrong; the message names rule and key."""


def parse_policy(text: str, *, path: str, trust: Trust, home: str = "") -> PolicyFile:
    """The rules of a TOML text. `path` is for messages; `home` is what `~/` means in examples."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return PolicyFile(path=path, trust=trust, error=f"{path}: {brief(str(error) or 'nested too deeply')}")
    unknown = sorted(set(data) - {"rule"})
    if unknown:
        names = ", ".join(brief(name) for name in unknown[:5])
        return PolicyFile(path=path, trust=trust, error=f"{path}: unknown key {names}; rules are [[rule]] tables")
    return rules_of(data.get("rule", []), path=path, trust=trust, home=home)


def rules_of(tables: Any, *, path: str, trust: Trust, home: str = "") -> PolicyFile:
    """The rules of decoded `[[rule]]` tables."""
    if not isinstance(tables, list) or len(tables) > MAX_RULES:
        what = f"more than {MAX_RULES:,} rules" if isinstance(tables, list) else "rule must be [[rule]] tables"
        return PolicyFile(path=path, trust=trust, error=f"{path}: {what}")
    rules: list[Rule] = []
    errors: list[str] = []
    for number, table in enumerate(tables, 1):
        try:
            rule = rule_of(table, number, trust)
            if any(rule.name == other.name for other in rules):
                raise PolicyError(f"rule {rule.name}: another rule has this name")
            if wrong := failing_example(rule, home):
                raise PolicyError(f"rule {rule.name}: {wrong}")
        except PolicyError as wrong_rule:
            errors.append(str(wrong_rule))
            continue
        rules.append(rule)
    more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
    error = f"{path}: {'; '.join(errors[:3])}{more}" if errors else ""
    if error:
        rules = [rule for rule in rules if rule.action != "allow"]
    return PolicyFile(path=path, trust=trust, rules=tuple(rules), error=error)


def rule_of(table: Any, number: int, trust: Trust) -> Rule:
    """One rule. Raises PolicyError."""
    if not isinstance(table, dict):
        raise PolicyError(f"rule {number}: not a table")
    name = table.get("name", f"rule-{number}")
    where = f"rule {brief(str(name))}"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PolicyError(f"{where}: name must be letters, digits, '.', '_' and '-', at most 60")
    for key in table:
        if key not in _KEYS:
            raise PolicyError(f"{where}: unknown key {brief(key)}{_nearest(key)}")
    values: dict[str, Any] = {key: _texts(table[key], f"{where}: {key}") for key in _LISTS if key in table}
    values |= {key: _text(table[key], f"{where}: {key}") for key in _TEXTS if key in table}
    exact = table.get("exact_words", False)
    if not isinstance(exact, bool):
        raise PolicyError(f"{where}: exact_words must be true or false")
    values |= {"name": name, "exact_words": exact, "free": table.get("confine") == "off"}
    values["words"] = _words(table.get("words", []), f"{where}: words")
    values["options"] = _options(table.get("options", {}), f"{where}: options")
    values["up_to"] = _level(values.get("up_to", "medium"), f"{where}: up_to")
    if values.get("confine", "off") not in CONFINEMENTS:
        raise PolicyError(f"{where}: confine must be one of {'; '.join(CONFINEMENTS)}")
    if values.get("action") not in STRICTNESS:
        raise PolicyError(f"{where}: action must be one of {', '.join(STRICTNESS)}")
    if not values.get("program"):
        raise PolicyError(f"{where}: program is missing")
    rule = Rule(**values)
    _check(rule, where, trust)
    return rule


def _check(rule: Rule, where: str, trust: Trust) -> None:
    for program in rule.program:
        if not program.strip() or program.startswith("-") or any(char.isspace() for char in program):
            raise PolicyError(f"{where}: program {brief(program)} is not a program name")
        if "/" in program and not program.startswith(("/", "./")):
            raise PolicyError(f"{where}: program {brief(program)} must be a name, or a path from / or ./")
    for path in rule.paths:
        if path not in ("~", ".") and not path.startswith(("/", "./", "~/")):
            raise PolicyError(f"{where}: paths: {brief(path)} must begin with /, ./ or ~/")
        if ".." in path.split("/"):
            raise PolicyError(f"{where}: paths: {brief(path)} may not hold ..")
    if rule.workspace and not rule.workspace.startswith("/"):
        raise PolicyError(f"{where}: workspace must be an absolute path")
    options = rule.options
    for option in (*options.any, *options.all, *options.none, *(options.only or ())):
        if len(option) < 2 or option[0] not in "-+" or "=" in option:
            raise PolicyError(f"{where}: options: {brief(option)} is not an option")
    if not rule.reason.isprintable() or len(rule.reason) > _MAX_SHOWN:
        raise PolicyError(f"{where}: reason must be one printable line of at most {_MAX_SHOWN} characters")
    if rule.until:
        _moment(rule.until, where)
    if rule.action == "allow":
        _check_allow(rule, where, trust)


def _check_allow(rule: Rule, where: str, trust: Trust) -> None:
    if trust not in MAY_ALLOW:
        raise PolicyError(f"{where}: only your own policy file may allow; this one can only tighten")
    if rule.up_to is Level.HIGH:
        raise PolicyError(f"{where}: up_to: high risk is never allowed without a person")
    if "*" in rule.program:
        raise PolicyError(f"{where}: program * would allow everything; name the programs")
    narrow = rule.words or rule.exact_words or rule.options.any or rule.options.all or rule.options.only is not None
    by_path = all("/" in program for program in rule.program)
    if not (narrow or rule.paths or rule.scopes or rule.effects or by_path):
        told = f"would allow everything {rule.program[0]} can do"
        raise PolicyError(f"{where}: {told}; add words, options, paths, scopes or effects")


def _moment(text: str, where: str) -> None:
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise PolicyError(f"{where}: until: {brief(text)} is not a time like 2026-01-31T18:00:00Z") from None
    if moment.tzinfo is None:
        raise PolicyError(f"{where}: until: {brief(text)} lacks its time zone; add Z for UTC")


def _text(value: Any, where: str) -> str:
    from datetime import datetime

    if isinstance(value, datetime) and where.endswith("until"):
        value = value.isoformat()
    if not isinstance(value, str) or len(value) > _MAX_TEXT or "\0" in value:
        raise PolicyError(f"{where} must be text of at most {_MAX_TEXT:,} characters")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    if len(items) > MAX_LIST:
        raise PolicyError(f"{where} has more than {MAX_LIST} entries")
    for item in items:
        if not isinstance(item, str) or not item or len(item) > _MAX_TEXT * 10 or "\0" in item:
            raise PolicyError(f"{where} must be text, or a list of texts, none of them empty")
    return tuple(items)


def _words(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
    items = value if isinstance(value, list) else [value]
    words = tuple(_texts(item, where) for item in items)
    if not all(words):
        raise PolicyError(f"{where}: a place without alternatives matches nothing")
    return words


def _options(value: Any, where: str) -> OptionTest:
    if not isinstance(value, dict):
        raise PolicyError(f"{where} must be a table with any, all, none, only or values")
    for key in value:
        if key not in _OPTION_KEYS:
            raise PolicyError(f"{where}: unknown key {brief(key)}; there are any, all, none, only and values")
    return OptionTest(**{key: _texts(item, f"{where}.{key}") for key, item in value.items()})


def _level(value: str, where: str) -> Level:
    try:
        return Level(value)
    except ValueError:
        raise PolicyError(f"{where} must be low or medium") from None


def brief(text: str) -> str:
    """A piece of a file inside a message: one line, made visible, and not much of it."""
    from agent.text.visible import make_visible

    return make_visible(text[:120]).replace("\n", "␊").replace("\t", " ")


def _nearest(key: str) -> str:
    from agent.text.fuzzy import most_alike

    near = most_alike(key, sorted(_KEYS))
    return f" (did you mean {near[0]}?)" if near else ""
