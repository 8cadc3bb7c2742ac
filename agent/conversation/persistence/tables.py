"""Define the tables of interviews, one definition for SQLite and PostgreSQL; the revisions in `migrations` make them.

Every row has a UUID and a tenant; what people see are the short ids of sessions (`name`). Times are aware here, and UTC in both databases.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

REVISIONS = ("207", "208", "209", "210", "211", "212")
"""Those of `migrations`, in order; the last one is what these tables are."""
VERSION_TABLE = "interviews_version"
"""Holds the revision of a database; a name of its own, since the database may be one of others, too."""

_NAMESPACE = uuid.UUID("0d3c3f0e-3a9d-5f0e-9a52-8c6f2b1f7d20")


def uuid_of(kind: str, text: str) -> uuid.UUID:
    """Return the same id for the same thing: a project's folder, a session's log, a message."""
    return uuid.uuid5(_NAMESPACE, f"{kind}\n{text}".encode("utf-8", "surrogatepass").decode("utf-8", "replace"))


LOCAL_TENANT = uuid_of("tenant", "local")
"""The owner of all rows where nobody signs in."""


class NewId(FunctionElement[uuid.UUID]):
    """A random id that the database makes itself."""

    type = sa.Uuid()
    inherit_cache = True


@compiles(NewId, "postgresql")
def _new_id_postgresql(element: NewId, compiler: Any, **options: Any) -> str:
    return "gen_random_uuid()"


@compiles(NewId, "sqlite")
def _new_id_sqlite(element: NewId, compiler: Any, **options: Any) -> str:
    return "(lower(hex(randomblob(16))))"


class UtcTime(sa.types.TypeDecorator[datetime]):
    """An aware time; SQLite knows no zones and keeps the naive one of UTC."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None or dialect.name != "sqlite":
            return value
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def json_type() -> sa.types.TypeEngine[Any]:
    """JSON as each database keeps it best; None is NULL."""
    return sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def id_column() -> sa.Column[uuid.UUID]:
    return sa.Column("id", sa.Uuid(), primary_key=True, default=uuid.uuid4, server_default=NewId())


def tenant_column() -> sa.Column[uuid.UUID]:
    return sa.Column("tenant_id", sa.Uuid(), nullable=False, default=LOCAL_TENANT)


def project_column() -> sa.Column[uuid.UUID]:
    return sa.Column("project_id", sa.Uuid(), sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False)


def time_column(name: str = "created_at") -> sa.Column[datetime]:
    return sa.Column(name, UtcTime(), server_default=sa.func.now())


METADATA = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)

PROJECTS = sa.Table(
    "projects", METADATA, id_column(), tenant_column(), sa.Column("name", sa.Text(), nullable=False), time_column()
)

SESSIONS = sa.Table(
    "elicitation_sessions",
    METADATA,
    id_column(),
    project_column(),
    tenant_column(),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("engine_id", sa.String(100), nullable=False),
    sa.Column("turn_number", sa.Integer(), nullable=False),
    sa.Column("state_json", json_type(), nullable=False),
    time_column(),
    time_column("updated_at"),
    sa.Index("idx_elicitation_sessions_project", "project_id"),
    sa.Index("idx_elicitation_sessions_name", "name"),
)

HANDOFFS = sa.Table(
    "eng_handoffs",
    METADATA,
    id_column(),
    project_column(),
    sa.Column("source_engine_id", sa.String(100), nullable=False),
    sa.Column("source_session_id", sa.Uuid(), nullable=False),
    sa.Column("target_engine_id", sa.String(100), nullable=False),
    sa.Column("target_session_id", sa.Uuid()),
    sa.Column("handoff_payload", json_type(), nullable=False),
    sa.Column("verified", sa.Boolean(), server_default=sa.false()),
    sa.Column("verification_result", json_type()),
    sa.Column("transition_reason", sa.Text()),
    tenant_column(),
    time_column(),
    sa.Index("idx_eng_handoffs_project", "project_id"),
    sa.Index("idx_eng_handoffs_source_session", "source_session_id"),
    sa.Index("idx_eng_handoffs_target_session", "target_session_id"),
)

EXTRACTIONS = sa.Table(
    "eng_extractions_log",
    METADATA,
    id_column(),
    sa.Column("session_id", sa.Uuid(), nullable=False),
    project_column(),
    sa.Column("message_id", sa.Uuid(), nullable=False),
    sa.Column("engine_id", sa.String(100), nullable=False),
    sa.Column("field_path", sa.String(200), nullable=False),
    sa.Column("extracted_value", json_type()),
    sa.Column("confidence", sa.Numeric(5, 4, asdecimal=False)),
    sa.Column("extraction_type", sa.String(20)),
    sa.Column("reasoning", sa.Text()),
    sa.Column("superseded_by", sa.Uuid(), sa.ForeignKey("eng_extractions_log.id")),
    sa.Column("turn_number", sa.Integer()),
    tenant_column(),
    time_column(),
    sa.CheckConstraint("extraction_type IN ('new', 'update', 'supersede')", name="extraction_type"),
    sa.Index("idx_eng_extractions_session", "session_id"),
    sa.Index("idx_eng_extractions_project", "project_id"),
    sa.Index("idx_eng_extractions_field", "field_path"),
)

CHECKPOINTS = sa.Table(
    "eng_state_checkpoints",
    METADATA,
    id_column(),
    sa.Column("session_id", sa.Uuid(), nullable=False),
    sa.Column("at_turn", sa.Integer(), nullable=False),
    sa.Column("state_snapshot", json_type(), nullable=False),
    sa.Column("context_tokens_at_checkpoint", sa.Integer()),
    tenant_column(),
    time_column(),
    sa.Index("idx_eng_checkpoints_session", "session_id"),
    sa.Index("idx_eng_checkpoints_turn", "at_turn"),
)

TASKS = sa.Table(
    "eng_tasks",
    METADATA,
    id_column(),
    project_column(),
    tenant_column(),
    sa.Column("session_id", sa.Uuid(), nullable=False),
    sa.Column("kind", sa.Text(), nullable=False),
    sa.Column("state_json", json_type()),
    sa.Column("status", sa.String(20), nullable=False, server_default="queued"),
    sa.Column("result", sa.Text()),
    sa.Column("worker", sa.String(100)),
    sa.Column("claims", sa.Integer(), nullable=False, server_default="0"),
    sa.Column("leased_until", sa.Double()),
    time_column(),
    time_column("updated_at"),
    sa.CheckConstraint("status IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="status"),
    sa.Index("idx_eng_tasks_project", "project_id", "status"),
    sa.Index("idx_eng_tasks_session", "session_id"),
)
"""`kind`: what is done, and by which versions. `claims`: how often it was taken, by which a worker knows that it is still its own.
`leased_until`: in seconds of the database's clock; whoever has it then no longer lives. `result` is why where it failed.
"""

TASK_STEPS = sa.Table(
    "eng_task_steps",
    METADATA,
    sa.Column("task_id", sa.Uuid(), sa.ForeignKey("eng_tasks.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("result", sa.Text(), nullable=False),
    time_column(),
    sa.PrimaryKeyConstraint("task_id", "name", name="pk_eng_task_steps"),
)
