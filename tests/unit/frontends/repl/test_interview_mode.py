"""Interviews as a mode of the REPL: which one a line means, what is done beside it, and what the planner is told afterwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.conversation.registry.registry import registry
from agent.conversation.strategy import Interview
from agent.frontends.repl import interview_mode
from agent.frontends.repl.interview_mode import InterviewMode
from agent.frontends.session_controller import SessionController
from agent.frontends.signals import Signals
from agent.protocol.errors import NotFound
from tests.support.fake_terminal import FakeTerminal
from tests.support.fakes import FakePerson, FakePlanner
from tests.support.front_services import World
from tests.support.interview_case import asking


class Lines:
    """The prompt of the interviews: hands out what a person types, and then Ctrl-D."""

    shown_whole = True

    def __init__(self, repl: Repl) -> None:
        self._repl = repl

    async def read(self) -> str | None:
        return next(self._repl.typed, None)


class Repl:
    """A REPL with a mode for interviews. `did`: lines that were done beside them; `told`: what was said in words of ours."""

    def __init__(self, terminal: FakeTerminal, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        planner = FakePlanner()
        planner.name = "offline"
        world = World(planner, home)
        world.strategies["interview"] = Interview(registry())
        self.told: list[str] = []
        self.did: list[tuple[str, bool]] = []
        self.controller = SessionController(
            services=world.services,
            ctx=world.services.open_session("repl"),
            emitter=world.emitter,
            confirmer=FakePerson(),
            signals=Signals(),
            tell=self.told.append,
            interactive=True,
        )
        self.mode = InterviewMode(self.controller, terminal.screen, self._do)
        self.typed: Iterator[str] = iter(())
        monkeypatch.setattr(interview_mode, "AnswerPrompt", lambda talk, screen: Lines(self))

    async def _do(self, line: str, asked: bool) -> bool:
        self.did.append((line, asked))
        if line == ":new":
            await self.controller.switch(None)
        return False

    def type(self, argument: str, *lines: str) -> list[str]:
        """`:interview ARGUMENT`, then these lines, then Ctrl-D; what was told meanwhile."""
        self.told.clear()
        self.typed = iter(lines)
        asyncio.run(self.mode.talk(argument))
        return list(self.told)


@pytest.fixture
def repl(terminal: FakeTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repl]:
    registry.cache_clear()  # each test has an engine of the same id in another folder
    (tmp_path / "my sample").mkdir()
    (tmp_path / "my sample" / "engine.yaml").write_text(json.dumps(asking("planner", ready=0.9)))
    yield Repl(terminal, tmp_path, monkeypatch)
    registry.cache_clear()


def test_it_goes_on_where_it_was_left(repl: Repl) -> None:
    first = repl.type("", "our lists differ")
    assert first[0].startswith("Project Requirements Discovery. ")
    assert first[-1] == "kept: `:interview` goes on with it"
    assert repl.type("")[0].startswith("Project Requirements Discovery: 1 turn, ")
    assert repl.type("exploration", "a site")[0].startswith("Exploration Engine. ")
    assert repl.type("")[0].startswith("Exploration Engine: 1 turn, ")
    assert repl.type("project-discovery")[0].startswith("Project Requirements Discovery: 1 turn, ")
    assert repl.type("", "stop")[-1].startswith("Project Requirements Discovery: 1 turn, ")
    assert repl.type("project-discovery")[0].startswith("Project Requirements Discovery. ")


def test_a_folder_is_found_from_where_commands_run_and_its_name_may_have_blanks(repl: Repl) -> None:
    assert repl.type("my sample")[0].startswith("Sample. ")
    with pytest.raises(NotFound):
        repl.type("nosuch")
    with pytest.raises(NotFound):
        repl.type("last")


def test_words_after_the_engine_are_the_first_answer(repl: Repl) -> None:
    repl.type("exploration a site for our club")
    assert repl.type("")[0].startswith("Exploration Engine: 1 turn, ")


def test_other_commands_are_those_of_the_repl_and_another_session_leads_away(repl: Repl) -> None:
    told = repl.type("", ":jobs", "!ls -l", ":) well", ":help undo", ":new", "never read")
    assert [line for line, _ in repl.did] == [":jobs", "!ls -l", ":help undo", ":new"]
    assert told[-1] == "kept: `:interview` goes on with it"
    assert repl.type("")[0].startswith("Project Requirements Discovery: 1 turn, ")  # `:) well` was one


def test_another_interview_may_be_asked_for_in_one(repl: Repl) -> None:
    told = repl.type("", ":interview exploration")
    assert [each.partition(".")[0] for each in told] == ["Project Requirements Discovery", "Exploration Engine"]


def test_the_planner_gets_to_know_it_with_the_next_goal_once(repl: Repl) -> None:
    told = repl.type("my sample", "our lists differ", "a letter came back", ":go planner", "never read")
    assert told[-1] == "the planner knows all of that with your next goal; say what it shall do first"
    [left] = repl.mode._conversations
    assert left.controller.ctx.listed == ["our lists differ", "a letter came back"]  # a session is named after these
    [block] = repl.mode.take_context()
    assert "our lists differ" in block.text
    assert repl.mode.take_context() == ()
    assert repl.type("my sample")[0].startswith("Sample. ")


def test_the_panel_is_switched(repl: Repl, capsys: pytest.CaptureFixture[str]) -> None:
    repl.type("", ":panel off")
    assert not repl.mode._switch.wanted
    assert "when the window is wider" in repl.type("", ":panel on")[-1]
    repl.type("", ":panel sideways")
    assert "the panel can be on or off, not" in capsys.readouterr().err
    repl.type("", ":panel")
    assert "Getting Started  ░░░░░░░░░░ 0 %" in capsys.readouterr().out


def test_all_are_closed_with_the_repl(repl: Repl) -> None:
    repl.type("", "our lists differ")
    repl.type("exploration")
    asyncio.run(repl.mode.close("closed"))
    assert all(each.controller.ctx.closed for each in repl.mode._conversations)
    assert not repl.controller.ctx.closed
