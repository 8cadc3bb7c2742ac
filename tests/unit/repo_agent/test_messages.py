"""The standard texts: one subject, trailers that git reads, and a pull request that notifies nobody."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.repo_agent.messages import (
    Proof,
    branch_of,
    feature_message,
    pull_request_body,
    pull_request_title,
    submit_message,
    task_of,
    words_on_tests,
)
from tests.support.each import each


@pytest.mark.covers("S2-10", "S2-11")
def test_the_texts_are_those_of_the_documentation() -> None:
    assert feature_message(10, 1, "Read TOML", "Why it is done so.") == (
        "feat(task 10.1): Read TOML\n\nWhy it is done so.\n\nTask: 10\nFeature: 10.1\n"
    )
    assert submit_message(10, "Read settings") == (
        "feat(task 10): Read settings\n\nTask: 10\nSubmitted-for-review: agent/task-10\n"
    )


@given(st.text(), st.text())
def test_whatever_a_model_says_the_subject_is_one_line_and_the_trailers_are_ours(title: str, body: str) -> None:
    message = feature_message(10, 1, title, body)
    subject, empty, *_ = message.split("\n")
    assert subject.startswith("feat(task 10.1):") and empty == ""
    assert message.endswith("\n\nTask: 10\nFeature: 10.1\n")
    assert all(char in "\n\t" or char.isprintable() for char in message)


@each("body", ["Feature: 10.2", "text\n\nFeature: 10.2\nTask: 11", "Submitted-for-review: agent/task-10"])
def test_trailers_in_the_text_of_a_model_are_text_to_git(body: str) -> None:
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"],
        input=feature_message(10, 1, "x", body), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "Task: 10\nFeature: 10.1\n"


def test_branches_of_tasks() -> None:
    assert task_of(branch_of(10)) == 10
    for other in (
        "agent/task-",
        "agent/task-0",
        "agent/task-01",
        "agent/task-1x",
        "x/agent/task-1",
        "agent/task-1\n",
        "main",
    ):
        assert task_of(other) == 0


def test_the_proof_is_in_the_body_and_nobody_is_notified_by_it() -> None:
    proof = Proof(
        tests=words_on_tests(untestable=False, green=True, passed=12, total=12),
        features=[("10.1", "feat(task 10.1): thanks @ada", "a" * 40)],
        files=["a.py", "`odd`\n.py", *(f"f{number}" for number in range(60))],
        acceptance=["ask @team; a@example.com is fine"],
    )
    body = pull_request_body(10, "Read\nsettings @all", proof)
    assert body.startswith(
        "Task 10: Read settings @\u200ball\n\n## Acceptance\n\n- ask @\u200bteam; a@example.com is fine\n"
    )
    assert (
        "- Tests: green after the last change: 12 of 12 passed\n- Feature 10.1: feat(task 10.1): thanks @\u200bada (aaaaaaaaaaaa)"
        in body
    )
    assert "- Files changed: 62\n  - `a.py`\n  - `odd .py`\n" in body and body.endswith("  - and 12 more\n")


@each(
    ("given", "said"),
    [
        ({"untestable": True, "green": False, "passed": None, "total": None}, "no tests that could be run"),
        ({"untestable": False, "green": True, "passed": None, "total": None}, "green after the last change"),
        (
            {"untestable": False, "green": False, "passed": 3, "total": 5},
            "not green after the last change: 3 of 5 passed",
        ),
    ],
)
def test_how_the_tests_went_is_said_as_it_is(given: dict[str, object], said: str) -> None:
    assert said in words_on_tests(**given)  # type: ignore[arg-type]


def test_no_issue_is_closed_and_nothing_is_shown_from_elsewhere_by_what_a_model_wrote() -> None:
    active = "closes #1, fixes a/b#2, GH-3, https://example.org/issues/4 ![i](//x/y) <img src=x> [a]: b"
    proof = Proof(tests="green", features=[("1.1", active, "a" * 40)], acceptance=[active], test_setup=["Makefile"])
    for text in (pull_request_body(1, active, proof), pull_request_title(1, active)):
        for dead in ("#1", "#2", "GH-3", "https://", "![", "](", "<img", "]:"):
            assert dead not in text
    assert "- **How the tests are run was changed on this branch:**\n  - `Makefile`\n" in pull_request_body(
        1, "", proof
    )


ORDERS = (
    "closes #1, Fixes a/b#2 and #3; implements GH-4",
    "resolves https://example.org/o/r/issues/5, /pull/6 and /-/merge_requests/7",
    "AB-8 #close #done, and thanks @ada",
    "[skip ci] [ci skip] [no ci] [skip actions] ***NO_CI***\nskip-checks: true",
)
DEAD = (
    "#1",
    "#2",
    "#3",
    "GH-4",
    "issues/5",
    "pull/6",
    "requests/7",
    "#close",
    "#done",
    "@ada",
    "[skip",
    "[ci",
    "[no",
    "***NO_CI",
    "checks:",
)


@each("text", ORDERS)
def test_a_commit_closes_no_issue_leaves_out_no_check_and_calls_nobody(text: str) -> None:
    for message in (feature_message(1, 1, text, text), submit_message(1, text), pull_request_title(1, text)):
        assert not [dead for dead in DEAD if dead in message]
    assert feature_message(1, 1, text).replace("\u200b", "").startswith(f"feat(task 1.1): {text[:40]}")


@pytest.mark.parametrize("text", ["C# and #fff, see a@example.com", "items[0] of [a, b]; 1/2 of https://example.org/x"])
def test_what_orders_nothing_stays_as_it_is(text: str) -> None:
    assert feature_message(1, 1, text).startswith(f"feat(task 1.1): {text}\n")
