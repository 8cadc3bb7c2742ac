"""Commands that change what a session is set to, or say what it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.commands.info import history_text
from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.protocol import commands as core
from agent.protocol.errors import InvalidRequest, InvalidState, IoError, NotFound
from agent.protocol.events.session import SessionChanged
from agent.protocol.outcomes import GoalStatus, GoalSummary, Usage
from tests.support.command_world import CommandWorld
from tests.support.each import each
from tests.support.fakes import FakeExecutor


@pytest.mark.covers("S1-23")
def test_set_approve_is_recorded_then_made() -> None:
    world = CommandWorld()
    world.do(":set approve medium")
    assert world.context.approve == "medium"
    assert world.recorder.only(SessionChanged) == [SessionChanged(key="approve", before="ask", to="medium")]
    with pytest.raises(InvalidRequest):
        world.do(":set approve high")
    with pytest.raises(NotFound):
        world.do(":set safety_off true")


def test_a_broken_log_changes_nothing() -> None:
    world = CommandWorld()
    world.recorder.broken_after = 1
    with pytest.raises(Exception, match="no space"):
        world.do(":set approve medium")
    assert world.context.approve == "ask"


@pytest.mark.covers("S1-22")
def test_info_tells_what_counts_in_this_session() -> None:
    world = CommandWorld()
    world.do(":set confine workspace")
    world.do(":set approve low")
    world.do(":info")
    data = world.result.data
    assert (data["confine"], data["approve"], data["safety_off"]) == ("workspace", "low", "False")


def test_info_tells_no_password_of_an_address() -> None:
    settings = Settings(proxy="http://me:pw@proxy:1", base_url="https://me:pw@models/v1")
    world = CommandWorld(app={"settings_rows": Loaded(settings=settings, origins={}, secrets={}).rows})
    world.do(":info")
    assert (world.result.data["proxy"], world.result.data["base_url"]) == ("http://…@proxy:1", "https://…@models/v1")
    assert "pw" not in world.result.text


def test_info_shows_what_somebody_has_set_and_how_many_more_there_are() -> None:
    loaded = Loaded(settings=Settings(theme="light"), origins={"theme": "user file"}, secrets={})
    world = CommandWorld(app={"settings_rows": loaded.rows})
    world.do(":info")
    *lines, last = world.result.text.splitlines()
    assert "light" in next(line for line in lines if line.startswith("theme ")) and len(lines) < 12
    assert last == f"{len(world.result.data) - len(lines)} more are as they come: `agent-shell config` shows all"


@pytest.mark.covers("S1-22", "S1-35")
def test_info_of_what_is_not_active_says_so() -> None:
    world = CommandWorld()
    with pytest.raises(InvalidState, match="an active role"):
        world.do(core.Info(core.InfoScope.ROLE))
    world.do(core.Info(core.InfoScope.SESSION))
    assert "test-session" in world.result.text


@pytest.mark.covers("S1-31")
def test_copy_gives_the_newest() -> None:
    outcome = CommandWorld(last_message="hello").do(":copy")
    assert outcome.frontend_request is not None
    assert outcome.frontend_request.argument == "hello"


def test_leaving_no_role_says_so() -> None:
    with pytest.raises(InvalidState, match="no role is active"):
        CommandWorld().do(":role")


@pytest.mark.covers("S1-28", "S1-36")
def test_files(tmp_path: Path) -> None:
    world = CommandWorld(cwd=str(tmp_path))
    (tmp_path / "big").write_bytes(b"x" * 300_000)
    os.mkfifo(tmp_path / "pipe")
    world.do(":file big")
    assert "only the first 256 KiB" in world.context.pending_files[0].content
    with pytest.raises(NotFound):
        world.do(":file nothing")
    with pytest.raises(IoError, match="not a regular file"):
        world.do(":file pipe")
    with pytest.raises(IoError):
        world.do(core.IncludeFiles(("a\x00b",)))


@each(
    ("key", "words"),
    [
        ("rehearse", "`:rehearse auto|preview|ask|off`"),
        ("tty", "`:tty on|off|auto`"),
        ("limit_output", "`--limit-output` on the command line"),
        ("shell", "`--shell` on the command line"),
        ("colour", "these can be set: approve"),
        ("notify", "`:config` opens the file in which it can be set"),
    ],
)
def test_what_set_does_not_set_says_what_does(key: str, words: str) -> None:
    with pytest.raises(NotFound) as caught:
        CommandWorld().do(f":set {key} x")
    assert words in caught.value.hint


def test_safety_is_switched_off_by_a_person_only() -> None:
    world = CommandWorld(interactive=False)
    with pytest.raises(InvalidRequest, match="by a person"):
        world.do(":safety off")
    world.interactive = True
    world.do(":safety off")
    world.do(":safety")
    assert (world.context.safety_off, world.told) == (True, ["safety is OFF"])


class ExecutorWithTerminal(FakeExecutor):
    tty = "auto"

    def choose_tty(self, choice: str) -> None:
        self.tty = choice


def test_tty_is_recorded_then_chosen() -> None:
    executor = ExecutorWithTerminal()
    world = CommandWorld(executor=executor)
    world.do(":tty on")
    assert executor.tty == "on"
    assert world.recorder.only(SessionChanged) == [SessionChanged(key="tty", before="auto", to="on")]
    world.recorder.broken_after = len(world.recorder.records) + 1
    with pytest.raises(Exception, match="no space"):
        world.do(":tty off")
    assert executor.tty == "on"
    with pytest.raises(InvalidRequest):
        world.do(":tty maybe")


def test_info_of_the_session_tells_what_it_cost() -> None:
    world = CommandWorld()
    world.context.usage = Usage(
        input_tokens=2000,
        output_tokens=100,
        cached_tokens=1500,
        cache_written_tokens=50,
        reasoning_tokens=70,
        cost=0.02,
        priced="2025-11-01",
    )
    world.do(":info session")
    told = "2,100 (1,500 from the provider's cache, 50 written to it, 70 thought before answering)"
    assert world.result.data["tokens"] == told
    assert world.result.data["cost"] == "$0.0200 (by list prices of 2025-11-01)"
    world.context.earlier_goals = (
        GoalSummary(goal_id="g", goal="a", status=GoalStatus.COMPLETED, exit_code=0, usage=Usage(cost=0.04)),
        GoalSummary(goal_id="h", goal="b", status=GoalStatus.FAILED, exit_code=1),
    )
    world.do(":info session")
    assert world.result.data["cost"] == "$0.0600 ($0.0300 a goal, by list prices of 2025-11-01)"


def test_the_history_tells_what_each_goal_cost() -> None:
    goal = GoalSummary(goal_id="g", goal="a", status=GoalStatus.COMPLETED, exit_code=0, usage=Usage(cost=0.04))
    assert history_text([goal]) == "1. a  [completed, $0.0400]"


@pytest.mark.covers("S1-11")
def test_images_wait_for_the_next_goal_and_have_a_number(tmp_path: Path) -> None:
    world = CommandWorld(cwd=str(tmp_path))
    (tmp_path / "a").write_bytes(b"\x89PNG\r\n\x1a\n rest")
    world.do(":file a a a a a a a a")
    (first, *_) = world.context.pending_media
    assert (first.path, first.media_type, len(world.context.pending_media)) == ("a", "image/png", 8)
    with pytest.raises(InvalidRequest, match="8 images at most"):
        world.do(":file a")
    assert (len(world.context.pending_media), world.context.pending_files) == (8, [])
