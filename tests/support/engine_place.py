"""The real engine in a home of its own, with a model that answers by script."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.app.composition import build_services, load
from agent.engine.engine import Engine
from agent.engine.plain_emitters import CollectingEmitter
from agent.frontends.services import Services
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.ports import Emitter
from agent.protocol.records import Record, decode, encode
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.tools.own_tools import own_tools
from tests.support.fakes import FakePerson
from tests.support.lasting_events import lasting
from tests.support.shared_helper import share_helper

USAGE = {"input_tokens": 10, "output_tokens": 5}
OPTIONS = replace(RunOptions.repl_turn(), approval=Approval(mode="low"))


def ask(text: str, **options: Any) -> RunRequest:
    """A goal as the REPL gives it, with `options` changed."""
    return RunRequest(input=UserInput.from_text(text), options=replace(OPTIONS, **options))


def call(name: str, **arguments: str) -> dict[str, Any]:
    """A call of a tool, as a script of replies has it."""
    return {"id": f"call-{name}", "name": name, "arguments": arguments}


class Place:
    """A home and a folder to work in, and a model that answers by script."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.base = base
        self.work = base / "work"
        self.work.mkdir()
        (self.work / "a.txt").write_text("one\n")
        (self.work / "b.txt").write_text("two\n")
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(base / "home"))
        (base / "home").mkdir()
        monkeypatch.chdir(self.work)
        share_helper(monkeypatch)
        monkeypatch.setattr(
            "agent.planner.facts.path_facts.MAX_SECONDS", 60.0
        )  # on a busy machine, 15 ms are soon over
        self.emitter = CollectingEmitter()
        self.person = FakePerson()

    def services(self, *replies: dict[str, Any]) -> Services:
        script = self.base / "script.json"
        script.write_text(json.dumps([{"usage": USAGE, **reply} for reply in replies]))
        flags = {"planner": f"scripted:{script}", "codec": "native", "session_dir": str(self.base / "logs")}
        services = build_services(load({**flags, "memory": "off"}))
        app = replace(services.make_engine().app, tools=own_tools(str(self.work)))
        return replace(services, make_engine=lambda: Engine(app))

    def do(self, services: Services, *requests: RunRequest, emitter: Emitter | None = None) -> RunOutcome:
        """The outcome of the last one; `emitter` has the events of that one alone."""

        async def go() -> RunOutcome:
            ctx = services.open_session("example")
            for each in requests:
                self.emitter.records.clear()
                outcome = await services.engine.run(ctx, each, emitter or self.emitter, self.person)
            await services.engine.close(ctx)
            await services.shutdown()
            return outcome

        return asyncio.run(go())

    def lines(self, records: list[Record]) -> str:
        """One event a line, without what differs from run to run and from machine to machine, and without what says nothing."""
        events = [json.loads(encode(record), object_hook=_anywhere) for record in records]
        text = "".join(f"{json.dumps(lasting(event), ensure_ascii=False)}\n" for event in events)
        return text.replace(str(self.base), "/place")

    @property
    def logged(self) -> list[Record]:
        (log,) = (self.base / "logs").glob("*.jsonl")
        return [decode(line) for line in log.read_bytes().splitlines()]


def _anywhere(value: dict[str, Any]) -> dict[str, Any]:
    told = {key: "of this machine" if _passes(key, each) else each for key, each in value.items() if key != "is_root"}
    return {key: each for key, each in told.items() if each not in (None, "", 0, [], {})}


def _passes(key: str, value: Any) -> bool:
    """Tell whether another machine or folder has another value: spans are as long as the names of folders, which hashes are of, too."""
    hashed = key == "content" and isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value)
    return key in ("environment", "span", "tokens_saved") or bool(hashed)
