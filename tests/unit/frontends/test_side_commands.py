"""plan, doctor, config and completions."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest

from agent.cli import completions
from agent.cli.arguments import parse
from agent.cli.sub_commands import SUB_COMMANDS
from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.config.table import SETTINGS
from agent.frontends.subcommands.config import config_rows, run_config
from agent.frontends.subcommands.doctor import Check, page, run_doctor
from agent.frontends.subcommands.plan import run_plan
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolCall
from agent.protocol.outcomes import ExitCode
from agent.protocol.replies import Chat, Command, ToolCalls
from tests.support.each import each
from tests.support.fakes import FakePlanner, run, say
from tests.support.front_services import World
from tests.support.needs import needs

Capture = pytest.CaptureFixture[str]


def plan(world: World, goal: str = "do it", batch: str | None = None) -> int:
    return asyncio.run(run_plan(world.services, goal=goal, batch=batch))


def test_plan_prints_the_bare_command_and_runs_nothing(tmp_path: Path, capsys: Capture) -> None:
    world = World(FakePlanner(run("change x", "because")), tmp_path)
    assert plan(world) == 0
    assert capsys.readouterr() == ("change x\n", "")
    assert world.executor.ran == []
    assert world.contexts == []


def test_plan_that_found_no_command_ends_so(tmp_path: Path, capsys: Capture) -> None:
    reply = Chat(message="I have no command for this.", reached=False)
    assert plan(World(FakePlanner(reply), tmp_path)) == ExitCode.NOT_UNDERSTOOD
    assert capsys.readouterr().out == ""


def test_plan_says_chat_on_stderr(tmp_path: Path, capsys: Capture) -> None:
    assert plan(World(FakePlanner(say("hello")), tmp_path)) == 0
    assert capsys.readouterr() == ("", "hello\n")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (say("hi"), {"goal": "do it", "mode": "chat", "message": "hi"}),
        (
            Command(command="ls", reason="look", confidence=0.5),
            {
                "goal": "do it",
                "mode": "command",
                "command": "ls",
                "message": "look",
                "risk": {"command": "ls", "level": "low", "parse": "ok", "findings": []},
                "confidence": 0.5,
            },
        ),
        (
            ToolCalls(calls=(ToolCall(id="1", name="run", arguments={"a": 1}),), plan="first"),
            {
                "goal": "do it",
                "mode": "plan",
                "plan": "first",
                "tool_calls": [{"id": "1", "name": "run", "arguments": {"a": 1}}],
            },
        ),
    ],
)
def test_plan_json(tmp_path: Path, capsys: Capture, reply: object, expected: dict[str, object]) -> None:
    assert plan(World(FakePlanner(reply), tmp_path, json=True)) == 0  # type: ignore[arg-type]
    assert json.loads(capsys.readouterr().out) == expected


def test_plan_batch_keeps_order_keys_and_goes_on_after_bad_lines(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "goals"
    path.write_text('{"goal": "a", "id": 7}\nnonsense\n\n{"goal": 3}\n[]\n{"goal": "b"}\n')
    assert plan(World(FakePlanner(run("ls")), tmp_path), batch=str(path)) == 2
    out = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row.get("goal"), row.get("id"), "error" in row) for row in out] == [
        ("a", 7, False),
        (None, None, True),
        (None, None, True),
        (None, None, True),
        ("b", None, False),
    ]


def test_plan_errors_have_exit_codes(tmp_path: Path, capsys: Capture) -> None:
    assert plan(World(FakePlanner(PlannerError("empty reply")), tmp_path)) == 4
    assert "empty reply" in capsys.readouterr().err
    assert plan(World(FakePlanner(say()), tmp_path), goal=" ") == 2
    assert plan(World(FakePlanner(say()), tmp_path), batch="/nowhere/goals") == 1


def test_doctor_keeps_its_advice_in_a_narrow_window() -> None:
    checks = [Check("planner", "note", "offline", "set a key, " * 8 + "or run Ollama"), Check("bash", "ok", "5.2")]
    told = page(checks, columns=60, color=False)
    assert max(map(len, told.splitlines())) <= 60
    assert " ".join(told.split()).endswith("or run Ollama ok bash 5.2")
    assert "→ set a key" in told
    assert len(page(checks, columns=0, color=False).splitlines()) == 3


def test_doctor_reports_every_check_without_secrets(tmp_path: Path, capsys: Capture) -> None:
    world = World(FakePlanner(say()), tmp_path, session_dir=str(tmp_path))
    world.services.loaded.environ["OPENROUTER_API_KEY"] = "sk-or-secret"
    code = asyncio.run(run_doctor(world.services, json_output=True))
    out = capsys.readouterr().out
    rows = {row["check"]: row for row in map(json.loads, out.splitlines())}
    assert "sk-or-secret" not in out
    assert "OPENROUTER_API_KEY" in rows["keys"]["found"]
    assert rows["sessions"]["state"] == "ok"
    # The doubles rate `rm -rf /` low, which is what this check is there to notice.
    assert rows["risk"]["state"] == "broken"
    assert code == 1


def test_config_shows_values_origins_and_no_secret(tmp_path: Path, capsys: Capture) -> None:
    settings = Settings(approve="low", proxy="http://me:pw@proxy:1")
    loaded = Loaded(settings=settings, origins={"approve": "environment"}, secrets={"MY_KEY": "s3cret"}, environ={})
    rows = {row["setting"]: row for row in config_rows(loaded)}
    assert rows["approve"] == {"setting": "approve", "value": "low", "from": "environment"}
    assert len(rows) == len(SETTINGS) + 1
    assert asyncio.run(run_config(loaded, action="show", json_output=True)) == 0
    assert asyncio.run(run_config(loaded, action="show", json_output=False)) == 0
    out = capsys.readouterr().out
    assert "s3cret" not in out
    assert "pw@" not in out


def test_config_path_and_edit_without_a_terminal(tmp_path: Path, capsys: Capture) -> None:
    loaded = Loaded(settings=Settings(), origins={}, secrets={}, environ={"XDG_CONFIG_HOME": str(tmp_path)})
    assert asyncio.run(run_config(loaded, action="path", json_output=False)) == 0
    assert capsys.readouterr().out == f"{tmp_path}/agent-shell/config.toml\n"
    assert asyncio.run(run_config(loaded, action="edit", json_output=False)) == 3


@each("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_know_every_flag_and_subcommand(shell: str) -> None:
    text = completions.script(shell, SUB_COMMANDS)
    for setting in SETTINGS:
        if setting.flag:
            assert (setting.flag if shell != "fish" else setting.flag[2:]) in text
    assert all(name in text for name in SUB_COMMANDS)


@each("shell", ["bash", "zsh", "fish"])
def test_shells_read_their_completion_script(shell: str) -> None:
    if shell != "bash":
        needs(shell)
    check = subprocess.run([shell, "-n"], input=completions.script(shell, SUB_COMMANDS), text=True, capture_output=True)
    assert (check.returncode, check.stderr) == (0, "")


def test_bash_completes() -> None:
    tail = """
COMP_WORDS=(agent-shell --appr); COMP_CWORD=1; _agent_shell; echo "${COMPREPLY[*]}"
COMP_WORDS=(agent-shell --approve l); COMP_CWORD=2; _agent_shell; echo "${COMPREPLY[*]}"
COMP_WORDS=(agent-shell do); COMP_CWORD=1; _agent_shell; echo "${COMPREPLY[*]}"
COMP_WORDS=(agent-shell --session-dir X do); COMP_CWORD=3; _agent_shell; echo "${COMPREPLY[*]}"
COMP_WORDS=(agent-shell --json --session-dir = X sessions ju); COMP_CWORD=6; _agent_shell; echo "${COMPREPLY[*]}"
COMP_WORDS=(agent-shell --model risk ex); COMP_CWORD=3; _agent_shell; echo "${COMPREPLY[*]}"
COMP_WORDS=(agent-shell find the do); COMP_CWORD=3; _agent_shell; echo "${COMPREPLY[*]}"
"""
    text = completions.script("bash", SUB_COMMANDS) + tail
    done = subprocess.run(["bash", "--norc"], input=text, text=True, capture_output=True, check=True)
    assert done.stdout.splitlines() == ["--approve", "low", "doctor", "doctor", "judge", "exec", ""]


@each("shell", ["bash", "zsh", "fish"])
def test_completions_know_the_planners(shell: str) -> None:
    assert re.search(r"auto offline .*\bollama\b", completions.script(shell, SUB_COMMANDS))


def test_an_option_of_config_that_was_not_given_is_no_setting_of_the_command_line() -> None:
    assert parse("config", ["show"]).json is None
    assert parse("config", ["show", "--json"]).json is True
