"""The benchmark's judge on real commands, and its tasks and figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import nl2sh
from benchmarks.nl2sh_check import complaints
from benchmarks.nl2sh_judge import Judge, Judgement, judging
from benchmarks.nl2sh_planners import Answer
from benchmarks.nl2sh_report import as_text, failures
from benchmarks.nl2sh_sandbox import Outcome, why_missing
from benchmarks.nl2sh_scores import Result, calibration, score, summary
from benchmarks.nl2sh_tasks import DEVELOPMENT, KEPT2, Task, TaskError, own_tasks, tasks_of

MISSING = why_missing()
runs = pytest.mark.skipif(bool(MISSING), reason=f"no sandbox here: {MISSING}")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with judging() as one:
        yield one


LIST = Task(goal="text files", reference="find recipes -name '*.txt'", fixture="documents")
MOVE = Task(goal="move", reference="mkdir done && mv notes.txt done/", fixture="documents")
ADD = Task(
    goal="add",
    reference="awk '{ s += $1 } END { print s }' numbers.txt",
    also=("paste -sd+ numbers.txt",),
    fixture="data",
)


@pytest.mark.few(1)
@runs
@pytest.mark.parametrize(
    ("task", "command", "strict", "lenient"),
    [
        (LIST, "find recipes -type f -iname '*.txt'", True, True),
        (LIST, "find recipes -name '*.txt' | sed 's/$/  /' | tail -n 5; echo; echo", False, True),
        (LIST, "find ./recipes -name '*.txt' | sort -r", False, True),
        (LIST, 'find "$PWD/recipes" -name "*.txt"', False, True),
        (LIST, "ls recipes/*.txt | head -n 1", False, False),
        (LIST, "find recipes -name '*.txt'; touch left.over", False, False),
        (MOVE, "mkdir -p done; mv -- ./notes.txt done/notes.txt", True, True),
        (MOVE, "mkdir done && cp notes.txt done/", False, False),
        (MOVE, "mkdir done && mv notes.txt done/ && chmod 600 done/notes.txt", False, False),
        (ADD, "tr '\\n' + < numbers.txt | sed 's/+$//'", True, True),
        (ADD, "sort -n numbers.txt", False, False),
    ],
)
def test_judgement(judge: Judge, task: Task, command: str, strict: bool, lenient: bool) -> None:
    judged = judge.judge(task, command)
    assert (judged.strict, judged.lenient, judged.why) == (strict, lenient, "")


@runs
@pytest.mark.parametrize("command", ["sudo ls", "rm -rf ~", "ls; doas cat notes.txt"])
def test_what_is_rated_high_or_wants_more_rights_is_not_run(judge: Judge, command: str) -> None:
    judged = judge.judge(LIST, command)
    assert judged.why
    assert (judged.strict, judged.ours) == (False, Outcome())


@runs
@pytest.mark.thorough
def test_tasks_that_cannot_be_judged_are_complained_about(judge: Judge) -> None:
    tasks = [
        Task(goal="nothing", reference="true"),
        Task(goal="chance", reference="echo $RANDOM $RANDOM"),
        Task(goal="wild", reference="rm -rf ~"),
        Task(goal="fails", reference="cat no.such"),
        Task(goal="broken", reference="ls", setup="false"),
        ADD,
    ]
    found = [line.split(": ")[1] for line in complaints(tasks, judge)]
    assert set(found) == {"nothing", "chance", "wild", "fails", "broken"}


@runs
@pytest.mark.thorough
def test_a_set_of_somebody_is_run_from_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"goal": "count the lines of a.txt", "reference": "wc -l a.txt", "setup": "seq 3 > a.txt"},
        {"goal": "what is the answer", "reference": "ls", "fixture": "data"},
    ]
    path, script = tmp_path / "tasks.jsonl", tmp_path / "script.toml"
    path.write_text("\n".join(map(json.dumps, lines)))
    script.write_text(
        '[[reply]]\njson = { mode = "command", command = "grep -c . a.txt | sed \'s/$/ a.txt/\'" }\n'
        '[[reply]]\njson = { mode = "chat", message = "42" }\n'
    )
    words = ["--tasks", str(path), "--planner", f"scripted:{script}"]
    assert nl2sh.run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["right"] for one in told["results"]] == [True, False]
    assert told["sets"][0]["total"] == {
        "name": "all", "tasks": 2, "right": 1, "lenient": 1, "wrong": 0, "unanswered": 1, "refused": 0,
    }  # fmt: skip
    assert nl2sh.run([*words, "--failures"]) == 0
    assert "no answer  42" in capsys.readouterr().out


@runs
def test_a_planner_that_always_fails_is_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"goal": "list files", "reference": "ls", "fixture": "data"}')
    assert nl2sh.run(["--tasks", str(path), "--planner", "openrouter"]) == 2
    assert capsys.readouterr().err == "nothing is measured: openrouter: no API key\n"


@pytest.mark.parametrize(
    "line",
    [
        '{"goal": "x"}',
        '{"goal": "x", "reference": " "}',
        '{"goal": "x", "reference": "ls", "fixture": "mars"}',
        "[]",
        "{",
        '{"goal": 1, "reference": "ls"}',
        '{"goal": "x", "reference": "ls", "colour": "red"}',
        '{"goal": "x", "reference": "ls", "difficulty": "odd"}',
        '{"goal": "x", "reference": "ls", "also": "ls"}',
    ],
)
def test_a_bad_task_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(line)
    with pytest.raises(TaskError, match=r"t\.jsonl"):
        tasks_of(str(path))


def test_own_tasks_are_many_and_none_of_them_is_kept_apart() -> None:
    tasks = own_tasks()
    assert len(tasks) >= 300
    assert not any(task.held_out for task in tasks)
    assert len({task.area for task in tasks}) >= 14
    assert {task.difficulty for task in tasks} == {"easy", "medium", "hard"}


def test_tasks_kept_apart_are_enough_for_a_figure_and_never_mixed_with_the_others() -> None:
    apart = own_tasks((KEPT2,))
    assert len(apart) >= 150
    assert all(task.held_out for task in apart)
    assert not {task.goal for task in apart} & {task.goal for task in own_tasks()}
    assert len(own_tasks((DEVELOPMENT, KEPT2))) == len(apart) + len(own_tasks())
    assert {task.area for task in apart} <= {task.area for task in own_tasks()}
    assert min(sum(task.area == area for task in apart) for area in {task.area for task in apart}) >= 8
    assert {task.difficulty for task in apart} == {"easy", "medium", "hard"}
    assert nl2sh.chosen_tasks(nl2sh.parse([])) == [task for task in apart if not task.missing()]


def test_tasks_of_the_developers_are_asked_for_by_name_and_shown() -> None:
    assert nl2sh.parse(["--set", "development", "--failures"]).failures
    results = [Result(replace(LIST, goal="what is worked on"), Answer())]
    told = nl2sh.as_json([summary("development", results)], results, 0.0, nl2sh.parse([]))
    assert "what is worked on" in json.dumps(told)


def test_what_is_kept_apart_is_told_in_figures_only(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        nl2sh.parse(["--failures"])
    assert "kept apart" in capsys.readouterr().err
    apart = replace(LIST, goal="what nobody sees", part=KEPT2)
    told = nl2sh.as_json([summary("kept2", [Result(apart, Answer())])], [Result(apart, Answer())], 0.0, nl2sh.parse([]))
    assert apart.goal not in json.dumps(told)


def result(*, confidence: float | None, right: bool, lenient: bool = False, why: str = "") -> Result:
    judged = Judgement(strict=right, lenient=right or lenient, why=why)
    return Result(LIST, Answer(command="ls", confidence=confidence, seconds=0.002), judged)


def test_figures() -> None:
    results = [
        result(confidence=1.0, right=True),
        result(confidence=0.9, right=True),
        result(confidence=0.9, right=False, lenient=True),
        result(confidence=0.5, right=False, why="rated high: x"),
        Result(LIST, Answer(message="I do not know")),
    ]
    counted = score("all", results)
    assert (counted.tasks, counted.right, counted.lenient, counted.wrong, counted.unanswered, counted.refused) == (
        5,
        2,
        3,
        2,
        1,
        1,
    )
    found = calibration(results)
    assert [(one.low, one.answers, one.confidence, one.right) for one in found.bins] == [
        (0.5, 1, 0.5, 0.0),
        (0.9, 3, 0.933, 0.667),
    ]
    assert found.brier == pytest.approx((0 + 0.01 + 0.81 + 0.25) / 4)
    assert found.error == pytest.approx((3 * (0.933 - 0.667) + 0.5) / 4, abs=1e-3)


def test_the_report_shows_hostile_output_harmlessly() -> None:
    judged = Judgement(ours=Outcome(stdout="\x1b[31mred\u202e"), reference=Outcome(stdout="x"))
    told = failures([Result(LIST, Answer(command="ls", confidence=0.8), judged)])
    assert "\x1b" not in told
    assert "\u202e" not in told
    table = as_text([summary("all", [result(confidence=1.0, right=True)])])
    assert table.splitlines()[0].split()[:2] == ["tasks", "right"]
