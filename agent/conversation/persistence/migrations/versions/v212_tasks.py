"""Make the tables of background work, and of the steps of it that are done."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from agent.conversation.persistence.tables import NewId, UtcTime, json_type

revision = "212"
down_revision = "211"

_STATUS = "status IN ('queued', 'running', 'done', 'failed', 'cancelled')"


def upgrade() -> None:
    op.create_table(
        "eng_tasks",
        sa.Column("id", sa.Uuid(), server_default=NewId(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state_json", json_type()),
        sa.Column("status", sa.String(20), server_default="queued", nullable=False),
        sa.Column("result", sa.Text()),
        sa.Column("worker", sa.String(100)),
        sa.Column("claims", sa.Integer(), server_default="0", nullable=False),
        sa.Column("leased_until", sa.Double()),
        sa.Column("created_at", UtcTime(), server_default=sa.func.now()),
        sa.Column("updated_at", UtcTime(), server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name="pk_eng_tasks"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_eng_tasks_project_id", ondelete="CASCADE"),
        sa.CheckConstraint(_STATUS, name=op.f("ck_eng_tasks_status")),
    )
    op.create_index("idx_eng_tasks_project", "eng_tasks", ["project_id", "status"])
    op.create_index("idx_eng_tasks_session", "eng_tasks", ["session_id"])
    op.create_table(
        "eng_task_steps",
        sa.Column("task_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("task_id", "name", name="pk_eng_task_steps"),
        sa.ForeignKeyConstraint(["task_id"], ["eng_tasks.id"], name="fk_eng_task_steps_task_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    op.drop_table("eng_task_steps")
    op.drop_table("eng_tasks")
