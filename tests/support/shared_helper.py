"""The helper that starts commands, one for all sessions of this process: to start it takes longer than most commands of tests."""

from __future__ import annotations

from functools import cache

import pytest

from agent.execution.process_tree.helper import Helper


class SharedHelper(Helper):
    """It ends when `end` says so, and with this process."""

    def close(self) -> None:
        pass

    def end(self) -> None:
        super().close()


@cache
def _of_this_process() -> SharedHelper:
    return SharedHelper()


def share_helper(monkeypatch: pytest.MonkeyPatch, helper: Helper | None = None) -> None:
    """Have every executor that is made from now on start its commands by `helper`, or by that of this process."""
    shared = helper or _of_this_process()
    monkeypatch.setattr("agent.execution.executor.Helper", lambda: shared)
