"""Taking runs back: which one, what that would do, what was changed since, and then doing it. For `undo` and `:undo` alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from agent.emitters.rehearsal_text import change_lines, name, plain
from agent.protocol.errors import InvalidRequest, UndoConflict, UndoFailed
from agent.protocol.events import UndoFinished, UndoStarted
from agent.protocol.ports import UndoStore
from agent.protocol.rehearsals import Change, Conflict, UndoEntry, Undone
from agent.text.sizes import size_words

Choice = Literal["skip", "force", "stop"]
AskYes = Callable[[str], Awaitable[bool]]
AskChoice = Callable[[Conflict], Awaitable[Choice]]

LISTING = "agent-shell undo --list"
"""What shows the list, on a command line."""

_SHOWN_CHANGES = 30


@dataclass(frozen=True)
class UndoController:
    """`record` writes an event to the session's log and shows it; `tell` shows a text.

    `ask` puts a yes/no question, `choose` asks what to do about a file that was changed since; both None where nobody can be asked.
    `listing`: what is typed for the list.
    """

    store: UndoStore
    record: Callable[[UndoStarted | UndoFinished], Awaitable[None]]
    tell: Callable[[str], None]
    ask: AskYes | None = None
    choose: AskChoice | None = None
    color: bool = False
    listing: str = LISTING

    async def undo(self, wanted: str = "", *, sure: bool = False) -> Undone | None:
        """Take back the run `wanted` (default: the newest one that counts); None where the person does not want it after all.

        `sure`: it need not be asked for. Raises InvalidRequest, UndoConflict (nothing was changed), UndoFailed.
        """
        entry = find(await asyncio.to_thread(self.store.entries), wanted, listing=self.listing)
        changes = await asyncio.to_thread(self.store.changes, entry.undo_id)
        if not sure:
            self._show(entry, changes)
            self._show_changed(await asyncio.to_thread(self.store.conflicts, entry.undo_id))
            verb = "do it again" if entry.state == "undone" else "take it back"
            if self.ask is None:
                raise InvalidRequest("nobody is there to ask", hint="--yes takes it back without asking")
            if not await self.ask(f"{verb}?"):
                return None
        conflicts = await asyncio.to_thread(self.store.conflicts, entry.undo_id)
        skip, force = frozenset[str](), False
        if conflicts:
            if self.choose is None or sure:
                raise UndoConflict(
                    "files were changed since; nothing was taken back",
                    conflicts=conflicts,
                    hint="on a terminal, without --yes, each of them is asked about",
                )
            chosen = await self._choose(conflicts)
            if chosen is None:
                return None
            skip, force = chosen
        done = await self._taken_back(entry, skip, force=force)
        for note in done.notes:
            self.tell(name(note))
        return done

    async def _taken_back(self, entry: UndoEntry, skip: frozenset[str], *, force: bool) -> Undone:
        """Do it, recorded before it begins and when it has ended."""
        await self.record(UndoStarted(undo_id=entry.undo_id, command=entry.command, state=entry.state))
        reason = "it was interrupted"
        done: Undone | None = None
        try:
            done = await asyncio.to_thread(lambda: self.store.undo(entry.undo_id, skip=skip, force=force))
            return done
        except Exception as error:
            reason = str(error) or type(error).__name__
            raise
        finally:
            if done is None:
                await self.record(UndoFinished(undo_id=entry.undo_id, restored=0, state=entry.state, reason=reason))
            else:
                await self.record(
                    UndoFinished(undo_id=done.undo_id, restored=done.restored, skipped=done.skipped, state=done.state)
                )

    async def _choose(self, conflicts: tuple[Conflict, ...]) -> tuple[frozenset[str], bool] | None:
        """Which paths to leave as they are, and whether others are taken back anyway; None for stop."""
        assert self.choose is not None
        skip = set()
        force = False
        for conflict in conflicts:
            choice = await self.choose(conflict)
            if choice == "stop":
                return None
            if choice == "skip":
                skip.add(conflict.path)
            else:
                force = True
        return frozenset(skip), force

    def _show(self, entry: UndoEntry, changes: tuple[Change, ...]) -> None:
        what = "would be done again" if entry.state == "undone" else "would be taken back"
        ran = f"run {entry.time[:19].replace('T', ' ')} UTC in {name(entry.cwd)}"
        self.tell(f"{entry.undo_id}  {what}: {name(entry.command)}\n  {ran}")
        lines = change_lines(changes, cwd=entry.cwd, limit=_SHOWN_CHANGES)
        if lines:
            self.tell(plain(lines, color=self.color))
        if entry.note:
            self.tell(f"  {name(entry.note)}")

    def _show_changed(self, conflicts: tuple[Conflict, ...]) -> None:
        """What was changed since, before the question: whoever agrees should know of it."""
        if not conflicts:
            return
        after = "; each is asked about" if self.choose is not None else ""
        lines = [f"  {name(each.path)}: {name(each.reason)}" for each in conflicts[:_SHOWN_CHANGES]]
        if len(conflicts) > _SHOWN_CHANGES:
            lines.append(f"  and {len(conflicts) - _SHOWN_CHANGES:,} more")
        self.tell("\n".join([f"  changed since{after}:", *(f"  {line}" for line in lines)]))


def find(entries: tuple[UndoEntry, ...], wanted: str, *, listing: str = LISTING) -> UndoEntry:
    """The entry called `wanted` or by the beginning of its name; without one the newest that counts. Raises InvalidRequest, UndoFailed."""
    if not wanted:
        newest = next((entry for entry in entries if entry.state == "committed"), None)
        if newest is None:
            raise UndoFailed("there is nothing to take back", hint=_nothing(entries, listing))
        return newest
    exact = [entry for entry in entries if entry.undo_id == wanted]
    found = exact or [entry for entry in entries if entry.undo_id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidRequest(f"{name(wanted[:80])} is the beginning of {len(found)} ids; say more of it")
    from agent.text.fuzzy import most_alike

    near = most_alike(wanted, [entry.undo_id for entry in entries])
    hint = f"did you mean {near[0]}?" if near else f"`{listing}` shows them"
    raise InvalidRequest(f"no run that can be taken back is called {name(wanted[:80])}", hint=hint)


def rows(entries: tuple[UndoEntry, ...]) -> list[dict[str, Any]]:
    """Entries as rows of a report, newest first."""
    return [
        {
            "id": entry.undo_id,
            "time": entry.time,
            "state": entry.state,
            "kind": entry.kind,
            "changes": entry.changes,
            "held_bytes": entry.held_bytes,
            "command": entry.command,
            "cwd": entry.cwd,
            "session": entry.session,
            "note": entry.note,
        }
        for entry in entries
    ]


def list_text(entries: tuple[UndoEntry, ...]) -> str:
    """The list for a prompt."""
    if not entries:
        return _nothing(entries)
    lines = []
    for entry in entries:
        count = "1 change" if entry.changes == 1 else f"{entry.changes:,} changes"
        when = f"{entry.time[:19].replace('T', ' ')} UTC"
        held = size_words(entry.held_bytes)
        lines.append(f"{entry.undo_id}  {when}  {entry.state:<9}  {count}, {held}  {name(entry.command[:120])}")
        if entry.note:
            lines.append(f"    {name(entry.note)}")
    return "\n".join(lines)


def _nothing(entries: tuple[UndoEntry, ...], listing: str = LISTING) -> str:
    if entries:
        return f"everything was taken back already, or cannot be; `{listing}` shows it"
    return (
        "what can be taken back: rehearsals that were made real, and runs of which the files that they name were kept"
    )


def conflict_text(error: UndoConflict) -> str:
    """The conflicts, one a line, for people."""
    return "\n".join(f"  {name(conflict.path)}: {name(conflict.reason)}" for conflict in error.conflicts)
