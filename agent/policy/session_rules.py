"""Rules that count for one session of this process and are written nowhere."""

from __future__ import annotations

from msgspec.structs import replace

from agent.policy.model import PolicyFile
from agent.policy.parse import parse_policy

NAME = "this session"


class SessionRules:
    """What the person allowed "for this session". Each rule has a `session`, so another session of this process is not meant."""

    def __init__(self, home: str = "") -> None:
        self._home = home
        self._file = PolicyFile(path=NAME, trust="session")

    @property
    def file(self) -> PolicyFile:
        """All of them, as a file that has no place on a disk."""
        return self._file

    def add(self, text: str) -> str:
        """Take the rules of a TOML text; "" or why none was taken: a mistake, a name in use, a rule without a session."""
        new = parse_policy(text, path=NAME, trust="session", home=self._home)
        if new.error:
            return new.error
        used = {rule.name for rule in self._file.rules}
        for rule in new.rules:
            if not rule.session:
                return f"rule {rule.name} does not say for which session"
            if rule.name in used:
                return f"there is a rule called {rule.name!r} already; give this one another name"
        if not new.rules:
            return "there is no [[rule]] in the text"
        self._file = replace(self._file, rules=(*self._file.rules, *new.rules))
        return ""

    def forget(self, name: str) -> str:
        """Drop the rule `name`; "" or that there is none."""
        kept = tuple(rule for rule in self._file.rules if rule.name != name)
        if len(kept) == len(self._file.rules):
            return f"there is no rule called {name!r}"
        self._file = replace(self._file, rules=kept)
        return ""
