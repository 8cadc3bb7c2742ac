"""Judge code that is given to a program, in any language but the shell typed as such, for what it runs or loads from the open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.gtfobins.options import own_words
from agent.risk.invocations.open_places import NAMES_COMMAND, PATH, is_open, runs_anyway
from agent.risk.reader.words import Invocation, Word
from agent.risk.tables.store import Program, program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_OBEYS = frozenset(("run", "run-unknown", "run-opaque", "environment", "schedule", "change", "db-change"))
_ELSEWHERE = frozenset(("remote-shell", "container-run"))
_COUNTED = _OBEYS | _ELSEWHERE
_SHELL = "invocations.shells:"
# What stands directly before a path that is run or loaded: a word for it, with what calls and quotes are written with between them.
_RUN_BY = LazyPattern(
    r"(?:(?:\b|[.:\\_])(?:sh|shell|exec\w*|p?open3|popen\d?|\w*spawn\w*|run\w*|call|cmd|command|check_(?:output|call)|(?:esys|sys)cmd|system\d?|source|sourceFile"
    r"|require\w*|include(?:_once)?|import\w*|use|use\s+lib|CDLL|dlopen(?:\s*\([^'\"\n]{0,40},\s*)?|\w*LoadLibrary|load[_-]\w+|load[A-Z]\w+|dofile|loadfile"
    r"|loadlib|do|write18|eval\w*|attach|read_pickle|fileConfig|(?:unsafe|full)_load\w*|unserialize|retrieve|readRDS"
    r"|(?:pickle|dill|joblib|torch|marshal|shelve|Marshal|YAML|yaml|np|numpy)\.(?:load|open)s?)"
    r"|(?<![\w.])load|^\.(?:read|load)|[\s;]\.(?:read|load)|\\ir?|path\.(?:insert|append|unshift)\s*\(\s*(?:\d\s*,)?|package\.c?path\s*=[^\n;]*|(?:@INC|LOAD_PATH)\s*,)"
    r"[\s(\[{`,:]*['\"`]?(?:\(?\s*file\s*[\"']|(?:open|File\.(?:read|open)|file_get_contents)\s*\(\s*['\"])?(?:/(?:usr/)?bin/)?\s*\Z"
)
_MARKED = LazyPattern(r"(?:(?:\A|[\s(;\"'{])!|`|%x[({\[]|%pipe%|(?:\A|[;&|({]\s*)\.\s)\s*\Z")
_INTERPRETED = LazyPattern(r"(?<![\w.-])([A-Za-z][\w.+-]*)(?:[\s,'\"]+-\w+){0,4}[\s,'\"]+\Z")
_CALLED = LazyPattern(r"[^'\"\n]{0,80}['\"]\s*\)?\s*\.\s*(?:execute|run|system|spawn|!)|['\"]\s*\.!")
_SEVERAL = LazyPattern(r"[;&|\n{}()]")
_NEAR = 80  # characters before a path
_MOST = 20
_LONGEST = 20_000
_CODE = ("-e", "-c", "-E", "--eval", "-eval")
_LOADS = LazyPattern(r"-[rlLRM]|--?(?:require|import|load|loader|preload|pre|startup)")


def judge_open_code(walker: Walker, invocation: Invocation, table: Program, begin: int) -> None:
    """High where code among the words, or on standard input, runs or loads what lies where everybody may put things.

    Only where the program obeys what it is given, as far as was found from `begin` on.
    """
    found = [finding.effect.kind for finding in walker.findings[begin:] if _counts(finding) and finding.effect]
    if not found or any(finding.level is Level.HIGH for finding in walker.findings[begin:]):
        return
    if invocation.remote or not _ELSEWHERE.isdisjoint(found):
        return
    for code in _codes(invocation, table):
        path = run_by(walker, code)
        if path:
            _tell(walker, invocation, path, "in the code that it is given")
            return
    if runs_anyway(table) and not table.handler.startswith(_SHELL) and not table.wrap:
        _judge_loaded(walker, invocation, table)


def _judge_loaded(walker: Walker, invocation: Invocation, table: Program) -> None:
    """`julia -L FILE -e CODE`: what an option loads beside the code, or the script, that an interpreter is given."""
    for at, (before, word) in enumerate(pairwise(invocation.words)):
        given = before.text in table.value or any(other.text in _CODE for other in invocation.words[at + 2 :])
        if given and _LOADS.fullmatch(before.text) and is_open(walker, word.text):
            _tell(walker, invocation, word.text, f"by {before.text}")
            return


def _counts(finding: Finding) -> bool:
    return finding.level is Level.MEDIUM and finding.effect is not None and finding.effect.kind in _COUNTED


def _tell(walker: Walker, invocation: Invocation, path: str, where: str) -> None:
    reason = f"runs or loads {path[:60]} {where}, which others could have put there"
    targets = [Word(path, *invocation.place)]
    walker.add("run", targets, invocation.place, level=Level.HIGH, reason=reason, rule="run.open-code")


def _codes(invocation: Invocation, table: Program) -> Iterator[str]:
    """The texts that may be code: what is more than a path, and no command for a program that runs commands."""
    shell = table.handler.startswith(_SHELL)
    commands = runs_anyway(table) and not table.handler.startswith("invocations.interpreters:")
    words = invocation.words if table.wrap == "joined" else own_words(invocation.words, table, ())
    for before, word in pairwise(words[: _MOST * 2]):
        text = word.text
        if len(text) > _LONGEST or not PATH.search(text) or PATH.fullmatch(text):
            continue
        named = commands and NAMES_COMMAND.match(before.text) is not None
        if named and not (shell and before.text in _FIRST):
            continue
        if commands and before.text[:1] != "-" and not _SEVERAL.search(text):
            continue
        yield text
    stdin = (invocation.stdin or ("", ""))[0]
    if stdin and not shell and not table.wrap and table.input != "data" and len(stdin) <= _LONGEST:
        yield stdin


_FIRST = ("-C", "--init-command")  # of a shell: beside the code that it is given


def run_by(walker: Walker, code: str) -> str:
    """The first path of an open place that the code runs or loads; empty for one that is only read or written."""
    for found in list(PATH.finditer(code))[:_MOST]:
        before = code[max(0, found.start() - _NEAR) : found.start()]
        if not is_open(walker, found[0]):
            continue
        named = _INTERPRETED.search(before)
        table = program(named[1]) if named else None
        interpreted = table is not None and runs_anyway(table) and not table.wrap
        if interpreted or _RUN_BY.search(before) or _MARKED.search(before) or _CALLED.match(code, found.end()):
            return found[0]
    return ""
