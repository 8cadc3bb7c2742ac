"""Make the tables that the others refer to: projects, and the sessions of interviews with their state."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from agent.conversation.persistence.tables import NewId, UtcTime, json_type

revision = "207"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Uuid(), server_default=NewId(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
    )
    op.create_table(
        "elicitation_sessions",
        sa.Column("id", sa.Uuid(), server_default=NewId(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("engine_id", sa.String(100), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("state_json", json_type(), nullable=False),
        sa.Column("created_at", UtcTime(), server_default=sa.func.now()),
        sa.Column("updated_at", UtcTime(), server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name="pk_elicitation_sessions"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_elicitation_sessions_project_id", ondelete="CASCADE"
        ),
    )
    op.create_index("idx_elicitation_sessions_project", "elicitation_sessions", ["project_id"])
    op.create_index("idx_elicitation_sessions_name", "elicitation_sessions", ["name"])


def downgrade() -> None:
    op.drop_table("elicitation_sessions")
    op.drop_table("projects")
