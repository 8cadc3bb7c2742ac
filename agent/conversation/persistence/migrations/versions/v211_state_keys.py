"""Give the states of sessions the keys that they are looked for by: engine, its version, what was extracted, handoffs in and out.

No column changes: a state keeps whatever else is in it.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from agent.conversation.persistence.tables import json_type

revision = "211"
down_revision = "210"

_RENAMED = {"engineId": "engine_id", "engineVersion": "engine_version", "extraction": "extraction_state"}
_ADDED = ("inbound_handoff_id", "outbound_handoff_id")
_SESSIONS = sa.table("elicitation_sessions", sa.column("id", sa.Uuid()), sa.column("state_json", json_type()))


def upgrade() -> None:
    for row, state in _states():
        known = {_RENAMED.get(key, key): value for key, value in state.items()}
        _write(row, {**dict.fromkeys(_ADDED), **known})


def downgrade() -> None:
    names = {new: old for old, new in _RENAMED.items()}
    for row, state in _states():
        _write(row, {names.get(key, key): value for key, value in state.items() if key not in _ADDED})


def _states() -> list[tuple[Any, dict[str, Any]]]:
    found = op.get_bind().execute(sa.select(_SESSIONS.c.id, _SESSIONS.c.state_json))
    return [(row, state) for row, state in found if isinstance(state, dict)]


def _write(row: Any, state: dict[str, Any]) -> None:
    op.get_bind().execute(sa.update(_SESSIONS).where(_SESSIONS.c.id == row).values(state_json=state))
