"""Track what earlier commands of the session left in its shell: names and variables that no longer mean what they say.

A function or alias that was approved once is run again whenever its name is; so each use is rated by its body. What the
shell defines but the command does not use changes nothing. The real meaning of a name is judged too: this only raises.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from agent.protocol.decisions import Effect, Finding, Level, RiskContext, worst
from agent.risk.paths.search_path import EVERYWHERE, doubtful_folder
from agent.risk.reader.words import MAX_VALUE, PRIVATE, UNKNOWN, Invocation, Output, join_taint
from agent.risk.shell.state import Value
from agent.risk.tables.store import program as find_program
from agent.text.visible import make_visible

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_MAX_NESTING = 8
_SHOWN = 60
# Builtins that `shell_builtins` leaves to the tables; bash does not look for them in PATH.
_NOT_SEARCHED = frozenset(("echo", "printf", "pwd", "type", "command", "builtin", "kill", "exec", "history", "time"))
_WORDS = "if then elif else fi while until for select do done case esac function time coproc in [[ ]] { } !"
_RESERVED = frozenset(_WORDS.split())
_USUAL_ALIASES = frozenset(("l", "la", "ll", "md", "rd"))
"""Names that the tables know because many people have them as aliases; no program is called so."""
_LOADED = ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "GCONV_PATH")


@lru_cache(maxsize=4)
def _function_places(text: str) -> dict[str, tuple[int, ...]]:
    """Name to offsets of its definitions. A here-document may hold a line that looks like one: then all are rated."""
    places: dict[str, tuple[int, ...]] = {}
    for found in re.finditer(r"^(?:function )?(\S+) \(\)[ \t]*$", text, re.MULTILINE):
        places[found.group(1)] = (*places.get(found.group(1), ()), found.start())
    return places


@lru_cache(maxsize=4)
def _alias_texts(text: str) -> dict[str, str]:
    """Name to what it stands for. Raises ValueError for text that bash did not print."""
    import shlex

    pairs = (token.partition("=") for token in shlex.split(text) if "=" in token)
    return {name: value for name, _, value in pairs}


def _body(text: str, offset: int) -> str:
    """The source of the function body whose definition begins at `offset`."""
    from agent.risk.reader.syntax import Parser
    from agent.risk.reader.tree import Function

    parser = Parser(text, offset)
    node = parser.command()
    if not isinstance(node, Function) or parser.errors:
        return text[offset:]  # unreadable here means unreadable for the walk, which says so
    parser.finish_heredocs()
    return text[node.body.start : max(node.end, parser.pos)]


def session_of(context: RiskContext) -> Session:
    """The session's leftovers."""
    functions, aliases = (PRIVATE.sub("\ufffd", text) for text in (context.functions, context.aliases))
    return Session(functions, _alias_texts(aliases), context.exports)


class Session:
    """Functions, aliases and changed exported variables that a command finds in the shell."""

    __slots__ = ("_active", "_functions", "_text", "aliases", "exports")

    def __init__(self, functions: str, aliases: dict[str, str], exports: dict[str, str]) -> None:
        self._text = functions
        self._functions = _function_places(functions)
        self.aliases = aliases
        self.exports = exports
        self._active: list[str] = []

    def inherited(self) -> Session:
        """The session that a new shell started from this one finds: variables, and the functions that were exported."""
        other = Session("", {}, self.exports)
        other._text = self._text
        other._functions = {
            name: places for name, places in self._functions.items() if f"BASH_FUNC_{name}%%" in self.exports
        }
        other._active = self._active
        return other

    def variables(self) -> dict[str, Value]:
        """The changed variables; bash takes no IFS from outside, and PWD is the working directory."""
        return {
            name: Value([PRIVATE.sub("\ufffd", value)])
            for name, value in self.exports.items()
            if name.isidentifier() and name not in ("HOME", "PWD", "IFS") and len(value) <= MAX_VALUE
        }

    # --- names ---

    def redefined(self, walker: Walker, invocation: Invocation) -> Output | None:
        """Rate what the first word stands for, by the definition's body; None where it was not redefined."""
        word = invocation.words[0]
        if not word.quoted and word.text in self.aliases:
            return self._alias(walker, word.text, invocation)
        if word.text in self._functions:
            return self._function(walker, word.text, invocation)
        return None

    def unknown(self, walker: Walker, invocation: Invocation) -> None:
        """A program that may not be there: then bash calls the function made for that."""
        if "command_not_found_handle" in self._functions:
            self._function(walker, "command_not_found_handle", invocation)

    def _function(self, walker: Walker, name: str, invocation: Invocation) -> Output:
        bodies = [_body(self._text, place) for place in self._functions[name]]
        before = walker.state.positional
        walker.state.positional = invocation.words[1:]
        try:
            return self._rate(walker, "function", name, bodies, invocation)
        finally:
            walker.state.positional = before

    def _alias(self, walker: Walker, name: str, invocation: Invocation) -> Output:
        from agent.risk.shell.builtins import quote

        value = self.aliases[name]
        rest = " ".join(quote(word.text) for word in invocation.words[1:])
        output = self._rate(walker, "alias", name, [f"{value} {rest}"], invocation, shown=value)
        if value[-1:] in (" ", "\t") and len(invocation.words) > 1:  # then bash looks at the next word too
            following = Invocation(invocation.words[1:], *invocation.place, cwd=invocation.cwd, stdin=invocation.stdin)
            self.redefined(walker, following)
        return output

    def _rate(
        self, walker: Walker, kind: str, name: str, texts: list[str], invocation: Invocation, *, shown: str = ""
    ) -> Output:
        if f"{kind} {name}" in self._active or len(self._active) >= _MAX_NESTING:
            return None, ""
        self._active.append(f"{kind} {name}")
        findings = walker.findings
        before = len(findings)
        output: Output = (None, "")
        try:
            for text in texts:
                _, taint = output = walker.script(text, invocation.place, invocation, invocation.stdin, same_shell=True)
                output = (output[0] if len(texts) == 1 else None, join_taint(taint, output[1]))
        finally:
            self._active.pop()
        level = worst((Level.MEDIUM, *(finding.level for finding in findings[before:])))
        told = shown or max(texts, key=len)
        if told.startswith("{") and told.endswith("}"):
            told = told[1:-1]
        findings.insert(before, _redefinition(kind, name, told, level, invocation.place))
        return output

    def reserved(self, text: str) -> list[Finding]:
        """Aliases of reserved words (`if`, `{`, `!`): bash replaces them before it reads the structure, so nobody can tell."""
        hidden = _RESERVED.intersection(self.aliases)
        if not hidden:
            return []
        place = (0, len(text))
        return [
            _redefinition("alias", name, self.aliases[name], Level.HIGH, place)
            for name in sorted(hidden.intersection(re.split(r"[\s;&|()]+", text.replace("\\\n", ""))))
        ]

    # --- variables ---

    def judge_program(self, walker: Walker, name: str, invocation: Invocation) -> None:
        """A program is about to be looked for and started: what do variables of the session make of that?"""
        for variable in _LOADED:
            if self.exports.get(variable):
                reason = f"loads code from the {variable} that was set earlier in this session"
                self._add(walker, "session.load", reason, invocation)
        self._judge_settings(walker, name, invocation)
        path = self.exports.get("PATH")
        if path is None or "/" in invocation.words[0].text or (name in _NOT_SEARCHED and not invocation.via):
            return
        folder, first = doubtful_folder(path, walker.rater.scopes)
        if folder is None or (not first and name in EVERYWHERE):
            return
        named = make_visible(folder)[:_SHOWN] if folder not in ("", ".") else "the current folder"
        where = "begins with" if first else "also has"
        reason = f"{make_visible(name)} may be another program: PATH {where} {named}"
        self._add(walker, "session.path", reason, invocation)

    def _judge_settings(self, walker: Walker, name: str, invocation: Invocation) -> None:
        """Variables that name code to run, as far as this program would read them."""
        from agent.risk.shell.obeyed_variables import judge_earlier

        for variable in judge_earlier(walker, name, invocation, self.exports):
            reason = f"{variable} was changed earlier in this session, and makes programs run something else"
            self._add(walker, "session.variable", reason, invocation)

    def _add(self, walker: Walker, rule: str, reason: str, invocation: Invocation) -> None:
        walker.add("run-unknown", invocation.words[:1], invocation.place, level=Level.MEDIUM, reason=reason, rule=rule)


def _redefinition(kind: str, name: str, text: str, level: Level, place: tuple[int, int]) -> Finding:
    body = " ".join(make_visible(text.replace(UNKNOWN, "…")).split())
    if len(body) > _SHOWN:
        body = body[: _SHOWN - 1] + "…"
    article = "an alias" if kind == "alias" else "a function"
    shown = make_visible(name)[:_SHOWN]
    if _is_command(name):
        reason = f"{shown} was redefined earlier in this session: it is now {article} that runs {body}"
    else:
        reason = f"{shown} is {article} from earlier in this session: it runs {body}"
    return Finding(
        rule=f"session.{kind}",
        level=level,
        reason=reason,
        span=place,
        effect=Effect(kind="run", targets=(name,)),
        safer=f"`unalias {name}` first" if kind == "alias" else f"`unset -f {name}` first",
    )


def _is_command(name: str) -> bool:
    """Tell whether `name` means something by itself, so that defining it took that meaning away."""
    from agent.risk.shell.builtins import is_builtin

    known = name in _NOT_SEARCHED or name in _RESERVED or is_builtin(name) or find_program(name) is not None
    return known and name not in _USUAL_ALIASES
