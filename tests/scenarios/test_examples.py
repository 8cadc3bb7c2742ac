"""Each program in `examples/` does what its first line says: one for each emitter, one for each front end."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.scenarios.program import ROOT, World, chat, command, until
from tests.support.terminal import Terminal

EXAMPLES = ROOT / "examples"
EMITTERS = {
    "TerminalEmitter": "emit_to_terminal.py",
    "JsonlEmitter": "emit_json_lines.py",
    "CollectingEmitter": "emit_to_list.py",
    "NullEmitter": "emit_to_nobody.py",
}
FRONT_ENDS = {
    "run_repl": "repl.py",
    "run_goal": "one_shot.py",
    "open_conversation": "letters.py",
    "class FrontEnd": "front_end.py",
}


class Examples(World):
    """Starts an example instead of the program; the planner answers by script."""

    def words(self, *arguments: str | bytes) -> list[str | bytes]:
        return [*self.launcher, *arguments]

    def example(self, name: str, *arguments: str, replies: tuple[object, ...] = ()):
        path = self.base / "script.json"
        path.write_text(json.dumps({"reply": [{"json": reply} for reply in replies]}))
        env = {"PYTHONPATH": str(ROOT), "AGENT_PLANNER": f"scripted:{path}", "AGENT_MEMORY": "off"}
        return self.run(str(EXAMPLES / name), *arguments, env=env)


@pytest.fixture
def place(tmp_path: Path) -> Examples:
    return Examples(tmp_path)


def emitted(place: Examples, name: str, code: int = 0):
    ended = place.example(name, "list", "it", replies=(command("echo one"), chat("That is **all**.")))
    assert ended.code == code, ended.stderr
    assert place.types()[-1] == "session.finished"
    return ended


@pytest.mark.covers("S1-41", "S1-78")
def test_the_terminal_emitter(place: Examples) -> None:
    ended = emitted(place, "emit_to_terminal.py")
    assert ended.stdout == "one\nThat is **all**.\n"
    assert "$ echo one  [low]" in ended.stderr and "✓ completed" in ended.stderr


@pytest.mark.thorough
@pytest.mark.covers("S1-41", "S1-78")
def test_the_json_emitter(place: Examples) -> None:
    kinds = [json.loads(line)["type"] for line in emitted(place, "emit_json_lines.py").stdout.splitlines()]
    assert [kind for kind in kinds if kind != "assistant.delta"] == place.types()


@pytest.mark.thorough
@pytest.mark.covers("S1-41", "S1-46", "S1-78")
def test_the_collecting_emitter(place: Examples) -> None:
    answer = json.loads(emitted(place, "emit_to_list.py").stdout)
    assert answer == {
        "text": "That is **all**.",
        "commands": ["echo one"],
        "output": "one\n",
        "files_written": [],
        "exit_code": 0,
    }


@pytest.mark.thorough
@pytest.mark.covers("S1-41", "S1-78")
def test_the_emitter_that_drops_everything(place: Examples) -> None:
    ended = emitted(place, "emit_to_nobody.py")
    assert (ended.stdout, ended.stderr) == ("", "")


@pytest.mark.thorough
@pytest.mark.covers("S1-3", "S1-78")
def test_one_goal_with_settings_of_ones_own(place: Examples) -> None:
    ended = emitted(place, "one_shot.py")
    assert ended.stdout == "one\nThat is **all**.\n"


@pytest.mark.thorough
@pytest.mark.covers("S1-3", "S1-78")
def test_the_prompt_in_another_program(place: Examples) -> None:
    path = place.base / "script.json"
    path.write_text(json.dumps({"reply": [{"json": reply} for reply in (command("echo one"), chat("That is all."))]}))
    words = [sys.executable, str(EXAMPLES / "repl.py")]
    env = {"PYTHONPATH": str(ROOT), "AGENT_PLANNER": f"scripted:{path}"}
    with Terminal(home=place.home, cwd=place.work, command=words, **env) as terminal:
        terminal.at_prompt()
        terminal.type("list it\r")
        terminal.see("That is all.")
        terminal.at_prompt()
        terminal.type("exit\r")
        assert terminal.leaves() == 0


@pytest.mark.thorough
@pytest.mark.covers("S0-2", "S0-3", "S0-4", "S0-7", "S0-14", "S0-16", "S0-17", "S1-78", "S1-80")
def test_a_conversation_by_letters(place: Examples) -> None:
    """Real tools, a system prompt in a file, and an adapter that is neither our command line nor our server."""
    folder = place.base / "post"
    for name in ("in", "out", "work"):
        (folder / name).mkdir(parents=True)
    (folder / "prompt.md").write_text("You help to write plans. {{nothing is filled in}}")
    calls = [
        {"text": "What is the plan for?"},
        {"tool_calls": [{"id": "1", "name": "run_command", "arguments": {"command": "echo hi > hi.txt"}}]},
        {"tool_calls": [{"id": "2", "name": "file_write", "arguments": {"path": "plan.md", "content": "# A shop\n"}}]},
        {"text": "It is written."},
        {"tool_calls": [{"id": "3", "name": "session_complete", "arguments": {"message": "Good luck!"}}]},
    ]
    script = place.base / "letters.json"
    script.write_text(json.dumps({"reply": calls}))
    process = place.start(
        str(EXAMPLES / "letters.py"), str(folder), f"scripted:{script}", env={"PYTHONPATH": str(ROOT)}
    )
    answers = []
    for number, letter in enumerate(("I want a plan", "a shop", "thank you"), 1):
        draft, answer = folder / "draft", folder / "out" / f"{number}.txt"
        draft.write_text(letter)
        draft.rename(folder / "in" / f"{number}.txt")
        until(lambda answer=answer: answer.exists() and answer.read_text().endswith("\n"))
        answers.append(answer.read_text())
    ended = place.end_of(process)
    assert (ended.code, ended.stdout, ended.stderr) == (0, "", "")
    assert answers == ["What is the plan for?\n", "It is written.\n(written: plan.md)\n", "Good luck!\n"]
    assert [path.name for path in (folder / "work").iterdir()] == ["plan.md"]
    assert [goal["goal"] for goal in place.goals()] == ["I want a plan", "a shop", "thank you"]


def test_each_is_short_and_says_how_it_is_started() -> None:
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text()
        assert len(text.splitlines()) <= 60, path.name
        assert f"`python examples/{path.name}" in text.partition('"""\n')[0], path.name


@pytest.mark.covers("S1-78")
def test_every_emitter_and_front_end_has_one() -> None:
    found = set()
    for path in (ROOT / "agent").rglob("*.py"):
        found |= set(re.findall(r"^class (\w+Emitter)\b(?!\(Protocol)", path.read_text(), re.MULTILINE))
    beside = {"TelemetryEmitter", "SubAgentEmitter"}  # they stand around or beside another one
    assert found - beside == set(EMITTERS)
    for name, example in {**EMITTERS, **FRONT_ENDS}.items():
        assert name in (EXAMPLES / example).read_text(), name
