"""Make the log of what was understood: every value with its message, and the row that took its place."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from agent.conversation.persistence.tables import NewId, UtcTime, json_type

revision = "209"
down_revision = "208"


def upgrade() -> None:
    op.create_table(
        "eng_extractions_log",
        sa.Column("id", sa.Uuid(), server_default=NewId(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("engine_id", sa.String(100), nullable=False),
        sa.Column("field_path", sa.String(200), nullable=False),
        sa.Column("extracted_value", json_type()),
        sa.Column("confidence", sa.Numeric(5, 4, asdecimal=False)),
        sa.Column("extraction_type", sa.String(20)),
        sa.Column("reasoning", sa.Text()),
        sa.Column("superseded_by", sa.Uuid()),
        sa.Column("turn_number", sa.Integer()),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcTime(), server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name="pk_eng_extractions_log"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_eng_extractions_log_project_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["superseded_by"], ["eng_extractions_log.id"], name="fk_eng_extractions_log_superseded_by"
        ),
        sa.CheckConstraint(
            "extraction_type IN ('new', 'update', 'supersede')", name=op.f("ck_eng_extractions_log_extraction_type")
        ),
    )
    op.create_index("idx_eng_extractions_session", "eng_extractions_log", ["session_id"])
    op.create_index("idx_eng_extractions_project", "eng_extractions_log", ["project_id"])
    op.create_index("idx_eng_extractions_field", "eng_extractions_log", ["field_path"])


def downgrade() -> None:
    op.drop_table("eng_extractions_log")
