"""`agent-shell risk`: one command, batches, JSON, exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from agent.frontends.subcommands.risk import run_risk


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(text: str = "", **options: Any) -> tuple[int, list[str], list[str]]:
    out: list[str] = []
    warnings: list[str] = []
    arguments: dict[str, Any] = {
        "command": None,
        "json_output": False,
        "explain": False,
        "policy": False,
        "cwd": None,
        "batch": None,
        "stdin": io.StringIO(text),
    }
    code = run_risk(**{**arguments, **options}, write=out.append, warn=warnings.append)
    return code, out, warnings


def test_json_is_exactly_the_contract() -> None:
    code, out, _ = run(command="rm -rf build", json_output=True)
    assert code == 0
    value = json.loads(out[0])
    assert list(value) == ["command", "level", "parse", "findings"]
    assert (value["command"], value["level"], value["parse"]) == ("rm -rf build", "medium", "ok")
    (finding,) = value["findings"]
    assert finding["span"] == [0, 12]
    assert finding["effect"] == {"kind": "delete", "scope": "workspace", "targets": ["build"], "reversible": False}


def test_explanations_fit_and_are_data_on_demand() -> None:
    text = run(command="find . -name '*.o' | xargs rm -rf", explain=True, width=60)[1][0]
    assert max(map(len, text.split("\n"))) <= 60
    value = json.loads(run(command="rm -rf build", explain=True, json_output=True)[1][0])
    assert list(value) == ["command", "level", "parse", "findings", "explanation"]
    assert value["explanation"]["parts"][0]["text"] == "rm"


def test_a_folder_brings_facts_in(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc/passwd")
    assert json.loads(run(command="echo x > out", json_output=True)[1][0])["level"] == "medium"
    told = json.loads(run(command="echo x > out", json_output=True, cwd=str(tmp_path))[1][0])
    assert told["level"] == "high"
    assert "link to /etc/passwd" in told["findings"][0]["reason"]


def test_plain_explain_and_policy() -> None:
    assert run(command="ls")[1] == ["low"]
    assert run(command="rm -rf /")[1][0] == "high"
    assert "~~~" in run(command="rm -rf /", explain=True)[1][0]
    assert "policy: type, decided by level-high" in run(command="rm -rf /srv/x", policy=True)[1][-1]
    assert "policy: refuse, decided by floor.everything" in run(command="rm -rf /", policy=True)[1][-1]
    assert json.loads(run(command="ls", policy=True, json_output=True)[1][0])["policy"]["action"] == "ask"
    assert all("\x1b" not in line for line in run(command="ls \x1b[2K")[1])


def test_the_command_may_come_on_stdin() -> None:
    assert run("rm -rf /\n")[1][0] == "high"
    code, out, warnings = run(stdin=Terminal())
    assert (code, out) == (2, [])
    assert "give a command" in warnings[0]


def test_batch_keeps_order_and_other_keys_and_goes_on_after_bad_lines() -> None:
    lines = [
        '{"command": "ls", "id": 1}',
        "nonsense",
        '{"command": "rm -rf /", "id": 2}',
        "[]",
        '{"id": 3}',
        '{"command": 5}',
        "",
        '{"command": "\\ud800"}',
    ]
    code, out, _ = run("\n".join(lines) + "\n", batch="-")
    rows = [json.loads(line) for line in out]
    assert code == 2
    assert [row.get("level", "error") for row in rows] == ["low", "error", "high", "error", "error", "error", "medium"]
    assert (rows[0]["id"], rows[2]["id"]) == (1, 2)
    assert rows[1]["error"].startswith('line 2: no JSON, each line is an object such as {"command": "ls"}')
    assert all(len(line.splitlines()) == 1 for line in out)


def test_batch_reads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "commands.jsonl"
    file.write_bytes(b'{"command": "ls"}\n\xff\xfe\n{"command": "ls"}')
    code, out, _ = run(batch=str(file))
    assert code == 2
    assert [json.loads(line).get("level") for line in out] == ["low", None, "low"]
    code, out, warnings = run(batch=str(tmp_path / "none"))
    assert (code, out) == (2, [])
    assert "cannot be read" in warnings[0]


def test_batch_streams() -> None:
    """A line is answered before the next one is read."""
    answered: list[str] = []

    class Lines(io.StringIO):
        def __iter__(self) -> Any:
            for number in range(3):
                assert len(answered) == number
                yield json.dumps({"command": f"echo {number}"}) + "\n"

    code = run_risk(
        command=None,
        json_output=True,
        explain=False,
        policy=False,
        cwd=None,
        batch="-",
        stdin=Lines(),
        write=answered.append,
        warn=pytest.fail,
    )
    assert code == 0
    assert len(answered) == 3


def test_cwd_gives_a_context(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    assert json.loads(run(command="rm -rf ../build", json_output=True, cwd=str(tmp_path / "src"))[1][0])["level"] in (
        "medium",
    )
    assert json.loads(run(command="rm -rf ../../x", json_output=True, cwd=str(tmp_path / "src"))[1][0])["level"] in (
        "medium",
        "high",
    )
    code, _, warnings = run(command="ls", cwd=str(tmp_path / "none"))
    assert code == 2
    assert "not a folder" in warnings[0]


def test_nothing_on_stdin_is_no_low_command() -> None:
    code, out, warnings = run("\n")
    assert (code, out) == (2, [])
    assert "no command came" in warnings[0]
