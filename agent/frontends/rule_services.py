"""What making and taking back policy rules needs, handed in by the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.policy.model import Policy
    from agent.policy.session_rules import SessionRules


@dataclass(frozen=True, eq=False, repr=False)
class RuleDesk:
    """`path` is the person's own policy file, `session_rules()` what counts for this session only.

    `policy(cwd)` is everything that counts for a command in that folder, with the place it is held against.
    `record(text)` writes a line to the session log; it raises RecordingError, and then nothing is changed.
    """

    path: str
    session_rules: Callable[[], SessionRules]
    policy: Callable[[str], Policy]
    record: Callable[[str], None]

    def names(self, cwd: str) -> tuple[str, ...]:
        """Names of rules in force there, and so in use."""
        return tuple(rule.name for file in self.policy(cwd).files for rule in file.rules)
