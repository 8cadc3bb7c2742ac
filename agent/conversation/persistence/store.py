"""Keep interviews in the database: one transaction a turn, with the state, what was understood, and what was handed over.

The database follows the log of a session: a turn is added where the state before it is the last one that is kept; in any other case (turns
were missed, or gone back behind) the whole interview is written anew from the log.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import Struct

from agent.conversation.persistence.database import Database
from agent.conversation.persistence.tables import CHECKPOINTS, EXTRACTIONS, HANDOFFS, PROJECTS, SESSIONS, TASKS, uuid_of
from agent.protocol.events.interview import FieldExtracted
from agent.recording.interview_turns import KeptTurn, Leg

State = dict[str, Any]
_RENAMED = {"engineId": "engine_id", "engineVersion": "engine_version", "extraction": "extraction_state"}
_LONGEST_NAME, _LONGEST_PATH = 100, 200  # of engines and fields

# Statements of each turn: made once, since making them takes longer than doing them.
_KEY: sa.BindParameter[uuid.UUID] = sa.bindparam("key")
_TURN: sa.BindParameter[int] = sa.bindparam("turn")
_DIGEST = sa.select(SESSIONS.c.state_json["digest"].as_string()).where(SESSIONS.c.id == _KEY).with_for_update()
_NEW_STATE = sa.update(SESSIONS).where(SESSIONS.c.id == _KEY)
_SAME_TURN = sa.delete(CHECKPOINTS).where(CHECKPOINTS.c.session_id == _KEY, CHECKPOINTS.c.at_turn == _TURN)
_CHECKPOINT, _EXTRACTION = CHECKPOINTS.insert(), EXTRACTIONS.insert()


@dataclass(frozen=True, kw_only=True)
class Interview:
    """The interview of one session: its short id, the hash that its log begins with, and the name of what it is about."""

    name: str
    log: str
    project: str

    def leg_id(self, state: State) -> uuid.UUID:
        """Return the id of the row for the engine of a state: it has one for each time that it took its turn."""
        handoff = state.get("inboundHandoff") or {}
        about = handoff.get("metadata") or {}
        began = (state.get("engineId"), about.get("handoffDate"), len(about.get("chain") or ()))
        return uuid_of("session", "\n".join(map(str, (self.log, *began))))

    def handoff_id(self, handoff: State) -> uuid.UUID:
        about = handoff.get("metadata") or {}
        parts = (about.get("targetEngineId"), about.get("handoffDate"), len(about.get("chain") or ()))
        return uuid_of("handoff", "\n".join(map(str, (self.log, *parts))))


class Found(Struct, frozen=True, kw_only=True):
    """An interview in the database: the state after `turn`; `last`: the last turn there is."""

    id: uuid.UUID
    name: str
    turn: int
    last: int
    state: dict[str, Any]


class SqlStore:
    """Interviews in one database. Every method is a transaction, and raises IoError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, about: Interview, before: State, turn: KeptTurn, verification: State | None = None) -> bool:
        """Add the turn that led from `before` to its state; False where that is not the last state kept: nothing is written then."""
        key, inbound = about.leg_id(turn.state), _inbound_id(about, turn.state)
        with self._database.writing() as connection:
            known = _digest_of(connection, key)
            if known is None:
                if before.get("turnNumber", 0) or inbound is not None:  # what was handed over is in the log, too
                    return False
                _begin(connection, about, key, KeptTurn(turn=0, goal="", state=before))
            elif known != digest(before):
                return False
            _add(connection, about, key, turn)
            if inbound is not None and verification is not None:
                _verified(connection, inbound, verification)
            return True

    def replace(self, about: Interview, legs: Sequence[Leg], verification: State | None = None) -> None:
        """Keep the interview as its log tells it, in the place of what is kept. `verification`: that of the last handoff."""
        with self._database.writing() as connection:
            _remove(connection, [about.leg_id(leg.last.state) for leg in legs])
            for leg in legs:
                key, inbound = about.leg_id(leg.last.state), _inbound_id(about, leg.last.state)
                begun, *turns = leg.turns
                _begin(connection, about, key, begun)
                for turn in turns:
                    _add(connection, about, key, turn)
                for handoff in leg.handed:
                    _hand_over(connection, about, key, handoff)
                if inbound is not None:
                    checked = verification if leg is legs[-1] else None
                    _received(connection, inbound, key, checked or leg.last.state.get("handoffWatch") or {})

    def find(self, name: str, turn: int | None = None) -> Found | None:
        """Return the interview of that short id (or UUID) that was written last, as it was after `turn`; None where there is none."""
        with self._database.reading() as connection:
            row = connection.execute(_found(name)).first()
            if row is None:
                return None
            wanted = row.turn_number if turn is None else turn
            where = (CHECKPOINTS.c.session_id == row.id, CHECKPOINTS.c.at_turn == wanted)
            state = connection.execute(sa.select(CHECKPOINTS.c.state_snapshot).where(*where)).scalar()
            if state is None:
                return None
            return Found(id=row.id, name=row.name, turn=wanted, last=row.turn_number, state=state)

    def forget(self, sessions: Iterable[uuid.UUID]) -> None:
        """Remove what belongs to these ids, of interviews or of sessions with background work."""
        with self._database.writing() as connection:
            _remove(connection, list(sessions))
        self._database.leave_no_trace()


def digest(state: State) -> str:
    """Tell states apart: equal ones have equal digests, whether from memory or from a log."""
    return blake2b(msgspec.json.encode(state, order="deterministic"), digest_size=16).hexdigest()


def _found(name: str) -> sa.Select[Any]:
    try:
        wanted: Any = SESSIONS.c.id == uuid.UUID(name)
    except ValueError:
        wanted = SESSIONS.c.name == name
    columns = (SESSIONS.c.id, SESSIONS.c.name, SESSIONS.c.turn_number)
    return sa.select(*columns).where(wanted).order_by(SESSIONS.c.updated_at.desc()).limit(1)


def _digest_of(connection: sa.Connection, key: uuid.UUID) -> str | None:
    """Return the digest of the last state of a session, None where it is not kept. Others who write it wait."""
    found = connection.execute(_DIGEST, {"key": key}).first()
    return None if found is None else str(found[0])


def _begin(connection: sa.Connection, about: Interview, key: uuid.UUID, begun: KeptTurn) -> None:
    project = _project(begun.state)
    if connection.execute(sa.select(PROJECTS.c.id).where(PROJECTS.c.id == project)).first() is None:
        connection.execute(_unless_there(connection, PROJECTS).values(id=project, name=about.project))
    row = {"id": key, "project_id": project, "name": about.name[:200], "engine_id": _engine(begun.state)}
    state = {"turn_number": begun.turn, "state_json": _state_json(about, begun.state), "updated_at": datetime.now(UTC)}
    connection.execute(SESSIONS.insert().values(**row, **state))
    _checkpoint(connection, key, begun)


def _add(connection: sa.Connection, about: Interview, key: uuid.UUID, turn: KeptTurn) -> None:
    state = {"turn_number": turn.turn, "state_json": _state_json(about, turn.state), "updated_at": datetime.now(UTC)}
    connection.execute(_NEW_STATE, {"key": key, **state})
    connection.execute(_SAME_TURN, {"key": key, "turn": turn.turn})
    _checkpoint(connection, key, turn)
    _extractions(connection, about, key, turn)


def _checkpoint(connection: sa.Connection, key: uuid.UUID, turn: KeptTurn) -> None:
    tokens = (turn.state.get("context") or {}).get("tokens", 0)
    row = {"session_id": key, "at_turn": turn.turn, "context_tokens_at_checkpoint": tokens}
    connection.execute(_CHECKPOINT, {**row, "state_snapshot": turn.state})


def _extractions(connection: sa.Connection, about: Interview, key: uuid.UUID, turn: KeptTurn) -> None:
    """Add what was understood, and have the rows that it takes the place of name it."""
    for number, each in enumerate(turn.extractions):
        row = uuid_of("extraction", f"{key}\n{turn.turn}\n{number}\n{turn.goal}")
        before = _superseded(connection, key, each) if each.how != "new" else None
        connection.execute(
            _EXTRACTION,
            {
                "id": row,
                "session_id": key,
                "project_id": _project(turn.state),
                "message_id": uuid_of("message", f"{about.log}\n{turn.goal}"),
                "engine_id": each.engine[:_LONGEST_NAME],
                "field_path": each.path[:_LONGEST_PATH],
                "extracted_value": each.value,
                "confidence": min(max(each.confidence, 0.0), 1.0),
                "extraction_type": each.how,
                "reasoning": each.reasoning or None,
                "turn_number": turn.turn,
            },
        )
        if before is not None:
            connection.execute(sa.update(EXTRACTIONS).where(EXTRACTIONS.c.id == before).values(superseded_by=row))


def _superseded(connection: sa.Connection, key: uuid.UUID, by: FieldExtracted) -> uuid.UUID | None:
    """Return the row of the value that another one takes the place of: that value, or else the last one of the field."""
    table = EXTRACTIONS.c
    where = (table.session_id == key, table.field_path == by.path[:_LONGEST_PATH], table.superseded_by.is_(None))
    rows = connection.execute(
        sa.select(table.id, table.extracted_value).where(*where).order_by(table.turn_number.desc())
    ).all()
    old = by.value if by.replaced is None else by.replaced
    same = next((row.id for row in rows if row.extracted_value == old), None)
    return same if same is not None else rows[0].id if rows else None


def _hand_over(connection: sa.Connection, about: Interview, source: uuid.UUID, handoff: State) -> None:
    meta = handoff.get("metadata") or {}
    row = {
        "id": about.handoff_id(handoff),
        "project_id": _project({"projectId": meta.get("projectId")}),
        "source_engine_id": str(meta.get("sourceEngineId", ""))[:_LONGEST_NAME],
        "source_session_id": source,
        "target_engine_id": str(meta.get("targetEngineId", ""))[:_LONGEST_NAME],
        "handoff_payload": handoff,
        "transition_reason": meta.get("transitionReason"),
    }
    connection.execute(_unless_there(connection, HANDOFFS).values(**row))
    state = connection.execute(sa.select(SESSIONS.c.state_json).where(SESSIONS.c.id == source)).scalar()
    if state is not None:
        changed = {**state, "outbound_handoff_id": str(row["id"])}
        connection.execute(sa.update(SESSIONS).where(SESSIONS.c.id == source).values(state_json=changed))


def _received(connection: sa.Connection, handoff: uuid.UUID, target: uuid.UUID, verification: State) -> None:
    connection.execute(sa.update(HANDOFFS).where(HANDOFFS.c.id == handoff).values(target_session_id=target))
    _verified(connection, handoff, verification)


def _verified(connection: sa.Connection, handoff: uuid.UUID, verification: State) -> None:
    connection.execute(
        sa.update(HANDOFFS)
        .where(HANDOFFS.c.id == handoff)
        .values(verified=bool(verification.get("verified")), verification_result=verification)
    )


def _remove(connection: sa.Connection, sessions: list[uuid.UUID]) -> None:
    if not sessions:
        return
    rows = EXTRACTIONS.c.session_id.in_(sessions)
    connection.execute(sa.update(EXTRACTIONS).where(rows).values(superseded_by=None))
    connection.execute(sa.delete(EXTRACTIONS).where(rows))
    connection.execute(sa.delete(CHECKPOINTS).where(CHECKPOINTS.c.session_id.in_(sessions)))
    connection.execute(sa.delete(HANDOFFS).where(HANDOFFS.c.source_session_id.in_(sessions)))
    connection.execute(sa.delete(TASKS).where(TASKS.c.session_id.in_(sessions)))
    connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.id.in_(sessions)))


def _unless_there(connection: sa.Connection, table: sa.Table) -> Any:
    """An INSERT that leaves a row of the same id alone: another process may have been quicker."""
    from sqlalchemy.dialects import postgresql, sqlite

    made = postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)
    return made.on_conflict_do_nothing(index_elements=["id"])


def _inbound_id(about: Interview, state: State) -> uuid.UUID | None:
    handoff = state.get("inboundHandoff")
    return about.handoff_id(handoff) if handoff else None


def _project(state: State) -> uuid.UUID:
    known = str(state.get("projectId", ""))
    try:
        return uuid.UUID(known)
    except ValueError:
        return uuid_of("project", known)


def _engine(state: State) -> str:
    return str(state.get("engineId", ""))[:_LONGEST_NAME]


def _state_json(about: Interview, state: State) -> State:
    """The state with the keys that it is looked for by (S3-119), and what tells it apart."""
    inbound = _inbound_id(about, state)
    ours = {"inbound_handoff_id": str(inbound) if inbound else None, "outbound_handoff_id": None}
    return {**{_RENAMED.get(key, key): value for key, value in state.items()}, **ours, "digest": digest(state)}
