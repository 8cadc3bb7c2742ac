"""`:compress`, `:save session`, `:edit session`, `:exit session`, `:session NAME`: what they change of a session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.commands.naming import checked_name, name_from
from agent.protocol.commands import CompressSession, EditSession, EmptySession, ExitSession, SaveSession, UseSession
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
from agent.protocol.events.goal import CompressionFinished, CompressionStarted
from agent.protocol.events.session import SessionNamed
from agent.protocol.messages import CommandItem, GoalItem, SummaryItem
from agent.protocol.outcomes import FrontendRequest, GoalStatus, GoalSummary
from agent.recording.past import past_of
from tests.support.command_world import CommandWorld
from tests.support.each import each
from tests.support.session_world import SessionWorld

GOALS = [GoalItem(goal_id=f"g{n}", text=f"goal {n}") for n in range(3)]
HISTORY = [
    item
    for goal in GOALS
    for item in (goal, CommandItem(command_id=f"{goal.goal_id}.1", proposed="ls", exit_code=0, stdout="x" * 9_000))
]


@pytest.mark.covers("S1-24", "S1-67")
@each("given", [":compress", ".compress session", CompressSession()])
def test_compress_leaves_a_summary_and_the_last_goal(given) -> None:
    world = CommandWorld(history=list(HISTORY))
    outcome = world.do(given)
    first, *kept = world.context.history
    assert isinstance(first, SummaryItem)
    assert "goal: goal 0" in first.text
    assert kept == HISTORY[4:]
    (done,) = world.recorder.only(CompressionFinished)
    assert world.result.data == {"tokens_saved": done.tokens_saved}
    assert done.tokens_saved > 4_000
    assert outcome.compressed


def test_compress_with_one_goal_has_nothing_to_do() -> None:
    world = CommandWorld(history=HISTORY[:2])
    with pytest.raises(InvalidState, match="nothing to compress"):
        world.do(":compress")
    assert not world.recorder.only(CompressionStarted)
    assert world.context.history == HISTORY[:2]


def test_a_cancelled_compress_leaves_all_as_it_was() -> None:
    world = CommandWorld(history=list(HISTORY))

    class Slow:
        name, model = "slow", ""

        async def summary(self, history, max_tokens):
            world.cancel.cancel("cancelled")
            await asyncio.sleep(60)

        async def plan(self, request, on_delta):
            raise AssertionError

    world.context.planner = Slow()
    with pytest.raises(Exception, match="cancelled"):
        world.do(":compress")
    assert world.context.history == HISTORY
    assert world.recorder.only(CompressionFinished) == [CompressionFinished()]
    assert world.recorder.types[-4:] == ["compression.started", "compression.finished", "error", "run.finished"]


@pytest.mark.covers("S1-24", "S1-67")
def test_empty_forgets_the_history() -> None:
    world = CommandWorld(history=list(HISTORY))
    world.do(EmptySession())
    assert world.context.history == []


@pytest.mark.covers("S1-24", "S1-67")
@each(("given", "name"), [
    (":save session disk full", "disk-full"),
    (SaveSession("disk-full"), "disk-full"),
    (":save session", "largest-log-files"),
])  # fmt: skip
def test_save_session_names_it(given, name: str) -> None:
    world = CommandWorld(listed=["the largest log files", "log files of today"])
    world.do(given)
    assert world.context.name == name
    assert world.recorder.only(SessionNamed) == [SessionNamed(name=name, by="person")]
    assert world.recorder.types == ["run.started", "session.named", "core_command.finished", "run.finished"]
    world.do(given)
    assert len(world.recorder.only(SessionNamed)) == 1


def test_save_session_needs_a_name_or_goals_to_make_one_from() -> None:
    world = CommandWorld()
    with pytest.raises(InvalidState):
        world.do(":save session")
    with pytest.raises(InvalidRequest):
        world.do(":save session ../etc")
    with pytest.raises(InvalidRequest):
        world.do(":save session hunter2-secret")
    assert world.context.name == ""


@pytest.mark.covers("S1-24", "S1-67")
@pytest.mark.parametrize("given", [":edit session", EditSession()])
def test_edit_session_asks_the_front_end_for_its_story(given) -> None:
    world = CommandWorld()
    world.recorder.path = "/logs/x.jsonl"
    world.recorder.append = lambda event, **ids: world.recorder.stamp(event, **ids)
    outcome = world.do(given)
    assert outcome.frontend_request == FrontendRequest(action="story", argument="test-session")


def test_a_session_without_a_log_has_no_story() -> None:
    with pytest.raises(InvalidState):
        CommandWorld().do(":edit session")


@pytest.mark.covers("S1-20", "S1-21", "S1-67")
@each("given", [":exit session", ExitSession(), UseSession(), ":new"])
def test_exit_session_begins_a_new_one(given) -> None:
    request = CommandWorld().do(given).frontend_request
    assert request == FrontendRequest(action="switch", argument="", texts=("new session {session}",))


@pytest.mark.covers("S1-20", "S1-67")
@pytest.mark.parametrize("given", [":session disk-full", UseSession("disk-full")])
def test_use_session_goes_on_in_it(given) -> None:
    world = CommandWorld(services={"choose_session": lambda name, **_: {"disk-full": "120000-abcdef"}[name]})
    assert world.do(given).frontend_request == FrontendRequest(action="switch", argument="120000-abcdef")


@each(("goals", "name"), [
    (["find the largest log files in /var/log", "compress log files older than 30d", "delete log backups"], "largest-log-files"),
    (["show disk usage", "disk usage of ~/secret-project", "free disk space"], "disk-usage-free"),
    (["[redacted:token:12ab] login", "push to https://user:pw@host/x", "AKIA1234ABCD"], "login-push"),
    (["zeige mir alle Dateien", "große Dateien löschen", "Ordner leeren"], "dateien-große-löschen"),
    (["I don't know", "we haven’t got one; it isn't there", "our bakery"], "got-one-our"),
    (["1+1", "ls -la", "?"], ""),
    (["a\x1b[31mb", "x" * 200, "$HOME"], ""),
])  # fmt: skip
def test_names_come_of_the_goals_own_words(goals: list[str], name: str) -> None:
    assert name_from(goals) == name


@each("name", ["", "new", "last", "-2", "../x", "a/b", "x.jsonl", "a\x1bb", "\u202ea", "x" * 61])
def test_what_cannot_be_a_name(name: str) -> None:
    with pytest.raises(InvalidRequest):
        checked_name(name)


CHAT = {"mode": "chat", "message": "done"}


@pytest.mark.covers("S1-4", "S1-56")
def test_the_third_goal_names_the_session_by_which_it_is_found(tmp_path: Path, monkeypatch) -> None:
    async def scenario() -> None:
        world = SessionWorld(tmp_path, monkeypatch, *[CHAT] * 9)
        controller = world.controller()
        first = controller.ctx.session_id
        await world.type(controller, "find old backups", " secret backups of mine", "!!true", "backups by size")
        assert controller.ctx.name == ""
        await world.type(controller, "delete old backups", "and now something else")
        assert controller.ctx.name == "backups-size"
        types = [
            (record.event.name, record.event.by)
            for record in controller.emitter.records
            if isinstance(record.event, SessionNamed)
        ]
        assert types == [("backups-size", "auto")]
        await world.type(controller, ":new", ":session backups-size")
        assert controller.ctx.session_id == first
        assert controller.ctx.name == "backups-size"
        await world.type(controller, ":branch")
        assert controller.ctx.name == ""
        await world.type(controller, ":save session other", ":session backups-size", ":session other")
        path = controller.ctx.recorder.path
        await controller.close()
        assert past_of(path).name == "other"

    asyncio.run(scenario())


@pytest.mark.covers("S1-24", "S1-55")
def test_a_resumed_session_knows_the_compressed_history(tmp_path: Path, monkeypatch) -> None:
    async def scenario() -> None:
        world = SessionWorld(tmp_path, monkeypatch, *[CHAT] * 2, "the first goal was one", *[CHAT] * 3)
        controller = world.controller()
        await world.type(controller, "one", "two", ":compress")
        known = list(controller.ctx.history)
        assert known[0] == SummaryItem(text="the first goal was one")
        first = controller.ctx.session_id
        await world.type(controller, ":new", f":session {first}")
        assert controller.ctx.history == known
        await world.type(controller, "three")
        await controller.close()

    asyncio.run(scenario())


@pytest.mark.covers("S1-31", "S1-32")
def test_a_session_is_deleted_after_asking_and_a_tombstone_stays(tmp_path: Path, monkeypatch) -> None:
    async def scenario() -> None:
        world = SessionWorld(tmp_path, monkeypatch, *[CHAT] * 2)
        controller = world.controller()
        await world.type(controller, "one")
        first, path = controller.ctx.session_id, Path(controller.ctx.recorder.path or "")
        await world.type(controller, ":new", "two")
        with pytest.raises(InvalidState, match="nobody is there to ask"):
            await world.type(controller, f":delete session {first}")
        asked: list[str] = []

        def answer(yes: bool):
            async def ask(question: str) -> bool:
                asked.append(question)
                return yes

            return ask

        controller.ask = answer(False)
        await world.type(controller, f":delete session {first}")
        assert len(path.read_text().splitlines()) > 2
        controller.ask = answer(True)
        with pytest.raises(InvalidState, match="another session"):
            await world.type(controller, f":delete session {controller.ctx.session_id}")
        with pytest.raises(NotFound):
            await world.type(controller, ":delete session no-such-one")
        await world.type(controller, f":delete session {first}")
        assert asked == [f"delete the session {first}?"] * 2
        (line,) = path.read_text().splitlines()
        assert '"session.pruned"' in line and '"reason":"deleted"' in line
        await controller.close()

    asyncio.run(scenario())


def test_a_long_session_tells_its_last_goals() -> None:
    goals = [
        GoalSummary(goal_id=str(at), goal=f"goal {at}", status=GoalStatus.COMPLETED, exit_code=0) for at in range(40)
    ]
    world = CommandWorld()
    world.context.earlier_goals = goals
    world.do(":session")
    assert len(world.told[-1].splitlines()) < 20
    assert "goals    40, the last 12 (`:history` lists all)" in world.told[-1]
    assert "goal 39" in world.told[-1] and "goal 27" not in world.told[-1]
