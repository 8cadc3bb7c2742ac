"""An interview goes on from where it was: after an earlier turn, in a branch, and from the database where its log is gone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from agent.audit.queries.interviews import extractions
from agent.conversation.persistence.tables import CHECKPOINTS, EXTRACTIONS, SESSIONS
from agent.frontends.interview.earlier import Earlier, begin_from, earlier, go_back
from agent.frontends.session_controller import SessionController
from agent.frontends.signals import Signals
from agent.protocol.errors import CoreError, InvalidRequest, InvalidState, NotFound
from agent.protocol.events.interview import InterviewWentBack
from agent.protocol.messages import GoalItem
from tests.support.fakes import FakeEmitter
from tests.support.kept_interview import ANSWERS, KeptInterview
from tests.support.session_world import Nobody


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptInterview:
    return KeptInterview(tmp_path, monkeypatch)


def controller(kept: KeptInterview) -> SessionController:
    return SessionController(
        services=kept.services,
        ctx=kept.ctx,
        emitter=FakeEmitter(),
        confirmer=Nobody(),
        signals=Signals(),
        tell=lambda text: None,
        interactive=False,
    )


def resumed(kept: KeptInterview, wanted: str, turn: int | None = None, *, branch: bool = False) -> str:
    """Do in another process what `--resume` does; what was said of it."""
    kept.again()
    kept.end()
    found = earlier(kept.services, wanted, turn, branch=branch)
    kept.ctx = kept.services.open_session("cli", found.session, origin=found.origin, profile="interview")
    return asyncio.run(begin_from(controller(kept), found))


def state_of(kept: KeptInterview) -> Any:
    return json.loads(json.dumps(kept.ctx.interview))  # tuples of a process are lists of its log


def said(kept: KeptInterview) -> list[str]:
    return [item.text for item in kept.ctx.history if isinstance(item, GoalItem)]


@pytest.mark.covers("S3-118")
def test_back_to_a_turn_what_came_later_counts_no_more(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:2])
    then = state_of(kept)
    kept.say(*ANSWERS[2:])
    one: Any = controller(kept)
    told = asyncio.run(go_back(one, 2))
    [event] = [each.event for each in one.emitter.records if isinstance(each.event, InterviewWentBack)]
    assert (event.turn, event.goal) == (
        2,
        [item.goal_id for item in kept.ctx.history if isinstance(item, GoalItem)][-1],
    )
    assert told == "back at turn 2; what was said in 3 turns after it counts no more"
    assert state_of(kept) == then
    assert said(kept) == list(ANSWERS[:2])
    assert [row.turn_number for row in kept.rows(SESSIONS)] == [2]
    kept.say("we use a whiteboard")
    assert state_of(kept)["turnNumber"] == 3
    assert [row.at_turn for row in kept.rows(CHECKPOINTS, CHECKPOINTS.c.at_turn)] == [0, 1, 2, 3]
    rows = kept.rows(EXTRACTIONS, EXTRACTIONS.c.turn_number)
    assert [row.extracted_value for row in rows] == [*ANSWERS[:2], "we use a whiteboard"]
    assert kept.ctx.recorder.path
    assert [each.value for each in extractions(kept.ctx.recorder.path, kept.engine)] == [
        *ANSWERS[:2],
        "we use a whiteboard",
    ]


@pytest.mark.thorough
@pytest.mark.covers("S3-118")
def test_the_log_says_so_when_the_session_is_resumed(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:4])
    asyncio.run(go_back(controller(kept), 1))
    kept.say("We lost two pallets")
    state, session = state_of(kept), kept.end()
    kept.again(session)
    assert state_of(kept) == state
    assert said(kept) == [ANSWERS[0], "We lost two pallets"]


@pytest.mark.thorough
def test_back_to_the_beginning_and_back_twice(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:3])
    asyncio.run(go_back(controller(kept), 0))
    assert said(kept) == []
    assert "turnNumber" not in state_of(kept)
    kept.say(ANSWERS[0])
    assert asyncio.run(go_back(controller(kept), 1)) == ""  # it is there
    for number in (2, 3, -1, 10**9):
        with pytest.raises(NotFound, match="turn"):
            asyncio.run(go_back(controller(kept), number))


@pytest.mark.thorough
def test_a_resumed_interview_goes_back_first(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:4])
    session = kept.end()
    assert resumed(kept, session, 2) == "back at turn 2; what was said in 2 turns after it counts no more"
    assert kept.ctx.session_id == session
    assert said(kept) == list(ANSWERS[:2])
    kept.end()
    with pytest.raises(NotFound, match="turn"):
        resumed(kept, session, 4)


@pytest.mark.covers("S3-118")
def test_a_branch_begins_with_that_state_and_leaves_the_other_as_it_is(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:2])
    then = state_of(kept)
    kept.say(*ANSWERS[2:4])
    state, session = state_of(kept), kept.end()
    assert resumed(kept, session, 2, branch=True) == f"a branch of {session}"
    assert kept.ctx.session_id != session
    assert state_of(kept) == then
    assert said(kept) == list(ANSWERS[:2])
    kept.say("we use a whiteboard")
    branch = kept.end()
    turns = {row.name: row.turn_number for row in kept.rows(SESSIONS)}
    assert turns == {session: 4, branch: 3}
    kept.again(session)
    assert state_of(kept) == state
    kept.end()
    assert resumed(kept, session, branch=True) == f"a branch of {session}"
    assert state_of(kept) == state
    with pytest.raises(NotFound, match="turn"):
        earlier(kept.services, session, 0, branch=True)


@pytest.mark.covers("S3-118")
def test_where_the_log_is_not_the_interview_is_taken_up_from_the_database(kept: KeptInterview) -> None:
    kept.say(*ANSWERS[:2])
    then = state_of(kept)
    kept.say(*ANSWERS[2:4])
    session = kept.end()
    for each in (kept.base / "logs").iterdir():
        each.unlink()
    told = resumed(kept, session, 2)
    assert told == "its log is not here; taken up from the database after turn 2 of 4"
    assert (kept.ctx.session_id, state_of(kept)) == (session, then)
    kept.say("we use a whiteboard")
    state = state_of(kept)
    assert state["turnNumber"] == 3
    kept.end()
    assert resumed(kept, session) == ""  # the log is there again
    assert state_of(kept) == state
    with pytest.raises(NotFound, match="turn"):
        asyncio.run(go_back(controller(kept), 1))
    assert "2 of 4" not in asyncio.run(go_back(controller(kept), 2))
    newest = max(kept.rows(SESSIONS), key=lambda row: row.updated_at)
    kept.end()
    for each in (kept.base / "logs").iterdir():
        each.unlink()
    assert resumed(kept, str(newest.id)).endswith("after turn 2")
    assert state_of(kept) == then


@pytest.mark.thorough
@pytest.mark.parametrize("text", [r'{"turnNumber": "x\u001b[2J"}', "{oops", "[" * 5_000 + "]" * 5_000])
def test_a_state_in_the_database_that_is_none_is_told_in_words(kept: KeptInterview, text: str) -> None:
    kept.say(ANSWERS[0])
    session = kept.end()
    [row] = kept.rows(CHECKPOINTS, CHECKPOINTS.c.at_turn)[1:]
    from agent.conversation.persistence.database import open_database

    database = open_database("", str(kept.path))
    with database.writing() as connection:
        changed = sa.text("UPDATE eng_state_checkpoints SET state_snapshot = :text WHERE id = :id")
        connection.execute(changed, {"text": text, "id": row.id.hex})
    database.close()
    for each in (kept.base / "logs").iterdir():
        each.unlink()
    with pytest.raises(InvalidState, match="cannot be read") as raised:
        resumed(kept, session)
    assert "\x1b" not in raised.value.message


def test_what_is_nowhere_and_what_makes_no_sense(kept: KeptInterview, tmp_path: Path) -> None:
    assert earlier(kept.services, None) == Earlier()
    with pytest.raises(InvalidRequest, match="which interview"):
        earlier(kept.services, None, 3)
    with pytest.raises(InvalidRequest, match="which interview"):
        earlier(kept.services, None, branch=True)
    with pytest.raises(CoreError):
        earlier(kept.services, "no-such-session")
    kept.again(interview_database="none")
    with pytest.raises(CoreError):
        earlier(kept.services, "no-such-session")
    with pytest.raises(NotFound, match="turn"):
        asyncio.run(go_back(controller(kept), 0))
    kept.again(persist=False)
    with pytest.raises(InvalidState, match="log"):
        asyncio.run(go_back(controller(kept), 0))
