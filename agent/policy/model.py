"""Policy as values: rules, where they come from, and who may loosen anything. Format: docs/policy.md."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.protocol.confinement import Confinement
from agent.protocol.decisions import Level

Action = Literal["allow", "ask", "type", "deny"]
"""Verdicts of a rule: run without asking, ask, ask and have the word typed, refuse."""

STRICTNESS: tuple[Action, ...] = ("allow", "ask", "type", "deny")
"""From loose to strict; of all rules that match, the strictest counts."""

Trust = Literal["user", "session", "safety", "site", "project"]
"""The owner of the file a rule stands in. Only "user" and "session" rules may allow; "safety", "site" and "project" only tighten."""

MAY_ALLOW: frozenset[Trust] = frozenset(("user", "session"))

RUNS_UNASKED: dict[str, Level | None] = {"ask": None, "low": Level.LOW, "medium": Level.MEDIUM}
"""Up to which level each approve mode runs commands without asking."""


ONE_HIGHER = {Level.LOW: Level.MEDIUM, Level.MEDIUM: Level.HIGH, Level.HIGH: Level.HIGH}
"""The level of what turned out to be worse than its rating says."""


class OptionTest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test of the options a program was given, each in any of its spellings (`-rf` is `-r` and `-f`).

    `any`: at least one of these is there. `all`: each is there. `none`: none is there. `only`: nothing else is there.
    `values`: what options are given (`-n staging`) is one of these; for `allow` every value, for the others one is enough.
    """

    any: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None


class Rule(Struct, frozen=True, kw_only=True):
    """One rule on one program that a command would run. All tests that are given must hold.

    `program`: names (without folder), or paths ("/opt/x/run", "./test.sh" in the workspace); for others than `allow` also "*".
    `words`: what follows the name once options are left out, from the front; each place is a tuple of alternatives ("*": anything
    known). `exact_words`: no operand more than these. `paths`: folders or globs, absolute or beginning with `./` (the workspace) or
    `~/`: for `allow` every path operand lies in one, for the others one is enough. `scopes` and `effects`: words of docs/risk.md,
    found about this program (same quantifiers as `paths`). `via`: for `allow`, the wrappers it may stand behind (none: it stands
    alone); the others look through any wrapper. What is secret to read, and environment that later programs load, an `allow` covers
    only where its `effects` name "secret" or "environment". `up_to`: an `allow` covers findings up to this level (never high).
    `workspace`, `session`, `until` (RFC 3339, UTC) limit the rule. `confine`: how a command that it may be about is confined; of several,
    and of the setting, all hold. `free`: it says "off" itself, so what an `allow` lets run is not held to its rating either.
    """

    name: str
    action: Action
    program: tuple[str, ...]
    reason: str = ""
    words: tuple[tuple[str, ...], ...] = ()
    exact_words: bool = False
    options: OptionTest = OptionTest()
    paths: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    up_to: Level = Level.MEDIUM
    workspace: str = ""
    session: str = ""
    until: str = ""
    confine: Confinement = "off"
    free: bool = False
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()


class PatternRule(Struct, frozen=True, kw_only=True):
    """A rule of a `--safety-policy` file: a regular expression on the command's text. It can only raise and tighten.

    `level`: at least this. `require_confirmation`: ask even where the approve mode would run it. `allowed_flags`: options with which the
    pattern does not count. `deny`: refuse.
    """

    name: str
    pattern: str
    level: Level = Level.MEDIUM
    require_confirmation: bool = True
    allowed_flags: tuple[str, ...] = ()
    description: str = ""
    deny: bool = False


class PolicyFile(Struct, frozen=True, kw_only=True):
    """The rules of one file. `error` is set where it could not be used: then nothing runs unasked (fail closed)."""

    path: str
    trust: Trust
    rules: tuple[Rule, ...] = ()
    patterns: tuple[PatternRule, ...] = ()
    error: str = ""


class Place(Struct, frozen=True, kw_only=True):
    """The place and time at which a rule is to count. Paths are absolute; `now` is RFC 3339 in UTC."""

    workspace: str = ""
    home: str = ""
    session: str = ""
    now: str = ""


class Policy(Struct, frozen=True, kw_only=True):
    """All files that count, and the place. An empty one decides by floor and level alone.

    `guarded`: absolute paths of the program's own settings and policy files, of which every change needs the word.
    """

    files: tuple[PolicyFile, ...] = ()
    place: Place = Place()
    guarded: tuple[str, ...] = ()


OF_SESSION = "session"
"""The place of a session's rules, in the words of the log."""


class SessionRules:
    """The rules that the person allowed "for this session", whose id is `session`: written nowhere. Each rule names its session."""

    def __init__(self, session: str = "") -> None:
        self.session = session
        self._file = PolicyFile(path="this session", trust="session")

    @property
    def file(self) -> PolicyFile:
        """All of them, as a file that has no place on a disk."""
        return self._file

    def add(self, rules: tuple[Rule, ...]) -> str:
        """Take the rules; "" or why none was taken: a name in use, a rule without a session."""
        used = {rule.name for rule in self._file.rules}
        for rule in rules:
            if not rule.session:
                return f"rule {rule.name} does not say for which session"
            if rule.name in used:
                return f"there is a rule called {rule.name!r} already; give this one another name"
        self._file = replace(self._file, rules=(*self._file.rules, *rules))
        return ""

    def forget(self, name: str) -> str:
        """Drop the rule `name`; "" or that there is none."""
        kept = tuple(rule for rule in self._file.rules if rule.name != name)
        if len(kept) == len(self._file.rules):
            return f"there is no rule called {name!r}"
        self._file = replace(self._file, rules=kept)
        return ""
