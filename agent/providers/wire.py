"""Share what both wire formats need: text that is not quite Unicode, in and out, and the bounds and the end of one reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

import msgspec

from agent.protocol.errors import ProviderError
from agent.protocol.outcomes import Usage
from agent.protocol.replies import Finish, StreamPiece, TextDelta, ThoughtDelta, ToolCallDone
from agent.providers.faults import cut_off, malformed, one_line
from agent.providers.settings import Endpoint
from agent.struct_types import built
from agent.text.visible import well_formed

MAX_REPLY_CHARS = 8 * 1024 * 1024
MAX_TOOL_CALLS = 128
MAX_MODELS = 2000
FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


class OpenCall(msgspec.Struct):
    """A tool call under way: `json` are pieces of its arguments, `input` all of them where they came as a value."""

    index: int
    id: str = ""
    name: str = ""
    input: str = ""
    json: list[str] = msgspec.field(default_factory=list)


class Assembler:
    """Collects one reply: `feed` takes events and gives text as it comes, `end` gives tool calls and the Finish.

    `done`: nothing that matters follows. `silence`: seconds to wait for what may still follow, None for as long as it takes.
    """

    decoder: ClassVar[msgspec.json.Decoder[Any]]

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._asked_model = model
        self._model = ""
        self._size = 0
        self.done = False

    @property
    def finished(self) -> bool:
        """Tell whether the server said that the reply is complete (its usage may still follow)."""
        return self.done

    @property
    def silence(self) -> float | None:
        return None

    def feed(self, data: bytes) -> Iterator[StreamPiece]:
        """Take one event. Raises ProviderError for nonsense and for errors the server reports."""
        raise NotImplementedError

    def feed_whole(self, data: bytes) -> Iterator[StreamPiece]:
        """Take a reply that came in one piece."""
        raise NotImplementedError

    def _summary(self) -> tuple[Sequence[OpenCall], FinishReason, Usage]:
        """Tool calls, why the reply ended, and what it took."""
        raise NotImplementedError

    def end(self) -> Iterator[StreamPiece]:
        """The rest of the reply. Raises ProviderError unless the server said that it is complete."""
        if not self.finished:
            raise cut_off(self._endpoint)
        calls, reason, usage = self._summary()
        for number, call in enumerate(calls, 1):
            if not call.name:
                raise malformed(self._endpoint, "sent a tool call without a name")
            arguments = well_formed("".join(call.json) or call.input) or "{}"
            yield ToolCallDone(
                id=well_formed(call.id) or f"call_{number}", name=well_formed(call.name), arguments_json=arguments
            )
        yield Finish(reason=reason, usage=usage, model=well_formed(self._model[:200]))

    def _decoded(self, data: bytes, complaint: str) -> Any:
        try:
            return self.decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        try:  # half a surrogate pair, bytes that are no UTF-8: the lenient way round
            return msgspec.convert(loads(data), built(self.decoder.type))
        except (ValueError, RecursionError) as error:
            raise malformed(self._endpoint, complaint, data) from error

    def _text(self, text: str) -> Iterator[StreamPiece]:
        if text:
            self._grow(len(text))
            yield TextDelta(text=well_formed(text))

    def _thought(self, text: str) -> Iterator[StreamPiece]:
        if text:
            self._grow(len(text))
            yield ThoughtDelta(text=well_formed(text))

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_REPLY_CHARS:
            words = f"the reply is longer than {MAX_REPLY_CHARS:,} characters; stopped"
            raise ProviderError(self._endpoint.name, words)

    def _one_more(self, calls: int) -> None:
        if calls >= MAX_TOOL_CALLS:
            raise malformed(self._endpoint, f"asked for more than {MAX_TOOL_CALLS} tool calls at once")


def count(value: Any) -> int:
    """A token count as servers send it: an integer, or anything else for unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0


def mapping(value: Any) -> dict[str, Any]:
    """An object as servers send it; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def model_names(value: Any) -> tuple[str, ...] | None:
    """The names in a `{"data": [{"id": …}]}` document, None where `value` is no such thing."""
    entries = value.get("data") if isinstance(value, dict) else None
    if entries is None and isinstance(value, dict) and value.get("object") == "list":
        return ()  # how a server without any model puts it
    if not isinstance(entries, list):
        return None
    ids = (entry.get("id") for entry in entries[:MAX_MODELS] if isinstance(entry, dict))
    return tuple(sorted({name for raw in ids if isinstance(raw, str) and (name := one_line(raw, limit=200))}))


def loads(data: bytes) -> Any:
    """JSON, taking bytes that are no UTF-8 and halves of surrogate pairs. Raises ValueError."""
    import json

    return json.loads(data.decode("utf-8", "replace"), parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def json_or_text(data: bytes) -> Any:
    """The decoded JSON, or the text itself where it is none."""
    try:
        return loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def encode_body(body: dict[str, Any]) -> bytes:
    """The JSON bytes of a request; text from commands and files may hold lone surrogates, which are replaced."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        return msgspec.json.encode(_mended(body))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mended(item) for item in value]
    return value
