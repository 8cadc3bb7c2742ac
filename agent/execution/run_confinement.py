"""Confine a run as a person chose, or hold it to the rights of its rating; what does that is loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from agent.execution.confine.plan import WriteFolders
from agent.execution.process_tree.helper import Helper
from agent.execution.results import CANNOT_RUN, failure
from agent.protocol.approvals import ApprovedCommand
from agent.protocol.confinement import Confinement, Confining
from agent.protocol.decisions import RiskReport
from agent.protocol.outcomes import ExecutionResult
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.execution.confine.confiner import Confined, Confiner
    from agent.execution.confine.lock.preparing import Holder


class RunConfinement:
    def __init__(self, helper: Helper, write_folders: WriteFolders) -> None:
        self._helper, self._write_folders = helper, write_folders

    @cached_property
    def _confiner(self) -> Confiner:
        from agent.execution.confine.confiner import Confiner

        return Confiner(self._helper, self._write_folders)

    @cached_property
    def _holder(self) -> Holder:
        from agent.execution.confine.lock.preparing import Holder

        return Holder(self._helper, self._write_folders)

    async def confining(self, mode: Confinement, report: RiskReport) -> Confining:
        return await in_thread(partial(self._confiner.confining, mode, report))

    async def unheld(self, report: RiskReport) -> str:
        holder = self._holder
        return holder.unheld(report) if holder.knows else await in_thread(partial(holder.unheld, report))

    async def prepare(self, command: ApprovedCommand, cwd: str) -> Confined | ExecutionResult | None:
        """The confinement for a run, None where it needs none; a result where it cannot be confined or held, and so must not run."""
        if command.confine == "off":
            why = await self.unheld(command.report) if command.rights is not None else ""
            text = f"agent-shell: not run, because it cannot be held: {why}"
            return failure(CANNOT_RUN, text, cwd=cwd) if why else None
        from agent.execution.confine.confiner import Unconfinable

        try:
            return await in_thread(partial(self._confiner.prepare, command.confine, command.workspace, command.report))
        except (Unconfinable, OSError) as error:
            text = f"agent-shell: not run, because it cannot be confined: {str(error).replace(chr(10), '; ')}"
            return failure(CANNOT_RUN, text, cwd=cwd)

    def sandbox(
        self, command: ApprovedCommand, confined: Confined | None, env: Mapping[str, str], files: Iterable[str]
    ) -> dict[str, Any] | None:
        """The sandbox of a launch. `files`: paths that our own lines in its shell write."""
        if confined is not None:
            return confined.plan.encoded()
        return None if command.rights is None else self._holder.plan(command.rights, env, files).encoded()
