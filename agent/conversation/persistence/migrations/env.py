"""Run revisions over the connection that the caller opened, in the transaction that it began: all of them, or none."""

from __future__ import annotations

from alembic import context

from agent.conversation.persistence.tables import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite alters a table by making it anew
)
context.run_migrations()
