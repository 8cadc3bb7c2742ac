"""Put what today's engine records in place of what a kept log holds: for `sessions replay --check --update`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec import structs

from agent.audit.replay.check import Checked
from agent.protocol.errors import InvalidState, IoError
from agent.protocol.events.goal import RunFinished, RunStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import CoreCommandFinished
from agent.protocol.records import Record, encode
from agent.recording.bounds import map_text
from agent.recording.chained_lines import NO_LINE, line_hash
from agent.recording.disk import PRIVATE_FILE


def rewritten(records: Iterable[Record], changed: Iterable[Checked]) -> bytes:
    """The log with the runs of `changed` replaced, numbered and chained anew. Ids and times stay as they were."""
    replaced = {each.case.records[0].run: each for each in changed}
    lines: list[bytes] = []
    prev = NO_LINE
    for seq, record in enumerate(_merged(records, replaced), 1):
        line = encode(structs.replace(record, seq=seq, prev=prev))
        prev = line_hash(line)
        lines.append(line)
    return b"".join(lines)


def replace_file(path: str, data: bytes) -> None:
    """`data` in place of the file, whole or not at all. Raises IoError."""
    draft = f"{path}.{os.getpid()}.tmp"
    try:
        mode = os.stat(path).st_mode & 0o777
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(fd)
                os.fchmod(fd, mode)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise IoError(f"cannot write {path}: {error.strerror or error}") from error


def _merged(records: Iterable[Record], replaced: dict[str, Checked]) -> Iterator[Record]:
    for record in records:
        found = replaced.get(record.run)
        if found is None or isinstance(record.event, CoreCommandFinished):
            yield record
        elif isinstance(record.event, RunStarted):
            yield from _new(found)


def _new(found: Checked) -> Iterator[Record]:
    """Today's records of a run under the ids of then. A core command of the run stays behind them, where it changes nothing."""
    if found.reason:
        raise InvalidState(expected="a goal that can be fed to its end", found=found.reason)
    then = found.case.records
    goal_then = next(record.goal_id for record in then if record.goal_id)
    goal_now = next(record.goal_id for record in found.now if record.goal_id)
    first = then[0].event
    assert isinstance(first, RunStarted)
    renamed = _Renamed(goal_now, goal_then)
    for record in found.now:
        yield structs.replace(
            record,
            session=then[0].session,
            run=then[0].run,
            goal_id=goal_then if record.goal_id else "",
            event=_event(record.event, renamed, first),
        )


def _event(event: Event, renamed: _Renamed, first: RunStarted) -> Event:
    if isinstance(event, RunStarted):
        return first
    if isinstance(event, RunFinished):
        goal = event.outcome.goal
        if goal is not None:
            commands = tuple(structs.replace(each, command_id=renamed.name(each.command_id)) for each in goal.commands)
            goal = structs.replace(goal, goal_id=renamed.name(goal.goal_id), commands=commands)
        outcome = structs.replace(event.outcome, request_id=first.request_id, session_id=first.session_id, goal=goal)
        return RunFinished(outcome=outcome)
    if "command_id" in getattr(event, "__struct_fields__", ()):
        return structs.replace(event, command_id=renamed.name(event.command_id))  # type: ignore[union-attr]  # it has one
    return map_text(event, lambda name, text: renamed.name(text) if name == "command_id" else text)


class _Renamed:
    """Ids of the goal of today, as they were then."""

    def __init__(self, now: str, then: str) -> None:
        self._now = now
        self._then = then

    def name(self, command_id: str) -> str:
        if command_id == self._now or command_id.startswith(f"{self._now}."):
            return self._then + command_id.removeprefix(self._now)
        return command_id
