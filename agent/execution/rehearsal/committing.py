"""From a held rehearsal to a committed one: the journal does it, after a look at whether anything changed meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from agent.execution.journal.records import Run
from agent.execution.journal.store import Journals
from agent.execution.overlay.model import Layer, Step
from agent.protocol.rehearsals import Committed


def commit(journals: Journals, layers: Sequence[Layer], steps: Sequence[Step], run: Run) -> Committed:
    """Make `steps` real; the journal first looks whether anything changed. Raises RehearsalConflict (nothing was done), CommitFailed."""
    return journals.commit(layers, steps, run)


def run_now(command: str, *, cwd: str, session: str, command_id: str) -> Run:
    """What the journal is told about the run. `command` must be redacted."""
    time = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return Run(command=command, cwd=cwd, time=time, session=session, command_id=command_id)
