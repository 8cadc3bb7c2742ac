"""Tell by their names which options hold a program back (`--help`, `--dry-run`, `-n`), and which write or run their value.

An option makes a command harmless only where the program that is run reads it as its own: not behind `--`, not as the
value of another option, not behind what it runs or hands on, and not where it is taken back later. `--output F` writes F and
`--pager CMD` runs CMD whichever program has such an option, and a table can have missed it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.reader.words import Invocation, Word
from agent.risk.tables.names import pattern
from agent.risk.tables.options import Args, split_args
from agent.risk.tables.store import CaseRule, Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_WRITES = LazyPattern(
    r"outp?u?|out(?:puts?)?(?:files?|dirs?|paths?|to)?|\w*(?:out|log|save|dump|write|err|pid|trace|report)file|logdir|save(?:as|to)?|write(?:to)?|"
    r"export(?:to)?|dumpto|record|tee|dest|destination"
)
_RUNS = LazyPattern(
    r"\w*(?:cmd|command|exec|script|prog|program|plugin|hook|pager|editor|wrapper|helper|rsh|configfile|rcfile|askpass|processor)s?|"
    r"execute|load|preload|require|pre|post|shell|compressor|browser|viewer|eval|config|conf|rc|modules?|engine|interpreter|"
    r"callback|lib|library|init|trigger|prolog|epilog|ppd"
)
_SETTINGS = frozenset(("config", "conf", "configfile", "rcfile", "rc", "init"))
_LOGS = frozenset("log trace dump report profile error errors debug pid status stats state attribute cursor".split())
_PLACES = frozenset(("file", "path", "to", "dir", "directory", "folder"))
# About what is written or run, not where or what: `--output-format`, `--log-level`, `--no-config`.
_MANNER_NAMES = """format type style delimiter separator encoding width level fields field color colour mode charset size limit buffer
only no not without skip ignore indent version name timeout count max min interval prefix suffix template append overwrite errors help
list show print quiet verbose rate depth len length wait retry all indicator duplicates lineterminator read data"""
_MANNER = frozenset(_MANNER_NAMES.split())
_PART = LazyPattern(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
# What says how output is to look where `--output` names no file.
_FORMAT = LazyPattern(
    r"(?:json|yaml|yml|xml|toml|csv|tsv|text|txt|table|html|wide|name|plain|raw|short|long|full|none|id|value|env|tree|list|pretty|human|"
    r"default|jsonl|ndjson|markdown|md|sarif|dot|stdout|bash|zsh|fish|powershell|[A-Z]+(?:,[A-Z]+)+|(?:json|go|custom)[\w-]*(?:=.*)?|-|true|false|auto|never|always|yes|no)",
    re.S,
)


def judge_telling_options(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """At least medium for a value that would be written to, or run, by what its option is called."""
    for name, value in args.options:
        if len(name) < 4 or (name[1] != "-" and table.style != "long") or _named(table, name):
            continue
        role = told_by(name)
        if not role:
            _judge_action(walker, invocation, table, args, name)
            continue
        word = value if value is not None else _behind(invocation, name)
        if word is None or _FORMAT.fullmatch(word.text):
            continue
        if role == "write":
            walker.add("write", [word], invocation.place, invocation=invocation, rule="write.option")
        else:
            judge_run_value(walker, invocation, name, word)


def judge_run_value(walker: Walker, invocation: Invocation, name: str, word: Word) -> None:
    """Judge a value that is run or loaded; settings are often made for one command, and lie where such things do."""
    from agent.risk.invocations.open_places import open_path

    settings = not _SETTINGS.isdisjoint(part.lower() for part in _PART.findall(name))
    open_ = not settings and any(open_path(walker, text) for text in word.text.split())
    level = Level.HIGH if open_ else None
    reason = f"may run or load {{targets}}, by its option {name[:30]}"
    walker.add("run", [word], invocation.place, level=level, reason=reason, rule="run.option")
    given = _passed_on(walker, invocation, name)
    if given or _IS_COMMAND.search(word.text):
        _judge_command(walker, invocation, word, given)


_IS_COMMAND = LazyPattern(r"\w[\s<>|;&]|[\s|;&<]\w|\$\(|`|\{\w+,")
_UNREAD = ("run-opaque", "parse", "unreadable", "run.")


def _passed_on(walker: Walker, invocation: Invocation, name: str) -> list[Word]:
    """Words for what the option `name` has run: `--post-renderer sh --post-renderer-args -c`."""
    walker.work.spend(len(invocation.words) / 50)
    options = tuple(f"{name}-{ending}" for ending in ("arg", "args", "opt", "opts", "option", "options"))
    found = []
    for index, word in enumerate(invocation.words):
        if not word.text.startswith(name):
            continue
        option, equals, value = word.text.partition("=")
        if option in options and (equals or index + 1 < len(invocation.words)):
            found.append(word.part(value) if equals else invocation.words[index + 1])
    return found


def _judge_command(walker: Walker, invocation: Invocation, word: Word, given: list[Word]) -> None:
    """Judge a value that reads as a command line, or a program with the words that other options give it: high counts."""
    before = len(walker.findings)
    if given:
        walker.dispatch(invocation.inner([word, *given], invocation.words[0].text))
    walker.script(word.text, invocation.place, invocation)
    walker.findings[before:] = [
        one for one in walker.findings[before:] if one.level is Level.HIGH and not one.rule.startswith(_UNREAD)
    ]


def _judge_action(walker: Walker, invocation: Invocation, table: Program, args: Args, name: str) -> None:
    """`--set-default-zone=x` where a sub-command could stand, and none does: as one that the table does not name.

    Of a program that only reads it counts beside words, too: then what is read is not what is done.
    """
    if (
        (not table.reader and (args.operands or not table.cases or table.effect))
        or table.wrap
        or any(name in group for rule in table.flags for group in rule.options)
        or not pattern("told.acts").fullmatch(name)
    ):
        return
    kind = table.otherwise if table.otherwise not in _OWN_ONLY else "change"
    reason = f"is told to {name[2:42].replace('-', ' ')}, and what that changes is unknown"
    walker.add(kind, [], invocation.place, reason=reason, rule=f"{kind}.option")


def told_by(name: str) -> str:
    """Guess from an option's name what its value is: "write", "run", or "" where that is not said."""
    parts = [part.lower() for part in _PART.findall(name)]
    parts = [part for part in parts if part[:2] != "no" or not _RUNS.fullmatch(part[2:])]  # `--nopager`
    if not _MANNER.isdisjoint(parts):
        return ""
    if any(map(_WRITES.fullmatch, parts)) or (not _LOGS.isdisjoint(parts) and not _PLACES.isdisjoint(parts)):
        return "write"
    return "run" if parts == ["filter"] or any(map(_RUNS.fullmatch, parts)) else ""


def _named(table: Program, name: str) -> bool:
    return name in table.value or name in table.longs or name in table.singles or name in table.dry


def _behind(invocation: Invocation, name: str) -> Word | None:
    """The word that follows the option, unless that is one too."""
    words = invocation.words
    for index, word in enumerate(words[1:-1], 1):
        if word.text == name:
            following = words[index + 1]
            return None if following.text.startswith("-") and len(following.text) > 1 else following
    return None


_GENERAL = frozenset(("-n", "--dry-run", "--check", "--help", "--version"))  # handlers ask for these
READS_NOTHING = frozenset(
    ("--help", "-h", "-?", "--version", "-V", "-v", "--syntax-check", "--list-hosts", "--list-tasks", "--list-tags")
)
_VERSIONS = frozenset(("--version", "-V", "-v", "-version"))
_OWN_OPTIONS = frozenset(("-H", "--help-options"))  # of scons, which tells these without its file
_RUNNERS = frozenset(("run", "run-package", "run-unknown", "container-run", "remote-shell"))
_OWN_ONLY = frozenset(
    ("", "none", "package-install", "cloud-change")
)  # `otherwise` of programs that hand no unknown word on
_REFUSED = frozenset(("false", "f", "no", "n", "none", "off", "0", "never"))
_AGREED = frozenset(("true", "yes", "on", "1", "all", "client", "server"))
_WITHOUT_VALUE = frozenset(
    ("-v", "--verbose", "-q", "--quiet", "-y", "--yes", "--force", "-r", "-R", "--recursive", "-a", "--all", "--delete")
)
_MAX_WORDS = 60


def leave_own(args: Args, words: list[Word], name: str, table: Program) -> None:
    """Take out of `args.names` what would hold the program `name` back, but would not be read by it as that."""
    found = args.names & (table.dry | _GENERAL)
    if not found:
        return
    own: set[str] = set()
    for index, word in enumerate(words[:_MAX_WORDS]):
        if word.text[:1] in "-+" and len(word.text) > 1:
            own |= _read_at(words, index, name, table) & found
    args.names -= found - own


def runs_to_tell(given: Set[str], name: str, table: Program, operands: Sequence[Word] = ()) -> bool:
    """Tell whether a dry run, or help, runs the project's code: what describes the project to this program is code."""
    whole = name in table.loads and (f"{name}:--version" in table.loads or not given <= _VERSIONS)
    if whole or _by_verb(name, table.loads, operands):
        return given.isdisjoint(_OWN_OPTIONS)
    return evaluates_to_tell(name, table, operands) and given.isdisjoint(READS_NOTHING)


_CODE = tuple(f".{ending}" for ending in "js cjs mjs ts cts mts py rb php lua gradle kts groovy exs".split())


def judge_evaluation(walker: Walker, invocation: Invocation) -> None:
    name = invocation.words[0].text.rpartition("/")[2]
    reason = f"has {name} run the code in the project's own files to read them"
    settings = [word for before, word in pairwise(invocation.words) if before.text == "-c" or told_by(before.text)]
    settings += [word.part(word.text.partition("=")[2]) for word in invocation.words if told_by(word.text)]
    code = [word for word in settings if word.text.endswith(_CODE)]
    walker.add("run", code, invocation.place, reason=reason, rule="run.evaluated")


def evaluates_to_tell(name: str, table: Program, operands: Sequence[Word]) -> bool:
    """Tell whether code of the project is run to list it: by the program as a whole ("gradle"), or by a sub-command ("uv:tree")."""
    return name in table.evaluates or _by_verb(name, table.evaluates, operands)


def _by_verb(name: str, of: Set[str], operands: Sequence[Word]) -> bool:
    """Tell whether a sub-command is named there: "uv:tree", "uv:pip:compile"."""
    if not of or not operands:
        return False
    verbs = [f"{name}:{operands[0].text}"]
    if len(operands) > 1:
        verbs.append(f"{verbs[0]}:{operands[1].text}")
    return not of.isdisjoint(verbs)


def _read_at(words: list[Word], index: int, name: str, table: Program) -> set[str]:
    """Names of the options that the word at `index` gives to the program itself."""
    before, upto = split_args(words[:index], table), split_args(words[: index + 1], table)
    if len(upto.options) <= len(before.options) or (index and _awaits_value(words[index - 1], before, table)):
        return set()
    if (before.operands and _hands_on(before, table)) or "-jar" in before.names:  # what follows is the program's
        return set()
    following = words[index + 1].text if index + 1 < len(words) else ""
    if before.operands and words[index].text == "--version" and following and following[:1] != "-":
        return set()  # `cargo install --version 1.2 x`: which one, not its own
    return {
        option
        for option, value in upto.options[len(before.options) :]
        if (value is None or value.text in _AGREED or "=" in option or option in table.singles)
        and not (value is None and following.casefold() in _REFUSED)
        and not any(_takes_back(option, word.text) for word in words)
        and (len(option) != 2 or _letter_holds_back(option, words, before, name, table))
    }


def _letter_holds_back(option: str, words: list[Word], before: Args, name: str, table: Program) -> bool:
    """Tell whether one letter means that here: it may be something else to another of a group, or behind a sub-command."""
    if option in ("-h", "-V") and words[-1].text == option and len(words) == 1 + len(before.operands):
        return True
    if option not in table.dry:
        return True  # only cases name it, with the sub-command it belongs to
    known = name == table.name or f"{name}:{option}" in table.dry
    if not before.operands or not table.cases:
        return known
    verbs = tuple(word.text for word in before.operands)
    rules = [*table.cases.get(verbs[0], ()), *table.cases.get("*", ())]
    return any(
        rule.effect == "dry"
        and any(option in group for group in rule.options)
        and _fits(rule.verbs, verbs)
        and (known or rule.verbs[0] != "*")
        for rule in rules
    )


def _awaits_value(word: Word, before: Args, table: Program) -> bool:
    """Tell whether `word`, the last of those in `before`, is an option that may take the next word as its value."""
    if word.text[:1] not in "-+" or not before.options or "=" in word.text:
        return False
    name, value = before.options[-1]
    return value is None and name not in _WITHOUT_VALUE and name not in _flags(table)


def _flags(table: Program) -> set[str]:
    """Options that a table names and that take no value."""
    rules: list[CaseRule] = [*table.flags, *(rule for rules in table.cases.values() for rule in rules)]
    named = {option for rule in rules for group in rule.options for option in group}
    return (named | table.singles | table.recursive | table.dry | table.drop_first) - table.value


def _hands_on(before: Args, table: Program) -> bool:
    """Tell whether the operands so far end in something that gets what follows: a program, a script, a sub-command not known."""
    verbs = tuple(word.text for word in before.operands)
    named = [rule for rule in table.cases.get(verbs[0], ()) if _fits(rule.verbs, verbs)]
    if verbs[0] not in table.cases:
        return table.effect in _RUNNERS or table.otherwise not in _OWN_ONLY
    return any(rule.effect in _RUNNERS and len(verbs) > len(rule.verbs) - (rule.verbs[-1] == "*") for rule in named)


def _fits(pattern: tuple[str, ...], verbs: tuple[str, ...]) -> bool:
    return len(pattern) <= len(verbs) and all(a in (b, "*") for a, b in zip(pattern, verbs, strict=False))


def _takes_back(name: str, text: str) -> bool:
    """Tell whether a word says no to an option: `--no-dry-run`, `--dry-run=none`, `-help=False`, `-h=0`."""
    if name[:2] == "--" and text.startswith(f"--no-{name[2:]}"):
        return True
    option, equals, value = text.partition("=")
    return bool(equals) and option.lstrip("-") == name.lstrip("-") and value.strip("\"'").casefold() in _REFUSED
