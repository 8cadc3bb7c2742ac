"""Write a rule as TOML for the person's file or as one plain sentence, and limit it to a place or a time. Pure."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from agent.policy.model import Place, Rule
from agent.protocol.decisions import Level

Limit = Literal["workspace", "session", "hour", "day", "always"]
_HOURS = {"hour": 1, "day": 24}
_HEADER = re.compile(r"^([ \t]*\[\[[ \t]*rule[ \t]*\]\][^\n]*)$", re.MULTILINE)


def as_toml(rules: tuple[Rule, ...]) -> str:
    """`[[rule]]` tables with the keys that say something, in the order in which they are read best."""
    return "\n".join(_table(rule) for rule in rules)


def _table(rule: Rule) -> str:
    lines = [
        "[[rule]]",
        f"name = {_quoted(rule.name)}",
        f'action = "{rule.action}"',
        f"program = {_value(rule.program)}",
    ]
    if rule.words:
        lines.append(f"words = [{', '.join(_value(place) for place in rule.words)}]")
    if rule.exact_words:
        lines.append("exact_words = true")
    tests = _tests(rule)
    if tests:
        lines.append(f"options = {{ {', '.join(tests)} }}")
    lines += _lists(rule, ("paths", "effects", "scopes", "via"))
    if rule.up_to is not Level.MEDIUM:
        lines.append(f'up_to = "{rule.up_to.value}"')
    texts = ((key, getattr(rule, key)) for key in ("workspace", "session", "until", "reason"))
    lines += [f"{key} = {_quoted(value)}" for key, value in texts if value]
    return "\n".join([*lines, *_lists(rule, ("match", "not_match"))]) + "\n"


def _tests(rule: Rule) -> list[str]:
    given = ((key, getattr(rule.options, key)) for key in ("any", "all", "none", "only", "values"))
    return [f"{key} = {_list(value)}" for key, value in given if value or (value is not None and key == "only")]


def _lists(rule: Rule, keys: tuple[str, ...]) -> list[str]:
    return [f"{key} = {_list(value)}" for key in keys if (value := getattr(rule, key))]


def _value(items: tuple[str, ...]) -> str:
    return _quoted(items[0]) if len(items) == 1 else _list(items)


def _list(items: tuple[str, ...]) -> str:
    return f"[{', '.join(_quoted(item) for item in items)}]"


def _quoted(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, and the one character that JSON leaves alone is written out."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def limited(text: str, limit: Limit, place: Place) -> str:
    """`text` with the limit in each of its rules that has none of that kind yet. Raises ValueError that says what is wrong."""
    import tomllib

    key, value = _limit_line(limit, place)
    if not key:
        return text
    try:
        tables: Any = tomllib.loads(text).get("rule", [])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is not TOML: {error or 'nested too deeply'}") from None
    headers = list(_HEADER.finditer(text))
    if not isinstance(tables, list) or len(headers) != len(tables):
        raise ValueError("write each rule as a [[rule]] table")
    pieces, end = [], 0
    for header, table in zip(headers, tables, strict=True):
        pieces.append(text[end : header.end()])
        end = header.end()
        if key not in table:
            pieces.append(f"\n{key} = {_quoted(value)}")
    return "".join([*pieces, text[end:]])


def _limit_line(limit: Limit, place: Place) -> tuple[str, str]:
    from datetime import UTC, datetime, timedelta

    if limit == "workspace":
        if not place.workspace:
            raise ValueError("there is no workspace here")
        return "workspace", place.workspace
    if limit == "session":
        if not place.session:
            raise ValueError("this session has no name")
        return "session", place.session
    if limit in _HOURS:
        now = datetime.fromisoformat(place.now) if place.now else datetime.now(UTC)
        until = (now + timedelta(hours=_HOURS[limit])).astimezone(UTC).replace(microsecond=0)
        return "until", until.isoformat().replace("+00:00", "Z")
    return "", ""


def sentence(rule: Rule) -> str:
    """Say what the rule does, in one sentence without its limit."""
    subject = " ".join(["|".join(rule.program), *("|".join(place) for place in rule.words)])
    parts = [f"`{subject}`"]
    if rule.exact_words:
        parts.append("with no further words")
    parts += _options(rule)
    if rule.options.values:
        parts.append(f"given {_listed(list(rule.options.values))}")
    if rule.effects and rule.action != "allow":
        parts.append("where it may " + _listed([kind.replace("-", " ") for kind in rule.effects]))
    if rule.paths:
        parts.append("in " + _listed(["the workspace" if path in ("./", ".") else path for path in rule.paths]))
    if rule.via:
        parts.append("behind " + _listed(list(rule.via)))
    what = {"allow": "runs without asking", "ask": "is asked for", "type": "needs the typed word", "deny": "is refused"}
    ending = ""
    if rule.action == "allow":
        only = _listed([kind.replace("-", " ") for kind in rule.effects])
        ending = f", as long as {only} is all that it does" if only else ""
        ending = ", while its risk is low" if rule.up_to is Level.LOW else ending
    return f"{', '.join(parts)}{',' if len(parts) > 1 else ''} {what[rule.action]}{ending}"


def _options(rule: Rule) -> list[str]:
    test = rule.options
    parts = []
    if test.only is not None:
        parts.append(f"with no options but {_listed(list(test.only))}" if test.only else "without options")
    elif not test.any and not test.all:
        parts.append("with any options" if not test.none else f"with any options but {_listed(list(test.none))}")
    if test.only is not None and test.none:
        parts.append(f"without {_listed(list(test.none))}")
    if test.any or test.all:
        parts.append(f"with {_listed([*test.all, *test.any])}")
    return parts


def limits(rule: Rule, unlimited: str = "everywhere") -> str:
    """Say where and until when the rule counts; `unlimited` is where it does without a limit of its own."""
    given = (("in ", rule.workspace), ("in session ", rule.session), ("until ", rule.until))
    return ", ".join(word + value for word, value in given if value) or f"{unlimited} and for good"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
