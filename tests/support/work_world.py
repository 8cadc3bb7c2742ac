"""A repository with tasks, a bare remote and real git, in the world of a scenario; and a model that answers what a test tells it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.scenarios.program import Ended, World
from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.made_once import copy_of, write_files
from tests.support.repo_world import PERSON

TASKS = """# Tasks

## 1. Prices
Status: todo

- [ ] 1.1 Read a price
- [ ] 1.2 Write a price
  Acceptance: 5 is written as 5.00

## 2. Baskets
Status: todo

- [ ] 2.1 Add up a basket
- [ ] 2.2 Take a discount off

## 3. Manual
Status: todo

- [ ] 3.1 Say how it is used
"""
RUN_TESTS = """import subprocess, sys
sys.exit(subprocess.call([sys.executable, "-m", "unittest", "discover", "-s", "tests"]))
"""
PATIENCE = 120.0
UNATTENDED = ("--approve", "medium", "--grant", "push", "--grant", "pull-request")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A tool call on the wire."""
    return {"tool_name": name, "arguments": arguments}


def reply(plan: str, *calls: dict[str, Any]) -> dict[str, Any]:
    """A reply of the model."""
    return {"plan": plan, "tool_calls": list(calls)}


def write(path: str, content: str) -> dict[str, Any]:
    return call("write_file", path=path, content=content)


def finish_feature(task: int, feature: int, title: str) -> dict[str, Any]:
    return call("finish_feature", task_id=task, feature_id=feature, title=title)


def function(name: str, body: str) -> str:
    """A module with one function."""
    return f"def {name}(value):\n    return {body}\n"


def checked(module: str, name: str, given: str, wanted: str) -> str:
    """Its test."""
    return (
        f"import unittest\n\nfrom shop.{module} import {name}\n\n\nclass {name.title()}(unittest.TestCase):\n"
        f"    def test_{name}(self):\n        self.assertEqual({name}({given}), {wanted})\n"
    )


def with_status(tasks: str, task: int, status: str = "review") -> str:
    """The task file with another status of one task, and its features done."""
    before, head, rest = re.split(f"(?m)(^## {task}\\..*\n)", tasks)
    part, *others = re.split("(?m)(?=^## )", rest)
    part = part.replace("Status: todo", f"Status: {status}").replace("- [ ]", "- [x]")
    return "".join([before, head, part, *others])


FEATURES: dict[int, list[tuple[str, str, str, str, str, str]]] = {
    1: [
        ("Read a price", "reading", "read", "float(value)", "'2.5'", "2.5"),
        ("Write a price", "writing", "write", "f'{value:.2f}'", "5", "'5.00'"),
    ],
    2: [
        ("Add up a basket", "basket", "total", "sum(value)", "[1, 2]", "3"),
        ("Take a discount off", "discount", "reduced", "value * 0.9", "100", "90.0"),
    ],
}
TITLES = {1: "Prices", 2: "Baskets", 3: "Manual"}


def feature(task: int, number: int) -> list[dict[str, Any]]:
    """The replies that do one feature."""
    title, module, name, body, given, wanted = FEATURES[task][number - 1]
    return [
        reply(
            f"Write {module} with its test",
            write(f"shop/{module}.py", function(name, body)),
            write(f"tests/test_{module}.py", checked(module, name, given, wanted)),
            call("run_tests"),
            finish_feature(task, number, title),
        )
    ]


def ending(task: int, tasks: str = TASKS) -> dict[str, Any]:
    """The reply that submits a task."""
    return reply(
        "Set the status and submit",
        write("TASKS.md", with_status(tasks, task)),
        call("run_tests"),
        call("submit_for_review", task_id=task, task_title=TITLES[task]),
        call("finish"),
    )


def whole(task: int, tasks: str = TASKS) -> list[dict[str, Any]]:
    """All replies that do a task well."""
    if task == 3:
        manual = reply(
            "Write the manual",
            write("MANUAL.md", "# How\n"),
            call("run_tests"),
            finish_feature(3, 1, "Say how it is used"),
        )
        return [manual, ending(3, tasks)]
    look = reply("Look at what is there", call("list_files"), call("retrieve_context_files", paths=["TASKS.md"]))
    return [look, *feature(task, 1), *feature(task, 2), ending(task, tasks)]


def _repository(base: Path) -> None:
    """Make a checkout with its remote, and the settings of its person."""
    repo, bare = base / "project", base / "remote.git"
    write_files(base / "home", {".gitconfig": PERSON})
    repo.mkdir()

    def git(*words: str) -> None:
        env = {"PATH": os.environ["PATH"], "HOME": str(base / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *words], cwd=repo, env=env, check=True, capture_output=True)

    git("init", "-q")
    write_files(
        repo, {"TASKS.md": TASKS, "shop/__init__.py": "", "tests/__init__.py": "", "scripts/run_tests.py": RUN_TESTS}
    )
    write_files(repo, {".gitignore": "__pycache__/\n"})
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    git("init", "-q", "--bare", str(bare))
    for words in (f"remote add origin {bare}", "push -q -u origin main", "remote set-head origin -a"):
        git(*words.split(" "))


class WorkWorld:
    """`repo` is the person's checkout, `bare` its remote, `server` the model's."""

    def __init__(self, world: World, server: FakeLLMServer) -> None:
        self.world, self.server = world, server
        self.repo, self.bare = world.base / "project", world.base / "remote.git"
        world.extra |= {"GIT_CONFIG_NOSYSTEM": "1", "XDG_STATE_HOME": str(world.base / "state")}
        copy_of(_repository, world.base)

    def git(self, *words: str, at: Path | None = None, fails: bool = False) -> str:
        done = subprocess.run(
            ["git", *words], cwd=at or self.repo, env=self.world.environ(), capture_output=True, text=True, check=False
        )
        assert fails or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def put(self, files: dict[str, str], at: Path | None = None) -> None:
        write_files(at or self.repo, files)

    def commit(self, subject: str, at: Path | None = None) -> str:
        self.git("add", "-A", at=at)
        self.git("commit", "-q", "-m", subject, at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def push_from_elsewhere(self, files: dict[str, str], branch: str = "main") -> str:
        """Somebody else pushes a commit."""
        place = self.world.base / f"other-{len(list(self.world.base.iterdir()))}"
        self.git("clone", "-q", "-b", branch, str(self.bare), str(place), at=self.world.base)
        self.put(files, place)
        made = self.commit("from elsewhere", place)
        self.git("push", "-q", at=place)
        return made

    def says(self, *replies: dict[str, Any]) -> None:
        """What the model answers next, in this order."""
        self.server.add(*(Behaviour(pieces=(json.dumps(each),)) for each in replies))

    @property
    def options(self) -> tuple[str, ...]:
        """Which model is asked."""
        return "--planner", "openai", "--base-url", self.server.base_url, "--model", "fake-model"

    def work(self, *options: str, unattended: bool = True, **more: Any) -> Ended:
        """`agent-shell work` in the checkout, to its end."""
        process = self.start(*options, unattended=unattended, **more)
        out, err = process.communicate(timeout=PATIENCE)
        assert b"Traceback" not in err, err
        return Ended(process.returncode, out.decode(), err.decode())

    def start(self, *options: str, unattended: bool = True, **more: Any) -> subprocess.Popen[bytes]:
        agreed = UNATTENDED if unattended else ()
        return self.world.start("work", *self.options, *agreed, *options, **{"cwd": self.repo, **more})

    def told(self) -> str:
        """All that the model was told with its last request."""
        return json.dumps(self.server.requests[-1].body, ensure_ascii=False)

    def subjects(self, branch: str) -> list[str]:
        """The subjects of the commits that a branch of the remote has beyond main, oldest first."""
        return self.git("log", "--reverse", "--format=%s", f"main..{branch}", at=self.bare).splitlines()

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads", at=self.bare).splitlines()

    def text(self, branch: str, path: str) -> str:
        return self.git("show", f"{branch}:{path}", at=self.bare)

    def worktree(self, task: int) -> Path:
        (found,) = (self.world.base / "state").glob(f"**/agent-shell-worktrees/*/task-{task}")
        return found

    def cycles(self) -> list[dict[str, Any]]:
        return [event for event in self.world.events() if event["type"] == "cycle.finished"]

    def results(self, tool: str) -> list[str]:
        """What came of the calls of one tool."""
        return [
            each["result"] for each in self.world.events() if each["type"] == "tool.finished" and each["name"] == tool
        ]
