"""A real HTTP server on loopback that speaks two model dialects, well or badly, as each request is told to.

    with FakeLLMServer(Behaviour(pieces=("hel", "lo")), Behaviour(status=429)) as server:
        ...  # talk to server.base_url; then look at server.requests

Behaviours are used up in order, one a request; afterwards every request gets `Behaviour()`, which is a plain "ok".
Paths ending in /chat/completions are answered as chat completions, /messages as Anthropic messages, /models as a list of models,
/embeddings with `embed` of each text.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Ending = Literal["clean", "cut", "half-event", "reset", "hang", "stay-open"]


@dataclass(frozen=True)
class Call:
    """A tool call the fake model makes."""

    name: str
    arguments: str = "{}"
    id: str = "call_a"


@dataclass(frozen=True)
class Behaviour:
    """How to answer one request.

    `usage` is (input, output, cached). `ending`: clean; cut (the stream just ends, tidily); half-event (ends inside an event); reset (the
    connection breaks); hang (nothing more comes after the pieces); stay-open (complete, but the connection stays open). `write_size` cuts
    the body into writes of that many bytes. `rejects` are body fields answered with 400. `pace` seconds pass between pieces. `held`: the
    answer has begun, and goes on when that is set.
    `raw`: pieces of the answer as they stand on the wire, status line and all; the connection ends after them.
    """

    pieces: tuple[str, ...] = ("ok",)
    thoughts: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    finish: Literal["stop", "length", "tool_calls", "content_filter"] = "stop"
    usage: tuple[int, int, int] | None = (12, 5, 4)
    cost: float | None = None
    model: str = "fake-model"
    status: int = 200
    error: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = ""
    ending: Ending = "clean"
    hang_before_headers: bool = False
    newline: bytes = b"\n"
    write_size: int = 0
    rejects: tuple[str, ...] = ()
    pace: float = 0.0
    held: threading.Event | None = None
    raw: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class FakeLLMServer:
    """Runs in a thread of its own from `__enter__` to `__exit__`."""

    def __init__(
        self,
        *plan: Behaviour,
        models: tuple[str, ...] = ("fake-model",),
        owner: str = "fake",
        tls: ssl.SSLContext | None = None,
        embed: Callable[[str], list[float]] = lambda text: [1.0, 0.0],
    ):
        self._plan = list(plan)
        self._models = models
        self._owner = owner
        self._tls = tls
        self._embed = embed
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._writers: set[asyncio.StreamWriter] = set()
        self.requests: list[Seen] = []
        self.connections = 0
        self.port = 0
        self.client_gone = threading.Event()
        """Set when a client closes its connection while an answer is under way."""
        self.hanging = threading.Event()
        """Set when an answer has come to the point where nothing more is sent."""

    @property
    def base_url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}/v1"

    def add(self, *plan: Behaviour) -> None:
        self._plan.extend(plan)

    def __enter__(self) -> FakeLLMServer:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (seen := await _read_request(reader)) is not None:
                self.requests.append(seen)
                if not await self._answer(seen, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_gone.set()
        except asyncio.CancelledError:
            pass  # the server stops; asyncio would report a cancelled handler as a fault of ours
        finally:
            writer.close()

    async def _answer(self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection can be used again."""
        if seen.path.endswith("/embeddings") and not (
            self._plan and (self._plan[0].status != 200 or self._plan[0].body)
        ):
            rows = [{"index": at, "embedding": self._embed(text)} for at, text in enumerate(seen.body["input"])]
            await _send(writer, Behaviour(), json.dumps({"data": rows[::-1]}).encode(), "application/json")
            return True
        if seen.path.split("?")[0].endswith("/models") and not (self._plan and self._plan[0].status != 200):
            listed = {"object": "list", "data": [{"id": name, "owned_by": self._owner} for name in self._models]}
            await _send(writer, Behaviour(), json.dumps(listed).encode(), "application/json")
            return True
        behaviour = self._plan.pop(0) if self._plan else Behaviour()
        if behaviour.hang_before_headers:
            return await self._hang(reader)
        if behaviour.raw:
            async for data in _paced(iter(behaviour.raw), behaviour):
                writer.write(data)
                await writer.drain()
            return False
        rejected = [name for name in behaviour.rejects if name in (seen.body or {})]
        if rejected:
            message = f"Unsupported parameter: '{rejected[0]}' is not supported with this model."
            error = {"error": {"message": message, "type": "invalid_request_error", "code": 400}}
            await _send(writer, Behaviour(status=400), json.dumps(error).encode(), "application/json")
            self._plan.insert(0, behaviour)
            return True
        if behaviour.error is not None or behaviour.body is not None:
            body = behaviour.body if behaviour.body is not None else json.dumps(behaviour.error).encode()
            await _send(writer, behaviour, body, behaviour.content_type or "application/json")
            return True
        if behaviour.status != 200:
            await _send(
                writer, behaviour, b'{"error":{"message":"as told"}}', behaviour.content_type or "application/json"
            )
            return True
        anthropic = seen.path.endswith("/messages")
        if not seen.body.get("stream"):
            whole = _anthropic_whole(behaviour) if anthropic else _openai_whole(behaviour, seen.body)
            await _send(writer, behaviour, json.dumps(whole).encode(), "application/json")
            return True
        events = _anthropic_events(behaviour) if anthropic else _openai_events(behaviour, seen.body)
        return await self._stream(behaviour, events, reader, writer)

    async def _stream(
        self, behaviour: Behaviour, events: Iterator[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        extra = "".join(f"{name}: {value}\r\n" for name, value in behaviour.headers.items())
        writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-type: {behaviour.content_type or 'text/event-stream'}\r\n"
            f"{extra}transfer-encoding: chunked\r\n\r\n".encode()
        )
        async for data in _paced(events, behaviour):
            for part in _parts(data.replace(b"\n", behaviour.newline), behaviour.write_size):
                writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                await writer.drain()
        if behaviour.ending == "reset":
            await asyncio.sleep(0.02)  # what was written has to arrive first: a reset throws away what waits
            writer.transport.abort()
            return False
        if behaviour.ending in ("hang", "stay-open"):
            return await self._hang(reader)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _hang(self, reader: asyncio.StreamReader) -> bool:
        self.hanging.set()
        await reader.read(1)  # until the client goes away
        self.client_gone.set()
        return False


async def _read_request(reader: asyncio.StreamReader) -> Seen | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, path, headers, json.loads(data) if data else None)


async def _send(writer: asyncio.StreamWriter, behaviour: Behaviour, body: bytes, content_type: str) -> None:
    extra = "".join(f"{name}: {value}\r\n" for name, value in behaviour.headers.items())
    head = f"HTTP/1.1 {behaviour.status} As Told\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n{extra}\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


async def _paced(events: Iterator[bytes], behaviour: Behaviour) -> AsyncIterator[bytes]:
    for event in events:
        yield event
        if behaviour.pace:
            await asyncio.sleep(behaviour.pace)
        while behaviour.held is not None and not behaviour.held.is_set():
            await asyncio.sleep(0.01)


def _parts(data: bytes, size: int) -> Iterator[bytes]:
    step = size or len(data) or 1
    for start in range(0, len(data), step):
        yield data[start : start + step]


def _complete(behaviour: Behaviour) -> bool:
    return behaviour.ending in ("clean", "stay-open")


# --- chat completions ---


def _openai_usage(behaviour: Behaviour) -> dict[str, Any]:
    assert behaviour.usage is not None
    prompt, output, cached = behaviour.usage
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    if behaviour.cost is not None:
        usage["cost"] = behaviour.cost
    return usage


def _openai_events(behaviour: Behaviour, asked: dict[str, Any]) -> Iterator[bytes]:
    def event(**choice: Any) -> bytes:
        chunk = {
            "id": "c",
            "object": "chat.completion.chunk",
            "model": behaviour.model,
            "choices": [{"index": 0, **choice}],
        }
        return b"data: %s\n\n" % json.dumps(chunk, ensure_ascii=False).encode()

    yield b": keep-alive\n\n"
    yield event(delta={"role": "assistant", "content": None}, finish_reason=None)
    for thought in behaviour.thoughts:
        yield event(delta={"reasoning_content": thought}, finish_reason=None)
    for piece in behaviour.pieces:
        yield event(delta={"content": piece}, finish_reason=None)
    for index, call in enumerate(behaviour.calls):
        half = len(call.arguments) // 2
        head = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield event(delta={"tool_calls": [head]}, finish_reason=None)
        for part in (call.arguments[:half], call.arguments[half:]):
            yield event(delta={"tool_calls": [{"index": index, "function": {"arguments": part}}]}, finish_reason=None)
    if behaviour.ending == "half-event":
        yield b'data: {"choices":[{"delta":{"cont'
    if not _complete(behaviour):
        return
    yield event(delta={}, finish_reason=behaviour.finish)
    if behaviour.usage is not None and (asked.get("stream_options") or {}).get("include_usage"):
        chunk = {"model": behaviour.model, "choices": [], "usage": _openai_usage(behaviour)}
        yield b"data: %s\n\n" % json.dumps(chunk).encode()
    if behaviour.ending == "clean":
        yield b"data: [DONE]\n\n"


def _openai_whole(behaviour: Behaviour, asked: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in behaviour.calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": "".join(behaviour.pieces) or None}
    if calls:
        message["tool_calls"] = calls
    whole: dict[str, Any] = {
        "model": behaviour.model,
        "choices": [{"index": 0, "message": message, "finish_reason": behaviour.finish}],
    }
    if behaviour.usage is not None:
        whole["usage"] = _openai_usage(behaviour)
    return whole


# --- Anthropic messages ---

_STOP_REASON = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


def _anthropic_usage(behaviour: Behaviour) -> dict[str, Any]:
    prompt, output, cached = behaviour.usage or (0, 0, 0)
    return {"input_tokens": prompt - cached, "cache_read_input_tokens": cached, "output_tokens": output}


def _anthropic_events(behaviour: Behaviour) -> Iterator[bytes]:
    def event(kind: str, **fields: Any) -> bytes:
        return b"event: %s\ndata: %s\n\n" % (
            kind.encode(),
            json.dumps({"type": kind, **fields}, ensure_ascii=False).encode(),
        )

    usage = _anthropic_usage(behaviour)
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": behaviour.model,
        "content": [],
        "usage": {**usage, "output_tokens": 1},
    }
    yield event("message_start", message=message)
    yield event("ping")
    index = 0
    if behaviour.pieces:
        yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        for piece in behaviour.pieces:
            yield event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        yield event("content_block_stop", index=index)
        index += 1
    for call in behaviour.calls:
        yield event(
            "content_block_start",
            index=index,
            content_block={"type": "tool_use", "id": call.id, "name": call.name, "input": {}},
        )
        half = len(call.arguments) // 2
        for part in ("", call.arguments[:half], call.arguments[half:]):
            yield event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": part})
        yield event("content_block_stop", index=index)
        index += 1
    if behaviour.ending == "half-event":
        yield b'event: content_block_delta\ndata: {"type":"content_bl'
    if not _complete(behaviour):
        return
    delta = {"stop_reason": _STOP_REASON[behaviour.finish], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": usage["output_tokens"]})
    yield event("message_stop")


def _anthropic_whole(behaviour: Behaviour) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": "".join(behaviour.pieces)}] if behaviour.pieces else []
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in behaviour.calls
    ]
    return {
        "type": "message",
        "role": "assistant",
        "model": behaviour.model,
        "content": content,
        "stop_reason": _STOP_REASON[behaviour.finish],
        "usage": _anthropic_usage(behaviour),
    }
