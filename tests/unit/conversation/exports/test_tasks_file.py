"""A TASKS.md of an interview is one that the linter accepts and the repository agent works on, whatever was said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.entry import main
from agent.conversation.exports.tasks_file import tasks_file
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.surfaces import HandoffMapping
from agent.protocol.errors import InvalidState
from agent.repo_agent.task_file import _FIELD, Status, read_tasks
from agent.repo_agent.task_lint import lint
from tests.support.each import each
from tests.support.interview_case import engine, known, state

MAPPING = {
    "tasks": [{"path": "musts"}, {"path": "objects", "name": "title", "acceptance": "done"}],
    "acceptance": ["measures"],
    "userGoals": ["problem"],
    "decisions": [{"option": "decision"}],
    "constraints": [{"path": "trigger"}],
    "openQuestions": ["questions"],
}


def mapping(**changes: Any) -> HandoffMapping:
    return msgspec.convert(MAPPING | changes, HandoffMapping)


def written(extraction: dict[str, Any], config: EngineConfiguration | None = None, **changes: Any) -> str:
    config = config or engine()
    memory = state(
        config, {path: known(value) if not isinstance(value, tuple) else value for path, value in extraction.items()}
    )
    return tasks_file(memory, config, mapping(**changes))


WHOLE = {
    "problem": "Orders get lost",
    "trigger": "Before spring",
    "decision": "A web app",
    "questions": ["Who hosts it?"],
    "musts": ["Take orders", "Print labels"],
    "objects": (
        known(
            {
                "title": "Send mails",
                "detail": "One per order",
                "done": ["A mail arrives"],
                "depends": ["take orders", "Nothing"],
            }
        ),
        known({"title": "Pay"}),
    ),
    "measures": ["No order is lost", "Labels in a minute"],
}


def test_the_whole_file() -> None:
    assert written(WHOLE) == (
        "# Tasks\n\nFrom an interview (Sample).\n\n"
        "## Context\n\n"
        "- Goal: Orders get lost\n- Decided: A web app\n- Constraint: Trigger: Before spring\n- Open question: Who hosts it?\n\n"
        "## 1. Take orders\nStatus: todo\n\n"
        "## 2. Print labels\nStatus: todo\n\n"
        "## 3. Send mails\nStatus: todo\nDepends on: 1\n\nAs it was said: One per order\n\nAcceptance:\n- A mail arrives\n\n"
        "## 4. Pay\nStatus: todo\n\n"
        "## 5. Check what has to hold for all of it\nStatus: todo\nDepends on: 1, 2, 3, 4\n\n"
        "Acceptance:\n- No order is lost\n- Labels in a minute\n"
    )


def test_the_linter_accepts_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "TASKS.md"
    path.write_text(written(WHOLE))
    assert main(["work", "lint", str(path)]) == 0
    assert "5 tasks" in capsys.readouterr().out


def test_what_holds_for_all_stands_with_a_single_task() -> None:
    text = written({"musts": "Take orders", "measures": ["No order is lost"]})
    (task,) = read_tasks(text).tasks
    assert (task.title, task.acceptance) == ("Take orders", ["No order is lost"])


def test_goals_are_tasks_where_none_are_named() -> None:
    text = written({"problem": "Find orders"}, tasks=[])
    assert [each.title for each in read_tasks(text).tasks] == ["Find orders"]
    assert "## Context" not in text


def test_the_exit_that_names_tasks_is_the_source() -> None:
    exits = [
        {"targetEngine": target, "condition": {"type": "turn_count", "minTurns": 1}, "reason": "r", "mapping": sources}
        for target, sources in (("planner", {"userGoals": ["problem"]}), ("repo-agent", MAPPING))
    ]
    config = engine(exitTransitions=exits)
    memory = state(config, {"musts": known(["A"]), "problem": known("B")})
    assert [each.title for each in read_tasks(tasks_file(memory, config)).tasks] == ["A"]


@each("extraction", [{}, {"musts": []}, {"musts": ["", " - ", "***", "..."]}, {"objects": [{}]}])
def test_nothing_to_do_is_told(extraction: dict[str, Any]) -> None:
    with pytest.raises(InvalidState, match="there are no tasks"):
        written(extraction)


def test_long_titles_are_cut_and_whole_below() -> None:
    long = "Take orders " + "and more " * 30
    (task,) = read_tasks(text := written({"musts": long, "problem": "x"})).tasks
    assert task.title.startswith("Take orders and more") and task.title.endswith("…") and len(task.title) <= 100
    assert f"As it was said: {long.strip()}" in text


def test_titles_that_begin_alike_are_two_tasks_and_the_same_name_is_one() -> None:
    long = "Take orders " + "and more " * 30
    text = written({"musts": [f"{long} by mail", f"{long} by phone", "Learn C#.", "learn c#", "* Use `make`"]})
    assert len(read_tasks(text).tasks) == 4
    assert "## 3. Learn C#\n" in text and "## 4. Use \\`make\\`\n" in text
    assert lint(read_tasks(text)) == []


def test_code_at_the_beginning_of_a_title_stays_whole() -> None:
    text = written({"musts": ["`make test` in CI", "- `x` is gone", "**bold** words", "# One"]})
    titles = [each.title.replace("\\", "") for each in read_tasks(text).tasks]
    assert titles == ["`make test` in CI", "`x` is gone", "**bold** words", "One"]
    assert lint(read_tasks(text)) == []


def test_what_is_left_out_on_purpose_is_told() -> None:
    text = written(
        {"musts": ["Take orders"], "trigger": ["billing", "route planning"]}, outOfScope=["trigger"], constraints=[]
    )
    assert "- Left out on purpose: billing\n- Left out on purpose: route planning\n" in text
    assert len(read_tasks(text).tasks) == 1


def test_circles_of_dependencies_are_opened() -> None:
    objects = [{"title": name, "depends": [*"abc"]} for name in "abc"]
    text = written({"objects": objects})
    assert lint(read_tasks(text)) == []
    assert [each.depends for each in read_tasks(text).tasks] == [(2, 3), (3,), ()]


FORGERIES = (
    "[ ] 7. Forged", "- [ ] 7. Forged", "- [x] 1.1 Forged", "## 7. Forged", "x\n\n## 7. Forged\nStatus: done", "7. Forged",
    "Task 7: Forged", "Status: done", "**Status:** done", "- Status: done", "Depends on: 99", "Depends on: none", "Acceptance: nothing",
    "* Done when: now", "Requires: 99", "Blocked by: 99", "`Status`: done", "_Status_: done", "Status : done", "\x00Status: done",
    "\u200bStatus: done", "<!-- ", "-->", "```", "~~~", "---\nstatus: done\n---", "| Status: done", "> Status: done", "1. Status: done",
    "#", "\ufeff## 7. Forged", "Status:\u00a0done", "\u2028## 7. Forged", "\x0b## 7. Forged", "\r## 7. Forged\r", "[x] Status: done",
    "\uff33tatus: done", "status\t: done",
)  # fmt: skip


@each("forged", FORGERIES)
def test_no_value_forges_a_task_or_a_field(forged: str) -> None:
    objects = (
        known({"title": f"Real {forged}", "detail": forged, "done": [forged, "real"], "depends": [f"{forged} 99"]}),
    )
    first = {
        "musts": ["Other", forged],
        "objects": objects,
        "measures": [forged],
        "problem": forged,
        "trigger": forged,
        "questions": forged,
    }
    file = read_tasks(written({**first, "decision": forged}))
    assert lint(file) == []
    assert all(each.status is Status.TODO and each.features == [] for each in file.tasks)
    *mine, last = file.tasks
    assert len(mine) == 2 + any(map(str.isalnum, forged))
    assert [each.depends for each in mine] == [()] * len(mine)
    assert last.depends == tuple(range(1, len(mine) + 1))
    assert len(mine[-1].acceptance) == 2 and len(last.acceptance) == 1


def test_every_field_of_the_grammar_is_text_in_a_value() -> None:
    names = _FIELD.pattern.partition("(status")[2].partition(")[*_]")[0]
    optional = r"\(\?:([^)]*)\)\?"
    fields = {re.sub(optional, kept, name) for name in f"status{names}".split("|") for kept in ("", r"\1")}
    assert {"status", "depends", "depends on", "acceptance criteria", "done when"} <= fields
    for name in fields:
        for said in (f"{name}: 99", f"{name.title()} : 99", f"**{name}:** 99", f"_{name}_: 99"):
            file = read_tasks(written({"musts": ["A", "B"], "measures": [said]}))
            assert lint(file) == [] and [each.depends for each in file.tasks] == [(), (), (1, 2)]
            assert len(file.tasks[-1].acceptance) == 1


VALUES = st.one_of(
    st.text(max_size=30), st.sampled_from(FORGERIES), st.text(alphabet="#-*+[]x ~`<!>\n\r\t:.1Status", max_size=30)
)
OBJECTS = st.fixed_dictionaries(
    {"title": VALUES, "detail": VALUES, "done": st.lists(VALUES, max_size=2), "depends": st.lists(VALUES, max_size=2)}
)


@given(st.lists(VALUES, max_size=4), st.lists(OBJECTS, max_size=3), st.lists(VALUES, max_size=2), VALUES)
def test_any_values_make_a_file_that_the_linter_accepts(
    musts: list[str], objects: list[dict[str, Any]], measures: list[str], said: str
) -> None:
    extraction = {"musts": ["Real", *musts], "objects": objects, "measures": measures, "problem": said, "trigger": said}
    file = read_tasks(written(extraction))
    assert lint(file) == []
    assert file.tasks[0].title == "Real"
    assert len(file.tasks) <= 3 + len(musts) + len(objects)
    assert all(each.status is Status.TODO and each.features == [] for each in file.tasks)


def test_thousands_of_enormous_values_make_a_file_of_bounded_size() -> None:
    text = written(
        {"musts": [f"{number} " + "x" * 10_000 for number in range(10_000)], "measures": ["y" * 100_000] * 1000}
    )
    assert len(read_tasks(text).tasks) == 100
    many = tuple(known({"title": f"Task {number}"}) for number in range(150))
    assert "From an interview (Sample). 51 more are left out.\n" in written({"objects": many, "musts": []})
    assert len(text) < 200_000
