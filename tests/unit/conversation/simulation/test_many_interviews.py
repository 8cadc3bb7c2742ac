"""A hundred simulated people talk at once in one process, each in a session of its own, and one database keeps them all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from agent.conversation.framework.progress.questions import next_question
from agent.conversation.framework.state.working_memory import create_empty_working_memory, from_data
from agent.conversation.persistence.tables import CHECKPOINTS, SESSIONS
from agent.conversation.simulation.people import facts_of, people
from agent.conversation.simulation.person import SimulatedPerson
from agent.engine.context import RequestContext
from agent.protocol.messages import UserInput
from agent.protocol.requests import InterviewOptions, RunOptions, RunRequest
from agent.recording.interview_turns import interview_of
from tests.support.kept_interview import KeptInterview
from tests.support.session_world import Nobody
from tests.support.shipped_engines import ENGINES, loaded

TURNS, SESSIONS_AT_ONCE = 4, 100
SHIPPED = ENGINES[:4]


async def talk(kept: KeptInterview, number: int) -> tuple[RequestContext, list[str]]:
    """Hold the beginning of one interview; its session, and what the person said."""
    engine, manner = loaded(SHIPPED[number % len(SHIPPED)]), people()[number % len(people())]
    config, said = engine.config, list[str]()
    person = SimulatedPerson(config, facts_of(engine), manner)
    ctx = kept.services.open_session("cli", None, profile="interview")
    first = create_empty_working_memory(config, ctx.session_id, "project")
    question = next_question(first, config)
    reply, options = question.text if question else "", RunOptions(interview=InterviewOptions(engine=config.engine_id))
    for _ in range(TURNS):
        heard = await person.hear(reply, from_data(ctx.interview) if ctx.interview else first)
        assert heard is not None
        text = f"{heard.text} ({number})" if heard.tells else heard.text
        request = RunRequest(input=UserInput(text=text), options=options)
        outcome = await kept.services.engine.run(ctx, request, kept.emitter, Nobody())
        assert outcome.exit_code == 0, outcome
        reply = outcome.final_message
        said.append(text)
    return ctx, said


@pytest.mark.thorough
def test_each_of_them_is_kept_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch, f"sqlite:///{tmp_path}/interviews.sqlite3")

    async def at_once() -> list[tuple[RequestContext, list[str]]]:
        return await asyncio.gather(*(talk(kept, number) for number in range(SESSIONS_AT_ONCE)))

    held = asyncio.run(at_once())
    sessions = {row.name: row for row in kept.rows(SESSIONS)}
    assert len(sessions) == SESSIONS_AT_ONCE
    states = {(row.session_id, row.at_turn): row.state_snapshot for row in kept.rows(CHECKPOINTS)}
    assert kept.warnings == []
    for number, (ctx, said) in enumerate(held):
        row = sessions[ctx.session_id]
        assert (row.engine_id, row.turn_number) == (SHIPPED[number % len(SHIPPED)], TURNS)
        assert states[row.id, TURNS] == json.loads(json.dumps(ctx.interview))
        assert ctx.recorder.path
        [leg] = interview_of(ctx.recorder.path)
        assert {each.turn: each.state for each in leg.turns} == {
            turn: state for (key, turn), state in states.items() if key == row.id
        }
        evidence = repr(ctx.interview["extraction"])
        strangers = {text for other, (_, texts) in enumerate(held) if other != number for text in texts if "(" in text}
        assert not any(text in evidence for text in strangers - set(said) if len(text) > 12)
