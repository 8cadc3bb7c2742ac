"""Find sessions by the name that they were given."""

from __future__ import annotations


def sessions_named(folder: str, state: str, name: str) -> tuple[str, ...]:
    """The ids of those in `folder`, what was written last first; none where this Python cannot ask. `state`: the state folder.

    Raises IoError.
    """
    if not name:
        return ()
    try:
        from agent.audit.queries.service import LogQueries
    except ImportError:  # without SQLite
        return ()
    with LogQueries(folder, state) as queries:
        return queries.named(name)
