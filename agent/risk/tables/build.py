"""Compile `knowledge/*.toml` to the files that `store` and `help` read.

Run: `python -m agent.risk.tables.build`.

Not imported when commands are rated. Raises ValueError that names file, program and key for anything not understood.
"""

from __future__ import annotations

import os
import time
import tomllib
from typing import Any

import msgspec

from agent.compiled import keep
from agent.risk.tables.help import COMPILED_HELP, PART_OF_HELP, ProgramHelp
from agent.risk.tables.names import BEGINNING, COMPILED_NAMES, build_names
from agent.risk.tables.store import (
    COMPILED,
    FOLDER,
    PART_OF_LEVELS,
    PART_OF_VARIABLES,
    CaseRule,
    Group,
    LevelRow,
    Program,
)
from agent.risk.tables.variables import compile_variables
from agent.struct_types import built

_LEVELS = ("low", "medium", "high")
_TEXT_KEYS = ("style", "effect", "bare", "otherwise", "wrap", "handler", "output", "input")
_LIST_KEYS = ("value", "singles", "drop_first", "recursive", "dry", "same", "script", "evaluates", "loads", "lines")
VARIABLES = "variables.toml"
WAYS = ("_ways.toml", "_loaders.toml")
BUILTINS = "_builtins.toml"  # commands of the shell itself: described there, rated in shell_builtins.py
MAX_MEANING = 60  # characters, so that a line of an explanation holds it
_KNOWN = frozenset(
    (
        *_TEXT_KEYS,
        *_LIST_KEYS,
        "about",
        "also",
        "opts",
        "operands",
        "always_recursive",
        "skip",
        "plus",
        "reads",
        "cases",
        "examples",
        "help",
        "longs",
    )
)
# Files of programs that read, where no option or sub-command says otherwise.
_READERS = ("readers.toml", "text.toml", "filters.toml", "searching.toml", "machine.toml")
# Files of programs that take data on standard input, or nothing, where no table says that it obeys what it reads.
_TAKE_DATA = (
    *_READERS,
    "archives.toml",
    "rewriting.toml",
    "media.toml",
    "documents.toml",
    "development.toml",
    "build.toml",
    "science.toml",
    "desktop.toml",
)
_INPUTS = ("data", "code", "commands", "unknown")
# Handlers that read standard input as code, or as what is sent.
_JUDGES_INPUT = (
    "invocations.interpreters:", "invocations.shells:", "programs.databases:database", "programs.redis:redis",
    "programs.editors:", "programs.text:", "programs.http:", "programs.network:mail", "programs.network:netcat", "programs.network:socat",
)  # fmt: skip
_WRAPS = {kind: f"invocations.wrappers:{kind}" for kind in ("argv", "keyword", "joined", "each")}


def load_tables() -> tuple[dict[str, dict[str, Any]], dict[str, LevelRow]]:
    """Program tables (with `_file` naming their source) and level rows, as written."""
    tables: dict[str, dict[str, Any]] = {}
    levels: dict[str, LevelRow] = {}
    for name in sorted(os.listdir(FOLDER)):
        if not name.endswith(".toml") or name in (BUILTINS, VARIABLES, *WAYS) or name.startswith(BEGINNING):
            continue
        with open(os.path.join(FOLDER, name), "rb") as file:
            content = tomllib.load(file)
        if name == "levels.toml":
            for kind, row in content.items():
                scopes = {scope: cell.replace("/", "") for scope, cell in row.pop("scopes", {}).items()}
                levels[kind] = msgspec.convert({**row, "scopes": scopes}, built(LevelRow))
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
    value |= set(table.get("lines", "").split())
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
    for key in table.get("help", {}):  # one that is explained is no abbreviation of another
        longs.update(text for text in key.split() if text.startswith("--"))
    for key in ("recursive", "dry", "drop_first"):
        longs.update(text for text in table.get(key, "").split() if text.startswith("--"))
    return Program(
        name=name,
        style=table.get("style", "posix" if "wrap" in table else "gnu"),
        value=frozenset(value),
        longs=tuple(sorted(longs)),
        singles=frozenset(table.get("singles", "").split()) | whole_words(table, flags),
        plus=table.get("plus", False),
        roles={option: role for option, role in roles.items() if role != "text"},
        operands=tuple(table.get("operands", "").split()),
        drop_first=frozenset(table.get("drop_first", "").split()),
        recursive=frozenset(table.get("recursive", "").split()),
        always_recursive=table.get("always_recursive", False),
        dry=frozenset(dry_options(table)),
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
        reader=table.get("reads", table.get("_file") in _READERS and table.get("handler") != "programs.editors:pager"),
        evaluates=frozenset(table.get("evaluates", "").split()),
        loads=frozenset(table.get("loads", "").split()),
        input=input_of(table),
        lines=frozenset(table.get("lines", "").split()),
    )


def input_of(table: dict[str, Any]) -> str:
    """Tell what a program takes standard input for: as its table says, or data, code that its handler judges, or nobody knows what."""
    if "input" in table:
        if table["input"] not in _INPUTS:
            raise ValueError(f"{table.get('_file')}: input is none of {', '.join(_INPUTS)}")
        return str(table["input"])
    if table.get("handler", "").startswith(_JUDGES_INPUT):
        return "code"
    return "data" if table.get("_file") in _TAKE_DATA else ""


def dry_options(table: dict[str, Any]) -> list[str]:
    """The options that hold a program back. A letter is for the table's own name, and as `name:-n` for those under `same`."""
    options = table.get("dry", "").split()
    letters = [option for option in options if len(option) == 2]
    return [*options, *(f"{name}:{letter}" for name in table.get("same", "").split() for letter in letters)]


def whole_words(table: dict[str, Any], flags: list[CaseRule]) -> set[str]:
    """Options of one dash and many letters (`-print-sysroot`): written out in a table, they are no cluster of letters."""
    options = [*_options_of(flags), *table.get("dry", "").split()]
    return {text for text in options if len(text) > 3 and text[0] == "-" != text[1] and "=" not in text}


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


def compile_help(name: str, table: dict[str, Any]) -> ProgramHelp:
    """Compile what people are told about a program. Raises ValueError for what is too long, unprintable or named twice."""
    where = f"{table.get('_file')}: {name}"
    about, entries = table.get("about", ""), table.get("help", {})
    seen: dict[str, str] = {}
    for key, meaning in (("about", about), *entries.items()):
        if not isinstance(meaning, str) or not meaning.isprintable() or len(meaning) > MAX_MEANING:
            raise ValueError(f"{where}: {key}: a meaning is one printable line of at most {MAX_MEANING} characters")
        if key != "about" and not meaning.strip():
            raise ValueError(f"{where}: {key}: has no meaning")
    for key in entries:
        for single in help_keys(key, where):
            if single in seen:
                raise ValueError(f"{where}: {single} is in {seen[single]!r} and in {key!r}")
            seen[single] = key
    return ProgramHelp(about, dict(entries))


def help_keys(key: str, where: str) -> list[str]:
    """Take a key of `help` apart: "-r --recursive" for two options, "push -f" for an option of a sub-command."""
    tokens = key.split(" ")
    first = next((index for index, token in enumerate(tokens) if token[:1] in ("-", "+")), len(tokens))
    words, options = tokens[:first], tokens[first:]
    if not key.isprintable() or "" in tokens or any(option[:1] not in ("-", "+") for option in options):
        raise ValueError(f'{where}: {key!r} is neither "-o --option" nor "sub command" nor "sub command -o --option"')
    front = " ".join(words)
    return [f"{front} {option}".strip() for option in options] or [front]


def build_help() -> dict[str, bytes]:
    """The file with descriptions for people, in one part."""
    tables, _ = load_tables()
    with open(os.path.join(FOLDER, BUILTINS), "rb") as file:
        for name, table in tomllib.load(file).items():
            if unknown := set(table) - {"about", "help"}:
                raise ValueError(f"{BUILTINS}: {name}: unknown key {', '.join(sorted(unknown))}")
            tables.setdefault(name, {**table, "_file": BUILTINS})
    encoder = msgspec.msgpack.Encoder(order="deterministic")
    rows = {name: compile_help(name, table) for name, table in tables.items()}
    known = {name: encoder.encode(row) for name, row in sorted(rows.items()) if row.about or row.entries}
    return {PART_OF_HELP: encoder.encode(known)}


def build() -> dict[str, bytes]:
    """The parts of the file that ratings read."""
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
    rows: list[tuple[str, dict[str, str]]] = []
    for name in WAYS:
        with open(os.path.join(FOLDER, name), "rb") as file:
            rows += tomllib.load(file).items()
    ways = compile_ways(rows)
    with open(os.path.join(FOLDER, VARIABLES), "rb") as file:
        variables = encoder.encode(compile_variables(tomllib.load(file)))
    parts = {PART_OF_LEVELS: encoder.encode(levels), PART_OF_VARIABLES: variables}
    for character in sorted({name[0] for name in (*programs, *aliases, *ways)}):
        encoded = {name: encoder.encode(row) for name, row in sorted(programs.items()) if name[0] == character}
        group = Group(encoded, _lines(aliases, character), _lines(ways, character))
        parts[character] = encoder.encode(group)
    return parts


def compile_ways(rows: list[tuple[str, dict[str, str]]]) -> dict[str, str]:
    """Map each program to the pairs of option and kind by which it is told to run or load."""
    found: dict[str, list[str]] = {}
    for names, row in rows:
        pairs = [f"{option}:{kind}" for kind, options in row.items() for option in options.split() or [""]]
        for name in names.split():
            found.setdefault(name, []).extend(pairs)
    return {name: " ".join(pairs) for name, pairs in found.items()}


def _lines(rows: dict[str, str], character: str) -> str:
    """Lines of name, tab and text for names that begin so: one text, which is searched and not taken apart."""
    return "\n" + "".join(f"{name}\t{text}\n" for name, text in sorted(rows.items()) if name[0] == character)


def main() -> None:
    """Compile all files, or none, for those who cannot write there later."""
    started = time.time_ns()
    for path, parts in [(COMPILED, build()), (COMPILED_HELP, build_help()), (COMPILED_NAMES, build_names())]:
        keep(path, parts, started)


if __name__ == "__main__":
    main()
