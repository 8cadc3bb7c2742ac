"""Make the table of what one engine handed to another, with the check of the first reply to it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from agent.conversation.persistence.tables import NewId, UtcTime, json_type

revision = "208"
down_revision = "207"


def upgrade() -> None:
    op.create_table(
        "eng_handoffs",
        sa.Column("id", sa.Uuid(), server_default=NewId(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("source_engine_id", sa.String(100), nullable=False),
        sa.Column("source_session_id", sa.Uuid(), nullable=False),
        sa.Column("target_engine_id", sa.String(100), nullable=False),
        sa.Column("target_session_id", sa.Uuid()),
        sa.Column("handoff_payload", json_type(), nullable=False),
        sa.Column("verified", sa.Boolean(), server_default=sa.false()),
        sa.Column("verification_result", json_type()),
        sa.Column("transition_reason", sa.Text()),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcTime(), server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name="pk_eng_handoffs"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_eng_handoffs_project_id", ondelete="CASCADE"),
    )
    op.create_index("idx_eng_handoffs_project", "eng_handoffs", ["project_id"])
    op.create_index("idx_eng_handoffs_source_session", "eng_handoffs", ["source_session_id"])
    op.create_index("idx_eng_handoffs_target_session", "eng_handoffs", ["target_session_id"])


def downgrade() -> None:
    op.drop_table("eng_handoffs")
