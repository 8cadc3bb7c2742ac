"""The gate as tools see it, with a person who says yes (or no) to everything, and the real performer."""

from __future__ import annotations

from collections.abc import Callable

from agent.execution.file_performer import FilePerformer
from agent.protocol.actions import FileAction, Performed
from agent.protocol.approvals import ApprovedFileAction, Consent, RatedAction
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import IoError
from agent.protocol.messages import CommandItem
from agent.risk.file_actions import rate_action


class Agreeing:
    """`asked` is every action that a tool wanted; `meanwhile` happens while the person thinks."""

    def __init__(self, agree: bool = True, meanwhile: Callable[[], object] | None = None) -> None:
        self.asked: list[FileAction] = []
        self._agree = agree
        self._meanwhile = meanwhile

    async def run(self, proposal: Proposal) -> CommandItem:
        raise AssertionError("no tool of ours runs commands")

    async def perform(self, action: FileAction, *, call_id: str = "") -> Performed:
        self.asked.append(action)
        performer = FilePerformer()
        seen = performer.look(action).seen
        if self._meanwhile:
            self._meanwhile()
        if not self._agree:
            return Performed(outcome="skipped")
        rated = RatedAction(action=action, report=rate_action(action, RiskContext()), seen=seen)
        consent = Consent(by="person", word_typed=True)
        try:
            performer.perform(ApprovedFileAction(command_id="c", rated=rated, consent=consent))
        except IoError as error:
            return Performed(outcome="failed", remark=error.message)
        return Performed(outcome="ran")
