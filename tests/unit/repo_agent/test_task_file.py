"""Tasks are found however people write them, and nothing else is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.repo_agent.task_file import BOXES, Status, read_tasks
from tests.support.each import each

WHOLE = """\
# Tasks

## 10. Read settings from a file
Status: in progress
Depends on: 8, #9

Any text: also with colons.

- [x] 10.1 Read TOML
- [ ] 10.2 Say which line is wrong
  Acceptance: the number is said
- [-] 10.3 **Read YAML**
Acceptance:
- `pytest` is green
- [ ] docs name every key

### Task 8: The parser
**Status:** ✅ Done (for good)

## [~] 9 — The lexer

```
## 99. an example
```
<!-- ## 98. hidden
- [ ] 98.1 too -->
"""


@pytest.mark.covers("S2-19")
def test_a_whole_file() -> None:
    file = read_tasks(WHOLE)
    assert not file.problems
    assert [(each.name, each.title, each.status.value) for each in file.entries] == [
        ("10", "Read settings from a file", "in progress"),
        ("10.1", "Read TOML", "done"),
        ("10.2", "Say which line is wrong", "todo"),
        ("10.3", "Read YAML", "dropped"),
        ("8", "The parser", "done"),
        ("9", "The lexer", "in progress"),
    ]
    task = file.find(10)
    assert task is not None and task.depends == (8, 9)
    assert task.acceptance == ["`pytest` is green", "docs name every key"]
    feature = file.find(10, 2)
    assert feature is not None and feature.acceptance == ["the number is said"]


@each(
    "line",
    [
        "## 10. A title", "# 10) A title", "#### 10: A title", "## Task 10: A title", "## task 10 A title", "## 10 - A title",
        "## 10 — A title", "## **10.** A title", "## #10. A title", "## [ ] 10. A title", "- [ ] 10. A title", "* [ ] **10** A title",
        "+ [ ] Task 10 – A title", "\ufeff## 10. A title", "## 10. A title\r", "  - [ ] 10. A title", "## 10. **A title**",
    ],
)  # fmt: skip
def test_a_task_is_found(line: str) -> None:
    (task,) = read_tasks(f"{line}\n").tasks
    assert (task.task, task.feature, task.title, task.status) == (10, 0, "A title", Status.TODO)


@each(
    "line",
    [
        "## 2026 in numbers", "## 3 things to know", "10. An item of a list", "- 10. An item", "- [ ] 10 apples", "- [ ] buy 10. things",
        "    text 10. more", "> ## 10. A quotation", "## v10. A release", "10. Read the docs", "- [10] A link", "- [x](10.md)", "|## 10.|",
    ],
)  # fmt: skip
def test_a_line_that_is_no_task(line: str) -> None:
    assert read_tasks(f"{line}\n").tasks == ()


@each(
    "line", ["- [ ] 10.2 F", "* [ ] **10.2** F", "### 10.2 F", "### Feature 10.2: F", "  - [ ] 10.2. F", "#### 10.2) F"]
)
def test_a_feature_is_found(line: str) -> None:
    (task,) = read_tasks(f"## 10. T\n\n{line}\n").tasks
    (feature,) = task.features
    assert (feature.name, feature.title) == ("10.2", "F")


@each(("status", "box"), BOXES.items())
def test_a_box_and_a_line_say_the_same(status: Status, box: str) -> None:
    assert read_tasks(f"- [{box}] 1. A").tasks[0].status is status
    assert read_tasks(f"## 1. A\nStatus: {status.value}").tasks[0].status is status
    assert read_tasks(f"## 1. A\n\n- **Status**: {status.value.upper()}.").tasks[0].status is status


def test_a_status_at_the_features_column_is_the_tasks() -> None:
    file = read_tasks("## 1. A\n- [ ] 1.1 B\n  Status: done\nStatus: review\n")
    assert [each.status.value for each in file.entries] == ["review", "done"]


def test_a_task_that_says_nothing_is_done_when_its_features_are() -> None:
    assert read_tasks("## 1. A\n- [x] 1.1 B\n- [-] 1.2 C\n").tasks[0].status is Status.DONE
    assert read_tasks("## 1. A\n- [x] 1.1 B\n- [?] 1.2 C\n").tasks[0].status is Status.TODO


def test_a_section_ends_the_task_above() -> None:
    file = read_tasks("## 1. A\n### Notes\n- [ ] 1.1 B\n## Appendix\nStatus: done\n")
    assert [(each.name, each.status.value) for each in file.entries] == [("1", "todo"), ("1.1", "todo")]


@pytest.mark.covers("S2-19")
def test_what_can_be_worked_on() -> None:
    text = (
        "## 1. A\nStatus: done\n## 2. B\nDepends on: 1\n## 3. C\nDepends on: 2\n## 4. D\nStatus: blocked\n"
        "## 5. E\nStatus: in progress\n## 6. F\nDepends on: 77\n## 7. G\nDepends on: none\n"
    )
    assert [each.name for each in read_tasks(text).eligible] == ["5", "2", "7"]


def test_a_number_that_is_there_twice_is_done_only_when_both_are() -> None:
    text = "## 1. A\nStatus: done\n## 1. A again\n## 2. B\nDepends on: 1\n"
    assert [each.title for each in read_tasks(text).eligible] == ["A again"]


_LINES = st.sampled_from(
    [
        *WHOLE.split("\n"),
        "## 7. G\r",
        "Status: \u2028done",
        "\x0c- [X] 7.1 H",
        "* [/] 7.2 I",
        "Depends on: seven",
        "Acceptance",
        "- item",
    ]
)


@given(st.one_of(st.lists(_LINES, max_size=40).map("\n".join), st.text(max_size=300)))
def test_lines_are_the_text_again(text: str) -> None:
    file = read_tasks(text)
    assert "\n".join(file.lines) == text
    assert all(0 <= one.line < len(file.lines) for one in file.entries)
    for one in file.entries:
        assert one.box is None or file.lines[one.line][one.box - 1 : one.box + 2 : 2] == "[]"
