"""What start-up imports: the guard behind the start-up figures."""

import subprocess
import sys

import pytest

HEAVY = {
    "httpx", "httpcore", "anyio", "rich", "pygments", "markdown_it", "tree_sitter", "tree_sitter_bash", "tomllib",
    "dotenv", "hypothesis", "re2", "tomlkit", "jinja2", "difflib",
    "json", "dataclasses",
    "importlib.metadata", "agent.planner.offline.planner", "agent.planner.llm",
    "agent.risk.classifier", "agent.providers.catalog", "agent.vault", "cryptography",
}  # fmt: skip


def modules_after(code):
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_version_imports_next_to_nothing():
    bare = modules_after("pass")
    extra = modules_after("from agent.cli.entry import main\nmain(['--version'])") - bare
    assert (
        extra
        == {"__future__", "agent", "agent.cli", "agent.cli.entry", "agent.version", "typing", *_below("typing")} & extra
    )
    assert not extra & {"argparse", "asyncio", "msgspec", "prompt_toolkit", "subprocess"}


def _below(name):
    return {
        "collections", "collections.abc", "functools", "contextlib", "operator", "re", "re._casefix", "re._compiler",
        "re._constants", "re._parser", "copyreg", "enum", "types", "keyword", "reprlib", "itertools", "_collections",
        "_functools", "_operator", "_sre", "_typing", "warnings",
    }  # fmt: skip


def test_help_needs_argparse_and_the_settings_table_only():
    extra = modules_after("from agent.cli.arguments import build_parser\nbuild_parser().format_help()")
    assert not extra & {"asyncio", "prompt_toolkit", "subprocess", *HEAVY}


@pytest.mark.few(1)
@pytest.mark.parametrize("module", ["agent.frontends.repl.repl", "agent.app.composition", "agent.frontends.services"])
def test_the_first_frame_imports_nothing_heavy(module):
    assert not modules_after(f"import {module}") & HEAVY


def test_a_rating_needs_nothing_of_what_is_asked_about_it():
    rates = "from agent.risk.classifier import classify\nassert classify('find . -delete').parse == 'ok'"
    modules_after(rates)  # which compiles tables that are older than what they are made of
    extra = modules_after(rates)
    assert {name for name in extra if name.startswith("agent.protocol.")} == {"agent.protocol.decisions"}
    assert not extra & {"json", "dataclasses", "shlex", "importlib.util", "tree_sitter_bash"}
    rarely = {
        "gtfobins.effects",
        "invocations.folder_files",
        "invocations.telling",
        "paths.fetched_names",
        "shell.hidden_code",
        "shell.lists",
        "shell.session",
        "tables.variables",
    }
    assert not extra & {f"agent.risk.{name}" for name in rarely}


def test_the_first_frame_knows_no_command():
    """Definitions and handlers are loaded with the first line that begins with a colon or a dot."""
    loaded = modules_after("import agent.frontends.repl.repl")
    assert {name for name in loaded if name.startswith("agent.commands.")} == {"agent.commands.registry"}


def test_the_services_are_wired_without_anything_heavy(tmp_path):
    code = f"""
import os
os.environ.update(HOME={str(tmp_path)!r}, AGENT_SESSION_DIR={str(tmp_path / "s")!r})
from agent.app import composition as app
services = app.build_services(app.load({{"planner": "offline"}}))
context = services.open_session("repl")
"""
    assert not modules_after(code) & HEAVY


@pytest.mark.thorough
def test_with_another_planner_nothing_of_the_offline_one_is_loaded(tmp_path):
    """Goals, commands that failed, plans, the command memory and the words about it: none of them needs the recipes."""
    code = f"""
from pathlib import Path
import pytest
from tests.support.memory_world import MemoryWorld
with pytest.MonkeyPatch.context() as patch:
    world = MemoryWorld(Path({str(tmp_path)!r}), patch)
    world.taught("look for needles in the hay", "grep needle /dev/null")  # exit code 1, which is an answer
    steps = [{{"goal": "one", "command": "true"}}, {{"goal": "two", "command": ""}}]
    planner = world.script(
        {{"mode": "command", "command": "ls nothing-of-this-name"}}, {{"mode": "command", "command": "true"}},
        {{"mode": "chat", "message": "done"}}, {{"mode": "plan", "message": "", "steps": steps}},
        {{"mode": "command", "command": "true"}}, {{"mode": "chat", "message": "done"}},
    )
    lines = ["look for needles in the hay", ":memory", "two things", "! false", ":memory hay", ":forget hay"]
    person = world.session(planner, *lines)
    assert len(person.asked) >= 3
    told = " ".join(world.told)
    assert "grep needle /dev/null" in told, told
"""
    loaded = modules_after(code)
    assert "agent.memory.comparing" in loaded
    assert not {name for name in loaded if name.startswith("agent.planner.offline")}
