"""Judge programs and tasks that nothing is known about, told in plain words to destroy: `tool destroy prod`, `rails db:drop`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.reader.words import Invocation
from agent.risk.tables.names import pattern
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_ALL = LazyPattern(r"--(?:all|purge|everything|all-namespaces)")
_DELETES = LazyPattern(r"(?:[\w.-]+[:.])?(?:delete|remove|destroy|drop|rm|flush)", re.I)
_UNSEEN = ("run.", "run-", "serve.", "change.", "cluster-change.", "cloud-change.", "remote-change.", "package-remove.")
_WORDS = 6  # the verb of a program stands among its first words
_ASKS = frozenset(("help", "plan"))


def judge_named_destruction(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """A finding where the words of a program say more than is known about it; `found` is what was found about it so far."""
    if not found or any(finding.level is Level.HIGH for finding in found):
        return
    if not any(finding.rule.startswith(_UNSEEN) for finding in found):
        return
    words = [
        word
        for before, word in pairwise(invocation.words)
        if not (len(before.text) == 2 and before.text[0] == "-" and before.text != "--")
    ]
    texts = [word.text for word in words]
    if not _ASKS.isdisjoint(texts):
        return
    operands = [word for word in words if not word.text.startswith("-")][:_WORDS]
    unlisted = any(finding.rule == "run.subcommand" for finding in found)  # of a program that we know
    everything = any(_ALL.fullmatch(text) for text in texts)
    for word in operands:
        if (
            pattern("destruction.strong").fullmatch(word.text)
            or (everything and _DELETES.fullmatch(word.text))
            or (unlisted and re.fullmatch(r"(?:batch-?)?(?:delete|destroy)(?:-\w+)*", word.text))
        ):
            reason = f"is told to {word.text[:40]}, and what that affects is unknown"
            unknown = any(finding.rule == "run.unknown" for finding in found)
            level = Level.MEDIUM if unknown else None
            walker.add("destroy", [word], invocation.place, level=level, reason=reason, rule="destroy.named")
            return
