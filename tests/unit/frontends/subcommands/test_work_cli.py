"""`agent-shell work` and `:work`: a session for each cycle, what ends them, what is asked, and the exit code."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.frontends import work_cycles
from agent.frontends.repl.repl import run_repl
from agent.frontends.subcommands.work import run_work
from agent.protocol.errors import ConfigError, InvalidState
from agent.repo_agent.modes import WorkOptions
from agent.repo_agent.open_questions import OpenQuestion, OpenQuestions
from tests.support.fake_cycles import FakeCycles
from tests.support.fake_terminal import FakeTerminal, typed
from tests.support.fakes import FakeExecutor, FakePlanner, say
from tests.support.front_services import World


@pytest.fixture(autouse=True)
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenQuestions:
    """Where questions of the repository are kept: real git is asked in tests/scenarios."""
    kept = OpenQuestions(str(tmp_path / "worktrees"))

    async def of_all(processes: object, top: str, state: str) -> OpenQuestions:
        return kept

    async def settings_at(services: object, folder: str) -> dict[str, tuple[str, ...]]:
        return {"core.bare": ("local false",)}

    monkeypatch.setattr(work_cycles, "questions_of", of_all)
    monkeypatch.setattr(work_cycles, "settings_at", settings_at)
    return kept


def question(session: str, task: int = 7) -> OpenQuestion:
    return OpenQuestion(session=session, task=task, title="Tidy", question="JSON or TOML?", worktree="/w")


def world(tmp_path: Path, *reasons: str, **details: Any) -> tuple[World, FakeCycles]:
    for name in ("objects", "refs"):
        (tmp_path / "repo" / ".git" / name).mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    repo = str(tmp_path / "repo")
    made = World(FakePlanner(say()), tmp_path, FakeExecutor(cwd=repo), cwd=repo)
    made.strategies["work"] = cycles = FakeCycles(list(reasons), details)
    return made, cycles


def go(made: World, **options: Any) -> int:
    return asyncio.run(run_work(made.services, WorkOptions(**options)))


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("complete", 0),
        ("one_plan", 0),
        ("no_tasks", 0),
        ("question", 7),
        ("failed", 1),
        ("budget", 1),
        ("cancelled", 130),
    ],
)
def test_the_exit_code_says_how_the_cycle_ended(tmp_path: Path, reason: str, code: int) -> None:
    made, cycles = world(tmp_path, reason)
    assert go(made) == code
    assert len(cycles.asked) == 1 and [context.closed for context in made.contexts] == [True]


def test_a_cycle_gets_what_the_command_line_says(tmp_path: Path) -> None:
    made, cycles = world(tmp_path, "complete")
    go(
        made,
        task=7,
        one_plan=True,
        ask="each",
        dry_run=True,
        cost=2.5,
        seconds=60,
        grants=frozenset(("push",)),
    )
    ((text, options),) = cycles.asked
    assert text == "work on task 7"
    assert (options.cycle.task, options.cycle.one_plan, options.cycle.ask, options.cycle.rehearse) == (
        7,
        True,
        "each",
        True,
    )
    assert options.cycle.settings == {"core.bare": ("local false",)}
    assert options.limits.command_timeout == 1800
    assert options.limits.max_steps == 150  # where the settings say nothing
    assert options.limits.cost_budget == 2.5 and options.limits.time_budget is not None
    assert options.approval.grants == ("push",) and not options.approval.dry_run


@pytest.mark.covers("S2-14")
def test_single_mode_ends_after_one_cycle(tmp_path: Path) -> None:
    made, cycles = world(tmp_path, "complete", "complete")
    assert go(made) == 0 and len(cycles.asked) == 1


@pytest.mark.covers("S2-15", "S2-16")
@pytest.mark.parametrize(("last", "code"), [("no_tasks", 0), ("question", 7), ("failed", 1)])
def test_continuous_mode_goes_on_in_new_sessions(
    tmp_path: Path, last: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    made, cycles = world(tmp_path, "complete", "complete", last, "complete")
    assert go(made, mode="continuous", task=2) == code
    assert len(cycles.asked) == len(made.contexts) == 3
    assert [options.cycle.task for _, options in cycles.asked] == [2, None, None]
    assert all(context.closed for context in made.contexts)
    assert {id(options.cycle.settings) for _, options in cycles.asked} == {id(cycles.asked[0][1].cycle.settings)}
    assert "3 cycles · 2 tasks for review" in capsys.readouterr().out


def test_cycles_and_money_bound_a_run(tmp_path: Path) -> None:
    made, cycles = world(tmp_path, *["complete"] * 9)
    assert go(made, mode="continuous", cycles=2) == 0 and len(cycles.asked) == 2
    assert go(made, mode="continuous", seconds=1e-9) == 0 and len(cycles.asked) == 2


def test_without_repository_or_model_nothing_begins(tmp_path: Path) -> None:
    made, _ = world(tmp_path, "complete")
    (tmp_path / "repo" / ".git").rename(tmp_path / "elsewhere")
    with pytest.raises(InvalidState, match="git repository"):
        go(made)
    (tmp_path / "elsewhere").rename(tmp_path / "repo" / ".git")
    made._planner.name = "offline"  # type: ignore[misc]
    with pytest.raises(ConfigError, match="needs a model"):
        go(made)
    assert not made.contexts


@pytest.mark.covers("S2-12")
def test_an_answer_goes_on_where_the_question_was_put(tmp_path: Path, questions: OpenQuestions) -> None:
    made, cycles = world(tmp_path, "complete", "complete")
    with pytest.raises(InvalidState, match="a question that waits"):
        go(made, answer="TOML")
    questions.keep(question("before"))
    assert go(made, answer="TOML", mode="continuous", cycles=2) == 0
    assert [context.recorder.session_id for context in made.contexts] == ["before", "s2"]
    assert [text for text, _ in cycles.asked] == ["TOML", "work on the next task"]
    assert cycles.asked[0][1].cycle.task == 7


def test_where_the_session_is_gone_the_question_is_told_again(tmp_path: Path, questions: OpenQuestions) -> None:
    made, cycles = world(tmp_path, "complete")
    made.services = replace(made.services, session_is_there=lambda session: False)
    questions.keep(question("before"))
    assert go(made, answer="TOML") == 0
    assert made.contexts[0].recorder.session_id == "s1"
    assert cycles.asked[0][0] == "You asked: JSON or TOML?\nThe answer: TOML"


def test_a_question_that_waits_is_put_again_unless_a_task_is_named(
    tmp_path: Path, questions: OpenQuestions, capsys: pytest.CaptureFixture[str]
) -> None:
    made, cycles = world(tmp_path, "complete")
    questions.keep(question("before\x1b[2J"))
    assert go(made) == 7
    said = capsys.readouterr().err
    assert "? JSON or TOML?" in said and "--task 7" in said and not cycles.asked
    assert go(made, task=7) == 0 and len(cycles.asked) == 1


def test_at_the_prompt_one_cycle_in_a_session_of_its_own(
    terminal: FakeTerminal, tmp_path: Path, questions: OpenQuestions
) -> None:
    made, cycles = world(tmp_path, "complete", "question")
    questions.keep(question("before"))
    keys = (":work\r", ":work 7 TOML, please\r", ":work seven\r", "exit\r")
    typed(terminal, lambda: run_repl(made.services, terminal.screen), *keys, pause=0.06)
    assert [(text, options.cycle.task) for text, options in cycles.asked] == [
        ("work on the next task", None),
        ("TOML, please", 7),
    ]
    assert "'seven' is no number of a task" in terminal.seen
    prompt, *others = made.contexts
    assert not prompt.goals and len(others) == 2 and all(len(context.goals) == 1 for context in others)
    assert all(context.closed for context in made.contexts)
