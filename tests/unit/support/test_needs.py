"""Whatever is skipped is accounted for, by the program that is missing where it was that."""

from __future__ import annotations

import pytest

from tests.support.needs import PACKAGES, needing, needs, summary


def test_every_skipped_test_stands_in_the_summary() -> None:
    reasons = ["Skipped: needs fish"] * 3 + [
        "needs kubectl",
        "only root can mount here",
        "Skipped: no overlay here\nmore",
    ]
    assert summary(reasons) == [
        "skipped for lack of: fish (3 tests), kubectl (1 test); `make test-tools` installs them where apt has them",
        "skipped for other reasons: only root can do it (1 test), no overlay here (1 test)",
    ]
    assert summary(["needs kubectl"]) == ["skipped for lack of: kubectl (1 test)"]
    assert summary([]) == []


def test_a_missing_program_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(pytest.skip.Exception, match="needs zsh"):
        needs("zsh")
    assert needing("zsh").kwargs["reason"] == "needs zsh"


def test_only_known_programs_are_asked_for() -> None:
    with pytest.raises(AssertionError, match="has to know"):
        needs("no-such-program")
    assert all(not package or package == package.strip() for package in PACKAGES.values())
