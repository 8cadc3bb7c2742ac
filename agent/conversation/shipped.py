"""Know the engines of this process: the shipped ones, those of installed packages, and folders that a person names."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.framework.talk.techniques import library
from agent.conversation.registry.loading import FILES
from agent.conversation.registry.registry import EngineRegistry
from agent.protocol.errors import NotFound

DEFAULT = "project-discovery"


@cache
def registry() -> EngineRegistry:
    """Return the registry; each engine is read when it is first asked for."""
    return EngineRegistry(techniques=library(), handlers=HANDLERS)


def engine_id(named: str) -> str:
    """Return the id of what a person names: an engine, or the folder of one. Raises ConfigError, NotFound."""
    known, path = registry(), Path(named).expanduser()
    if named in known.ids():
        return named
    folder = path.parent if path.name in FILES else path
    if folder.is_dir():
        return known.add(folder.resolve())
    if os.sep in named:
        raise NotFound("folder of an engine", named)
    known.load(named)
    return named
