"""Three tasks with five features, on real git with a bare remote: one cycle, one after the other, tests that fail first."""

from __future__ import annotations

import pytest

from tests.support.fake_llm_server import Behaviour
from tests.support.work_world import (
    WorkWorld,
    call,
    checked,
    ending,
    feature,
    finish_feature,
    function,
    reply,
    whole,
    write,
)


@pytest.mark.covers("S2-1", "S2-2", "S2-10", "S2-11", "S2-13", "S2-14", "S2-17", "S2-18")
def test_one_cycle_does_one_task_and_ends(project: WorkWorld) -> None:
    project.says(*whole(1), *whole(2))
    ended = project.work()
    assert ended.code == 0, ended
    assert project.branches() == ["agent/task-1", "main", "review/task-1"]
    assert project.subjects("agent/task-1") == [
        "feat(task 1.1): Read a price",
        "feat(task 1.2): Write a price",
        "feat(task 1): Prices",
    ]
    assert "Status: review" in project.text("agent/task-1", "TASKS.md")
    assert project.git("status", "--porcelain") == "" and project.git("branch", "--show-current") == "main"
    (cycle,) = project.cycles()
    assert (cycle["reason"], cycle["task"], cycle["features"], cycle["passed"], cycle["total"]) == (
        "complete",
        1,
        [1, 2],
        2,
        2,
    )
    for words in (
        "✓ task 1 Prices · for review",
        "  1.1 Read a price  committed as ",
        "tests 2 of 2 passed",
        "review/task-1",
    ):
        assert words in ended.stdout
    for words in (
        "task 1 · Prices",
        "plan · Look at what is there",
        "✓ write_file  shop/reading.py",
        "✓ run_tests  1 of 1 passed",
    ):
        assert words in ended.stderr
    assert len((ended.stdout + ended.stderr).splitlines()) < 40


@pytest.mark.covers("S2-15", "S2-16")
@pytest.mark.thorough
def test_three_tasks_one_after_the_other_from_the_newest_state(project: WorkWorld) -> None:
    project.says(*whole(1), *whole(2), *whole(3))
    ended = project.work("--mode", "continuous")
    assert ended.code == 0, ended
    assert [each["reason"] for each in project.cycles()] == ["complete", "complete", "complete", "no_tasks"]
    assert [branch for branch in project.branches() if branch.startswith("agent/")] == [
        f"agent/task-{n}" for n in (1, 2, 3)
    ]
    assert [len(project.subjects(f"agent/task-{n}")) for n in (1, 2, 3)] == [3, 3, 2]
    assert len(project.world.logs()) == 4
    assert "4 cycles · 3 tasks for review" in ended.stdout and "no task can be worked on" in ended.stdout


@pytest.mark.covers("S2-9", "S2-18", "S2-22")
@pytest.mark.thorough
def test_failing_tests_have_to_be_mended_before_the_commit(project: WorkWorld) -> None:
    wrong = reply(
        "Write it",
        write("shop/reading.py", function("read", "value")),
        write("tests/test_reading.py", checked("reading", "read", "'2.5'", "2.5")),
        finish_feature(1, 1, "Read a price"),
    )
    tested = reply("Test it", call("run_tests"), finish_feature(1, 1, "Read a price"))
    mended = reply(
        "Mend it",
        write("shop/reading.py", function("read", "float(value)")),
        call("run_tests"),
        finish_feature(1, 1, "Read a price"),
    )
    project.says(wrong, tested, mended, *feature(1, 2), ending(1))
    ended = project.work()
    assert ended.code == 0, ended
    first, second, third, _ = project.results("finish_feature")
    assert "the tests have not passed" in first and second.startswith("skipped") and "committed as" in third
    assert "✗ run_tests  0 of 1 passed" in ended.stderr and "- finish_feature  skipped" in ended.stderr
    assert project.subjects("agent/task-1")[0] == "feat(task 1.1): Read a price"


@pytest.mark.covers("S2-17", "S2-21")
@pytest.mark.thorough
def test_what_is_left_out_is_told_and_never_passed(project: WorkWorld) -> None:
    early = reply("Done", call("submit_for_review", task_id=1, task_title="Prices"), call("finish"))
    nonsense = reply("Try", call("destroy"), call("finish_feature", task_id="one"))
    project.server.add(Behaviour(pieces=('{"plan": "Look at',)))
    project.says(early, nonsense, *whole(1))
    ended = project.work()
    assert ended.code == 0, ended
    assert "not done: the status of task 1" in project.results("submit_for_review")[0]
    assert "the model's reply could not be used, and is asked for again: " in ended.stdout
    assert "there is no tool called 'destroy'" in project.results("destroy")[0]
    assert project.cycles()[0]["reason"] == "complete"


@pytest.mark.thorough
@pytest.mark.covers("S2-14")
def test_one_plan_is_carried_out_and_no_more_is_asked(project: WorkWorld) -> None:
    project.says(feature(1, 1)[0])
    ended = project.work("--one-plan")
    assert ended.code == 0, ended
    assert len(project.server.requests) == 1
    assert project.cycles()[0]["reason"] == "one_plan" and "one plan is done" in ended.stdout
    assert project.subjects("agent/task-1") == ["feat(task 1.1): Read a price"]


@pytest.mark.thorough
def test_a_rehearsal_publishes_nothing_and_leaves_nothing(project: WorkWorld) -> None:
    project.says(*whole(1))
    before = project.git("for-each-ref")
    ended = project.work("--dry-run")
    assert ended.code == 0, ended
    assert "rehearsed; nothing was published" in ended.stdout and "thrown away at the end" in ended.stderr
    assert project.branches() == ["main"]
    assert project.git("for-each-ref") == before and project.git("worktree", "list").count("\n") == 0
    assert not list((project.world.base / "state").glob("**/task-1"))


@pytest.mark.thorough
def test_a_task_of_choice(project: WorkWorld) -> None:
    project.says(*whole(3))
    assert project.work("--task", "3").code == 0
    assert "agent/task-3" in project.branches() and "agent/task-1" not in project.branches()
    ended = project.work("--task", "9")
    assert ended.code != 0 and "no task called '9'" in ended.stderr
