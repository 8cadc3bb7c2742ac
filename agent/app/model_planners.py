"""Build planners that ask a model, with the provider that reaches it, when first asked for; list the models that can be named."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from agent.app.planner_settings import PlannerSettings
from agent.protocol.errors import ConfigError, CoreError
from agent.protocol.outcomes import Usage
from agent.protocol.ports import Planner, Provider, Redactor

if TYPE_CHECKING:
    from agent.providers.anthropic import Anthropic
    from agent.providers.catalog import ProviderEntry
    from agent.providers.local.provider import LocalModel
    from agent.providers.openai_chat import OpenAIChat
    from agent.retrieval.building import Embed
    from agent.retrieval.manuals import Manuals

_SMALL_REPLY = 512  # tokens: the longest reply that its schema lets a small model give


class ModelPlanners:
    """Builds them; what was opened for them is closed by `aclose`."""

    def __init__(self, settings: PlannerSettings, manuals: Callable[[], Manuals] | None = None) -> None:
        self._configured = settings
        self._manuals = manuals
        self._providers: list[Provider] = []
        self._of_planner: dict[int, Provider] = {}

    def build(self, name: str, model: str, redactor: Redactor) -> Planner:
        """The planner for a scripted file, a GGUF file or an entry of the catalogue. Raises ConfigError, NotFound."""
        codec, schema, here, context = "mode-json", False, False, self._configured.loaded.settings.context_tokens
        provider: Provider
        priced: Callable[[Usage, str], Usage] | None = None
        if name.startswith("scripted:"):
            from agent.providers.scripted import Scripted

            provider = Scripted.from_file(name.partition(":")[2])
        elif name == "local":
            held = self._held(model)
            provider, schema, here, context = held, True, True, held.context
            model = held.model.parameters or model
        else:
            entry = self._configured.entry(name)
            codec, schema, here = entry.codec, entry.supports_schema, entry.is_local
            provider = self._provider(entry)
            if self._configured.base_url(entry) in ("", entry.base_url):
                from agent.providers.catalog import load_prices

                prices = load_prices().get(entry.name)
                priced = prices.priced if prices else None
        self._providers.append(provider)
        return self._of_model(
            provider, model, redactor, codec=codec, schema=schema, here=here, context=context, priced=priced
        )

    def _of_model(
        self,
        provider: Provider,
        model: str,
        redactor: Redactor,
        *,
        codec: str,
        schema: bool,
        here: bool,
        context: int,
        priced: Callable[[Usage, str], Usage] | None,
    ) -> Planner:
        """A planner that asks `model`; one of this machine that is known to be small gets instructions of its size."""
        from agent.planner.llm import LLMPlanner
        from agent.providers.catalog import HELPED, SMALL, parameters_of

        settings = self._configured.loaded.settings
        size = parameters_of(model)
        small = here and size is not None and size <= SMALL
        helped = settings.examples == "on" or (
            settings.examples == "auto" and here and (size is None or size <= HELPED)
        )
        examples = None
        if helped:
            from agent.planner.few_shot import FewShot

            examples = FewShot().nearest
        planner = LLMPlanner(
            provider,
            model,
            codec=settings.codec if settings.codec != "auto" else "small-text" if small else codec,
            schema=schema,
            context_tokens=context,
            max_output_tokens=settings.max_output_tokens or (_SMALL_REPLY if small else None),
            temperature=0.0 if small and settings.temperature is None else settings.temperature,
            small=small,
            examples=examples,
            manuals=None if self._manuals is None else self._manuals(),
            redactor=redactor,
            seconds=settings.timeout,
            priced=priced,
        )
        self._of_planner[id(planner)] = provider
        return planner

    def announcement(self, planner: Planner) -> str:
        """Say, before a planner that was built here is asked, which model is loaded first; "" for nothing."""
        provider = self._of_planner.get(id(planner))
        if provider is None or getattr(provider, "is_loaded", True):
            return ""
        return str(getattr(provider, "announcement", ""))

    def preload(self) -> None:
        """Import what the first request needs, where any planner was built."""
        if self._providers:
            from agent.providers.http import preload

            preload()

    async def aclose(self) -> None:
        """Close every connection."""
        for provider in self._providers:
            await provider.aclose()
        self._providers.clear()

    async def listed(self, entry: ProviderEntry) -> tuple[str, ...]:
        """The models that a provider lists, asked over a connection of its own. Raises ProviderError, ConfigError."""
        provider = self._provider(entry)
        try:
            return await provider.list_models()
        finally:
            await provider.aclose()

    def embedder(self, wanted: str) -> Embed:
        """Build what asks a provider for embeddings with a model of its ("ollama:nomic-embed-text"). Raises ConfigError, NotFound."""
        name, _, model = wanted.partition(":")
        provider = self._provider(self._configured.entry(name))
        ask = getattr(provider, "embeddings", None)
        if ask is None:
            raise ConfigError(
                f"{name} gives no embeddings", hint="name a provider that does, as in ollama:nomic-embed-text"
            )
        self._providers.append(provider)
        return partial(ask, model)

    def _held(self, model: str) -> LocalModel:
        """The provider for a GGUF file, by its path or by the name that `agent-shell models` shows. Raises ConfigError."""
        from agent.execution.process_tree.child_service import ChildService
        from agent.providers.local.files import file_of
        from agent.providers.local.provider import WORKER, LocalModel
        from agent.providers.settings import TOTAL, HttpSettings

        settings = self._configured.loaded.settings
        return LocalModel(
            file_of(model, self._configured.loaded.environ, settings.models_dir or ""),
            context=settings.context_tokens,
            hold=lambda: ChildService(WORKER),
            settings=HttpSettings(read_timeout=settings.timeout, total_timeout=settings.timeout or TOTAL),
        )

    def _provider(self, entry: ProviderEntry) -> OpenAIChat | Anthropic:
        from agent.providers.catalog import build_provider
        from agent.providers.settings import TOTAL, HttpSettings

        settings = self._configured.loaded.settings
        if settings.api_key_env:  # so that a complaint about the key names the right variable
            entry = structs.replace(entry, key_variable=settings.api_key_env)
        http = HttpSettings(
            read_timeout=settings.timeout,
            total_timeout=settings.timeout or TOTAL,
            max_retries=settings.max_retries,
            max_retry_wait=settings.timeout or HttpSettings().max_retry_wait,
            proxy=self._configured.filled("proxy", settings.proxy or ""),
            ca_file=settings.ca_file or "",
        )
        key = self._configured.key(entry.key_variable)
        base_url = self._configured.filled("base_url", self._configured.base_url(entry))
        return build_provider(entry, base_url=base_url, api_key=key, http=http)


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
