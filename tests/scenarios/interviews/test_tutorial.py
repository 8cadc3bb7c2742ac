"""The engine that docs/interviews.md builds is one: its pieces load, lint clean, and lead an interview to tasks."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from agent.conversation.authoring.lint import lint_engine
from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.exports.tasks_file import tasks_file
from agent.conversation.framework.talk.techniques import library
from agent.conversation.registry.loading import Engine, load_engine
from agent.conversation.registry.registry import EngineRegistry
from agent.repo_agent.task_file import read_tasks
from agent.repo_agent.task_lint import lint as lint_tasks
from tests.support.interview_case import known, state
from tests.support.interview_talk import Talk

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/interviews.md").read_text().partition("## An engine of your own")[2]
ANSWERS = {
    "review.wentWell": "the release; pairing",
    "review.hurt": "flaky tests; late reviews",
    "review.causes": "Nobody has time set aside for reviews",
    "actions.list": "Review before lunch; Mend the flaky tests",
    "actions.agreed": "yes",
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "retrospective"
    made.mkdir()
    (made / "engine.toml").write_text("\n".join(blocks("toml")))
    return made


def registered(folder: Path) -> Engine:
    registry = EngineRegistry(techniques=library(), handlers=HANDLERS, installed=())
    return registry.get(registry.add(folder))


@pytest.mark.covers("S3-2", "S3-129")
def test_its_pieces_are_an_engine_without_a_mistake(folder: Path) -> None:
    engine = registered(folder)
    assert engine.config.engine_id == "retrospective"
    assert len((folder / "engine.toml").read_text().splitlines()) < 200
    registry = EngineRegistry(techniques=library(), handlers=HANDLERS, installed=())
    checked = registry.validate(engine.config)
    assert (checked.errors, checked.warnings) == ((), ())
    assert lint_engine(engine.config, techniques=library()) == ()


def test_it_leads_to_tasks(folder: Path) -> None:
    talk = Talk(registered(folder))
    talk.say("Hello")
    while talk.memory.asked:
        talk.say(ANSWERS[talk.memory.asked])
    assert talk.failed == [] and talk.phases == ["LOOKING_BACK", "DECIDING"]
    assert talk.memory.offered == "repo-agent"
    file = read_tasks(tasks_file(talk.memory, talk.config))
    assert [each.title for each in file.tasks] == ["Review before lunch", "Mend the flaky tests"]
    assert list(lint_tasks(file)) == []


def test_its_evaluator_is_found_in_a_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = blocks("python")
    text = (folder / "engine.toml").read_text()
    (folder / "engine.toml").write_text(f'customEvaluators = ["fewChanges"]\n{text}')
    (folder / "__init__.py").touch()
    (folder / "evaluators.py").write_text(code)
    monkeypatch.syspath_prepend(str(folder.parent))
    engine = load_engine(folder, package="retrospective")
    for name in [each for each in sys.modules if each.split(".")[0] == "retrospective"]:
        monkeypatch.delitem(sys.modules, name)
    rate = engine.evaluators["fewChanges"]
    assert rate(state(engine.config)) == 0
    four = {"actions.list": tuple(known(each) for each in "abcd")}
    assert rate(state(engine.config, four)) == 0.75
