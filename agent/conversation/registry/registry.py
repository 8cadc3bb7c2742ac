"""Register the engines of a process: those that are shipped, those of installed packages, and folders that a person names."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.talk.techniques import library
from agent.conversation.registry.loading import FILES, Engine, load_engine
from agent.conversation.registry.validation import Validation, validate_engine_config
from agent.protocol.errors import ConfigError, NotFound
from agent.text.fuzzy import most_alike

GROUP = "agent_shell.interviews"
"""The group of entry points: an engine's id, and the package whose folder holds its file."""
SHIPPED = "agent.conversation.engines"
DEFAULT = "project-discovery"


class _Source(Struct, frozen=True):
    package: str
    folder: Path | None = None


class EngineRegistry:
    """Knows engines by id; each is read when it is asked for. A shipped one cannot be replaced."""

    def __init__(
        self,
        *,
        techniques: Collection[str],
        handlers: Collection[str],
        shipped: str = SHIPPED,
        installed: Collection[EntryPoint] | None = None,
    ) -> None:
        self._techniques = techniques
        self._handlers = handlers
        points = entry_points(group=GROUP) if installed is None else installed
        self._sources: dict[str, tuple[_Source, ...]] = {}
        for point in points:
            others = self._sources.get(point.name, ())
            self._sources[point.name] = tuple(dict.fromkeys((*others, _Source(point.value)), None))
        self._sources |= {name: (source,) for name, source in _shipped(shipped).items()}
        self._loaded: dict[str, Engine] = {}

    def ids(self) -> tuple[str, ...]:
        return tuple(sorted(self._sources))

    def add(self, folder: Path) -> str:
        """Register the engine of a folder, and return its id. Raises ConfigError, also where that id is another's."""
        engine = load_engine(folder)
        name = engine.config.engine_id
        known = self._loaded.get(name)
        if name in self._sources and (known is None or known.folder != folder):
            raise ConfigError(
                f"{folder}: engineId: there is another engine called {name!r}", hint="give it an id of its own"
            )
        self._sources[name] = (_Source("", folder),)
        self._loaded[name] = engine
        return name

    def load(self, engine_id: str) -> Engine:
        """Return an engine without validating it. Raises NotFound, ConfigError."""
        if engine_id not in self._loaded:
            self._loaded[engine_id] = self._load(engine_id)
        return self._loaded[engine_id]

    def configurations(self) -> dict[str, EngineConfiguration]:
        """Return those that can be read, by id; the others are told where they are asked for."""
        found = {}
        for each in self.ids():
            with suppress(ConfigError):
                found[each] = self.load(each).config
        return found

    def get(self, engine_id: str) -> Engine:
        """Return an engine that is valid. Raises NotFound, and ConfigError with all that is wrong with it."""
        engine = self.load(engine_id)
        if errors := self.validate(engine.config).errors:
            raise ConfigError(f"engine {engine_id} cannot be used: {'; '.join(errors)}")
        return engine

    def validate(self, config: EngineConfiguration) -> Validation:
        return validate_engine_config(
            config, engines=self._sources, techniques=self._techniques, handlers=self._handlers
        )

    def _load(self, engine_id: str) -> Engine:
        sources = self._sources.get(engine_id, ())
        if not sources:
            near = most_alike(engine_id, self._sources)
            hint = (
                f"did you mean {near[0]}?"
                if near
                else f"there are {', '.join(self.ids())}; name the folder of one of your own"
            )
            raise NotFound("engine", engine_id, hint=hint)
        if len(sources) > 1:
            packages = ", ".join(each.package for each in sources)
            raise ConfigError(f"engine {engine_id} is in several packages: {packages}; remove all but one")
        source = sources[0]
        engine = load_engine(source.folder or _folder(source.package), package=source.package)
        if engine.config.engine_id != engine_id:
            raise ConfigError(
                f"{engine.folder}: engineId is {engine.config.engine_id!r}, but {engine_id!r} is its name"
            )
        return engine


def _shipped(package: str) -> Mapping[str, _Source]:
    folder = _folder(package)
    names = sorted(each.parent.name for file in FILES for each in folder.glob(f"*/{file}"))
    return {name.replace("_", "-"): _Source(f"{package}.{name}", folder / name) for name in names}


def _folder(package: str) -> Path:
    """Find the folder of a package without running it. Raises ConfigError."""
    try:
        spec = find_spec(package)
    except (Exception, SystemExit):  # the packages around it are another's code
        spec = None
    places = list((spec.submodule_search_locations or ()) if spec else ())
    if not places:
        raise ConfigError(f"there is no package {package}")
    return Path(places[0])


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
