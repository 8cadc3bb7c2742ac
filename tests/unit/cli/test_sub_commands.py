"""A row of the table is all there is to a sub-command: parser, help, completion and work follow from it."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import pytest

from agent.cli import completions
from agent.cli.arguments import build_parser
from agent.cli.entry import main
from agent.cli.sub_commands import SUB_COMMANDS, SubCommand

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.few(6)
@pytest.mark.parametrize("name", SUB_COMMANDS)
def test_a_row_is_whole(name: str) -> None:
    row = SUB_COMMANDS[name]
    assert row.help and (row.examples or name == "sessions")  # whose actions have theirs
    assert f"  {name:<12} {row.help}" in build_parser().format_help()
    page = build_parser(name).format_help()
    assert page.startswith(f"usage: agent-shell {name} ")
    assert row.help[1:] in " ".join(page.split())
    assert all(name in completions.script(shell, SUB_COMMANDS) for shell in SHELLS)


def test_one_more_row_is_one_more_sub_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--loud", action="store_true", help="in capitals")
        parser.add_argument("word", choices=("hello", "bye"), help="what to say")

    def greet(options: argparse.Namespace) -> int:
        print(options.word.upper() if options.loud else options.word)
        return 7

    row = SubCommand("[--loud] WORD", "say a word", greet, add, "  agent-shell greet hello\n", frozenset(("cwd",)))
    monkeypatch.setitem(SUB_COMMANDS, "greet", row)
    assert main(["greet", "--loud", "hello"]) == 7
    assert capsys.readouterr().out == "HELLO\n"
    assert main(["greet", "helo"]) == 2
    assert "did you mean hello?" in capsys.readouterr().err
    assert main(["--help"]) == 0
    assert "  greet        say a word" in capsys.readouterr().out
    for shell in SHELLS:
        assert "hello bye --help --cwd --loud" in completions.script(shell, SUB_COMMANDS)


def test_behind_an_action_its_own_options_are_offered() -> None:
    """As bash does it: the script is sourced, and asked."""
    asked = (
        f"{completions.script('bash', SUB_COMMANDS)}\n"
        'ask() { COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _agent_shell; echo "${COMPREPLY[*]}"; }\n'
        "ask agent-shell sessions list --g; ask agent-shell --json sessions pru; ask agent-shell sessions nothing --js\n"
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["--goals", "prune", "--json"]


def test_names_of_the_library_are_offered(tmp_path: Path) -> None:
    """As the program lists them, by whatever name it was called."""
    program = tmp_path / "agent-shell"
    program.write_text(
        '#!/bin/sh\n[ "$*" = "roles list --json" ] && printf \'{"name":"%s","own":true}\\n\' terse mine\n'
    )
    program.chmod(0o755)
    asked = (
        f"{completions.script('bash', SUB_COMMANDS)}\n"
        'ask() { COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _agent_shell; echo "${COMPREPLY[*]}"; }\n'
        f"ask {program} roles show ''; ask {program} roles show te; ask {program} --json roles delete m; ask {program} roles sh\n"
        f"ask {program} macros show ''; ask {program} --role m\n"
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["terse mine", "terse", "mine", "show", "", "mine"]
    fish = completions.script("fish", SUB_COMMANDS)
    assert r"""-a '(agent-shell roles list --json 2>/dev/null | cut -d\" -f4)'""" in fish
