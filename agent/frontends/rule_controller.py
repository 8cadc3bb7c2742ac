"""Make policy rules: those of one session, and those in the person's own file. Each is in the log before it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent.policy.model import OF_SESSION, Policy, PolicyFile, SessionRules
from agent.protocol.events.known import Event
from agent.protocol.events.session import RuleAdded, RuleRemoved


@dataclass(frozen=True, eq=False)
class RuleController:
    """`path` is the person's own policy file, `rules` what counts for the session only.

    `policy(cwd)` is everything that counts for a command in that folder, with the place it is held against.
    `record` puts an event into the session's log and shows it; it raises RecordingError, and then nothing is changed.
    """

    path: str
    rules: SessionRules
    policy: Callable[[str], Policy]
    record: Callable[[Event], Awaitable[None]]

    def names(self, cwd: str) -> tuple[str, ...]:
        """Names of rules in force there, and so in use."""
        return tuple(rule.name for file in self.policy(cwd).files for rule in file.rules)

    async def add(self, text: str, parsed: PolicyFile, *, for_session: bool, date: str) -> str:
        """Keep the rules of `text`, which were `parsed` from it; "" or why that was not possible. Raises RecordingError."""
        from agent.policy.store import add_rules

        names, where = tuple(rule.name for rule in parsed.rules), OF_SESSION if for_session else self.path
        await self.record(RuleAdded(rules=names, where=where, text=text))
        if for_session:
            trouble = self.rules.add(parsed.rules)
        else:
            trouble = await asyncio.to_thread(add_rules, self.path, text, date=date)
        if trouble:
            await self.record(RuleRemoved(rules=names, where=where, reason=trouble))
        return trouble
