"""Make the table of the states after each turn, from which an interview is taken up where its log is not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from agent.conversation.persistence.tables import NewId, UtcTime, json_type

revision = "210"
down_revision = "209"


def upgrade() -> None:
    op.create_table(
        "eng_state_checkpoints",
        sa.Column("id", sa.Uuid(), server_default=NewId(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("at_turn", sa.Integer(), nullable=False),
        sa.Column("state_snapshot", json_type(), nullable=False),
        sa.Column("context_tokens_at_checkpoint", sa.Integer()),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcTime(), server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name="pk_eng_state_checkpoints"),
    )
    op.create_index("idx_eng_checkpoints_session", "eng_state_checkpoints", ["session_id"])
    op.create_index("idx_eng_checkpoints_turn", "eng_state_checkpoints", ["at_turn"])


def downgrade() -> None:
    op.drop_table("eng_state_checkpoints")
