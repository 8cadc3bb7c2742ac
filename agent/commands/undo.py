"""Show and ask about a run that is to be taken back: which one, what that would do, what was changed since. `undo` and `:undo`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agent.commands.context import AskLetter, AskWord, AskYes, CommandContext, DispatchOutcome, TurnARun
from agent.commands.definition import Definition
from agent.protocol.actions import TurnRun
from agent.protocol.confirmations import ConfirmationRequest
from agent.protocol.errors import InvalidRequest, UndoConflict, UndoFailed
from agent.protocol.events.command import undo_resumed
from agent.protocol.execution import UndoStore
from agent.protocol.rehearsals import Change, Conflict, UndoChoice, UndoEntry, Undone
from agent.text.shown import shown_name
from agent.text.sizes import counted, size_words
from agent.text.times import local_words

AskChoice = Callable[[Conflict], Awaitable[UndoChoice]]

LISTING = "agent-shell undo --list"
"""Words on a command line that show the list."""

_SHOWN_CONFLICTS = 30
_SHOWN_COMMAND = 500


async def _no_word(request: ConfirmationRequest) -> str | None:
    return None


@dataclass(frozen=True)
class UndoController:
    """Port `UndoPerson`. `turn` takes a run back through the gate of the session; `tell` shows a text.

    `ask` puts a yes/no question, `choose` asks what to do about a file that was changed since; both None where nobody can be asked.
    `word` asks for the word of what is high-risk. `changes_text` shows what would change. `listing`: what is typed
    for the list. `session`: whose newest run is meant where none is named. `why` tells why nothing is done (default: `tell`).
    """

    store: UndoStore
    turn: TurnARun
    tell: Callable[[str], None]
    ask: AskYes | None = None
    choice: AskChoice | None = None
    word: AskWord = _no_word
    changes_text: Callable[[Sequence[Change], str], str] = lambda changes, cwd: ""
    listing: str = LISTING
    session: str = ""
    why: Callable[[str], None] | None = None

    async def undo(self, wanted: str = "", *, sure: bool = False) -> Undone | None:
        """Take back the run `wanted` (default: the newest one that counts, of this session where it has one); None where the person
        does not want it after all.

        `sure`: it need not be asked for. Raises InvalidRequest, PolicyDenied, UndoConflict (nothing was changed), UndoFailed.
        """
        entry = find(await asyncio.to_thread(self.store.entries), wanted, listing=self.listing, session=self.session)
        if not sure and self.ask is None:
            raise InvalidRequest("nobody is there to ask", hint="--yes takes it back without asking")
        try:
            done = await self.turn(self.store, entry, self, sure)
        except UndoConflict as error:
            await self._show_changed(entry, error.conflicts)
            raise
        for note in done.notes if done is not None else ():
            self.tell(shown_name(note))
        return done

    @property
    def can_choose(self) -> bool:
        return self.choice is not None

    async def show(self, action: TurnRun, entry: UndoEntry, changed: tuple[Conflict, ...]) -> None:
        """Show what it would change first, then which run that was, then what was changed since: whoever agrees should know of it."""
        told = self.changes_text(action.changes, entry.cwd)
        if told:
            self.tell(told)
        elsewhere = ", in another session" if self.session and entry.session != self.session else ""
        ran = f"{entry.undo_id}, run {local_words(entry.time)} in {shown_name(entry.cwd)}{elsewhere}"
        self.tell(f"{ran}: {shown_name(entry.command)}")
        if entry.note:
            self.tell(f"  {shown_name(entry.note)}")
        await self._show_changed(entry, changed)

    async def agree(self, action: TurnRun) -> bool:
        return self.ask is not None and await self.ask("do it again?" if action.state == "undone" else "take it back?")

    async def choose(self, changed: Conflict) -> UndoChoice:
        return "stop" if self.choice is None else await self.choice(changed)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """Ask for the word; where it does not come, say what it was wanted for."""
        typed = await self.word(request)
        if typed != request.verdict.word:
            why = next((finding.reason for finding in request.report.findings), "") or "it is high-risk"
            beside = "" if self.ask is not None else ", for which --yes does not stand"
            told = f"the word `{shown_name(request.verdict.word)}` was not typed{beside}: {shown_name(why)}"
            (self.why or self.tell)(told)
        return typed

    async def _show_changed(self, entry: UndoEntry, conflicts: tuple[Conflict, ...]) -> None:
        """Show what was changed since, and of text what of that would be lost."""
        if not conflicts:
            return
        after = "; each is asked about" if self.can_choose else ""
        lines = [f"  {shown_name(each.path)}: {shown_name(each.reason)}" for each in conflicts[:_SHOWN_CONFLICTS]]
        if len(conflicts) > _SHOWN_CONFLICTS:
            lines.append(f"  and {len(conflicts) - _SHOWN_CONFLICTS:,} more")
        self.tell("\n".join([f"  changed since{after}:", *(f"  {line}" for line in lines)]))
        paths = {each.path for each in conflicts}
        different = await asyncio.to_thread(self.store.differences, entry.undo_id, paths)
        told = self.changes_text(different, entry.cwd) if different else ""
        if told:
            self.tell(f"  what would become of that (- is lost):\n{told}")


def find(entries: tuple[UndoEntry, ...], wanted: str, *, listing: str = LISTING, session: str = "") -> UndoEntry:
    """The entry called `wanted` or by the beginning of its name; without one the newest that counts, of `session` where it has one.
    Raises InvalidRequest, UndoFailed.
    """
    if not wanted:
        count = [entry for entry in entries if entry.state == "committed"]
        newest = next((entry for entry in count if session and entry.session == session), count[0] if count else None)
        if newest is None:
            raise UndoFailed("there is nothing to take back", hint=_nothing(entries, listing))
        return newest
    exact = [entry for entry in entries if entry.undo_id == wanted]
    found = exact or [entry for entry in entries if entry.undo_id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidRequest(f"{shown_name(wanted[:80])} is the beginning of {len(found)} ids; give more of it")
    from agent.text.fuzzy import most_alike

    near = most_alike(wanted, [entry.undo_id for entry in entries])
    hint = f"did you mean {near[0]}?" if near else f"`{listing}` shows them"
    raise InvalidRequest(f"no run that can be taken back is called {shown_name(wanted[:80])}", hint=hint)


_TOLD = ("time", "state", "kind", "changes", "held_bytes", "kept_bytes", "command", "cwd", "session", "note")


def rows(entries: tuple[UndoEntry, ...]) -> list[dict[str, Any]]:
    """Entries as rows of a report, newest first."""
    return [{"id": each.undo_id, **{name: getattr(each, name) for name in _TOLD}} for each in entries]


def list_text(entries: tuple[UndoEntry, ...]) -> str:
    """The list for people, newest first: commands in full, since what a name ends in may be what tells two of them apart."""
    if not entries:
        return _nothing(entries)
    lines = []
    for entry in entries:
        held = f"{counted(entry.changes, 'change')}, {size_words(entry.kept_bytes)}"
        command = shown_name(entry.command[:_SHOWN_COMMAND]) + ("…" if len(entry.command) > _SHOWN_COMMAND else "")
        lines.append(f"{entry.undo_id}  {local_words(entry.time):<12}  {entry.state:<9}  {held:<18}  {command}")
        if entry.note:
            lines.append(f"    {shown_name(entry.note)}")
    return "\n".join(lines)


def _nothing(entries: tuple[UndoEntry, ...], listing: str = LISTING) -> str:
    if entries:
        return f"everything was taken back already, or cannot be; `{listing}` shows it"
    return "what can be taken back: committed rehearsals, and runs whose files were kept"


_CHOICES: dict[str, UndoChoice] = {"s": "skip", "t": "force", "x": "stop", "": "stop"}


async def undo(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`:undo`, `:undo ID`, `:undo list`. Raises CoreError; nothing is taken back without a yes."""
    store, person = context.services.undo(), context.person
    entries = await asyncio.to_thread(store.entries)
    for resumed in store.take_resumed():
        await context.record(undo_resumed(resumed))
    if arguments == "list":
        await person.show(list_text(entries))
        return DispatchOutcome()
    if person.ask is None:
        raise InvalidRequest("nobody is there to ask", hint="`agent-shell undo --yes` takes it back without asking")
    controller = UndoController(
        store,
        context.turn_run,
        tell=context.tell,
        ask=person.ask,
        choice=choosing(person.choose),
        word=context.ask_word,
        changes_text=context.services.changes_text,
        listing=":undo list",
        session=context.session.session_id,
    )
    done = await controller.undo(arguments)
    if done is None:
        context.tell("nothing was taken back")
    return DispatchOutcome()


def choosing(ask: AskLetter | None) -> AskChoice | None:
    """The question about one changed file, None where nobody can be asked."""
    if ask is None:
        return None

    async def choose(conflict: Conflict) -> UndoChoice:
        about = f"{shown_name(conflict.path)}: {shown_name(conflict.reason)}"
        question = "s leave it as it is · t take it back anyway · x stop, take nothing back"
        return _CHOICES[await ask(about, question, "stx")]

    return choose


COMMANDS = (
    Definition(
        names=("undo",),
        arguments="[list|ID]",
        help="take back a run; the newest one, or another",
        examples=(":undo", ":undo list", ":undo 6k2m"),
        handle=undo,
        choices=("list",),
        line=(":undo, :alternatives", "take back a run; what else the goal may mean"),
    ),
)
