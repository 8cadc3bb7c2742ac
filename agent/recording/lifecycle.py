"""Fold what happens to one command (proposed, rated, decided, run, ended, taken back) into one value, which every reader of logs reads."""

from __future__ import annotations

from typing import Any, Self

from msgspec import Struct, structs

from agent.protocol.events.command import CommandProposed, RehearsalFinished
from agent.protocol.events.known import Event
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import CommandSummary, joined
from agent.protocol.records import event_type
from agent.protocol.rehearsals import Change

_SHOWN = 40
_VERBS = {
    "create": "create", "modify": "modify", "delete": "delete", "meta": "change mode, owner or time of",
    "rename": "rename", "type": "replace with another kind of file",
}  # fmt: skip


def rehearsal_words(event: RehearsalFinished) -> str:
    """Its exit code, what it would change, what it could not show. Not escaped: the text is data wherever it goes."""
    if event.outcome in ("unavailable", "failed") and not event.changes:
        return f"it could not be rehearsed: {event.reason}"
    lines = [f"exit code {event.exit_code} in the rehearsal"] if event.exit_code is not None else []
    if event.reason:
        lines.append(event.reason)
    lines += [f"would {_words(change)}" for change in event.changes[:_SHOWN]]
    left = len(event.changes) - _SHOWN + event.more if len(event.changes) > _SHOWN else event.more
    if left:
        lines.append(f"and {left:,} more changes")
    if not event.changes:
        lines.append("would change nothing")
    if event.shell and not event.reason:
        lines.append(f"would leave in the shell: {'; '.join(event.shell)}")
    lines += [f"not shown: {text}" for text in event.not_shown]
    return "\n".join(lines)


def _words(change: Change) -> str:
    if change.op == "rename":
        return f"rename {change.source} to {change.path}"
    count = change.before.entries if change.before is not None and change.op == "delete" else 0
    return f"{_VERBS[change.op]} {change.path}" + (f" and the {count:,} entries below it" if count else "")


_OUTCOMES = {"approved": "ran", "edited": "ran", "dry-run": "skipped"}


class Lifecycle(Struct, kw_only=True, omit_defaults=True):
    """One command as far as its events are read.

    `outcome`: ran, skipped, declined, refused, remark, regenerate, cancelled (also: nobody decided). `run`: the text that was run, or that
    was confirmed and not met. `began` is when it was proposed, `started` when it ran ("" if it did not). `level`: of its last rating.
    `decided`: nobody is asked any more; after a `conflict` (what was rehearsed could not be made real) somebody is.
    Output is for those who keep it: `printed` and `clear_output`.
    """

    command_id: str
    proposed: str
    origin: str = "planner"
    reason: str = ""
    call_id: str = ""
    began: str = ""
    cwd: str = ""
    cwd_after: str = ""
    level: str = ""
    decided: bool = False
    decision: str = ""
    by: str = ""
    word_typed: bool = False
    safety_off: bool = False
    outcome: str = "cancelled"
    run: str = ""
    remark: str = ""
    started: str = ""
    via: str = ""
    confine: str = "off"
    timeout: float | None = None
    conflict: bool = False
    finished: bool = False
    exit_code: int | None = None
    signal: int | None = None
    duration: float = 0.0
    timed_out: bool = False
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    job: int = 0
    refused: tuple[str, ...] = ()
    undo_id: str = ""

    @classmethod
    def of(cls, event: CommandProposed, time: str = "", **more: Any) -> Self:
        """A command that was just proposed; `more` are fields of the class beside. Its call is the one around where it does not tell it."""
        cwd = event.cwd
        more["call_id"] = event.call_id or more.get("call_id", "")
        return cls(
            command_id=event.command_id, proposed=event.command, origin=event.origin, reason=event.reason, began=time, cwd=cwd,
            cwd_after=cwd, **more,
        )  # fmt: skip

    def take(self, kind: str, event: Any, time: str = "") -> None:
        """Apply its next event, or line of a log, whose type is called `kind`."""
        match kind:
            case "command.output":
                self.printed(event)
            case "command.rated" if event.report is not None:
                self.level = str(event.report.level)
            case "command.confirmed":
                self.decided, self.conflict = True, False
                self.decision, self.by = event.decision, event.by
                self.word_typed, self.safety_off = event.word_typed, event.safety_off
                self.outcome = _OUTCOMES.get(event.decision, event.decision)
                self.run = event.command
                self.remark = "dry run" if event.decision == "dry-run" else event.remark
            case "command.started":
                if event.via != "rehearsal":  # else the output of the rehearsal is the command's
                    self.clear_output()
                self.run, self.started = event.command, time
                self.cwd = self.cwd_after = event.cwd or self.cwd
                self.via, self.confine, self.timeout = event.via, event.confine, event.timeout
                self.remark = ""
            case "rehearsal.started":
                self.clear_output()
            case "command.finished" if event.conflict:  # nothing was done, and the person is asked again
                self.decided, self.conflict = False, True
                self.outcome, self.run, self.started = "cancelled", "", ""
                self.via, self.confine, self.timeout = "", "off", None
                self.cwd_after = self.cwd
            case "command.finished":
                self._end(event, event.result)

    def printed(self, output: Any) -> None:
        """Keep what it printed, where that is wanted."""

    def clear_output(self) -> None:
        """Forget what it printed: it begins anew."""

    def _end(self, event: Any, result: Any) -> None:
        self.finished = True
        self.exit_code, self.undo_id = event.exit_code, event.undo_id
        self.signal, self.duration, self.job = result.signal, result.duration, result.job
        self.timed_out, self.interrupted = result.timed_out, result.interrupted
        self.cwd_after = result.cwd_after or self.cwd
        self.notes, self.refused = result.notes, result.refused

    @property
    def settled(self) -> bool:
        """Tell whether nothing more is to come."""
        return self.finished or (self.decided and self.outcome != "ran")

    @property
    def is_cut_off(self) -> bool:
        """Tell whether it ran, or was about to, and its ending is missing.

        In older logs a tool's wish to write a file was only decided on.
        """
        return not self.settled and self.outcome == "ran" and (bool(self.started) or self.origin != "tool")

    @property
    def edited(self) -> bool:
        return bool(self.run) and self.run != self.proposed


class HistoryCommand(Lifecycle):
    """A command as the planner is told of it: with all of its recorded output, and what a rehearsal showed if it did not run after that."""

    stdout: str = ""
    stderr: str = ""
    stdout_dropped: int = 0
    stderr_dropped: int = 0
    rehearsal: str = ""

    def apply(self, event: Event) -> None:
        """Apply its next event."""
        kind = event_type(event)
        if kind == "rehearsal.finished" and not event.preview:  # type: ignore[union-attr]  # by its type's name
            self.rehearsal = rehearsal_words(event)  # type: ignore[arg-type]  # by its type's name
        elif kind in (
            "command.rated",
            "command.started",
        ):  # a rehearsal before it was of another text or rating, or was made real
            self.rehearsal = ""
        self.take(kind, event)
        if kind == "command.confirmed" and self.outcome != "ran":  # what it printed in a rehearsal is not what it did
            self.clear_output()

    def printed(self, output: Any) -> None:
        setattr(self, output.stream, getattr(self, output.stream) + output.data)

    def clear_output(self) -> None:
        self.stdout = self.stderr = ""

    def _end(self, event: Any, result: Any) -> None:
        super()._end(event, result)
        for name in ("stdout", "stderr"):
            stream = getattr(result, name)
            setattr(self, name, joined(structs.replace(stream, head=getattr(self, name) or stream.head)))
            setattr(self, f"{name}_dropped", stream.dropped_bytes)

    @property
    def item(self) -> CommandItem:
        """The command in the history of the planner; one whose ending is missing counts as interrupted."""
        found = {name: getattr(self, name) for name in CommandItem.__struct_fields__}
        return CommandItem(**found | {"level": self.level or "low", "interrupted": self.interrupted or self.is_cut_off})


def summary_of(item: CommandItem) -> CommandSummary:
    """Return what a goal's summary keeps of one item of the history; the engine and the fold must agree on it."""
    names = CommandSummary.__struct_fields__
    found = {name: getattr(item, name) for name in names if name not in ("risk", "edited")}
    return CommandSummary(**found, risk=item.level, edited=bool(item.run) and item.run != item.proposed)
