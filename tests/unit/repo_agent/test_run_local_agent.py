"""`scripts/run_local_agent.py`, run as the program that it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cycle_world import CycleWorld

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "run_local_agent.py"


@pytest.mark.thorough
@pytest.mark.covers("S2-1")
def test_it_does_a_cycle_and_asks_its_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = CycleWorld(tmp_path, monkeypatch)
    (tmp_path / "home").mkdir()
    call = {"tool_name": "ask_question", "arguments": {"question_text": "Which greeting?"}}
    script = tmp_path / "model.json"
    script.write_text(json.dumps({"reply": [{"json": {"plan": "ask", "tool_calls": [call]}}]}))
    env = {
        **os.environ, "HOME": str(tmp_path / "home"), "AGENT_PLANNER": f"scripted:{script}",
        "AGENT_SESSION_DIR": str(tmp_path / "logs"), "AGENT_APPROVE": "medium",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--repo", str(world.work)],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 7, done
    assert "? Which greeting?" in done.stdout
