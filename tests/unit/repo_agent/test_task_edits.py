"""A change of status changes what says it, and not another byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.errors import NotFound
from agent.repo_agent.task_edits import StatusChange, merged, status_changes, with_status
from agent.repo_agent.task_file import Status, read_tasks
from tests.unit.repo_agent.test_task_file import WHOLE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## 1. A\nStatus: todo\n", "## 1. A\nStatus: review\n"),
        ("## 1. A\r\nStatus: todo\r\nx", "## 1. A\r\nStatus: review\r\nx"),
        ("## 1. A\n**Status:** ✅ `done` since May  \n", "## 1. A\n**Status:** ✅ `review` since May  \n"),
        ("- [ ] 1. A  \n", "- [?] 1. A  \n"),
        ("## [x] 1. A\nStatus: done\n", "## [?] 1. A\nStatus: review\n"),
        ("## 1. A\n\nText", "## 1. A\nStatus: review\n\nText"),
        ("## 1. A\nText", "## 1. A\nStatus: review\n\nText"),
        ("## 1. A\r\nText\r\n", "## 1. A\r\nStatus: review\r\n\r\nText\r\n"),
        ("## 1. A", "## 1. A\nStatus: review"),
    ],
)
def test_a_change_of_a_task(before: str, after: str) -> None:
    assert with_status(read_tasks(before), [StatusChange(1, 0, Status.REVIEW)]) == after


def test_several_changes_at_once() -> None:
    changes = [StatusChange(1, 0, Status.DONE), StatusChange(1, 1, Status.DONE), StatusChange(2, 0, Status.DOING)]
    text = "## 1. A\n\n- [ ] 1.1 B\n\n## 2. C\n"
    expected = "## 1. A\nStatus: done\n\n- [x] 1.1 B\n\n## 2. C\nStatus: in progress\n"
    assert with_status(read_tasks(text), changes) == expected


@pytest.mark.parametrize(("task", "feature", "said"), [(7, 0, "no task called '7'"), (1, 3, "no feature called '1.3'")])
def test_a_number_that_is_not_there(task: int, feature: int, said: str) -> None:
    with pytest.raises(NotFound, match=said):
        with_status(read_tasks("## 1. A\n- [ ] 1.1 B\n"), [StatusChange(task, feature, Status.DONE)])


_NUMBERS = st.sampled_from([(each.task, each.feature) for each in read_tasks(WHOLE).entries])
_CHANGES = st.dictionaries(_NUMBERS, st.sampled_from(Status), max_size=6).map(
    lambda found: [StatusChange(*number, status) for number, status in found.items()]
)


@given(_CHANGES, st.booleans())
def test_what_is_changed_is_read_again(changes: list[StatusChange], windows: bool) -> None:
    before = read_tasks(WHOLE.replace("\n", "\r\n") if windows else WHOLE)
    after = read_tasks(with_status(before, changes))
    wanted = {(each.task, each.feature): each.status for each in changes}
    for was, now in zip(before.entries, after.entries, strict=True):
        assert now.status is wanted.get((was.task, was.feature), was.status)
        assert (now.title, now.depends, now.acceptance) == (was.title, was.depends, was.acceptance)
    untouched = [line for line in before.lines if "Status:" not in line and "[" not in line]
    assert [line for line in after.lines if "Status:" not in line and "[" not in line] == untouched


@given(_CHANGES, _CHANGES)
def test_changes_of_both_sides_are_merged(ours: list[StatusChange], theirs: list[StatusChange]) -> None:
    base = read_tasks(WHOLE)
    our, their = (read_tasks(with_status(base, each)) for each in (ours, theirs))
    found = {(each.task, each.feature): each.status for each in read_tasks(merged(base, our, their)).entries}
    changed = {(each.task, each.feature): each.status for each in status_changes(base, our)}
    assert found == {(each.task, each.feature): each.status for each in their.entries} | changed


def test_what_is_gone_there_stays_gone() -> None:
    base = read_tasks("## 1. A\n## 2. B\n")
    ours = read_tasks("## 1. A\nStatus: done\n\n## 2. B\nStatus: done\n")
    assert merged(base, ours, read_tasks("## 2. B, anew\n")) == "## 2. B, anew\nStatus: done\n"
