"""What is asked about the last command is about that one, and nothing else is."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from agent.protocol.replies import Chat, Command
from tests.unit.planner.offline.offline_support import (
    answer,
    goal_item,
)
from tests.unit.planner.offline.test_offline_loop import after, really

ABOUT_LAST = (
    "why did that fail", "why did it fail?", "why does this not work", "why", "fix it", "Fix that please", "what went wrong",
    "what went wrong there", "so what happened?", "explain the error", "how do I fix this?", "what does the last error mean", "that failed",
)  # fmt: skip


def test_a_question_about_the_last_command_is_about_that(tmp_path: Path) -> None:
    """Also where the person typed that command, and no planner was asked about it."""
    (tmp_path / "people.csv").write_text("a\n")
    failed = structs.replace(really("cat peple.csv", tmp_path), origin="person")
    wrong = [
        text for text in ABOUT_LAST if answer(failed, goal_item(text, str(tmp_path))) != after("x", failed, tmp_path)
    ]
    assert wrong == []
    assert getattr(after("x", failed, tmp_path), "command", "") == "cat people.csv"


def test_other_questions_are_not_about_the_last_command(tmp_path: Path) -> None:
    failed, worked = really("cat peple.csv", tmp_path), really("true", tmp_path)
    for text in (
        "why is my disk full",
        "fix it in notes.txt",
        "explain tar",
        "what is wrong with port 8080",
        "how do I fix a typo",
    ):
        assert not isinstance(answer(failed, goal_item(text, str(tmp_path))), Command), text
        assert "peple" not in str(answer(failed, goal_item(text, str(tmp_path)))), text
    for before in ((), (worked,), (failed, worked)):
        reply = answer(*before, goal_item("why did that fail", str(tmp_path)))
        assert isinstance(reply, Chat) and "pipe the output in" in reply.message
