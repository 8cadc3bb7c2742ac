"""The same goals give the same events from every front end: REPL, one-shot, the embedded facade, and a foreign one (`examples/`)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agent.app.composition import build_services, load, open_conversation
from agent.engine.plain_emitters import CollectingEmitter
from agent.frontends import one_session, one_shot
from agent.frontends.repl.repl import run_repl
from agent.frontends.services import Services
from agent.gate import previews
from agent.protocol.confirmations import Approved, CancelGoal, Confirmation, ConfirmationRequest, Skipped
from agent.protocol.events.command import ApprovalRequested
from agent.protocol.events.goal import RunFinished
from agent.protocol.events.known import UNRECORDED
from agent.protocol.ports import Confirmer
from agent.protocol.records import Record, encode
from agent.providers.scripted import Scripted, load_script
from agent.tools.own_tools import WriteFile
from tests.support import warm_program
from tests.support.fake_terminal import FakeTerminal, open_terminal
from tests.support.fakes import FakePerson
from tests.support.front_end_driver import with_tools
from tests.support.lasting_events import lasting
from tests.support.shared_helper import share_helper

ROOT = Path(__file__).parents[2]
USAGE = {"input_tokens": 10, "output_tokens": 5}
POLICY = '[[rule]]\nname = "no-touch"\naction = "deny"\nprogram = "touch"\n'
CODE = 'sh -c "$(cat code.txt)"'  # high: nobody knows what it does


def chat(text: str) -> dict[str, Any]:
    return {"mode": "chat", "message": text}


def command(text: str) -> dict[str, Any]:
    return {"mode": "command", "command": text, "reason": "because"}


@dataclass(frozen=True)
class Answer:
    """What a person says, for each way of asking: the value itself, the keys at our prompt, a line for the foreign front end."""

    value: Confirmation | str
    keys: str
    line: str


def yes(text: str) -> Answer:
    return Answer(Approved(command=text), "\r", "y")


def word(text: str) -> Answer:
    return Answer(text, f"{text}\r", text)


EDITED = Answer(Approved(command="ls -a"), "\x15ls -a\r", "=ls -a")
SKIPPED = Answer(Skipped(), "\x15\r", "")
CANCELLED = Answer(CancelGoal(), "\x03", "q")
WRITTEN = Answer(Approved(command="write_file note.md"), "y\r", "y")


@dataclass(frozen=True)
class Case:
    """A goal: what the planner replies and what the person answers. `status`: how it ends."""

    goal: str
    replies: tuple[dict[str, Any], ...]
    answers: tuple[Answer, ...] = ()
    status: str = "completed"


PLAN = {
    "mode": "plan",
    "steps": [{"goal": "a folder", "command": "mkdir out"}, {"goal": "a copy", "command": "cp a.txt out"}],
}
TOOL = {
    "mode": "tools",
    "tool_calls": [{"tool_name": "write_file", "arguments": {"path": "note.md", "content": "hello\n"}}],
}
CASES = (
    Case("say hello", (chat("hello"),), status="answered"),
    Case("list the files", (command("ls"), chat("two files")), (yes("ls"),)),
    Case("copy a", (command("cp a.txt b.txt"), chat("copied")), (yes("cp a.txt b.txt"),)),
    Case("run the code", (command(CODE), chat("it ran")), (yes(CODE), word("proceed"))),
    Case("run the code again", (command(CODE), chat("it did not run")), (yes(CODE), word("no")), "skipped"),
    Case("list them all", (command("ls"), chat("with hidden ones")), (EDITED,)),
    Case("list them, or not", (command("ls"), chat("then not")), (SKIPPED,), "skipped"),
    Case("make a mark", (command("touch mark"), chat("that is forbidden")), (), "blocked_by_policy"),
    Case("copy it into a folder", (PLAN, chat("both done")), (yes("mkdir out"), yes("cp a.txt out"))),
    Case("write a note", (TOOL, chat("written")), (WRITTEN,), "answered"),
    Case(
        "show the list", (command("cat list"), command("cat a.txt"), chat("shown")), (yes("cat list"), yes("cat a.txt"))
    ),
    Case("never mind", (command("ls"),), (CANCELLED,), "cancelled"),
)
OWN = Case("!cat a.txt", (), (yes("cat a.txt"),))  # the facade takes goals alone


class Person(FakePerson):
    """Gives the answers of cases, in order; yes is yes to what is shown."""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        answer = await super().confirm(request)
        as_shown = answer == WRITTEN.value or answer == Approved(command=request.as_shown.command)
        return request.as_shown if as_shown else answer

    def __init__(self, *cases: Case) -> None:
        values = [answer.value for case in cases for answer in case.answers]
        super().__init__(
            *[value for value in values if not isinstance(value, str)],
            words=[value for value in values if isinstance(value, str)],
        )


class Place:
    """Home and working folder of this process from now on: the same ones, made anew, for each front end."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        share_helper(monkeypatch)
        monkeypatch.chdir(base.parent)
        shutil.rmtree(base, ignore_errors=True)
        self.work = base / "work"
        config = base / "home" / ".config" / "agent-shell"
        for folder in (config, self.work):
            folder.mkdir(parents=True)
        (config / "policy.toml").write_text(POLICY)
        (config / "policy.toml").chmod(0o600)
        (self.work / "a.txt").write_text("one\n")
        (self.work / "code.txt").write_text("echo from code\n")
        self.script = base / "script.json"
        self.logs = base / "logs"
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {
            "HOME": str(base / "home"),
            "AGENT_SESSION_DIR": str(self.logs),
            "AGENT_PLANNER": f"scripted:{self.script}",
            "AGENT_MEMORY": "off",
            "AGENT_OWN": "ask",  # a front end of its own has to ask, so that the REPL may not run it at once
            "SHELL": "/bin/bash",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(self.work)

    def plan(self, *cases: Case) -> None:
        """What the planner will reply."""
        replies = [{"json": reply, "usage": USAGE} for case in cases for reply in case.replies]
        self.script.write_text(json.dumps({"reply": replies}))

    def services(self, emitter: CollectingEmitter) -> Services:
        services = with_tools(build_services(load({})), str(self.work))
        return structs.replace(services, make_emitter=lambda **besides: emitter)


def told(place: Place, records: Iterable[Record | bytes]) -> list[list[dict[str, Any]]]:
    """The events of each run, without what differs from run to run. Every record of the log was emitted, in its order."""
    runs: dict[str, list[dict[str, Any]]] = {}
    emitted = [json.loads(encode(record) if isinstance(record, Record) else record) for record in records]
    for log in place.logs.glob("*.jsonl"):
        recorded = [json.loads(line) for line in log.read_text().splitlines()]
        unrecorded = [str(kind.__struct_config__.tag) for kind in UNRECORDED]
        seen = [
            each for each in emitted if each["session"] == recorded[0]["session"] and each["type"] not in unrecorded
        ]
        assert [(each["seq"], each["type"]) for each in seen] == [(each["seq"], each["type"]) for each in recorded]
    for event in emitted:
        if event["run"] and event["type"] not in OF_THE_FRONT_END:
            runs.setdefault(event["run"], []).append(lasting(event))
    return list(runs.values())


OF_THE_FRONT_END = ("assistant.delta", "session.named")
"""Who streams, and whose sessions get a name by themselves, differs by the options of each front end."""


# --- the four front ends ---


def from_repl(place: Place, *cases: Case) -> list[list[dict[str, Any]]]:
    """A person at the prompt: each line and each answer is typed when the program waits for it."""
    place.plan(*cases)
    with open_terminal() as terminal:
        emitter = Marking(terminal)

        async def go() -> None:
            typist = asyncio.ensure_future(type_in(terminal, emitter, *cases))
            async with asyncio.timeout(300):  # a busy machine takes its time
                await run_repl(place.services(emitter), terminal.screen)
            await typist

        asyncio.run(go())
    return told(place, emitter.records)


class Marking(CollectingEmitter):
    """Knows what was drawn since the last event came."""

    def __init__(self, terminal: FakeTerminal) -> None:
        super().__init__()
        self._terminal, self._mark = terminal, 0
        self.came: Counter[type] = Counter()

    async def emit(self, record: Record) -> None:
        await super().emit(record)
        self.came[type(record.event)] += 1
        self._mark = len(self._terminal.seen)

    @property
    def drawn(self) -> str:
        return self._terminal.seen[self._mark :]


async def type_in(terminal: FakeTerminal, emitter: Marking, *cases: Case) -> None:
    known: Counter[type] = Counter()

    async def press(keys: str, event: type | None, prompt: str = "❯") -> None:
        """Where such an event has come since the last keys, and a prompt was drawn after it: then it reads."""
        while (event is not None and emitter.came[event] <= known[event]) or prompt not in emitter.drawn:
            await asyncio.sleep(0.005)
        known.update(emitter.came - known)
        await asyncio.to_thread(terminal.keys.send_text, keys)

    ended: type | None = None
    for case in cases:
        await press(case.goal + "\r", ended)
        for answer in case.answers:
            await press(answer.keys, ApprovalRequested, "word ❯" if isinstance(answer.value, str) else "❯")
        ended = RunFinished
    await press("exit\r", ended)


@contextmanager
def attended(person: Person, services: Services) -> Iterator[tuple[Confirmer, bool]]:
    """In place of the search for a terminal to ask in."""
    yield person, True


def from_one_shot(place: Place, *cases: Case, monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, Any]]]:
    """One process a goal: services, session and log of their own."""
    emitter = CollectingEmitter()
    for case in cases:
        place.plan(case)
        with monkeypatch.context() as patch, open(os.devnull, encoding="utf-8") as nothing:
            patch.setattr(one_session, "confirmer_for", partial(attended, Person(case)))
            patch.setattr(sys, "stdin", nothing)
            services = place.services(emitter)
            if case.goal.startswith("!"):
                asyncio.run(one_shot.exec_command(services, case.goal[1:]))
            else:
                asyncio.run(one_shot.run_goal(services, case.goal))
    return told(place, emitter.records)


def from_facade(place: Place, *cases: Case) -> list[list[dict[str, Any]]]:
    place.plan(*cases)
    emitter = CollectingEmitter()
    talk = open_conversation(
        Scripted(load_script(str(place.script)), name=f"scripted:{place.script}"),
        system_prompt="You are part of another program.",
        base_path=str(place.work),
        confirmer=Person(*cases),
        tools={"write_file": WriteFile(str(place.work))},
        model="scripted",
        codec="mode-json",
        emitter=emitter,
    )

    async def go() -> None:
        await talk.start(cases[0].goal)
        for case in cases[1:]:
            await talk.respond(case.goal)
        await talk.close()

    asyncio.run(go())
    return told(place, emitter.records)


def from_example(place: Place, *cases: Case) -> list[list[dict[str, Any]]]:
    place.plan(*cases)
    answers = "".join(f"{answer.line}\n" for case in cases for answer in case.answers)
    done = warm_program.run(
        [sys.executable, str(ROOT / "tests/support/front_end_driver.py"), *(case.goal for case in cases)],
        input=answers.encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=120,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return told(place, done.stdout.splitlines())


@pytest.mark.thorough
@pytest.mark.covers("S0-1", "S0-17", "S1-1", "S1-3", "S1-62")
def test_the_same_goals_give_the_same_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def place() -> Place:
        return Place(tmp_path / "place", monkeypatch)

    monkeypatch.setattr(previews, "SECONDS", 30.0)  # as in front_end_driver.py

    events = {
        "foreign": from_example(place(), *CASES, OWN),
        "facade": from_facade(place(), *CASES),
        "one-shot": from_one_shot(place(), *CASES, OWN, monkeypatch=monkeypatch),
        "repl": from_repl(place(), *CASES, OWN),
    }
    assert len(CASES) == 12
    for name, runs in events.items():
        cases = CASES if name == "facade" else (*CASES, OWN)
        assert len(runs) == len(cases), name
        for case, run, theirs in zip(cases, runs, events["foreign"], strict=False):
            ended = next(event for event in run if event["type"] == "goal.finished")
            assert (ended["goal"], ended["status"]) == (case.goal.removeprefix("!"), case.status), name
            assert [event["type"] for event in run] == [event["type"] for event in theirs], (name, case.goal)
            assert run == theirs, (name, case.goal)


# --- the example by itself ---

EXAMPLE = ROOT / "examples" / "front_end.py"


def example(*goals: str) -> subprocess.Popen[bytes]:
    streams: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    words = [sys.executable, str(EXAMPLE), *goals]
    return warm_program.popen(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, **streams)


def kinds(out: bytes) -> list[str]:
    return [json.loads(line)["type"] for line in out.splitlines()]


def test_a_front_end_is_sixty_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 60


@pytest.mark.covers("S0-17", "S1-80")
@pytest.mark.parametrize(("answers", "code"), [(b"y\ny\n", 0), (b"", 130)], ids=["yes", "nobody answers"])
@pytest.mark.few(1)
def test_the_example_runs_what_was_agreed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: bytes, code: int
) -> None:
    Place(tmp_path / "place", monkeypatch).plan(CASES[1])
    process = example(CASES[1].goal, OWN.goal)
    out, err = process.communicate(answers, timeout=120)
    assert process.returncode == code, err.decode()
    assert kinds(out).count("command.started") == (2 if answers else 0)
    assert kinds(out)[-1] == "session.finished"
    assert b"cat a.txt" in err


@pytest.mark.thorough
def test_ctrl_c_at_the_question_of_the_example_ends_the_goal_and_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Place(tmp_path / "place", monkeypatch).plan()
    process = example(OWN.goal)
    assert process.stderr is not None
    while not process.stderr.readline().startswith(b"y, q"):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (130, b"")
    assert kinds(out)[-3:] == ["goal.finished", "run.finished", "session.finished"]
