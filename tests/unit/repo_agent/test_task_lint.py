"""Each mistake in a file of tasks is said with its line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent.cli.entry import main
from agent.repo_agent.task_file import read_tasks
from agent.repo_agent.task_lint import lint
from tests.support.each import each
from tests.unit.repo_agent.test_task_file import WHOLE


@each(
    ("text", "said"),
    [
        ("", "1: there is no task; one begins with a heading like `## 10. Its title`"),
        ("## 1. A\n## 1. B", "2: 1 is there twice, first in line 1"),
        ("## 1. A\n- [ ] 1.1 B\n- [ ] 1.1 C", "3: 1.1 is there twice, first in line 2"),
        ("## 1.", "1: 1 has no title"),
        ("## 1. A\nDepends on: 2", "1: 1 depends on 2, which is not there"),
        ("## 1. A\nDepends on: the parser", "2: 1 depends on 'the parser', which is no number of a task"),
        ("## 1. A\nDepends on: 1", "1: tasks wait for each other: 1 → 1"),
        ("## 1. A\nDepends on: 2\n## 2. B\nDepends on: 1", "1: tasks wait for each other: 1 → 2 → 1"),
        ("## 1. A\nStatus: dropped\n## 2. B\nDepends on: 1", "3: 2 depends on 1, which was dropped"),
        ("## 1. A\nStatus: almost", "2: 1 has the status 'almost'; known are todo, in progress, review, done, blocked, dropped"),
        ("## 1. A\nStatus: todo\nStatus: done", "3: 1 has a second status"),
        ("- [o] 1. A", "1: the box of 1 holds 'o'; known are [ ] [~] [?] [x] [!] [-]"),
        ("## [x] 1. A\nStatus: review", "1: the box of 1 says done, its status line review"),
        ("## 1. A\nStatus: done\n- [ ] 1.1 B", "1: 1 is done, but 1.1 not"),
        ("## 1. A\n- [ ] 2.1 B", "2: feature 2.1 stands under task 1"),
        ("- [ ] 2.1 B\n## 1. A", "1: feature 2.1 stands before any task"),
        ("## 1. A\n## Task: B", "2: a task without a number: Task: B"),
    ],
)  # fmt: skip
def test_a_mistake_is_said(text: str, said: str) -> None:
    found = [f"{each.line}: {each.text}" for each in lint(read_tasks(text))]
    assert said in found
    assert len(found) == 1


def test_a_file_without_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "TASKS.md"
    place.write_text(WHOLE)
    assert main(["work", "lint", str(place)]) == 0
    assert capsys.readouterr().out == f"{place}: 3 tasks, 3 features; next: 9\n"


def test_mistakes_for_people_and_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "TASKS.md"
    place.write_bytes(b"## 1. A \xff\x1b[31m\n## 1. B\nDepends on: \x1b[2Jx\n")
    assert main(["work", "lint", str(place)]) == 1
    shown = capsys.readouterr().out
    assert f"{place}:2: 1 is there twice, first in line 1\n" in shown
    assert "\x1b" not in shown
    assert main(["work", "lint", str(place), "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == {"line": 2, "text": "1 is there twice, first in line 1"}


def test_a_file_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["work", "lint", str(tmp_path / "none.md")]) != 0
    assert "No such file or directory" in capsys.readouterr().err


def test_a_pipe_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "TASKS.md")
    assert main(["work", "lint", str(tmp_path / "TASKS.md")]) != 0
    assert "it is no regular file" in capsys.readouterr().err
