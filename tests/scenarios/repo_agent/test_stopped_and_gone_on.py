"""What stops a cycle, and how it goes on: a question, a crash, Ctrl-C, somebody who has to agree and is not there."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.scenarios.program import until
from tests.support.fake_llm_server import Behaviour
from tests.support.work_world import WorkWorld, call, ending, feature, reply, whole, write


@pytest.mark.thorough
@pytest.mark.covers("S2-12")
def test_a_question_halts_and_its_answer_goes_on_in_another_process(project: WorkWorld) -> None:
    project.says(*whole(1)[:2], reply("I have to ask", call("ask_question", question_text="Cents or euros?")))
    asked = project.work("--mode", "continuous")
    assert asked.code == 7, asked
    assert "? Cents or euros?" in asked.stdout and 'answer: agent-shell work --answer "…"' in asked.stdout
    assert "task 1 Prices · 1 feature" in asked.stdout
    project.says(*feature(1, 2), ending(1))
    ended = project.work("--answer", "Euros, with two digits")
    assert ended.code == 0, ended
    said = [str(each.body) for each in project.server.requests]
    assert "Euros, with two digits" in said[-1] and "Cents or euros?" in said[-1]
    assert project.subjects("agent/task-1") == [
        "feat(task 1.1): Read a price",
        "feat(task 1.2): Write a price",
        "feat(task 1): Prices",
    ]


@pytest.mark.thorough
def test_an_answer_outlives_a_run_that_fails(project: WorkWorld) -> None:
    project.says(reply("I have to ask", call("ask_question", question_text="Cents or euros?")))
    assert project.work().code == 7
    project.server.add(Behaviour(status=400))
    assert project.work("--answer", "Euros, please").code == 4
    project.says(*whole(2))
    assert project.work("--task", "2").code == 0  # another task forgets nothing of this one
    project.says(*whole(1))
    before = len(project.server.requests)
    ended = project.work()
    assert ended.code == 0, ended
    said = str(project.server.requests[before].body)
    assert "Cents or euros?" in said and "Euros, please" in said
    assert "✓ task 1 Prices · for review" in ended.stdout
    assert not list((project.world.base / "state").rglob("*.question"))


@pytest.mark.thorough
def test_a_crash_in_the_middle_loses_nothing(project: WorkWorld) -> None:
    project.says(whole(1)[1], reply("Half", write("shop/writing.py", "half = True\n")))
    project.server.add(Behaviour(hang_before_headers=True))
    process = project.start()
    assert project.server.hanging.wait(60)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    until(lambda: not project.world.survivors())
    assert (project.worktree(1) / "shop/writing.py").read_text() == "half = True\n"
    project.says(*feature(1, 2), ending(1))
    ended = project.work()
    assert ended.code == 0, ended
    assert "going on with agent/task-1" in ended.stderr
    assert "shop/writing.py" in str(project.server.requests[-2].body)
    assert project.subjects("agent/task-1")[-1] == "feat(task 1): Prices"
    assert project.text("agent/task-1", "shop/writing.py").startswith("def write(")


@pytest.mark.thorough
def test_ctrl_c_stops_the_cycle_and_the_next_run_goes_on(project: WorkWorld) -> None:
    project.says(reply("Half", write("shop/writing.py", "half = True\n")))
    project.server.add(Behaviour(hang_before_headers=True))
    process = project.start()
    assert project.server.hanging.wait(60)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"task 1 Prices" in out and b"stopped" in out and b"agent-shell work --task 1` goes on" in out
    (cycle,) = project.cycles()
    assert cycle["reason"] == "cancelled"
    assert (project.worktree(1) / "shop/writing.py").exists()


def test_nobody_there_to_agree_changes_nothing(project: WorkWorld) -> None:
    project.says(*whole(1))
    ended = project.work(unattended=False)
    assert ended.code == 6, ended
    assert project.branches() == ["main"]


@pytest.mark.thorough
def test_a_push_is_asked_for_unless_it_was_granted(project: WorkWorld) -> None:
    project.says(*whole(1))
    ended = project.work("--approve", "medium", unattended=False)
    assert ended.code == 6, ended
    assert project.branches() == ["main"]
    assert project.git("log", "--format=%s", "-1", at=project.worktree(1)) == "feat(task 1.1): Read a price"


@pytest.mark.few(1)
@pytest.mark.parametrize("said", ["", "Hello!", "[]", '{"plan": 1}', '{"tool_calls": "x"}', "{" * 500])
def test_a_model_that_talks_nonsense_ends_the_cycle_in_order(project: WorkWorld, said: str) -> None:
    project.server.add(*[Behaviour(pieces=(said,))] * 12)
    ended = project.work()
    assert ended.code in (1, 4), ended
    (cycle,) = project.cycles()
    assert cycle["reason"] == "failed"
    assert project.branches() == ["main"]


@pytest.mark.thorough
def test_money_is_a_bound(project: WorkWorld) -> None:
    looks = [json.dumps(reply("look", call("search", pattern=f"a{number}"))) for number in range(9)]
    project.server.add(*[Behaviour(pieces=(look,), cost=0.5) for look in looks])
    ended = project.work("--mode", "continuous", "--max-cost", "1")
    assert ended.code == 1, ended
    assert project.cycles()[-1]["reason"] == "budget" and len(project.server.requests) <= 3


@pytest.mark.thorough
def test_two_at_once_do_different_tasks(project: WorkWorld) -> None:
    project.server.add(Behaviour(hang_before_headers=True))
    first = project.start("--task", "1")
    assert project.server.hanging.wait(60)
    same = project.work("--task", "1")
    assert same.code != 0 and "another process works on task 1" in same.stderr
    project.says(*whole(2))
    other = project.work()
    assert other.code == 0 and "✓ task 2 Baskets · for review" in other.stdout, other
    first.kill()
    first.communicate()
    project.says(*whole(1))
    assert project.work("--task", "1").code == 0
