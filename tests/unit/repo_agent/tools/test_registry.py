"""The tools as methods, and `scripts/rename_files.py` as a program of its own."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from pathlib import Path

import pytest

from agent.repo_agent.tools.definition import prompt
from agent.repo_agent.tools.registry import TOOLS, AgentTools, tool_named
from tests.support import warm_program
from tests.support.each import each
from tests.support.tool_place import ToolPlace
from tests.support.tries import sampled, some

SCRIPT = Path(__file__).parents[4] / "scripts/rename_files.py"
DOCUMENT = (
    "write_file", "retrieve_context_files", "rename_files", "run_tests", "finish_feature", "submit_for_review", "ask_question", "finish",
)  # fmt: skip


@pytest.mark.covers("S2-8")
@each("name", TOOLS)
def test_each_tool_is_a_method_with_the_same_arguments(name: str) -> None:
    method = inspect.signature(getattr(AgentTools, name)).parameters
    schema = TOOLS[name].spec.parameters
    assert [*method][1:] == [*schema["properties"]]
    assert {key for key, each in method.items() if each.default is each.empty} - {"self"} == {
        *schema.get("required", ())
    }


@pytest.mark.covers("S2-5", "S2-6", "S2-7", "S2-9", "S2-10", "S2-11", "S2-12", "S2-13")
def test_the_eight_of_the_document_are_there_by_name() -> None:
    assert {*DOCUMENT} <= {*TOOLS}
    assert tool_named("file_write") is TOOLS["write_file"] and tool_named("session_complete") is not TOOLS["finish"]
    assert tool_named("rm") is None
    for name, tool in TOOLS.items():
        assert tool.spec.description == prompt(name) and tool.spec.parameters["additionalProperties"] is False


@pytest.mark.covers("S2-8")
def test_a_script_renames_by_the_method(tmp_path: Path) -> None:
    here = ToolPlace(tmp_path)
    here.write("a", "a")
    tools = AgentTools(here.place, here)
    result = asyncio.run(tools.rename_files([{"from_path": "a", "to_path": "b"}]))
    assert json.loads(result.content)["ok"] and (here.root / "b").exists()
    assert asyncio.run(tools.rename_files([{"from_path": "a"}])).is_error


def script(folder: Path, *words: str, given: str = "") -> tuple[int, str]:
    done = warm_program.run(
        (sys.executable, str(SCRIPT), "--repo", str(folder), *words),
        input=given,
        env=dict(os.environ),
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.thorough
@sampled
@pytest.mark.covers("S2-7", "S2-8")
def test_the_program_does_as_the_tool(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir/a").write_text("a")
    (tmp_path / "b").write_text("b")
    code, out = script(tmp_path, "--dry-run", "dir", "moved", "b", "../out")
    assert code == 1 and [each["status"] for each in json.loads(out)["results"]] == ["would move", "error"]
    code, out = script(tmp_path, given='{"operations": [{"from_path": "dir", "to_path": "moved"}]}')
    assert (code, json.loads(out)["summary"]) == (0, {"moved": 1, "skipped": 0, "errors": 0})
    assert script(tmp_path, "b", "moved/a")[0] == 1
    assert script(tmp_path, "--overwrite", "b", "moved/a")[0] == 0 and (tmp_path / "moved/a").read_text() == "b"
    wrong: list[tuple[tuple[str, ...], str]] = [
        (("one",), ""),
        ((), "no JSON"),
        ((), "[1]"),
        ((), '{"operations": []}'),
    ]
    for words, given in some(wrong, 4):
        assert script(tmp_path, *words, given=given) == (2, "")
