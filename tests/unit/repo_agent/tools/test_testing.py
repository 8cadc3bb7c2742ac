"""`run_tests` and `run_command`: by the gate, told in the document's form, and counted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent.protocol.messages import CommandItem
from agent.repo_agent.repository import Repository
from tests.support.tool_place import ToolPlace, git

KEYS = ["ok", "exit_code", "stdout", "stderr", "passed", "total"]


@pytest.fixture
def here(tmp_path: Path) -> ToolPlace:
    here = ToolPlace(tmp_path)
    (here.root / ".venv/bin").mkdir(parents=True)
    (here.root / ".venv/bin/python").symlink_to(sys.executable)
    return here


@pytest.mark.covers("S2-9")
def test_a_run_is_told_and_counted(here: ToolPlace) -> None:
    here.write("setup.py", "")
    here.write(
        "test_a.py",
        "import unittest\nclass A(unittest.TestCase):\n def test_a(self): pass\n def test_b(self): self.fail('no')\n",
    )
    here.place.progress.calls = 3
    result = here.call("run_tests")
    told = here.told("run_tests")
    assert result.is_error and list(told) == KEYS
    assert (told["ok"], told["exit_code"], told["passed"], told["total"]) == (
        False,
        1,
        1,
        2,
    ) and "AssertionError: no" in told["stderr"]
    assert here.ran[0] == f"{here.root}/.venv/bin/python -m unittest discover"
    assert not here.place.progress.is_green and here.place.progress.total == 2
    here.write("test_a.py", "import unittest\nclass A(unittest.TestCase):\n def test_a(self): pass\n")
    assert here.told("run_tests")["ok"] and here.place.progress.is_green


@pytest.mark.covers("S2-9")
def test_the_repositorys_own_script_says_it(here: ToolPlace) -> None:
    here.write(
        "scripts/run_tests.py",
        "import json\nprint(json.dumps(dict(ok=True, exit_code=0, stdout='x', stderr='', passed=9, total=9)))\n",
    )
    told = here.told("run_tests")
    assert told == {"ok": True, "exit_code": 0, "stdout": "x", "stderr": "", "passed": 9, "total": 9}
    here.write("scripts/run_tests.py", "print('3 passed in 0.1s')\nraise SystemExit(4)\n")
    told = here.told("run_tests")
    assert (told["ok"], told["exit_code"], told["passed"], told["total"]) == (False, 4, 3, 3)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "script",
    [
        "import json\nprint(json.dumps(dict(ok=True, exit_code=0, stdout='', stderr='', passed=1, total=1)))\nraise SystemExit(1)\n",
        "import json\nprint(json.dumps(dict(ok=True, exit_code=0, stdout='', stderr='', passed=1, total=2)))\n",
        "import json\nprint(json.dumps(dict(ok=True, exit_code=3, stdout='', stderr='', passed=True, total='x')))\n",
    ],
)
def test_a_script_cannot_call_a_failure_a_success(here: ToolPlace, script: str) -> None:
    here.write("scripts/run_tests.py", script)
    told = here.told("run_tests")
    assert not told["ok"] and told["passed"] in (1, None)
    assert not here.place.progress.is_green


def test_an_exit_code_that_the_repository_sets_makes_no_failure_a_success(here: ToolPlace) -> None:
    here.write("Makefile", "test:\n\t@echo '1 failed, 2 passed in 0.1s'\n")
    told = here.told("run_tests")
    assert (told["ok"], told["exit_code"], told["passed"], told["total"]) == (False, 0, 2, 3)
    assert not here.place.progress.is_green


def test_of_long_output_both_ends_stay(here: ToolPlace) -> None:
    here.write("scripts/run_tests.py", "print('first')\nprint('x\\n' * 100_000)\nprint('5 passed in 1.0s')\n")
    told = here.told("run_tests")
    assert (
        told["stdout"].startswith("first")
        and told["stdout"].rstrip().endswith("5 passed in 1.0s")
        and len(told["stdout"]) < 10_000
    )
    assert told["total"] == 5


def test_of_an_object_that_is_cut_the_counts_are_taken(here: ToolPlace) -> None:
    async def cut(command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        out = '{"ok": true, "exit_code": 0, "stdout": "a\n[… 9 bytes not kept …]\nb", "stderr": "", "passed": 41, "total": 42}\n'
        return CommandItem(command_id="c", proposed=command, run=command, exit_code=1, stdout=out)

    here.write("scripts/run_tests.py", "")
    here.run = cut  # type: ignore[method-assign]
    told = here.told("run_tests")
    assert (told["ok"], told["exit_code"], told["passed"], told["total"]) == (False, 1, 41, 42)


def test_what_has_no_tests_says_so(here: ToolPlace) -> None:
    result = here.call("run_tests")
    assert (
        not result.is_error
        and "nothing in the repository says" in result.content
        and here.place.progress.untestable
        and not here.ran
    )


def test_a_link_out_says_nothing(here: ToolPlace, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("")
    (here.root / "pytest.ini").symlink_to(tmp_path / "pytest.ini")
    here.call("run_tests")
    assert not here.ran


def test_a_worktree_has_the_interpreter_of_its_repository_but_its_own_code(here: ToolPlace, tmp_path: Path) -> None:
    here.write("src/pkg.py", "where = 'main'\n")
    here.write("scripts/run_tests.py", "import pkg\nprint(pkg.where)\n")
    git(here.root, "add", "src", "scripts")
    git(here.root, "commit", "-qm", "x")
    git(here.root, "worktree", "add", "-q", str(tmp_path / "tree"))
    other, here.root = here.root, tmp_path / "tree"
    here.place.repository = Repository(here.place.processes, str(here.root))
    here.write("src/pkg.py", "where = 'worktree'\n")
    told = here.told("run_tests")
    assert told["stdout"] == "worktree\n" and f"{other}/.venv/bin/python" in here.ran[0]


def test_what_was_not_run_is_no_success(here: ToolPlace) -> None:
    async def declined(command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        return CommandItem(command_id="c", proposed=command, outcome="declined", remark="nobody is there")

    here.write("pytest.ini", "")
    here.run = declined  # type: ignore[method-assign]
    result = here.call("run_tests")
    assert result.is_error and "nobody is there" in result.content and not here.place.progress.is_green
    assert here.call("run_command", command="true").content == "nobody is there"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("cat a", ()),
        ("echo y > a", ("a",)),
        ("echo x > new; rm b", ("b", "new")),
        ("echo more >> dirty", ("dirty",)),
        ("rm dirty", ("dirty",)),
        ("git rm -q --cached b; rm b; git -c user.name=a -c user.email=a@b commit -qm y", ("b",)),
        ("git checkout -q HEAD~1", ("b",)),
        ("echo y > a; false", ("a",)),
    ],
)
def test_files_that_a_command_changes_are_changes(here: ToolPlace, command: str, written: tuple[str, ...]) -> None:
    here.write(".gitignore", ".venv\n")
    here.write("a", "x\n")
    git(here.root, "add", ".")
    git(here.root, "commit", "-qm", "one")
    here.write("b", "x\n")
    git(here.root, "add", "b")
    git(here.root, "commit", "-qm", "two")
    here.write("dirty", "x\n")
    assert here.call("run_command", command=command).files_written == written


def test_without_a_repository_a_command_may_have_changed_anything(here: ToolPlace, tmp_path: Path) -> None:
    here.place.repository = Repository(here.place.processes, str(tmp_path))
    assert here.call("run_command", command="true").files_written == (".",)


def test_a_command_is_told_whole(here: ToolPlace) -> None:
    result = here.call("run_command", command="echo out; echo err >&2; exit 3")
    assert result.is_error and result.content == "exit code 3\nstdout:\nout\n\nstderr:\nerr\n"
    assert not here.call("run_command", command="true").is_error
    assert here.call("run_command", command=" ").is_error and here.call("run_command").is_error


def test_tests_that_take_too_long_are_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = ToolPlace(tmp_path)
    world.write("pytest.ini", "")

    async def run(command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        out = "1 passed in 0.1s\n"
        return CommandItem(command_id="c", proposed=command, exit_code=0, stdout=out, timed_out=True, duration=1800.0)

    monkeypatch.setattr(world, "run", run)
    told = world.told("run_tests")
    assert not told["ok"] and not world.place.progress.is_green
    assert (
        "took longer than a command may, and were ended after 30m 00s; --command-timeout sets the limit"
        in told["stderr"]
    )
