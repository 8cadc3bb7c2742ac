"""Preview what stands at a confirmation: rehearse it unasked, show it, and hold it until somebody decides. Nothing is made real here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakSet

from agent.gate.preview_words import preview_line
from agent.gate.rating import Rater
from agent.gate.rehearsal_runs import Rehearsals, Rehearsed
from agent.gate.verdicts import Rated
from agent.policy.confining import beyond
from agent.policy.rehearsable import is_previewable, stays_home
from agent.protocol.approvals import ApprovedRehearsal, Consent
from agent.protocol.confirmations import Proposal
from agent.protocol.errors import RehearsalUnavailable
from agent.protocol.execution import Rehearser
from agent.protocol.rehearsals import Preview
from agent.waiting import computed

SECONDS = 0.3
"""The longest that a prompt waits for its preview, and that a preview may take at all."""
_without: WeakSet[Rehearser] = WeakSet()


@dataclass
class Previews:
    """Those of one proposal, by text: the one it came with, and the newest edit. Whoever makes one closes it.

    Raises RecordingError: what cannot be recorded is not run, not even here.
    """

    proposal: Proposal
    rehearsals: Rehearsals
    rater: Rater
    cwd: str
    _found: dict[str, tuple[Preview, Rehearsed] | None] = field(default_factory=dict)
    _first: str = ""
    _running: asyncio.Task[Rehearsed] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, rated: Rated) -> Preview | None:
        """Return what `rated` would do, None where that is not to be had in time."""
        async with self._lock:
            self._first = rated.command
            return await self._of(rated)

    async def of_text(self, text: str) -> Preview | None:
        """The same of an edited text, rated for this alone; cancelled where somebody types on."""
        async with self._lock:
            if text in self._found:
                return self._preview(text)
            rated = await self.rater.quietly(self.proposal, text)
            await self._forget_edits()
            return await self._of(rated)

    def seen(self, preview_id: str, command: str) -> Rehearsed | None:
        """Return what is behind the preview that stood on a screen, where that was of exactly this text and may be made real."""
        found = self._found.get(command)
        if not preview_id or found is None or found[0].preview_id != preview_id or not found[0].exact:
            return None
        return found[1]

    def is_inexact(self, preview_id: str, command: str) -> bool:
        """Tell whether it was shown of exactly this text, and that the command fails: then it runs, as it may not fail for real."""
        found = self._found.get(command)
        return found is not None and found[0].preview_id == preview_id and not found[0].exact

    async def close(self) -> None:
        """End what is under way, and throw away what was not made real."""
        await self._end_running()
        texts, self._found = self._found, {}
        for found in texts.values():
            await self._discard(found)

    async def _of(self, rated: Rated) -> Preview | None:
        await self._end_running()
        if rated.command not in self._found:
            self._found[rated.command] = await self._made(rated) if self._may(rated) else None
        return self._preview(rated.command)

    def _preview(self, text: str) -> Preview | None:
        found = self._found[text]
        return None if found is None else found[0]

    def _may(self, rated: Rated) -> bool:
        if self.rehearsals.rehearser in _without or rated.context is None or rated.verdict.action == "refuse":
            return False
        if self.proposal.unfilled(rated.command) or rated.confining.reason or rated.rights is not None:
            return False
        return is_previewable(rated.report, rated.context)

    async def _made(self, rated: Rated) -> tuple[Preview, Rehearsed] | None:
        approved = ApprovedRehearsal(
            command_id=self.proposal.command_id,
            command=rated.command,
            report=rated.report,
            consent=Consent(by="policy"),
            timeout=SECONDS,
            preview=True,
        )
        self._running = task = asyncio.ensure_future(self.rehearsals.preview(approved, self.cwd))
        try:
            done, _ = await asyncio.wait({task}, timeout=SECONDS)
        except asyncio.CancelledError:
            await self._end_running()
            raise
        if not done:  # it is ended without anybody waiting for that
            task.cancel()
            return None
        self._running = None
        rehearsed = task.result()
        if isinstance(rehearsed.failure, RehearsalUnavailable) and rehearsed.failure.lasting:
            _without.add(self.rehearsals.rehearser)
        rehearsal = rehearsed.rehearsal
        if rehearsal is None:
            return None
        assert rated.context is not None
        result = rehearsal.result
        whole = not (rehearsed.trouble or rehearsal.more or result.stdout.dropped_bytes or result.stderr.dropped_bytes)
        if not whole or not stays_home(rehearsal, rated.context) or beyond(rated.confining, rehearsal):
            await self.rehearsals.discard(rehearsal)
            return None
        line = await computed(partial(preview_line, rehearsal, rated.report))
        # What failed here may be possible for real: it is told, and then it runs.
        return Preview(line=line, rehearsal=rehearsal, exact=not result.exit_code), rehearsed

    async def _end_running(self) -> None:
        task, self._running = self._running, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled() and task.exception() is None and (rehearsal := task.result().rehearsal) is not None:
            await self.rehearsals.discard(rehearsal)  # it came to its end all the same

    async def _forget_edits(self) -> None:
        """Of the edits only the newest is held."""
        for text in [text for text in self._found if text != self._first]:
            await self._discard(self._found.pop(text))

    async def _discard(self, found: tuple[Preview, Rehearsed] | None) -> None:
        if found is not None and found[1].rehearsal is not None:
            await self.rehearsals.discard(found[1].rehearsal)
