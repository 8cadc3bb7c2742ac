"""Cycles of the repo agent in the real program: real git, a bare remote, a scripted model that does well, and one that does not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from agent.protocol.confirmations import CancelGoal, Skipped
from agent.protocol.outcomes import GoalStatus
from agent.protocol.requests import CycleOptions
from tests.support.cycle_world import TASKS, CycleWorld, git
from tests.support.fakes import FakePerson

HELLO = ("write_file", {"path": "hello.txt", "content": "hello\n"})
BYE = ("write_file", {"path": "bye.txt", "content": "bye\n"})
RUN = ("run_tests", {})
DONE = (
    "write_file",
    {
        "path": "TASKS.md",
        "content": TASKS.replace("[ ]", "[x]").replace("Status: todo", "Status: review", 1),
    },
)
SUBMIT = ("submit_for_review", {"task_id": 1, "task_title": "Greet"})
FINISH = ("finish", {})


def commit_of(feature: int) -> tuple[str, dict[str, Any]]:
    return "finish_feature", {"task_id": 1, "feature_id": feature, "title": f"feature {feature}"}


WHOLE = ("do it", HELLO, RUN, commit_of(1), BYE, DONE, RUN, commit_of(2), SUBMIT, FINISH)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CycleWorld:
    return CycleWorld(tmp_path, monkeypatch)


@pytest.mark.covers("S2-1")
@pytest.mark.covers("S2-4")
@pytest.mark.covers("S2-13")
@pytest.mark.covers("S2-17")
@pytest.mark.covers("S2-18")
def test_a_task_from_its_choice_to_its_review(world: CycleWorld) -> None:
    outcome = world.cycle(WHOLE)
    assert [(name, error) for name, error, _ in world.results() if error] == []
    (finished,) = world.events("cycle.finished")
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.COMPLETED
    assert (finished.reason, finished.task, finished.features) == ("complete", 1, (1, 2))
    assert (finished.passed, finished.total) == (2, 2)
    subjects = git(world.remote, "log", "--reverse", "--format=%s", "main..agent/task-1").splitlines()
    assert subjects[:2] == ["feat(task 1.1): feature 1", "feat(task 1.2): feature 2"]
    assert git(world.work, "status", "--porcelain") == "" and git(world.work, "log", "--format=%s") == "Begin"


@pytest.mark.covers("S2-17")
def test_the_definition_of_done_is_kept_by_the_host(world: CycleWorld) -> None:
    """Each call that comes too early is told why, nothing after it is done, and the model goes on."""
    broken = ("write_file", {"path": "broken.txt", "content": "x\n"})
    mended = ("run_command", {"command": "mv broken.txt hello.txt"})
    early = [
        ("too early", FINISH, HELLO),
        ("untested", broken, commit_of(1), BYE),
        ("red", RUN, commit_of(1)),
        ("mended", mended, RUN, commit_of(1), commit_of(1)),
        ("no such feature", commit_of(7)),
        ("another task", ("finish_feature", {"task_id": 2, "feature_id": 1, "title": "x"})),
        ("status not set", SUBMIT),
        ("a feature without commit", DONE, SUBMIT),
        ("the rest", BYE, RUN, commit_of(2), SUBMIT, FINISH),
    ]
    world.cycle(*early)
    said = [text for _, error, text in world.results() if error and not text.startswith("skipped")]
    for words, told in zip(
        (
            "submit_for_review comes before finish", "have not passed", '"ok": false', "has its commit already",
            "has no feature 7", "not for task 2", "still todo", "no commit for 1.2",
        ),
        said, strict=True,
    ):  # fmt: skip
        assert words in told
    assert world.events("cycle.finished")[-1].reason == "complete"


@pytest.mark.thorough
def test_after_a_submission_that_was_changed_again_the_end_has_to_wait(world: CycleWorld) -> None:
    more = ("write_file", {"path": "hello.txt", "content": "hello you\n"})
    world.cycle((*WHOLE[:-1], more, FINISH), ("again", RUN, SUBMIT, FINISH))
    told = [text for _, error, text in world.results() if error]
    assert len(told) == 1 and "changed after submit_for_review" in told[0]
    assert world.events("cycle.finished")[-1].reason == "complete"


@pytest.mark.covers("S2-21")
@pytest.mark.covers("S2-22")
def test_what_is_wrong_with_a_call_is_told_to_the_model_and_so_are_results(world: CycleWorld) -> None:
    world.cycle(
        ("an unknown tool", ("delete_everything", {}), HELLO),
        ("bad arguments", ("write_file", {"path": 7}), HELLO),
        ("reading fails", ("retrieve_context_files", {"paths": ["nowhere"]}), HELLO),
        "no JSON at all",
        ("stop", ("ask_question", {"question_text": "What now?"})),
    )
    results = world.results()
    assert "there is no tool called 'delete_everything'" in results[0][2] and results[1][2].startswith("skipped")
    assert "its arguments are: path, content" in results[2][2] and results[3][2].startswith("skipped")
    assert [name for name, error, _ in results if not error][-2:] == ["write_file", "ask_question"]


@pytest.mark.covers("S2-12")
def test_a_question_halts_and_its_answer_goes_on_in_the_same_session(world: CycleWorld) -> None:
    ask = ("ask_question", {"question_text": "Which greeting?"})
    first = world.cycle(("ask", HELLO, ask, BYE))
    assert world.events("cycle.finished")[-1].reason == "question"
    assert world.results()[-1][2].startswith("skipped")
    assert first.final_message == "Which greeting?" or "Which greeting?" in world.events("cycle.finished")[-1].text
    world.cycle(WHOLE, text="Say hello", session=first.session_id)
    assert world.events("cycle.started")[-1].resumed
    assert world.events("cycle.finished")[-1].reason == "complete"


@pytest.mark.covers("S2-14")
def test_one_plan_is_literally_one(world: CycleWorld) -> None:
    outcome = world.cycle(("begin", HELLO), options=CycleOptions(one_plan=True))
    assert outcome.exit_code == 0
    assert world.events("cycle.finished")[-1].reason == "one_plan"


def test_a_model_that_does_not_heed_is_stopped(world: CycleWorld) -> None:
    again = [(f"finish, {number}", FINISH, commit_of(90 + number)) for number in range(9)]
    outcome = world.cycle(*again)
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.PLANNER_ERROR
    assert world.events("cycle.finished")[-1].reason == "failed"


def test_two_changes_that_a_person_turns_down_end_it(world: CycleWorld) -> None:
    world.person = FakePerson()
    world.person.confirm = _no_to_writes(world.person)  # type: ignore[method-assign]
    outcome = world.cycle(("write", HELLO), ("write again", BYE))
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.CANCELLED
    assert world.events("cycle.finished")[-1].reason == "cancelled"


def _no_to_writes(person: FakePerson) -> Any:
    agreed = person.confirm

    async def confirm(request: Any) -> Any:
        return Skipped() if request.kind == "write" else await agreed(request)

    return confirm


@pytest.mark.thorough
def test_where_each_call_is_asked_for_reading_is_too(world: CycleWorld) -> None:
    person = world.person = FakePerson()
    world.cycle(
        ("look", ("retrieve_context_files", {"paths": ["README"]})),
        ("stop", ("ask_question", {"question_text": "?"})),
        options=CycleOptions(ask="each"),
    )
    assert [request.proposal.command.split()[0] for request in person.asked if request.kind == "write"] == [
        "retrieve_context_files", "ask_question",
    ]  # fmt: skip


@pytest.mark.thorough
def test_where_no_test_ran_the_review_says_so(world: CycleWorld) -> None:
    script = 'import json; print(json.dumps({"ok": True, "exit_code": 0, "stdout": "", "stderr": "", "passed": 0, "total": 0}))\n'
    world.write({"scripts/run_tests.py": script})
    git(world.work, "commit", "-qam", "No tests")
    git(world.work, "push", "-q")
    world.cycle(WHOLE)
    assert "Tests: none ran" in git(world.work, "show", "review/task-1:REVIEW.md")


ASKED = """# Tasks

## 1. Greet
Status: todo

- [ ] 1.1 hello.txt greets
  Acceptance: it says hello
- [ ] 1.2 bye.txt takes leave

Acceptance:
- both are read aloud
- nobody is left out
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("- [ ] 1.2 bye.txt takes leave\n", "", "1.2 bye.txt takes leave"),
        ("- [ ] 1.2 bye.txt takes leave\n", "```\n- [ ] 1.2 bye.txt takes leave\n```\n", "1.2 bye.txt takes leave"),
        ("[ ] 1.2", "[-] 1.2", "1.2 bye.txt takes leave (todo, not dropped)"),
        ("takes leave", "is there", "1.2 bye.txt takes leave"),
        ("  Acceptance: it says hello\n", "", "acceptance of 1.1: it says hello"),
        ("- nobody is left out\n", "", "acceptance of 1: nobody is left out"),
    ],
)
def test_what_a_task_asks_for_stands_in_the_review_and_is_not_for_the_model_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str, told: str
) -> None:
    world = CycleWorld(tmp_path, monkeypatch, ASKED)
    done = ASKED.replace("Status: todo", "Status: review")
    less = ("write_file", {"path": "TASKS.md", "content": done.replace(before, after)})
    back = ("write_file", {"path": "TASKS.md", "content": done})
    world.cycle(
        ("less", HELLO, RUN, commit_of(1), less, SUBMIT), ("back", back, BYE, RUN, commit_of(2), SUBMIT, FINISH)
    )
    (error,) = [text for _, error, text in world.results() if error]
    assert "put back in TASKS.md" in error and told in error
    finished = world.events("cycle.finished")[-1]
    assert (finished.reason, finished.test_setup) == ("complete", ())
    review = git(world.work, "show", "review/task-1:REVIEW.md")
    assert "- both are read aloud\n- nobody is left out\n- 1.1: it says hello\n" in review


@pytest.mark.thorough
def test_ctrl_c_at_the_second_refusal_is_ctrl_c(world: CycleWorld) -> None:
    person = world.person = FakePerson()
    agreed, answers = person.confirm, [Skipped(), CancelGoal()]

    async def confirm(request: Any) -> Any:
        return answers.pop(0) if request.kind == "write" else await agreed(request)

    person.confirm = confirm  # type: ignore[method-assign]
    outcome = world.cycle(("write", HELLO), ("write again", BYE))
    assert not answers and outcome.exit_code == 130
    finished = world.events("cycle.finished")[-1]
    assert (finished.reason, finished.text) == ("cancelled", "cancelled")


@pytest.mark.thorough
def test_a_rehearsal_has_the_python_of_the_repository_and_leaves_nothing(world: CycleWorld) -> None:
    world.write({".gitignore": ".venv\n"})
    git(world.work, "add", "-A")
    git(world.work, "commit", "-qm", "Ignore")
    git(world.work, "push", "-q")
    (world.work / ".venv/bin").mkdir(parents=True)
    (world.work / ".venv/bin/python").symlink_to(sys.executable)
    before = git(world.remote, "for-each-ref"), git(world.work, "for-each-ref"), git(world.work, "worktree", "list")
    world.cycle(WHOLE, options=CycleOptions(rehearse=True))
    commands = [each.command for each in world.events("command.proposed")]
    assert any(f" {world.work}/.venv/bin/python scripts/run_tests.py" in each for each in commands), commands
    (started,) = world.events("cycle.started")
    assert "-worktrees/rehearsal-" in started.worktree  # not in /tmp, where what tests load is rated high
    assert started.rehearse and not Path(started.worktree).exists()
    assert world.events("cycle.finished")[-1].reason == "complete"
    after = git(world.remote, "for-each-ref"), git(world.work, "for-each-ref"), git(world.work, "worktree", "list")
    assert after == before


@pytest.mark.thorough
@pytest.mark.covers("S2-16")
@pytest.mark.covers("S2-19")
def test_why_no_task_can_be_worked_on_is_said_in_words(world: CycleWorld) -> None:
    """What waits for its review is not done again, and what depends on it waits."""
    world.cycle(options=CycleOptions(task=2))
    assert world.events("error")[-1].error.message == "task 2 waits for 1"
    world.cycle(WHOLE)
    outcome = world.cycle()
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.ANSWERED
    assert world.events("cycle.finished")[-1].reason == "no_tasks"
    assert world.events("cycle.finished")[-1].text == "no task can be worked on: task 1 waits for its review"


@pytest.mark.thorough
def test_a_later_cycle_knows_the_features_of_earlier_ones_by_their_titles(world: CycleWorld) -> None:
    world.cycle(("do it", HELLO, RUN, commit_of(1)), options=CycleOptions(one_plan=True))
    world.cycle(("go on", BYE), options=CycleOptions(one_plan=True))
    assert world.events("cycle.started")[-1].features == ("1.1 hello.txt greets",)


@pytest.mark.thorough
def test_a_task_file_that_is_too_long_is_said_to_be(world: CycleWorld) -> None:
    world.write({"TASKS.md": TASKS + "x" * (1 << 20)})
    git(world.work, "commit", "-qam", "Long")
    git(world.work, "push", "-q")
    world.cycle()
    assert "TASKS.md cannot be read; it may have at most 1 MiB" in world.events("error")[-1].error.message


def test_a_remote_whose_address_is_relative_is_refused_at_the_beginning(world: CycleWorld) -> None:
    git(world.work, "remote", "set-url", "origin", "../remote.git")
    world.cycle()
    error = world.events("error")[-1].error
    assert "../remote.git, is relative" in error.message
    assert f"git remote set-url origin {world.remote}" in error.hint
    assert not world.events("cycle.started")


@pytest.mark.few(1)
@pytest.mark.parametrize("made", ["mkfifo TASKS.md", "ln -s /etc/passwd TASKS.md"])
def test_a_task_file_that_is_none_any_more_holds_nothing_up(world: CycleWorld, made: str) -> None:
    world.cycle(
        ("swap", ("run_command", {"command": f"rm TASKS.md && {made}"}), SUBMIT),
        ("stop", ("ask_question", {"question_text": "?"})),
    )
    assert "is not in TASKS.md any more" in world.results()[1][2]


@pytest.mark.thorough
def test_a_rehearsal_without_a_task_leaves_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = CycleWorld(tmp_path, monkeypatch, TASKS.replace("Status: todo", "Status: blocked"))
    world.cycle(options=CycleOptions(rehearse=True))
    assert world.events("cycle.finished")[-1].reason == "no_tasks"
    assert not list(tmp_path.rglob("rehearsal-*"))


def test_a_later_cycle_does_not_take_for_given_what_an_earlier_one_changed_of_git(world: CycleWorld) -> None:
    begun = {"core.bare": ("local false",), "remote.origin.url": ("local elsewhere",)}
    outcome = world.cycle(WHOLE, options=CycleOptions(settings=begun))
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.FAILED
    assert "not what they were when the run began: core.filemode" in outcome.goal.message
    assert not world.events("cycle.started") and not world.events("command.started")
