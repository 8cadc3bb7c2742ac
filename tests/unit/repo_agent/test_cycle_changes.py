"""Changes that a cycle did not make itself: commits, files and branches of others, of the tests and of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.protocol.requests import CycleOptions
from tests.support.cycle_world import TESTS, CycleWorld, git
from tests.support.fakes import FakePerson
from tests.unit.repo_agent.test_cycle import BYE, DONE, FINISH, HELLO, RUN, SUBMIT, WHOLE, commit_of


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CycleWorld:
    return CycleWorld(tmp_path, monkeypatch)


FORGED = "git commit {} -m 'feat(task 1.{}): feature' -m 'Task: 1\nFeature: 1.{}'"


@pytest.mark.thorough
def test_a_commit_that_the_model_made_itself_is_no_feature(world: CycleWorld) -> None:
    """Neither in the cycle in which it was made, nor after a restart."""
    empty = ("run_command", {"command": FORGED.format("--allow-empty", 1, 1)})
    full = ("run_command", {"command": f"git add -A && {FORGED.format('', 2, 2)}"})
    world.cycle(("forge", empty, HELLO, BYE, full), options=CycleOptions(one_plan=True))
    world.cycle(("go on", DONE, RUN, SUBMIT), ("stop", ("ask_question", {"question_text": "?"})))
    (error,) = [text for _, error, text in world.results() if error]
    assert "no commit for 1.1, 1.2" in error
    assert world.events("cycle.finished")[-1].features == ()


@pytest.mark.thorough
def test_a_feature_whose_commit_is_gone_needs_another(world: CycleWorld) -> None:
    gone = ("run_command", {"command": "git reset -q origin/main"})
    world.cycle(
        ("begin", HELLO, RUN, commit_of(1), gone, DONE, RUN, SUBMIT),
        ("stop", ("ask_question", {"question_text": "?"})),
    )
    (error,) = [text for _, error, text in world.results() if error]
    assert "no commit for 1.1, 1.2" in error
    assert world.events("cycle.finished")[-1].features == ()


@pytest.mark.thorough
def test_a_branch_that_was_begun_elsewhere_counts_by_what_its_commits_change(world: CycleWorld) -> None:
    git(world.work, "switch", "-q", "-c", "agent/task-1")
    world.write({"hello.txt": "hello\n"})
    git(world.work, "add", "-A")
    for feature, options in ((1, ()), (2, ("--allow-empty",))):
        git(world.work, "commit", "-q", *options, "-m", f"one\n\nTask: 1\nFeature: 1.{feature}")
    git(world.work, "push", "-q", "origin", "agent/task-1")
    git(world.work, "switch", "-q", "main")
    git(world.work, "branch", "-q", "-D", "agent/task-1")
    world.cycle(("go on", DONE, RUN, SUBMIT), ("the rest", BYE, RUN, commit_of(2), SUBMIT, FINISH))
    (error,) = [text for _, error, text in world.results() if error]
    assert error.endswith("no commit for 1.2")
    assert "- Begun elsewhere: up to " in git(world.work, "show", "review/task-1:REVIEW.md")


@pytest.mark.thorough
def test_a_file_that_a_command_changed_is_listed_once(world: CycleWorld) -> None:
    world.cycle(
        ("do it", ("run_command", {"command": "echo 1 > new.txt"})),
        ("and", ("run_command", {"command": "cd . && echo 2 > $PWD/new.txt"})),
        ("stop", ("ask_question", {"question_text": "?"})),
    )
    assert world.events("cycle.finished")[-1].files == ("new.txt",)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("ignored", "path"), [("", "tests/conftest.py"), ("", "scripts/run_tests.py"), ("GNUmakefile\n", "GNUmakefile")]
)
def test_a_change_of_how_the_tests_are_run_is_said(world: CycleWorld, ignored: str, path: str) -> None:
    world.write({".gitignore": ignored})
    git(world.work, "add", "-A")
    git(world.work, "commit", "-qm", "Ignore")
    git(world.work, "push", "-q")
    text = f"{TESTS}\n# passes\n" if path.endswith("run_tests.py") else "# passes\n"
    world.cycle((WHOLE[0], ("write_file", {"path": path, "content": text}), *WHOLE[1:]))
    assert world.events("cycle.finished")[-1].test_setup == (path,)
    review = git(world.work, "show", "review/task-1:REVIEW.md")
    assert f"**How the tests are run was changed on this branch:**\n  - `{path}`" in review


@pytest.mark.thorough
def test_a_dependency_is_no_change_of_how_the_tests_are_run(world: CycleWorld) -> None:
    world.write({"package.json": '{"scripts": {"test": "jest"}, "dependencies": {}}'})
    git(world.work, "add", "-A")
    git(world.work, "commit", "-qm", "Package")
    git(world.work, "push", "-q")
    text = '{"scripts": {"test": "jest"}, "dependencies": {"x": "^1.0"}}'
    world.cycle((WHOLE[0], ("write_file", {"path": "package.json", "content": text}), *WHOLE[1:]))
    assert world.events("cycle.finished")[-1].reason == "complete"
    assert world.events("cycle.finished")[-1].test_setup == ()


@pytest.mark.thorough
def test_files_that_the_tests_themselves_write_were_not_tested(world: CycleWorld) -> None:
    world.write({"scripts/run_tests.py": f"open('made.txt', 'a').close()\n{TESTS}"})
    git(world.work, "commit", "-qam", "Write")
    git(world.work, "push", "-q")
    world.cycle(
        ("begin", HELLO, RUN, commit_of(1)),
        ("again", RUN, commit_of(1), BYE, DONE, RUN, commit_of(2), SUBMIT, FINISH),
    )
    (error,) = [text for _, error, text in world.results() if error]
    assert "have not passed since the last change" in error and "(made.txt is not" in error
    assert world.events("cycle.finished")[-1].reason == "complete"


@pytest.mark.thorough
def test_what_changes_a_file_behind_the_cycle_has_it_tested_again(world: CycleWorld) -> None:
    person = world.person = FakePerson()
    agreed = person.confirm

    async def confirm(request: Any) -> Any:
        if "TASKS.md" in request.proposal.command:
            next(world.base.rglob("task-1/hello.txt")).write_text("other\n")
        return await agreed(request)

    person.confirm = confirm  # type: ignore[method-assign]
    world.cycle(("begin", HELLO, RUN, DONE, commit_of(1)), ("stop", ("ask_question", {"question_text": "?"})))
    (error,) = [text for _, error, text in world.results() if error]
    assert "have not passed since the last change" in error and "(hello.txt is not" in error
