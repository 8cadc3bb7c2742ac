"""When the memory is loaded, and for whom it is meant."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent.app.composition import build_services, load
from agent.app.lazy_planner import LazyPlanner
from agent.app.memory import ProcessMemory
from agent.app.planner_settings import is_loopback
from agent.app.planners import PlannerChoice
from agent.protocol.rehearsals import UndoEntry, UndoState
from agent.redaction.redactor import SecretRedactor
from tests.support.each import each
from tests.support.fakes import FakePlanner

_SCRIPT = """
import sys, json
from agent.app.composition import build_services, load
services = build_services(load({"planner": "offline", "session_dir": sys.argv[1]}))
services.open_session("cli").recorder.close("closed")
services.engine
services.warm()
print(json.dumps([name for name in sys.modules if "memory." in name or name == "sqlite3" or name.endswith(".remembered")]))
"""


def test_nothing_of_it_is_loaded_before_the_first_goal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(tmp_path / "logs")], capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(ran.stdout) == []


@each(
    ("url", "here"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:9/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://127.0.0.1.example.org/", False),
        ("http://localhost@example.org/", False),
        ("http://[bad", False),
        ("", False),
    ],
)
def test_what_is_on_this_machine(url: str, here: bool) -> None:
    assert is_loopback(url) is here


@pytest.fixture
def choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlannerChoice:
    monkeypatch.setenv("HOME", str(tmp_path))
    loaded = load({"session_dir": str(tmp_path / "logs"), "base_url": "http://192.0.2.7/v1", "planner": "ollama"})
    return PlannerChoice(loaded, redactor=None)  # type: ignore[arg-type]


def test_a_local_provider_elsewhere_is_not_here(choice: PlannerChoice) -> None:
    assert not choice.stays_here(choice.make("ollama", None))
    assert choice.stays_here(choice.make("llamacpp", None))
    assert choice.stays_here(choice.make("offline", None))
    assert not choice.stays_here(choice.make("anthropic", None))
    assert not choice.stays_here(LazyPlanner("no such thing", "", choice, SecretRedactor()))
    assert not choice.stays_here(FakePlanner())  # of one that was not made here nothing is known


def test_what_was_taken_back_when_it_ran_last_is_known_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: tuple[tuple[str, UndoState], ...] = (("rm a", "undone"), ("rm b", "committed"), ("rm b", "undone"))

    class Store:
        def entries(self) -> tuple[UndoEntry, ...]:
            return tuple(
                UndoEntry(undo_id=str(at), time="2026-11-22T09:00:00Z", command=command, cwd="/w", state=state)
                for at, (command, state) in enumerate(states)
            )

    given: list[frozenset[tuple[str, str]]] = []
    monkeypatch.setattr(
        "agent.planner.offline.remembered.RememberedCommands", lambda memory, undone: given.append(undone())
    )
    loaded = load({"session_dir": str(tmp_path / "logs")})
    memory = ProcessMemory(loaded.settings, {"HOME": str(tmp_path)}, str(tmp_path), is_here=bool, undo=Store)  # type: ignore[arg-type]
    memory.remembered()
    memory.close()
    assert given == [frozenset({("rm a", "/w")})]


def test_what_leaves_the_machine_is_said_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    def warnings(**flags: str) -> list[str]:
        services = build_services(load({"session_dir": str(tmp_path / "logs"), **flags}))
        return [text for text in services.loaded.warnings if "memory" in text]

    assert warnings(planner="anthropic", memory="on") == [
        "memory is on: commands accepted before go as examples to anthropic, away from this machine"
    ]
    assert warnings(planner="anthropic") == []
    assert warnings(planner="offline", memory="on") == []
