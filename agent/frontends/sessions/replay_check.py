"""`agent-shell sessions replay --check`: recorded goals through today's engine. Nothing is executed; only `--update` writes."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from agent.config.private_file import replace_file
from agent.emitters.console import complain, print_rows, quiet_when_nobody_reads, say
from agent.emitters.paint import paint
from agent.emitters.streams import Sink, sink_of
from agent.frontends.session_naming import find_session, is_outside
from agent.protocol.errors import InvalidRequest, IoError
from agent.protocol.outcomes import ExitCode
from agent.protocol.records import Record
from agent.text.shown import shown_line, shown_name
from agent.text.sizes import counted

if TYPE_CHECKING:
    from agent.audit.replay.check import Checked
    from agent.audit.replay.compare import Difference
    from agent.frontends.services import Services
    from agent.recording.reader import SessionFile

_SHOWN = 40
"""Differences of one goal that are told to people; `--json` has them all."""
_MOST_UPDATED = 64 * 1024 * 1024
_STYLES = {"rating": "red", "wording": "dim", "protocol": "yellow"}


async def run_check(
    services: Services, wanted: list[str], *, goal: int = 0, update: bool = False, out: Sink | None = None
) -> int:
    """Check the sessions, logs and folders of `wanted` (none: the newest session). 0 where all that was fed gave the same events,
    1 where something differs or nothing could be fed. Raises CoreError.
    """
    if goal < 0:
        raise InvalidRequest("--check takes a goal by its number from 1")
    sessions = list(_chosen(services, wanted))
    if update and (not wanted or not all(is_outside(services, session) for session in sessions)):
        raise InvalidRequest(
            "--update rewrites logs that are kept as examples, never one of the session folder",
            hint="name files or folders that lie elsewhere",
        )
    if update and goal:
        raise InvalidRequest("--update rewrites whole logs", hint="leave --goal out")
    check = _Check(services, out or sink_of(sys.stdout))
    for session in sessions:
        await check.session(session, goal=goal, update=update)
    return check.ended(len(sessions))


def _chosen(services: Services, wanted: list[str]) -> Iterator[SessionFile]:
    for name in wanted or ["last"]:
        if not os.path.isdir(name):
            yield find_session(services, name)
            continue
        try:
            names = sorted(entry.name for entry in os.scandir(name) if entry.name.endswith(".jsonl"))
        except OSError as error:
            raise IoError(f"cannot read the folder {shown_name(name)}: {error.strerror or error}") from error
        seen: set[str] = set()
        for each in names:
            found = find_session(services, os.path.join(name, each))
            if found.path not in seen:
                seen.update((found.path, *found.paths))
                yield found
        if not names:
            raise InvalidRequest(f"there are no logs in {shown_name(name)}")


class _Check:
    """Tells what was found, as it is found."""

    def __init__(self, services: Services, out: Sink) -> None:
        self._services = services
        self._json = services.settings.json
        self._out = out
        self._counts: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._updated = 0

    async def session(self, session: SessionFile, *, goal: int, update: bool) -> None:
        from agent.audit.queries.stories import records
        from agent.audit.replay.check import Checked, check

        name = shown_name(os.path.basename(session.path))
        changed: list[Checked] = []
        seen = False
        async for found in check(self._services.engine.app, records(session, own=True), goal=goal):
            if not isinstance(found, Checked):
                complain(f"{name}: {shown_line(found.text)}", style="yellow")
                continue
            seen = True
            self._counts[found.outcome] += 1
            self._kinds.update(difference.kind for difference in found.differences)
            if found.outcome == "different":
                changed.append(found)
            with quiet_when_nobody_reads():
                self._tell(session, name, found)
        if not seen:
            complain(f"{name}: " + (f"there is no goal {goal}" if goal else "there is no goal in it"), style="yellow")
        if update and changed:
            self._update(session, changed)

    def _tell(self, session: SessionFile, name: str, found: Checked) -> None:
        if self._json:
            print_rows([_row(session, found)], json=True, out=self._out)
            return
        for note in found.notes:
            complain(f"{name}, goal {found.case.number}: {note}", style="dim")
        if found.outcome == "same":
            return
        color = self._out.color
        goal = found.case.goal
        words = shown_line(goal.goal, 80) if goal is not None else ""
        say(paint(f"{name} · goal {found.case.number} · {words} · {found.outcome}", "bold", color=color), self._out)
        for difference in found.differences[:_SHOWN]:
            say(_line(difference, color=color), self._out)
        if len(found.differences) > _SHOWN:
            say(f"  and {len(found.differences) - _SHOWN:,} more; --json tells all", self._out)
        if found.reason:
            before = "  from here on nothing can be compared: " if found.outcome == "different" else "  "
            say(paint(before + shown_line(found.reason), "yellow", color=color), self._out)

    def _update(self, session: SessionFile, changed: list[Checked]) -> None:
        """Write the log anew. Raises CoreError, and then it is as it was."""
        from agent.audit.queries.stories import records
        from agent.audit.replay.check import rewritten

        if session.size > _MOST_UPDATED or len(session.paths) > 1:
            raise InvalidRequest(f"{shown_name(session.path)} is too large to be kept as an example")
        lines = list(records(session, own=True))
        whole_lines = [line for line in lines if isinstance(line, Record)]
        if len(whole_lines) < len(lines):
            raise InvalidRequest(f"{shown_name(session.path)} has lines that cannot be read; they would be lost")
        whole = [found for found in changed if not found.reason]
        if whole:
            try:
                replace_file(session.path, rewritten(whole_lines, whole), os.stat(session.path).st_mode & 0o777)
            except OSError as error:
                raise IoError(f"cannot write {session.path}: {error.strerror or error}") from error
            self._updated += len(whole)
        for found in changed:
            if found.reason:
                complain(f"goal {found.case.number} was not rewritten: {shown_line(found.reason)}; record it anew")

    def ended(self, logs: int) -> int:
        same, different, unfed = (self._counts[name] for name in ("same", "different", "not checked"))
        if not self._json:
            kinds = ", ".join(f"{count:,} in {_NAMES[kind]}" for kind, count in sorted(self._kinds.items()))
            words = f"{same:,} the same"
            words += f", {different:,} different ({kinds or 'another way'})" if different else ""
            words += f", {unfed:,} not checked" if unfed else ""
            goals = f"{counted(self._counts.total(), 'goal')} in {counted(logs, 'log')}"
            with quiet_when_nobody_reads():
                say(f"{goals}: {words}" + (f"; {self._updated:,} rewritten" if self._updated else ""), self._out)
        if not same and not different:
            complain("agent-shell: nothing could be checked")
            return ExitCode.FAILED
        return ExitCode.FAILED if different > self._updated else ExitCode.DONE


_NAMES = {"rating": "ratings", "wording": "wording", "protocol": "the protocol"}


def _line(difference: Difference, *, color: bool) -> str:
    kind = paint(f"{difference.kind:<8}", _STYLES[difference.kind], color=color)
    where = f"  {kind}  {shown_line(f'{difference.event} {difference.which}', 100)}"
    if not difference.field:
        what = "was not there then, is now" if difference.then is None else "was there then, is not now"
        return f"{where}: {what}: {_value(difference.now if difference.then is None else difference.then)}"
    return f"{where}: {shown_line(difference.field, 120)}: {_value(difference.then)} then, {_value(difference.now)} now"


def _value(value: Any) -> str:
    """A value on one line, as JSON where it is no plain text."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return f"«{shown_line(value, 160)}»"
    return shown_line(msgspec.json.encode(value).decode(), 160)


def _row(session: SessionFile, found: Checked) -> dict[str, Any]:
    """The JSON shape of one checked goal; keys are a contract."""
    goal = found.case.goal
    row: dict[str, Any] = {
        "file": session.path,
        "session": found.case.records[0].session,
        "goal": found.case.number,
        "text": goal.goal if goal is not None else "",
        "outcome": found.outcome,
    }
    if found.reason:
        row["reason"] = found.reason
    if found.notes:
        row["notes"] = list(found.notes)
    if found.differences:
        row["differences"] = [
            {
                "kind": each.kind,
                "seq": found.case.records[min(each.place, len(found.case.records) - 1)].seq,
                **{key: msgspec.to_builtins(getattr(each, key)) for key in ("event", "which", "field", "then", "now")},
            }
            for each in found.differences
        ]
    return row
