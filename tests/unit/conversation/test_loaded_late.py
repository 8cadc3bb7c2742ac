"""Interviews cost nothing to who holds none: none of their modules is loaded when the REPL starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import sys, json
from agent.app.composition import build_services, load
import agent.frontends.repl.repl
services = build_services(load({"planner": "offline", "session_dir": sys.argv[1]}))
services.open_session("repl").recorder.close("closed")
services.engine
print(json.dumps([name for name in sys.modules if name.startswith("agent.conversation")]))
"""


def test_no_database_is_loaded_with_the_strategy() -> None:
    script = "import sys, agent.conversation.strategy; print([each for each in ('sqlalchemy', 'dbos') if each in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "[]\n"


def test_nothing_of_it_is_loaded_when_the_repl_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(tmp_path / "logs")], capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(ran.stdout) == []
