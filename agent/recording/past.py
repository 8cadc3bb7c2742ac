"""What a session that is gone on with knows of its past: a fold over its log, and over those that it was branched from."""

from __future__ import annotations

import os

from msgspec import Struct

from agent.protocol.messages import HistoryItem
from agent.protocol.outcomes import GoalSummary
from agent.protocol.plans import PlanLeft
from agent.recording.branching import Lineage, lineage, records
from agent.recording.fold import goals, history
from agent.recording.naming import parse_name, segment_paths
from agent.recording.plans import plan_left
from agent.recording.reader import SessionFile


class Past(Struct, frozen=True):
    """`history` is what the planner was told, `notes` say what of it is lost, `plan` was left before its end."""

    history: tuple[HistoryItem, ...] = ()
    goals: tuple[GoalSummary, ...] = ()
    notes: tuple[str, ...] = ()
    plan: PlanLeft | None = None


def past_of(path: str) -> Past:
    """The past of the session whose log begins in the file at `path`. Raises IoError."""
    line = lineage_of(path)
    return Past(history(records(line)), goals(records(line)), line.notes, plan_left(records(line)))


def lineage_of(path: str) -> Lineage:
    """What the session is made of. Raises IoError."""
    date, session_id = parse_name(os.path.basename(path)) or ("", "")
    session = SessionFile(
        path=path, session_id=session_id, date=date, size=0, modified=0.0, paths=tuple(segment_paths(path))
    )
    return lineage(os.path.dirname(path), session)
