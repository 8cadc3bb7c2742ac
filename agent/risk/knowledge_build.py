"""Compile `knowledge/*.toml` to the file that `knowledge_store` reads. Run: `python -m agent.risk.knowledge_build`.

Not imported when commands are rated. Raises ValueError that names file, program and key for anything not understood.
"""

from __future__ import annotations

import os
import tomllib
from typing import Any

import msgspec

from agent.risk.knowledge_store import COMPILED, FOLDER, CaseRule, LevelRow, Program

_LEVELS = ("low", "medium", "high")
_TEXT_KEYS = ("about", "style", "effect", "bare", "otherwise", "wrap", "handler", "output")
_LIST_KEYS = ("value", "singles", "drop_first", "recursive", "dry", "script")
_KNOWN = frozenset(
    (
        *_TEXT_KEYS,
        *_LIST_KEYS,
        "also",
        "opts",
        "operands",
        "always_recursive",
        "skip",
        "plus",
        "cases",
        "examples",
        "help",
        "longs",
    )
)
_WRAPS = {
    "argv": "wrappers:argv", "keyword": "wrappers:keyword", "joined": "wrappers:joined", "each": "wrappers:each",
}  # fmt: skip


def load_tables() -> tuple[dict[str, dict[str, Any]], dict[str, LevelRow]]:
    """Program tables (with `_file` naming their source) and level rows, as written."""
    tables: dict[str, dict[str, Any]] = {}
    levels: dict[str, LevelRow] = {}
    for name in sorted(os.listdir(FOLDER)):
        if not name.endswith(".toml"):
            continue
        with open(os.path.join(FOLDER, name), "rb") as file:
            content = tomllib.load(file)
        if name == "levels.toml":
            for kind, row in content.items():
                scopes = {scope: cell.replace("/", "") for scope, cell in row.pop("scopes", {}).items()}
                levels[kind] = msgspec.convert({**row, "scopes": scopes}, LevelRow)
            continue
        for program, table in content.items():
            if program in tables:
                raise ValueError(f"{name}: {program} is also in {tables[program]['_file']}")
            tables[program] = {**table, "_file": name}
    return tables, levels


def compile_case(phrase: str, effect: str) -> CaseRule:
    """`push -f|--force` with effect "force-push:high" as a rule."""
    kind, _, level = effect.partition(":")
    if level and level not in _LEVELS:
        raise ValueError(f"no such level: {level}")
    verbs = tuple(token for token in phrase.split() if token[0] not in "-^" or token == "-")  # noqa: S105
    options = tuple(tuple(token.split("|")) for token in phrase.split() if token[0] in "-^" and token != "-")  # noqa: S105
    return CaseRule(verbs, options, kind, level)


def compile_program(name: str, table: dict[str, Any]) -> Program:
    """One table as the struct that is stored."""
    unknown = set(table) - _KNOWN - {"_file"}
    if unknown:
        raise ValueError(f"{table.get('_file')}: {name}: unknown key {', '.join(sorted(unknown))}")
    roles: dict[str, str] = {}
    for role, options in table.get("opts", {}).items():
        for option in options.split():
            roles[option] = role
    value = set(table.get("value", "").split()) | set(roles) | set(table.get("script", "").split())
    cases: dict[str, list[CaseRule]] = {}
    flags: list[CaseRule] = []
    for effect, phrases in table.get("cases", {}).items():
        for phrase in phrases.split(","):
            if not phrase.strip():
                continue
            rule = compile_case(phrase.strip(), effect)
            if rule.verbs:
                cases.setdefault(rule.verbs[0], []).append(rule)
            else:
                flags.append(rule)
    longs = set(table.get("longs", "").split())
    for text in (*value, *_options_of(flags), *_options_of([r for rules in cases.values() for r in rules])):
        if text.startswith("--"):
            longs.add(text.partition("=")[0])
    for key in ("recursive", "dry", "drop_first"):
        longs.update(text for text in table.get(key, "").split() if text.startswith("--"))
    return Program(
        name=name,
        about=table.get("about", ""),
        style=table.get("style", "posix" if "wrap" in table else "gnu"),
        value=frozenset(value),
        longs=tuple(sorted(longs)),
        singles=frozenset(table.get("singles", "").split()),
        plus=table.get("plus", False),
        roles={option: role for option, role in roles.items() if role != "text"},
        operands=tuple(table.get("operands", "").split()),
        drop_first=frozenset(table.get("drop_first", "").split()),
        recursive=frozenset(table.get("recursive", "").split()),
        always_recursive=table.get("always_recursive", False),
        dry=frozenset(table.get("dry", "").split()),
        effect=table.get("effect", ""),
        bare=table.get("bare", ""),
        otherwise=table.get("otherwise", ""),
        cases={verb: tuple(rules) for verb, rules in cases.items()},
        flags=tuple(flags),
        wrap=table.get("wrap", ""),
        skip=table.get("skip", 0),
        script=frozenset(table.get("script", "").split()),
        handler=_WRAPS.get(table.get("wrap", ""), table.get("handler", "")),
        output=table.get("output", ""),
        help=table.get("help", {}),
    )


def _options_of(rules: list[CaseRule]) -> list[str]:
    return [option for rule in rules for group in rule.options for option in group]


def check(programs: dict[str, Program], levels: dict[str, LevelRow]) -> None:
    """Every effect a table names is rated. Raises ValueError."""
    for name, program in programs.items():
        kinds = {role.rstrip("*") for role in program.operands} | set(program.roles.values())
        kinds |= {rule.effect for rules in program.cases.values() for rule in rules} | {
            rule.effect for rule in program.flags
        }
        kinds |= {program.effect, program.bare, program.otherwise}
        missing = kinds - set(levels) - {"", "text", "dry"}
        if missing:
            raise ValueError(f"{name}: no such effect: {', '.join(sorted(missing))}")


def build() -> bytes:
    """The compiled file's content."""
    tables, levels = load_tables()
    programs: dict[str, Program] = {}
    aliases: dict[str, str] = {}
    for name, table in tables.items():
        programs[name] = compile_program(name, table)
        for alias in table.get("also", "").split():
            if alias in aliases or alias in tables:
                raise ValueError(f"{table['_file']}: {alias} is named twice")
            aliases[alias] = name
    check(programs, levels)
    encoder = msgspec.msgpack.Encoder(order="deterministic")
    encoded = {name: msgspec.Raw(encoder.encode(program)) for name, program in sorted(programs.items())}
    return encoder.encode({"programs": encoded, "aliases": dict(sorted(aliases.items())), "levels": levels})


def main() -> None:
    """Write the compiled file."""
    content = build()
    with open(COMPILED, "wb") as file:
        file.write(content)


if __name__ == "__main__":
    main()
