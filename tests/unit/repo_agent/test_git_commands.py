"""The commands of git, and what a push says of where it found the branch."""

from __future__ import annotations

import pytest

from agent.repo_agent.git_commands import was_left_at

OLD, NEW = "1a2b3c4d" + "0" * 32, "5e6f7a8b" + "0" * 32
TO = "To /srv/shop.git\n"


@pytest.mark.parametrize(
    ("left", "said", "there"),
    [
        ("", f"{TO} * [new branch]      agent/task-1 -> agent/task-1\n", True),
        (OLD, f"{TO} * [neuer Branch]    agent/task-1 -> agent/task-1\n", True),
        (OLD, f"hook: looked\n{TO}   1a2b3c4..5e6f7a8  agent/task-1 -> agent/task-1\n", True),
        (OLD, f"{TO}   9999999..5e6f7a8  agent/task-1 -> agent/task-1\n", False),
        ("", f"{TO}   1a2b3c4..5e6f7a8  agent/task-1 -> agent/task-1\n", False),
        (OLD, f"   1a2b3c4..5e6f7a8  said by a hook\n{TO}   9999999..5e6f7a8  agent/task-1 -> agent/task-1\n", False),
        (NEW, "Everything up-to-date\n", True),
        (OLD, "Everything up-to-date\n", False),
        ("", "", False),
    ],
)
def test_a_push_says_where_the_branch_was(left: str, said: str, there: bool) -> None:
    assert was_left_at(left, NEW, said) is there
