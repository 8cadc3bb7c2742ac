"""Which planner a name stands for, built when it is first asked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import structs

from agent.config.load import Loaded
from agent.protocol.errors import ConfigError, NotFound
from agent.protocol.ports import DeltaHandler, Planner, Provider, Redactor
from agent.protocol.replies import PlannerReply
from agent.protocol.requests import PlannerRequest

if TYPE_CHECKING:
    from agent.planner.offline.remembered import RememberedCommands
    from agent.providers.catalog import Catalog, ProviderEntry

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_AUTO_ORDER = ("openrouter", "anthropic", "openai")


def is_loopback(url: str) -> bool:
    """Whether a URL is of this machine."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError:
        return False


class LazyPlanner:
    """A planner whose parts are imported and built at its first use, so that a prompt can appear before that."""

    def __init__(self, name: str, model: str, choice: PlannerChoice) -> None:
        self.name = name
        self.model = model
        self._choice = choice
        self._planner: Planner | None = None

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        return await self.built().plan(request, on_delta)

    def built(self) -> Planner:
        """The real planner. Raises ConfigError where it cannot be built."""
        if self._planner is None:
            self._planner = self._choice.build(self.name, self.model)
        return self._planner


class PlannerChoice:
    """Names to planners: `auto`, `offline`, `scripted:FILE`, and every entry of the provider catalogue.

    `remembered` is what the offline planner has of earlier goals.
    """

    def __init__(
        self, loaded: Loaded, redactor: Redactor, *, remembered: Callable[[], RememberedCommands | None] = lambda: None
    ) -> None:
        self._remembered = remembered
        self._loaded = loaded
        self._redactor = redactor
        self._providers: list[Provider] = []
        self._last: LazyPlanner | None = None

    def make(self, name: str | None, model: str | None) -> Planner:
        """A planner for `name` (None: as configured) and `model` (None: its default). Raises NotFound, ConfigError."""
        settings = self._loaded.settings
        wanted = self.configured_name() if name in (None, "", "auto") else str(name)
        as_configured = name is None or wanted == settings.planner
        chosen = model or (settings.model if as_configured else None)
        if wanted == "offline":
            if chosen:
                raise ConfigError(
                    "the offline planner has no models", hint="give a key or --base-url, or choose another --planner"
                )
            self._last = LazyPlanner("offline", "", self)
        elif wanted.startswith("scripted:"):
            self._last = LazyPlanner(wanted, chosen or "scripted", self)
        else:
            entry = self._entry(wanted)
            self._last = LazyPlanner(entry.name, chosen or entry.default_model, self)
        return self._last

    def configured_name(self) -> str:
        """What `auto` means here: an endpoint that was given, else the first provider with a key, else offline."""
        settings = self._loaded.settings
        if settings.planner not in ("auto", ""):
            return settings.planner
        if settings.base_url:
            return self._catalog().chosen("", settings.base_url).name
        if settings.api_key_env:
            return "openrouter"
        return next((name for name in _AUTO_ORDER if self._key(f"{name.upper()}_API_KEY")), "offline")

    def build(self, name: str, model: str) -> Planner:
        """The real planner behind a name; imports what it needs."""
        if name == "offline":
            from agent.planner.offline.planner import OfflinePlanner

            return OfflinePlanner(remembered=self._remembered)
        from agent.planner.llm import LLMPlanner

        settings = self._loaded.settings
        codec, schema = "mode-json", False
        provider: Provider
        if name.startswith("scripted:"):
            from agent.providers.scripted import Scripted

            provider = Scripted.from_file(name.partition(":")[2])
        else:
            entry = self._entry(name)
            codec, schema = entry.codec, entry.supports_schema
            provider = self._provider(entry)
        self._providers.append(provider)
        return LLMPlanner(
            provider,
            model,
            codec=codec if settings.codec == "auto" else settings.codec,
            schema=schema,
            context_tokens=settings.context_tokens,
            max_output_tokens=settings.max_output_tokens,
            temperature=settings.temperature,
            redactor=self._redactor,
        )

    def stays_here(self, planner: Planner) -> bool:
        """Whether what a planner is told stays on this machine. Of one that was not made here nothing is known."""
        if not isinstance(planner, LazyPlanner):
            return False
        if planner.name == "offline" or planner.name.startswith("scripted:"):
            return True
        try:
            entry = self._entry(planner.name)
        except (NotFound, ConfigError):
            return False
        return is_loopback(self._base_url(entry) or entry.base_url)

    def warm(self) -> None:
        """Build the planner that was asked for last, so that the first goal does not wait for imports."""
        if self._last is None:
            return
        with contextlib.suppress(Exception):  # whatever is wrong is said when a goal needs it
            self._last.built()
        if self._providers:
            from agent.providers.http import preload

            preload()

    async def aclose(self) -> None:
        for provider in self._providers:
            await provider.aclose()
        self._providers.clear()

    def _catalog(self) -> Catalog:
        from agent.providers.catalog import load_catalog

        return load_catalog()

    def _entry(self, name: str) -> ProviderEntry:
        return self._catalog().entry(name)

    def _provider(self, entry: ProviderEntry) -> Provider:
        from agent.providers.catalog import build_provider
        from agent.providers.settings import HttpSettings

        settings = self._loaded.settings
        if settings.api_key_env:  # so that a complaint about the key names the right variable
            entry = structs.replace(entry, key_variable=settings.api_key_env)
        http = HttpSettings(
            read_timeout=settings.timeout,
            max_retries=settings.max_retries,
            proxy=settings.proxy or "",
            ca_file=settings.ca_file or "",
        )
        key = self._key(entry.key_variable)
        return build_provider(entry, base_url=self._base_url(entry), api_key=key, http=http)

    def _base_url(self, entry: ProviderEntry) -> str:
        """A base URL goes with the planner it was configured for, never with another one chosen later."""
        given = self._loaded.settings.base_url
        own = given and entry.name == self._entry(self.configured_name()).name
        return given if own and given else ""

    def _key(self, variable: str) -> str:
        return (self._loaded.environ.get(variable) or self._loaded.secrets.get(variable, "")).strip()
