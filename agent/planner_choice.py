"""Which planner a name stands for, built when it is first asked."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import structs

from agent.config.load import Loaded
from agent.protocol.errors import ConfigError, CoreError, NotFound
from agent.protocol.ports import DeltaHandler, Planner, Provider, Redactor
from agent.protocol.replies import PlannerReply
from agent.protocol.requests import PlannerRequest

if TYPE_CHECKING:
    from agent.planner.cascade import Stage
    from agent.planner.offline.remembered import RememberedCommands
    from agent.providers.catalog import Catalog, ProviderEntry
    from agent.providers.local.provider import LocalModel

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_AUTO_ORDER = ("openrouter", "anthropic", "openai")
_SMALL_REPLY = 512  # tokens: the longest reply that its schema lets a small model give


def is_loopback(url: str) -> bool:
    """Whether a URL is of this machine."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError:
        return False


class LazyPlanner:
    """A planner whose parts are imported and built at its first use, so that a prompt can appear before that.

    `given` is the model as it was asked for, where `model` is its name for people.
    """

    def __init__(self, name: str, model: str, choice: PlannerChoice, *, given: str | None = None) -> None:
        self.name = name
        self.model = model
        self._given = model if given is None else given
        self._choice = choice
        self._planner: Planner | None = None

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        return await self.plan_telling(request, on_delta, say_aside)

    async def plan_telling(
        self, request: PlannerRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> PlannerReply:
        """The same; `tell` says a line to the person before something is loaded, or leaves this machine."""
        planner = self.built()
        telling = getattr(planner, "plan_telling", None)
        if telling is not None:
            reply: PlannerReply = await telling(request, on_delta, tell)
            return reply
        if announcement := self._choice.announcement(planner):
            await tell(announcement)
        return await planner.plan(request, on_delta)

    def built(self) -> Planner:
        """The real planner. Raises ConfigError where it cannot be built."""
        if self._planner is None:
            self._planner = self._choice.build(self.name, self._given)
        return self._planner


async def say_aside(text: str) -> None:
    """A line beside the output, for callers that have no better place."""
    from agent.emitters.console import complain
    from agent.emitters.paint import prose

    complain(f"agent-shell: {prose(text)}")


class PlannerChoice:
    """Names to planners: `auto`, `offline`, `local` (a GGUF file), `cascade`, `scripted:FILE`, and every entry of the catalogue.

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
        self._of_planner: dict[int, Provider] = {}

    def make(self, name: str | None, model: str | None) -> Planner:
        """A planner for `name` (None: as configured) and `model` (None: its default). Raises NotFound, ConfigError."""
        settings = self._loaded.settings
        if name == "cascade" or (name in (None, "", "auto") and not model and self._cascades()):
            stages = self._stages()
            self._last = LazyPlanner("cascade", " → ".join(stage.name for stage in stages), self)
            return self._last
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
        elif wanted == "local":
            from agent.providers.local.provider import model_name

            self._last = LazyPlanner(wanted, model_name(chosen or "model"), self, given=chosen or "")
        else:
            entry = self._entry(wanted)
            self._last = LazyPlanner(entry.name, chosen or entry.default_model, self)
        return self._last

    def plan_with(self, planner: str, model: str) -> tuple[str, bool]:
        """Take these for what is configured: `auto` means them from now on, and `local` and `remote` of a cascade.

        Returns what to plan with now ("ollama:qwen", "cascade:"), and whether what it is told stays on this machine. Raises NotFound,
        ConfigError, and then everything is as before.
        """
        before = self._loaded
        settings = structs.replace(before.settings, planner=planner, model=model or None)
        origins = {name: origin for name, origin in before.origins.items() if name not in ("planner", "model")}
        self._loaded = structs.replace(before, settings=settings, origins=origins)
        try:
            made = self.make(None, None)
        except CoreError:
            self._loaded = before
            raise
        return "cascade:" if made.name == "cascade" else f"{planner}:{model}", self.stays_here(made)

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
        if name == "cascade":
            from agent.planner.cascade import CascadePlanner

            return CascadePlanner(self._stages(), tell=say_aside)
        codec, schema, here, context = "mode-json", False, False, self._loaded.settings.context_tokens
        provider: Provider
        if name.startswith("scripted:"):
            from agent.providers.scripted import Scripted

            provider = Scripted.from_file(name.partition(":")[2])
        elif name == "local":
            held = self._held(model)
            provider, schema, here, context = held, True, True, held.context
            model = held.model.parameters or model
        else:
            entry = self._entry(name)
            codec, schema, here = entry.codec, entry.supports_schema, entry.is_local
            provider = self._provider(entry)
        self._providers.append(provider)
        return self._of_model(provider, model, codec=codec, schema=schema, here=here, context=context)

    def _of_model(
        self, provider: Provider, model: str, *, codec: str, schema: bool, here: bool, context: int
    ) -> Planner:
        """A planner that asks `model`; one of this machine that is known to be small gets instructions of its size."""
        from agent.planner.llm import LLMPlanner
        from agent.providers.model_sizes import HELPED, SMALL, parameters_of

        settings = self._loaded.settings
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
            redactor=self._redactor,
        )
        self._of_planner[id(planner)] = provider
        return planner

    def announcement(self, planner: Planner) -> str:
        """What is to be said before a planner that was built here is asked: which model is loaded first; "" for nothing."""
        provider = self._of_planner.get(id(planner))
        if provider is None or getattr(provider, "is_loaded", True):
            return ""
        return str(getattr(provider, "announcement", ""))

    def _held(self, model: str) -> LocalModel:
        """The provider for a GGUF file, by its path or by the name that `agent-shell models` shows. Raises ConfigError."""
        from agent.execution.companion import Companion
        from agent.providers.local.files import file_of
        from agent.providers.local.provider import WORKER, LocalModel
        from agent.providers.settings import HttpSettings

        settings = self._loaded.settings
        return LocalModel(
            file_of(model, self._loaded.environ, settings.models_dir or ""),
            context=settings.context_tokens,
            hold=lambda: Companion(WORKER),
            settings=HttpSettings(read_timeout=settings.timeout),
        )

    def _cascades(self) -> bool:
        """Whether planners are asked one after another; a planner of the command line is meant alone."""
        return bool(self._loaded.settings.cascade) and self._loaded.origins.get("planner") != "command line"

    def _stages(self) -> tuple[Stage, ...]:
        """The stages of the setting. Raises ConfigError, NotFound for a name that is none."""
        words = [word.strip() for word in (self._loaded.settings.cascade or "offline,local,remote").split(",")]
        return tuple(self._stage(word) for word in words if word)

    def _stage(self, word: str) -> Stage:
        from agent.planner.cascade import Stage

        name, model, missing = self._meant(word)
        if missing:
            return Stage(name=word, make=lambda: self.make("offline", None), leaves=False, missing=missing)
        last = self._last
        planner = self.make(name, model or None)
        self._last = last
        leaves = not self.stays_here(planner)
        entry = self._entry(name) if leaves else None
        if entry is not None and entry.key_required and not self._key(entry.key_variable):
            missing = f"no key in {entry.key_variable}"
        return Stage(
            name=planner.name,
            model=planner.model,
            make=lambda: planner,
            leaves=leaves,
            by_recipes=name == "offline",
            missing=missing,
        )

    def _meant(self, word: str) -> tuple[str, str, str]:
        """(planner, model, why it cannot be asked) of a word of the cascade: `local` and `remote` are what is configured."""
        settings = self._loaded.settings
        configured = settings.planner if settings.planner not in ("auto", "", "offline", "cascade") else ""
        if not configured and settings.base_url:
            configured = self._catalog().chosen("", settings.base_url).name
        if word == "cascade":
            raise ConfigError("a cascade cannot hold a cascade")
        if word not in ("local", "remote"):
            name, _, model = word.partition(":")
            return (word, "", "") if name == "scripted" else (name, model, "")
        if configured:
            here = configured == "local" or configured.startswith("scripted:") or self._is_here(configured)
            if here == (word == "local"):
                return configured, settings.model or "", ""
        if word == "local":
            return "", "", "no model of this machine is chosen; `agent-shell models use NAME` chooses one"
        name = next((name for name in _AUTO_ORDER if self._key(f"{name.upper()}_API_KEY")), "")
        return (name, "", "") if name else ("", "", "no provider has a key")

    def _is_here(self, name: str) -> bool:
        entry = self._entry(name)
        return is_loopback(self._base_url(entry) or entry.base_url)

    def stays_here(self, planner: Planner) -> bool:
        """Whether what a planner is told stays on this machine. Of one that was not made here nothing is known."""
        if not isinstance(planner, LazyPlanner):
            return False
        if planner.name in ("offline", "local") or planner.name.startswith("scripted:"):
            return True
        try:
            if planner.name == "cascade":
                return not any(stage.leaves for stage in self._stages())
            return self._is_here(planner.name)
        except (NotFound, ConfigError):
            return False

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
