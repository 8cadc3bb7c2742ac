"""Build the planner that a name stands for, when it is first asked."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from agent.app.lazy_planner import LazyPlanner, say_aside
from agent.app.model_planners import ModelNames, ModelPlanners
from agent.app.planner_settings import PlannerSettings
from agent.config.load import Loaded
from agent.config.paths import config_dir
from agent.protocol.errors import ConfigError, CoreError, NotFound
from agent.protocol.ports import Planner, Redactor

if TYPE_CHECKING:
    from agent.app.planner_settings import ProcessVault
    from agent.planner.cascade import Stage
    from agent.planner.offline.remembered import RememberedCommands
    from agent.planner.own_recipes import OwnRecipes
    from agent.retrieval.building import Embed
    from agent.retrieval.manuals import Manuals


class PlannerChoice:
    """Names to planners: `auto`, `offline`, `local` (a GGUF file), `cascade`, `scripted:FILE`, and every entry of the catalogue.

    `remembered` is what the offline planner has of earlier goals; `manuals` those of programs here, None for planners that do without.
    """

    def __init__(
        self,
        loaded: Loaded,
        redactor: Redactor,
        *,
        remembered: Callable[[], RememberedCommands | None] = lambda: None,
        vault: ProcessVault | None = None,
        manuals: Callable[[], Manuals] | None = None,
    ) -> None:
        self._remembered = remembered
        self._redactor = redactor
        self._configured = PlannerSettings(loaded, vault)
        self._models = ModelPlanners(self._configured, manuals)
        self._last: LazyPlanner | None = None
        self._offline: Planner | None = None
        self._building = threading.Lock()

    @cached_property
    def model_names(self) -> ModelNames:
        return ModelNames(self._configured, self._models)

    def make(self, name: str | None, model: str | None, redactor: Redactor | None = None) -> Planner:
        """A planner for `name` (None: as configured) and `model` (None: its default). Raises NotFound, ConfigError.

        `redactor`: of the session whose prompts it sends (None: the process's).
        """
        redactor = redactor or self._redactor
        settings = self._configured.loaded.settings
        usual = name in (None, "", "auto")
        if name == "cascade" or (
            usual and (settings.planner == "cascade" or (not model and self._configured.cascades()))
        ):
            stages = self._stages(redactor)
            self._last = LazyPlanner("cascade", " → ".join(stage.name for stage in stages), self, redactor)
            return self._last
        wanted = self._configured.configured_name() if usual else str(name)
        as_configured = name is None or wanted == settings.planner
        chosen = model or (settings.model if as_configured else None)
        if wanted == "offline":
            if chosen:
                raise ConfigError(
                    "the offline planner has no models", hint="give a key or --base-url, or choose another --planner"
                )
            self._last = LazyPlanner("offline", "", self, redactor)
        elif wanted.startswith("scripted:"):
            self._last = LazyPlanner(wanted, chosen or "scripted", self, redactor)
        elif wanted == "local":
            from agent.providers.local.provider import model_name

            self._last = LazyPlanner(wanted, model_name(chosen or "model"), self, redactor, given=chosen or "")
        else:
            entry = self._configured.entry(wanted)
            self._last = LazyPlanner(entry.name, chosen or entry.default_model, self, redactor)
        return self._last

    def plan_with(self, planner: str, model: str) -> tuple[str, bool]:
        """Take these for what is configured: `auto` means them from now on, and `local` and `remote` of a cascade.

        Returns what to plan with now ("ollama:qwen", "cascade:"), and whether what it is told stays on this machine. Raises NotFound,
        ConfigError, and then everything is as before.
        """
        before = self._configured.loaded
        settings = structs.replace(before.settings, planner=planner, model=model or None)
        origins = {name: origin for name, origin in before.origins.items() if name not in ("planner", "model")}
        self._configured.loaded = structs.replace(before, settings=settings, origins=origins)
        try:
            made = self.make(None, None)
        except CoreError:
            self._configured.loaded = before
            raise
        return "cascade:" if made.name == "cascade" else f"{planner}:{model}", self.stays_here(made)

    def embedder(self, wanted: str) -> Embed:
        """Build what asks for embeddings ("ollama:nomic-embed-text"). Raises ConfigError, NotFound."""
        return self._models.embedder(wanted)

    def leaves(self, provider: str) -> bool:
        """Tell whether what a provider of the catalogue is told leaves this machine. Raises NotFound."""
        return not self._configured.is_here(provider)

    def build(self, name: str, model: str, redactor: Redactor) -> Planner:
        """The real planner behind a name; imports what it needs."""
        if name == "offline":
            return self._recipes()
        if name == "cascade":
            from agent.planner.cascade import CascadePlanner

            return CascadePlanner(self._stages(redactor), tell=say_aside)
        return self._models.build(name, model, redactor)

    def _recipes(self) -> Planner:
        """The offline planner: one for all sessions, since it keeps nothing of them and its data are large."""
        with self._building:
            if self._offline is None:
                from agent.planner.offline.planner import OfflinePlanner

                self._offline = OfflinePlanner(remembered=self._remembered, add=self._own.add_to)
            return self._offline

    def announcement(self, planner: Planner) -> str:
        """Say, before a planner that was built here is asked, which model is loaded first, which own recipes are wrong; else ""."""
        return self._own.problems() if planner is self._offline else self._models.announcement(planner)

    @cached_property
    def _own(self) -> OwnRecipes:
        from agent.planner.own_recipes import OwnRecipes

        return OwnRecipes(os.path.join(config_dir(self._configured.loaded.environ), "recipes"))

    def _stages(self, redactor: Redactor) -> tuple[Stage, ...]:
        """The stages of the setting. Raises ConfigError, NotFound for a name that is none."""
        words = [
            word.strip() for word in (self._configured.loaded.settings.cascade or "offline,local,remote").split(",")
        ]
        return tuple(self._stage(word, redactor) for word in words if word)

    def _stage(self, word: str, redactor: Redactor) -> Stage:
        from agent.planner.cascade import Stage

        name, model, missing = self._configured.meant(word)
        if missing:
            return Stage(name=word, make=lambda: self.make("offline", None, redactor), leaves=False, missing=missing)
        last = self._last
        planner = self.make(name, model or None, redactor)
        if isinstance(planner, LazyPlanner):
            planner.alone = False
        self._last = last
        leaves = not self.stays_here(planner)
        entry = self._configured.entry(name) if leaves else None
        if entry is not None and entry.key_required and not self._configured.loaded.has_key(entry.key_variable):
            missing = f"no key in {entry.key_variable}"
        return Stage(
            name=planner.name,
            model=planner.model,
            make=lambda: planner,
            leaves=leaves,
            by_recipes=name == "offline",
            missing=missing,
        )

    def stays_here(self, planner: Planner) -> bool:
        """Tell whether what a planner is told stays on this machine. Of one that was not made here nothing is known."""
        if not isinstance(planner, LazyPlanner):
            return False
        if planner.name in ("offline", "local") or planner.name.startswith("scripted:"):
            return True
        try:
            if planner.name == "cascade":
                return not any(stage.leaves for stage in self._stages(self._redactor))
            return self._configured.is_here(planner.name)
        except (NotFound, ConfigError):
            return False

    def needs_vault(self, planner: Planner) -> bool:
        """Tell whether a planner that was made here can be asked only when the vault is open, and it is not."""
        names = [stage.name for stage in self._stages(self._redactor)] if planner.name == "cascade" else [planner.name]
        return any(map(self._configured.needs_vault, names))

    def warm(self) -> None:
        """Build the planner that was asked for last, and read ahead what it can, so that the first goal does not wait for that."""
        if self._last is None:
            return
        with contextlib.suppress(Exception):  # whatever is wrong is said when a goal needs it
            getattr(self._last.built(), "warm", lambda: None)()
        self._models.preload()

    async def aclose(self) -> None:
        """Close what the planners opened."""
        await self._models.aclose()
