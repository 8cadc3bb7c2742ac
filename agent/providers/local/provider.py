"""Serve a model in a GGUF file as a provider: llama.cpp in a process of ours, started with the first question."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Protocol

import msgspec
from msgspec import structs

from agent.config.optional_parts import install_command
from agent.protocol.errors import ConfigError, ProviderError
from agent.protocol.replies import StreamPiece
from agent.protocol.requests import ProviderRequest
from agent.providers.faults import one_line
from agent.providers.local.gguf import Gguf, read_header
from agent.providers.local.memory import Need, free_memory, in_words, need_of, refuse_too_large
from agent.providers.openai_chat import OpenAIChat
from agent.providers.settings import Endpoint, HttpSettings, checked
from agent.struct_types import built

NAME = "local"
LIBRARY = "xllamacpp"
WORKER = "agent.providers.local.worker"
LOAD_SECONDS = 300.0


def install_hint() -> str:
    """Say how the library that runs models is added."""
    return f"install it with: {install_command('local')}"


class Holder(Protocol):
    """The process that holds the model (`agent.execution.process_tree.child_service.ChildService`)."""

    @property
    def is_running(self) -> bool: ...
    @property
    def last_words(self) -> str: ...
    async def start(self, orders: bytes) -> bytes: ...
    async def end(self) -> None: ...


class _Answer(msgspec.Struct):
    url: str = ""
    error: str = ""
    missing: bool = False


class LocalModel:
    """Implements `ports.Provider` over one GGUF file.

    `context` is how many tokens are wanted at most; `context` of the object is what it will have. `hold` makes the process that holds
    the model. Raises ConfigError for a file that is no model, one that does not fit into memory, and where the library is missing.
    """

    def __init__(
        self, file: str, *, context: int, hold: Callable[[], Holder], settings: HttpSettings, free: int | None = None
    ) -> None:
        self.model: Gguf = read_header(os.path.abspath(os.path.expanduser(file)))
        self._model = model_name(self.model.path)
        if not is_installed():
            raise ConfigError("the library that runs models in this program is not installed", hint=install_hint())
        self.need: Need = need_of(self.model, context, free=free_memory() if free is None else free)
        refuse_too_large(self.model, self.need)
        self._hold = hold
        self._settings = structs.replace(settings, proxy="none", max_retries=0)
        self._holder: Holder | None = None
        self._server: OpenAIChat | None = None
        self._loading = asyncio.Lock()

    @property
    def name(self) -> str:
        return NAME

    @property
    def context(self) -> int:
        return self.need.context

    @property
    def is_loaded(self) -> bool:
        return self._server is not None and self._holder is not None and self._holder.is_running

    @property
    def announcement(self) -> str:
        """Say in a line what will be loaded and what that takes."""
        memory = in_words(self.need.bytes)
        return f"loads {self._model} on this machine: about {memory} of memory, {self.context:,} tokens"

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamPiece, None]:
        """Pieces as they come, `Finish` last; loads the model before, if it is not. Raises ProviderError.

        Cancelling stops the model at its next token, and while it loads the loading.
        """
        named = structs.replace(request, model=self._model)
        for last in (False, True):
            server, started = await self._loaded(), False
            try:
                async with aclosing(server.stream(named)) as pieces:
                    async for piece in pieces:
                        started = True
                        yield piece
                return
            except ProviderError as error:
                if last or started or not error.transport:
                    raise
                await self.aclose()  # it cannot be reached: it has crashed since it was asked last

    async def list_models(self) -> tuple[str, ...]:
        return (self._model,)

    async def aclose(self) -> None:
        """End the process, whatever it does."""
        server, self._server = self._server, None
        holder, self._holder = self._holder, None
        if server is not None:
            await server.aclose()
        if holder is not None:
            with suppress(OSError):
                await holder.end()

    async def _loaded(self) -> OpenAIChat:
        async with self._loading:
            if self.is_loaded and self._server is not None:
                return self._server
            await self.aclose()  # of one that crashed
            key = secrets.token_hex(32)
            self._holder = holder = self._hold()
            orders = {
                "file": self.model.path,
                "name": self._model,
                "context": self.context,
                "threads": threads(),
                "key": key,
            }
            try:
                async with asyncio.timeout(LOAD_SECONDS):
                    said = await holder.start(msgspec.json.encode(orders))
                answer = msgspec.json.decode(said, type=built(_Answer)) if said else _Answer()
            except TimeoutError:
                raise ProviderError(NAME, f"the model was not loaded within {LOAD_SECONDS:.0f} s") from None
            except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ProviderError(NAME, f"the process for the model does not start: {one_line(str(error))}") from None
            if not answer.url.startswith("http://127.0.0.1:"):
                raise await self._failed(holder, answer)
            self._server = OpenAIChat(
                checked(Endpoint(name=NAME, base_url=answer.url, api_key=key), self._settings), self._settings
            )
            return self._server

    async def _failed(self, holder: Holder, answer: _Answer) -> ProviderError:
        await self.aclose()  # its last words are complete then
        if answer.missing:
            return ProviderError(NAME, one_line(answer.error), hint=install_hint())
        why = _reason(holder.last_words) or one_line(answer.error) or "its process ended"
        hint = "is the file complete? choose another with `agent-shell models use`"
        return ProviderError(NAME, f"{self._model} cannot be loaded: {why}", hint=hint)


def is_installed() -> bool:
    """Tell whether the library is there. It is not loaded into this process."""
    import importlib.util

    try:
        return importlib.util.find_spec(LIBRARY) is not None
    except (ImportError, ValueError):
        return False


def model_name(path: str) -> str:
    """The name of a model file for people and servers: without folder and ending, printable."""
    name = os.path.basename(path)
    return one_line(name[:-5] if name.lower().endswith(".gguf") else name, limit=80) or "model"


def threads() -> int:
    """As many as there are free processors: with more, llama.cpp's threads wait for each other and all becomes slower by far."""
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        cores = os.cpu_count() or 1
    try:
        busy = os.getloadavg()[0]
    except (AttributeError, OSError):
        busy = 0.0
    return max(1, cores - round(busy))


def _reason(words: str) -> str:
    """The line of the library's last words that says most: that of the loader, which comes first."""
    lines = [line.partition(" E ")[2] for line in words.splitlines() if " E " in line]
    return one_line(lines[0], limit=200) if lines else ""
