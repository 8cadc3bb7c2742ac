"""Collect the texts that a person sees, module by module, for docs/messages.md: a changed message is a changed line."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

AGENT = Path(__file__).resolve().parents[2] / "agent"
ROOMS = set("app audit cli commands config emitters engine execution frontends gate memory planner policy".split())
ROOMS |= set("providers recording redaction risk tools".split())
# A model or the planner's grammar reads these, not a person.
NOT_SHOWN = tuple(
    "planner/prompt.py planner/few_shot.py planner/codecs/ planner/offline/book "
    "planner/offline/grammar/rules_ planner/offline/grammar/lemmas.py emitters/telemetry_fields.py audit/replay/normalize.py".split()
)
TABLES = ("risk/tables/knowledge/levels.toml", "planner/offline/talk.toml", "lexicon/exit_answers.toml")
# Keys of those tables whose values are patterns or codes.
NOT_TEXT = {"when", "level", "scopes", "reversible", "programs"}
PHRASE = re.compile(r"(?<![-/\w])[A-Za-z][a-z'-]*[,:;.]? \{?[a-zA-Z…]|…\}[,:;]? [a-z]{2}")
# In the offline planner two words are as often a rule of its grammar: one of these makes them English.
SENTENCE = re.compile(r"\b(?:an?|the|is|are|was|not|no|nothing|it|that|this|what|to|of|for|by|with|without|I|you)\b")
# So many words without one of these are a list of names, of programs for instance.
MANY_WORDS = 14
CODE = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|ALTER|DROP|WHERE|FROM|VALUES|JOIN|ORDER BY|AND)\b"
    r"|\(\?|^[a-z?]+ / | / [a-z?]+$|\\[bsdwASWD]|\w\|\w|\)\||^\w+ --?\w|^[a-z]+(?: [a-z]+)? \$|[;&|]{2}|[a-z]\((?!s\))"
)


def messages_page() -> str:
    """docs/messages.md from the sources."""
    lines = [
        "# Messages",
        "",
        "Generated from the sources by `make docs`: the phrases that stand on the screen, by module, so that a changed text is",
        "seen as a changed line. `{…}` is filled in when it is said. The reasons of rules are in [effects](effects.md) too,",
        "settings and commands have [their](settings.md) [pages](commands.md).",
    ]
    for path in sorted(AGENT.rglob("*.py")):
        name = path.relative_to(AGENT).as_posix()
        if name.split("/")[0] in ROOMS and not name.startswith(NOT_SHOWN):
            lines += _section(name, _phrases(ast.parse(path.read_text())))
    for pattern in TABLES:
        for path in sorted(AGENT.glob(pattern)):
            lines += _section(path.relative_to(AGENT).as_posix(), _table_texts(tomllib.loads(path.read_text())))
    return "\n".join(lines) + "\n"


def _section(name: str, texts: Iterator[str]) -> list[str]:
    shown = {" ".join(text.split()) for text in texts}
    wanted = [SENTENCE, PHRASE] if name.startswith("planner/offline/") else [PHRASE]
    kept = sorted(text for text in shown if all(each.search(text) for each in wanted) and not _is_code(text))
    return ["", f"## {name}", "", *(f"- {_literal(text)}" for text in kept)] if kept else []


def _is_code(text: str) -> bool:
    return bool(CODE.search(text)) or (len(text.split()) >= MANY_WORDS and not SENTENCE.search(text))


def _literal(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _phrases(node: ast.AST) -> Iterator[str]:
    """Every string of the code as it would stand on the screen, without docstrings."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values)
        for part in node.values:
            yield from _phrases(part.value) if isinstance(part, ast.FormattedValue) else ()
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from _phrases(child)


def _table_texts(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, str) and key not in NOT_TEXT:
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _table_texts(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _table_texts(each, key)
