"""Rate an effect on its targets as a finding: the one place where levels are decided, by `knowledge/levels.toml`."""

from __future__ import annotations

from agent.protocol.decisions import Effect, Finding, Level, RiskContext
from agent.risk.paths.absolute import absolute
from agent.risk.paths.known_facts import WHOLE_KINDS, also_at, weigh, weigh_repository, whole_places
from agent.risk.paths.scopes import PSEUDO_CWD, PSEUDO_HOME, Scopes
from agent.risk.reader.words import UNKNOWN, UNKNOWN_VARIABLE, Word
from agent.risk.tables.store import level_row

_LEVELS = {"L": Level.LOW, "M": Level.MEDIUM, "H": Level.HIGH}
_RANK = {Level.LOW: 0, Level.MEDIUM: 1, Level.HIGH: 2}
_MAX_TARGETS = 12
MAX_SHOWN = 200
"""Characters of a word that are told."""
_PUBLIC_SCOPE = {
    "home-all": "home",
    "workspace-all": "workspace",
    "outside-all": "outside",
    "temp-all": "temp",
    "account": "system",
    "account-secret": "secrets",
    "schedule": "system",
    "null": "device",
    "history": "secrets",
}
_SAME_ROW = {"account-secret": "account", "history": "secrets"}
_CHANGING = frozenset("create write append modify copy-to move link extract delete delete-empty chmod chown".split())


_ITSELF = frozenset(("delete", "move"))
_BELOW = frozenset(("found", "all"))  # what find lists lies anywhere below
_EMPTYING = frozenset(("truncate", "write", "copy-to"))
_DEEP = frozenset(("delete", "chmod", "chown", "permission-wide"))


def show(word: Word) -> str:
    """A target for people: unknown parts as `…`, and no made-up folders where none were given."""
    text = word.text
    if PSEUDO_HOME in text:
        text = text.replace(PSEUDO_CWD, ".").replace(PSEUDO_HOME, "~")
    return text.replace(UNKNOWN, "…").replace(UNKNOWN_VARIABLE, "…")[:MAX_SHOWN]


def describe(word: Word, cwd: str, start: str) -> str:
    """A target inside a sentence. A path relative to a folder the command itself went to (from `start`) is told in full."""
    text = word.text
    if not text.strip():
        return repr(text)
    if "all" in word.taint.split() and UNKNOWN not in text:
        path = absolute(text, cwd) if cwd != start and UNKNOWN not in cwd else text
        where = "below" if text in (".", "./") else "at or below"
        return f"all that lies {where} {show(word.part(path))}"
    if UNKNOWN not in text:
        if cwd == start or UNKNOWN in cwd or not text or text[0] in "/-" or ":" in text:
            return show(word)
        return show(word.part(absolute(text, cwd)))
    if text.endswith("/" + UNKNOWN) and "found" in word.taint:
        return f"what find matches under {show(word.part(text[:-2] or '/'))}"
    if not text.strip(UNKNOWN):
        return "something only known when it runs"
    return show(word)


def _empties_all(kind: str, words: list[Word]) -> bool:
    """Tell whether nothing is left in all that find hands on, as if it were deleted."""
    return kind in _EMPTYING and any("all" in word.taint.split() for word in words)


class Rater:
    """Rates effects in one context."""

    def __init__(self, context: RiskContext) -> None:
        self.context = context
        self.scopes = Scopes(context)

    def rate(
        self,
        kind: str,
        words: list[Word],
        *,
        place: tuple[int, int],
        cwd: str,
        recursive: bool = False,
        elevated: bool = False,
        level: Level | None = None,
        reason: str = "",
        rule: str = "",
        program: int = -1,
        brief: bool = False,
        elsewhere: bool = False,
    ) -> Finding | None:
        """The finding for one effect; None for plain reading."""
        row = level_row(kind)
        rated, scope = Level.LOW, "unknown"
        if row.scopes:
            rated, scope, worst_word = self._by_scope(kind, row.scopes, words, cwd, recursive)
            rated = Level.HIGH if not reason and _empties_all(kind, words) else rated  # with a reason, one may be meant
            if kind == "read":
                if scope not in ("secrets", "account-secret", "history"):
                    return None
                return self.rate("secret", [worst_word] if worst_word else [], place=place, cwd=cwd, program=program)
            if kind in _CHANGING:
                if scope == "history":
                    return self.rate("erase-log", words, place=place, cwd=cwd, program=program)
                if (elevated or self.context.is_root) and scope not in ("workspace", "workspace-all", "temp", "null"):
                    rated = max(rated, Level.MEDIUM, key=_RANK.__getitem__)
        else:
            rated = _LEVELS[row.level]
        if level is not None:
            rated = level
        rated, note = self._with_facts(kind, words, cwd, rated, recursive=recursive, rule=rule)
        whole: tuple[str, ...] = ()
        if kind in WHOLE_KINDS and (level is None or rated is Level.HIGH):
            reached = self._reached(kind, words, cwd)
            facts = {} if elsewhere else self.context.facts  # a disk of this name that is free here may be in use there
            deep = recursive or rule == "delete.sync"
            whole = whole_places(kind, reached, cwd, recursive=deep, home=self.scopes.home, facts=facts)
            if whole:
                rated = Level.HIGH
        targets = tuple(show(word) for word in words[:_MAX_TARGETS])
        if scope == "null" and kind in ("write", "append") and rated is Level.LOW:
            return None  # output thrown away
        told = [] if brief and rated is not Level.HIGH else words
        text = self._sentence(reason or row.reason, told, cwd, row_is_path=bool(row.scopes))
        if recursive and kind in _DEEP and not all("found" in word.taint or "all" in word.taint for word in words):
            text += ", with everything below" if text.endswith("runs") else " with everything below"
        text += note
        rule = rule or f"{kind}.{'recursive' if recursive else _detail(scope)}"
        safer = row.safer_for.get(rule.rpartition(".")[2], row.safer) if row.safer_for else row.safer
        return Finding(
            rule=rule,
            level=rated,
            reason=text,
            span=place,
            effect=Effect(
                kind=kind,
                scope=_PUBLIC_SCOPE.get(scope, scope),
                targets=targets,
                reversible=row.reversible,
                whole=whole,
            ),
            safer=safer if rated is not Level.LOW else "",
            program=program,
        )

    def _sentence(self, reason: str, words: list[Word], cwd: str, *, row_is_path: bool) -> str:
        """The reason with its targets named."""
        if "{targets}" not in reason:
            return reason
        if not words:
            return reason.replace(": {targets}", "").replace("{targets}", "what it is given")
        start = self.scopes.cwd if row_is_path else cwd
        named = dict.fromkeys(describe(word, cwd, start) for word in words[:4])
        return reason.replace("{targets}", ", ".join(named) + (" …" if len(words) > 4 else ""))

    def _by_scope(
        self, kind: str, table: dict[str, str], words: list[Word], cwd: str, recursive: bool
    ) -> tuple[Level, str, Word | None]:
        """The worst level over all targets, its scope and its word."""
        worst, worst_scope, worst_word = Level.LOW, "unknown", None
        seen: set[tuple[str, bool, str]] = set()
        for word in self._reached(kind, words, cwd):
            if len(words) > 1:
                alike = word.text, word.glob, word.taint
                if alike in seen:
                    continue
                seen.add(alike)
            scope = self._scope(kind, word, cwd, recursive=recursive)
            cell = table.get(scope) or table.get(_SAME_ROW.get(scope, scope)) or table["*"]
            deep = recursive or (kind == "delete" and not _BELOW.isdisjoint(word.taint.split()))
            rated = _LEVELS[cell[-1] if deep else cell[0]]
            if worst_word is None or _RANK[rated] > _RANK[worst]:
                worst, worst_scope, worst_word = rated, scope, word
        if worst_word is None:
            worst = _LEVELS[table["*"][0]]
        return worst, worst_scope, worst_word

    def _scope(self, kind: str, word: Word, cwd: str, *, recursive: bool) -> str:
        """The scope of a target: of a link that the command itself made, what is deleted or moved by its name is the link."""
        links = self.scopes.links
        path = absolute(word.text, cwd) if links and kind in _ITSELF and not word.text.endswith(("/", "/.")) else ""
        leads = links.pop(path, None)
        scope = self.scopes.of(word, cwd, recursive=recursive)
        if leads is not None:
            links[path] = leads
        return scope

    def _reached(self, kind: str, words: list[Word], cwd: str) -> list[Word]:
        """The targets, and what links in them lead to."""
        facts = self.context.facts
        if not facts:
            return words
        return [place for word in words for place in (word, *also_at(kind, word, cwd, facts))]

    def _with_facts(
        self, kind: str, words: list[Word], cwd: str, rated: Level, *, recursive: bool, rule: str
    ) -> tuple[Level, str]:
        """Facts of the file system may raise a level, never lower one; and what they add to the sentence."""
        facts = self.context.facts
        if not facts:
            return rated, ""
        least, note = weigh(kind, words, cwd, facts, recursive=recursive)
        if kind in ("discard", "discard-one"):
            note = weigh_repository(rule.partition(".")[2], words, cwd, facts)
        return max(rated, least, key=_RANK.__getitem__), f" ({note})" if note else ""


def _detail(scope: str) -> str:
    return scope if scope != "unknown" else "any"
