"""Know the engines of this process: the shipped ones, those of installed packages, and folders that a person names."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from agent.conversation.framework.registry import EngineRegistry
from agent.conversation.framework.task_handlers import HANDLERS
from agent.conversation.framework.techniques import library

DEFAULT = "project-discovery"


@cache
def registry() -> EngineRegistry:
    """Return the registry; each engine is read when it is first asked for."""
    return EngineRegistry(techniques=library(), handlers=HANDLERS)


def engine_id(named: str) -> str:
    """Return the id of what a person names: an engine, or the folder of one. Raises ConfigError, NotFound."""
    folder = Path(named).expanduser()
    known = registry()
    if named in known.ids() or not folder.is_dir():
        known.load(named)
        return named
    return known.add(folder.resolve())
