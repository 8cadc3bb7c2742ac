"""One helper that starts commands, for all tests of this folder that a process runs."""

from __future__ import annotations

import pytest

from tests.support.shared_helper import share_helper


@pytest.fixture(autouse=True)
def _shared_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    share_helper(monkeypatch)
