"""The whole way in the program, without a model: explore, decide, write down what is needed, and print it."""

from __future__ import annotations

import pytest

from agent.repo_agent.task_file import read_tasks
from agent.repo_agent.task_lint import lint
from tests.scenarios.program import World

EXPLORED = """\
We want to know who can help, and when
Nobody knows who can help and when
A shared calendar that nobody kept up
1
What does a web app cost?; Who runs it?
a wiki; a spreadsheet; a custom web app
cheaper, but nobody updates it; reminds people, but costs money
skip
nobody uses it
A web app asks each of us every week and remembers what we said
phones matter most
2000 a year
skip
custom web app; only that reminds people by itself
:go project-discovery
"""
WRITTEN_DOWN = """\
Last week nobody came
No, I meant last month
skip
one person calls ten others
Who plans the shifts
just do it
see who is missing; say that I can come
See open shifts; Say yes or no on a phone
A page with open shifts and a yes
Before the summer
Names and phone numbers
yes
yes
yes
yes
:why trigger
:export tasks
"""


@pytest.mark.thorough
@pytest.mark.covers("S3-130")
def test_from_a_wish_to_tasks(world: World) -> None:
    explored = world.run("interview", "exploration", "--planner", "offline", stdin=EXPLORED.encode())
    assert explored.code == 0, explored.stderr
    assert "enough is known to go on: :go project-discovery" in explored.stderr
    assert "- Decided: custom web app: only that reminds people by itself" in explored.stdout
    written = world.run("interview", "--resume", "last", "--planner", "offline", stdin=WRITTEN_DOWN.encode())
    assert written.code == 0, written.stderr
    assert "Noted: Trigger: last month" in written.stdout
    assert "enough is known to go on: :go repo-agent" in written.stderr
    shown = written.stdout + written.stderr
    file = read_tasks(shown[shown.index("# Tasks") :])
    assert [each.title for each in file.tasks][:2] == ["See open shifts", "Say yes or no on a phone"]
    assert list(lint(file)) == []
    printed = world.run("interview", "export", "requirements", "--resume", "last")
    assert "2000 a year" not in printed.stdout and "last month" in printed.stdout
    history = ("turn 2, new: Last week nobody came", "turn 3, replaced by: last month")
    report = world.run("interview", "export", "provenance", "--resume", "last").stdout
    assert all(f"  {each}\n" in shown and f"- {each}\n" in report for each in history)
    types = [event["type"] for event in world.events()]
    assert types.count("interview.started") == 2 and types.count("interview.handed_over") == 1
