"""A confirmation waits no longer for manuals than it may; what was read counts from then on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agent.app.retrieval import ProcessManuals
from agent.protocol.decisions import RiskContext, RiskReport
from agent.retrieval.manuals import Manuals, Missing
from agent.retrieval.options import manual
from agent.risk.classifier import classify
from tests.unit.retrieval.test_manuals import PAGE, World


def report(command: str) -> RiskReport:
    return classify(command, RiskContext())


@pytest.fixture
def manuals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProcessManuals:
    World(tmp_path, monkeypatch).program("tar", PAGE)
    return ProcessManuals({"XDG_CACHE_HOME": str(tmp_path / "cache")}, keeps=True)


def test_it_says_what_is_not_there(manuals: ProcessManuals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.app.retrieval._SECONDS", 30.0)
    assert manuals.lacking(report("tar --odd -xf a; tar --even")) == "tar here has no --odd; tar here has no --even"
    assert manuals.lacking(report("tar -xf a")) == ""


def test_it_does_not_wait_for_a_text_that_takes_long(manuals: ProcessManuals, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, read = threading.Event(), threading.Event()

    def slow(self: Manuals, report: RiskReport) -> tuple[Missing, ...]:
        go_on.wait(60)
        read.set()
        return (Missing("tar", ("--odd",), manual("tar", "", "man")),)

    monkeypatch.setattr(Manuals, "missing", slow)
    assert manuals.lacking(report("tar --odd")) == ""
    go_on.set()
    assert read.wait(60), "it is read to its end all the same"
    monkeypatch.setattr("agent.app.retrieval._SECONDS", 30.0)
    assert manuals.lacking(report("tar --odd")) == "tar here has no --odd"


def test_what_a_planner_has_asked_is_known_at_once(manuals: ProcessManuals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.app.retrieval._SECONDS", 0.0)
    assert manuals.manuals().missing_in("tar --odd")
    assert manuals.lacking(report("tar --odd")) == "tar here has no --odd"
    assert manuals.manuals().missing_in("tar -x") == ()
    assert manuals.lacking(report("tar -x")) == ""


def test_whatever_goes_wrong_nothing_is_said(manuals: ProcessManuals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.app.retrieval._SECONDS", 30.0)
    monkeypatch.setattr(Manuals, "missing", lambda *given: 1 / 0)
    assert manuals.lacking(report("tar --odd")) == ""


def test_nothing_is_kept_where_nothing_may_be(tmp_path: Path, manuals: ProcessManuals) -> None:
    nothing = ProcessManuals({"XDG_CACHE_HOME": str(tmp_path / "cache")}, keeps=False)
    assert nothing.manuals().missing_in("tar --odd")
    assert not (tmp_path / "cache").exists()
    assert manuals.manuals().missing_in("tar --odd")
    assert [path.name for path in (tmp_path / "cache/agent-shell/manuals").iterdir()] == ["tar.man"]
