"""An error begins `agent-shell: ` at the shell, on standard error, and `error: ` at the prompt, whichever command it is of."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.cli.sub_commands import SUB_COMMANDS
from agent.commands.registry import definitions
from agent.frontends.line import parse_line
from agent.frontends.repl.repl import run_repl
from agent.protocol.errors import CoreError
from tests.scenarios.program import World as Program
from tests.support.each import each
from tests.support.fake_terminal import open_terminal, typed
from tests.support.fakes import FakePlanner, say
from tests.support.front_services import World

WRONG = {
    "": ["", "--role nope x", "--session-id /nope x", "serve", "undoo"],
    "plan": [""],
    "risk": ["", "--cwd /nope ls", "--batch /nope"],
    "exec": ["", "--cwd /nope ls"],
    "rehearse": ["", "--cwd /nope ls"],
    "undo": ["nope"],
    "sessions": ["nope", "show nope", "verify nope", "replay --check nope", "sql nope", "prune --keep-size nope"],
    "doctor": ["nope"],
    "models": ["use nope", "nope"],
    "roles": ["show nope", "nope"],
    "agents": ["show nope", "nope"],
    "macros": ["show nope", "nope"],
    "rag": ["show nope", "nope"],
    "vault": ["get", "get NOPE", "run NOPE -- ls", "delete NOPE"],
    "policy": ["deny", "forget nope", "deny nope"],
    "interview": ["--engine nope"],
    "work": ["", "lint"],
    "config": ["nope"],
    "completions": ["nope", ""],
}


@pytest.mark.thorough
@each("name", sorted(WRONG), ids=lambda name: name or "program")
def test_at_the_shell_it_names_the_program(tmp_path: Path, name: str) -> None:
    world = Program(tmp_path / (name or "program"))
    for words in [*WRONG[name], "--no-such-option"]:
        given = [name] if name else []
        ended = world.run(*given, *(words.split() or ([] if name else [""])))
        assert ended.code not in (0, 1) or (name, words) == ("work", "lint"), (words, ended)
        lines = [line for line in ended.stderr.splitlines() if not line.startswith(("usage: ", "       agent-shell "))]
        assert lines and lines[0].startswith("agent-shell: "), (words, ended)
        assert "error: " not in ended.stderr
        assert not ended.stdout, (words, ended)
    world.leave()


def test_every_sub_command_is_looked_at() -> None:
    assert {*SUB_COMMANDS, ""} == WRONG.keys()


def test_at_the_prompt_it_says_that_it_is_an_error(tmp_path: Path) -> None:
    wrong: dict[str, str] = {}
    for name in [*(row.name for row in definitions()), "nope"]:
        try:
            parse_line(f":{name} --nope nope nope")
        except CoreError as error:
            wrong[f":{name} --nope nope nope"] = error.message
    assert len(wrong) >= 15
    with open_terminal() as terminal:
        world = World(FakePlanner(say()), tmp_path)
        lines = [f" {line}\r" for line in wrong]  # a space in front: no names complete
        typed(terminal, lambda: run_repl(world.services, terminal.screen), *lines, "exit\r", pause=0.06)
    seen = " ".join(terminal.seen.split())
    assert [message for message in wrong.values() if f"error: {' '.join(message.split())}" not in seen] == []
