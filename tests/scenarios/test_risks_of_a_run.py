"""What can go wrong in a run of the real engine: a cancel inside a tool, a reader that leaves, macros in a circle, the spinner."""

from __future__ import annotations

import asyncio
import inspect
import os
import secrets
from pathlib import Path

import pytest

from agent.commands.registry import request_of
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.engine.plain_emitters import CollectingEmitter
from agent.protocol.errors import ClientDisconnected
from agent.protocol.events.command import CommandStarted
from agent.protocol.events.goal import ContinueTriggered, PlannerStarted, ToolStarted
from agent.protocol.events.session import AssistantDelta
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import GoalStatus, RunOutcome
from agent.protocol.records import Record, event_type
from agent.protocol.requests import Limits, RunRequest
from tests.scenarios.program import World, chat
from tests.support.engine_place import OPTIONS, Place, ask, call
from tests.support.painted_screen import PaintedScreen
from tests.support.processes import marked


class Cancelling(CollectingEmitter):
    """Cancels soon after an event of the kind has come."""

    def __init__(self, cancel: CancellationToken, kind: type) -> None:
        super().__init__()
        self._cancel, self._kind = cancel, kind

    async def emit(self, record: Record) -> None:
        await super().emit(record)
        if isinstance(record.event, self._kind):
            asyncio.get_running_loop().call_later(0.2, self._cancel.cancel, "interrupted")


def descriptors() -> set[str]:
    """What is open, without what an interpreter opens for itself."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
        except OSError:
            continue
    return {each for each in found if "/proc/" not in each}


@pytest.mark.few(1)
@pytest.mark.covers("S1-61", "S1-72", "S4-25")
@pytest.mark.parametrize("command", ["sleep 300 & sleep 300", "sh -c 'trap \"\" TERM INT; sleep 300; sleep 300'"])
def test_a_cancel_while_a_tool_runs_leaves_no_process_and_no_descriptor(
    place: Place, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    mark = f"MARK_{secrets.token_hex(8)}"
    monkeypatch.setenv(mark, "1")
    place.do(place.services({"tool_calls": [call("run_command", command="true")]}, {"text": "done"}), ask("warm up"))
    before = descriptors()
    cancel = CancellationToken()
    emitter = Cancelling(cancel, CommandStarted)
    services = place.services({"tool_calls": [call("run_command", command=command)]}, {"text": "never said"})
    outcome = place.do(services, ask("wait", cancel=cancel), emitter=emitter)
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.INTERRUPTED
    kinds = [event_type(record.event) for record in emitter.records]
    assert kinds.count("command.finished") == 1
    assert kinds[-2:] == ["goal.finished", "run.finished"]
    assert marked(mark) == {}
    assert descriptors() == before


class Leaving(CollectingEmitter):
    """A reader that goes away with the second piece of an answer."""

    async def emit(self, record: Record) -> None:
        await super().emit(record)
        if sum(isinstance(event, AssistantDelta) for event in self.events) > 1:
            raise ClientDisconnected("the tab was closed")


@pytest.mark.covers("S1-63", "S1-75")
def test_a_reader_that_leaves_in_the_middle_costs_nothing_of_the_log(place: Place) -> None:
    replies = (
        {
            "text": "I write it down for you.",
            "chunk_size": 4,
            "tool_calls": [call("write_file", path="c.txt", content="x")],
        },
        {"text": "It is written."},
    )
    emitter = Leaving()
    outcome = place.do(place.services(*replies), ask("write c"), emitter=emitter)
    assert (outcome.exit_code, outcome.files_written) == (0, ("c.txt",))
    assert (place.work / "c.txt").read_text() == "x"
    assert sum(isinstance(event, AssistantDelta) for event in emitter.events) == 2  # nothing was emitted after that
    logged = [event_type(record.event) for record in place.logged]
    assert logged[-4:] == ["assistant.message", "goal.finished", "run.finished", "session.finished"]
    assert {"tool.started", "tool.finished", "command.finished"} <= set(logged)


def typed(place: Place, line: str) -> RunOutcome:
    command, given = request_of(line)
    return place.do(place.services({"text": "never asked"}), RunRequest(command=command, input=given, options=OPTIONS))


@pytest.mark.covers("S1-74")
@pytest.mark.parametrize("steps", [{"a": ":macro a"}, {"a": ":macro b", "b": ":macro c", "c": ":macro a"}])
def test_macros_in_a_circle_end_before_their_first_step(place: Place, steps: dict[str, str]) -> None:
    folder = Path.home() / ".config" / "agent-shell" / "macros"
    folder.mkdir(parents=True)
    for name, step in steps.items():
        (folder / f"{name}.yaml").write_text(f'steps:\n  - "!touch was-here"\n  - "{step}"\n')
    outcome = typed(place, ":macro a")
    assert outcome.error_code == "invalid_request"
    assert not (place.work / "was-here").exists()
    assert [event_type(event) for event in place.emitter.events][-2:] == ["error", "run.finished"]


@pytest.mark.covers("S1-44", "S1-76")
def test_the_spinner_is_never_in_the_lines_of_a_tool(place: Place) -> None:
    """A model that takes its time, a command that writes at once and without an end of line: on a terminal emulator's screen."""
    screen = PaintedScreen(columns=110)
    emitter = TerminalEmitter(TerminalEmitterOptions(verbose_tool_calls=True), screen, screen)
    started: list[type] = []

    class Watching(CollectingEmitter):
        async def emit(self, record: Record) -> None:
            started.append(type(record.event))
            await emitter.emit(record)
            if isinstance(record.event, PlannerStarted):
                emitter._tick()  # the spinner stands there, however quick the model is

        def output(self, stream: str, data: bytes) -> None:
            emitter.output(stream, data)

    command = (
        "for i in 1 2; do printf 'out %s' $i; sleep 0.1; echo; sleep 0.1; echo err $i >&2; sleep 0.1; done; printf end"
    )
    services = place.services(
        {"text": "I write it.", "tool_calls": [call("write_file", path="c.txt", content="x")]},
        {"text": "I count.", "tool_calls": [call("run_command", command=command)]},
        {"text": "**Counted.**"},
    )
    place.do(services, ask("count"), emitter=Watching())
    assert started.count(PlannerStarted) == 3 and started.count(ToolStarted) == 1
    *before, counted, ended = screen.lines
    assert before[:4] == ["I write it.", "⚙ Using write_file", "  wrote 1 character to c.txt", "I count."]
    assert before[-5:] == ["out 1", "err 1", "out 2", "err 2", "end"]
    assert counted == "Counted." and ended.startswith("✓ completed")
    assert "thinking" not in "\n".join(screen.lines)


class Deep(CollectingEmitter):
    """Keeps how deep the stack was at each goal that began by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.depths: list[int] = []

    async def emit(self, record: Record) -> None:
        await super().emit(record)
        if isinstance(record.event, ContinueTriggered):
            self.depths.append(len(inspect.stack(0)))


def with_agent(place: Place) -> RunRequest:
    agents = Path.home() / ".config" / "agent-shell" / "agents"
    agents.mkdir(parents=True)
    (agents / "worker.md").write_text("You work off a list.\n")
    command, _ = request_of(".agent worker")
    return RunRequest(command=command)


def listed(number: int) -> dict[str, object]:
    """A list that is another one in each round: nothing else ends the rounds but their number."""
    items = [{"text": f"part {number}", "done": False}]
    return {"tool_calls": [{"id": "call-todo", "name": "update_todo", "arguments": {"items": items}}]}


@pytest.mark.covers("S1-60", "S1-71")
@pytest.mark.parametrize("most", [12, pytest.param(Limits().max_auto_continues, marks=pytest.mark.thorough)])
def test_an_agent_goes_on_as_often_as_it_may_and_no_more_at_the_same_depth(place: Place, most: int) -> None:
    replies = [reply for number in range(most + 1) for reply in (listed(number), {"text": f"{number} done"})]
    emitter, goal = Deep(), ask("work it off", limits=Limits(max_auto_continues=most))
    outcome = place.do(place.services(*replies), with_agent(place), goal, emitter=emitter)
    assert (outcome.auto_continued, outcome.exit_code, outcome.final_message) == (most, 0, f"{most} done")
    assert len(emitter.depths) == most and len(set(emitter.depths)) == 1
    kinds = [event_type(record.event) for record in emitter.records if record.run == emitter.records[-1].run]
    assert (kinds.count("run.started"), kinds.count("run.finished"), kinds.count("goal.started")) == (1, 1, most + 1)


@pytest.mark.few(1)
@pytest.mark.covers("S1-15", "S1-19", "S1-77")
@pytest.mark.parametrize(("flag", "rounds"), [((), 0), (("--auto-continue",), 1)])
def test_the_command_line_goes_on_by_itself_only_where_it_is_told_to(
    world: World, flag: tuple[str, ...], rounds: int
) -> None:
    (world.config / "agents").mkdir()
    (world.config / "agents" / "worker.md").write_text("You work off a list.\n")
    items = [{"text": "one", "done": False}, {"text": "two", "done": False}]
    update = {"mode": "tools", "tool_calls": [{"tool_name": "update_todo", "arguments": {"items": items}}]}
    done = {"mode": "tools", "tool_calls": [{"tool_name": "session_complete", "arguments": {"message": "all done"}}]}
    script = world.scripted(update, chat("begun"), done)
    world.run(*script, "--agent", "worker", "--json", *flag, "work it off")
    kinds = world.types()
    assert kinds.count("continue.triggered") == rounds
    assert kinds.count("goal.started") == rounds + 1
