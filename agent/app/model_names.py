"""List the models that can be named, for completion: what is known is given at once, and looked up in the background."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from agent.protocol.errors import CoreError

if TYPE_CHECKING:
    from agent.app.model_planners import ModelPlanners
    from agent.app.planner_settings import PlannerSettings

_FRESH = 300.0  # seconds for which a list counts
_MOST_WAITED = 15.0


class ModelNames:
    """Asks the provider that is configured, by its own names, and the servers and files of this machine, as PROVIDER:NAME.

    Nobody else is asked: what a person types leaves no trace at a provider that is not in use.
    """

    def __init__(self, configured: PlannerSettings, models: ModelPlanners) -> None:
        self._configured = configured
        self._models = models
        self._known: tuple[str, ...] = ()
        self._asked_at = -_FRESH
        self._asked_of = configured.loaded
        self._thread: threading.Thread | None = None

    def __call__(self) -> tuple[str, ...]:
        """List what is known by now. Never waits."""
        busy = self._thread is not None and self._thread.is_alive()
        other = self._asked_of is not self._configured.loaded  # another planner was chosen
        if not busy and (other or time.monotonic() - self._asked_at >= _FRESH):
            self._asked_at, self._asked_of = time.monotonic(), self._configured.loaded
            self._thread = threading.Thread(target=self._look, name="model names", daemon=True)
            self._thread.start()
        return self._known

    def _look(self) -> None:
        import asyncio

        try:
            self._known = asyncio.run(self._listed()) or self._known
        except Exception:  # a name that is not completed can still be typed
            self._asked_at = time.monotonic() - _FRESH + _MOST_WAITED  # and asked for again soon

    async def _listed(self) -> tuple[str, ...]:
        import asyncio

        from agent.providers.choosing import model_rows

        own, rows = await asyncio.gather(self._own(), model_rows(self._configured.loaded))
        here = (f"{row['provider']}:{row['name']}" for row in rows if row["kind"] != "remote")
        remote = (row["use"] for row in rows if row["kind"] == "remote")
        return tuple(name for name in dict.fromkeys((*own, *here, *remote)) if name.isprintable())

    async def _own(self) -> tuple[str, ...]:
        """List the names that the configured provider has; nothing where it does not answer, has no key, or there is none."""
        import asyncio

        try:
            entry = self._configured.entry(self._configured.configured_name())
            async with asyncio.timeout(_MOST_WAITED):
                return await self._models.listed(entry)
        except (CoreError, TimeoutError):
            return ()
