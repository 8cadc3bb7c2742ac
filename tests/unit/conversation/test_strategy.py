"""Interviews through the engine: log and state, models and the form, handoffs, and a session that goes on."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent.conversation.framework.state.working_memory import ContextState
from agent.conversation.registry.registry import registry
from agent.conversation.session_turn import asking_beside
from agent.conversation.state_record import messages
from agent.conversation.strategy import Interview
from agent.engine.context import RequestContext
from agent.planner.llm import LLMPlanner
from agent.protocol.confirmations import Skipped
from agent.protocol.errors import InvalidState
from agent.protocol.events.goal import PlannerFinished
from agent.protocol.events.interview import (
    FieldExtracted,
    HandedOver,
    InterviewStarted,
    InterviewStepped,
    InterviewTurned,
    SidebarShown,
)
from agent.protocol.messages import FileInput, GoalItem, ReplyItem, UserInput
from agent.protocol.outcomes import GoalStatus
from agent.protocol.records import encode
from agent.protocol.requests import InterviewOptions, RunOptions, RunRequest
from agent.providers.scripted import Scripted, ScriptedReply
from agent.recording.interview_turns import folded
from agent.redaction.redactor import SecretRedactor
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, make_engine
from tests.support.interview_world import memory

PROBLEM = "purposeAndProblem.coreProblem"


class Plain:
    def redact(self, text: str) -> str:
        return text


def model(*replies: str | dict) -> LLMPlanner:
    said = [ScriptedReply(json=each) if isinstance(each, dict) else ScriptedReply(text=each) for each in replies]
    return LLMPlanner(Scripted(said), "scripted", redactor=Plain())


class Session:
    """An interview with `planner`, None for the form."""

    def __init__(self, planner=None, engine="project-discovery", *answers, strategies="engine") -> None:
        offline = FakePlanner()
        offline.name = "offline"
        self.engine, self.ctx, self.log = make_engine(
            planner or offline, FakeExecutor({}), strategy=Interview(registry())
        )
        self.name, self.person, self.emitter = engine, FakePerson(*answers), FakeEmitter()
        self.strategies = strategies

    def say(self, text, *, accept=""):
        options = RunOptions(interview=InterviewOptions(engine=self.name, accept=accept, strategies=self.strategies))
        request = RunRequest(input=UserInput(text=text), options=options)
        return asyncio.run(self.engine.run(self.ctx, request, self.emitter, self.person))

    def of(self, kind):
        return [each for each in [each.event for each in self.log.records] if isinstance(each, kind)]


@pytest.mark.covers("S3-3", "S3-13", "S3-71")
def test_a_turn_with_a_model_asks_it_twice_and_keeps_what_came_of_it():
    session = Session(
        model(
            {PROBLEM: {"value": "the lists differ", "confidence": 0.9, "evidence": "our lists differ"}}, "Since when?"
        )
    )
    outcome = session.say("our lists differ")
    assert outcome.final_message == "Since when?"
    assert (outcome.interview.engine, outcome.interview.phase) == ("project-discovery", "OPENING")
    assert outcome.interview.completeness > 0
    assert outcome.interview.sidebar["progressBar"]["percentage"] > 0
    seen = [each.event for each in session.emitter.records]
    assert [each.number for each in seen if isinstance(each, InterviewStepped)] == list(range(1, 20))
    [shown] = [each for each in seen if isinstance(each, SidebarShown)]
    assert shown.sidebar == outcome.interview.sidebar
    types = session.log.types
    assert types.index("interview.extracted") < types.index("interview.turned")
    assert not {"interview.stepped", "interview.sidebar"} & set(
        types
    )  # the turn has the one, and the other follows from it
    [turned] = session.of(InterviewTurned)
    assert turned.label == "Getting Started"
    assert turned.steps["telemetry"]["values"]["fieldsUpdated"] == 1
    [extracted] = [each for each in session.of(object) if type(each).__name__ == "FieldExtracted"]
    assert (extracted.path, extracted.value, extracted.how, extracted.evidence) == (
        PROBLEM, "the lists differ", "new", "our lists differ",
    )  # fmt: skip
    assert [type(each) for each in session.ctx.history] == [GoalItem, ReplyItem]


def test_the_state_is_a_fold_over_the_log():
    session = Session()
    for text in ("our lists differ", "a letter went to a dead member", "skip", "I don't know"):
        assert session.say(text).exit_code == 0
    state = {}
    for event in session.of(object):
        if isinstance(event, InterviewStarted | InterviewTurned):
            state = folded(state, event)
    assert state == session.ctx.interview
    assert json.loads(json.dumps(state)) == json.loads(json.dumps(session.ctx.interview))
    assert state["turnNumber"] == 4


def test_without_a_model_it_is_a_form_that_asks_one_thing_after_the_other():
    session = Session()
    first = session.say("our lists differ")
    assert "Noted: Core problem: our lists differ" in first.final_message
    assert first.final_message.rstrip().endswith("?")


def test_a_failed_extraction_is_told_and_the_reply_comes():
    session = Session(model("no JSON at all", "Since when?"))
    assert session.say("our lists differ").final_message == "Since when?"
    failed = [each for each in session.of(object) if getattr(each, "outcome", "") == "failed"]
    assert [each.step for each in failed] == ["extraction"]


def test_a_turn_without_a_reply_leaves_the_state_before_it():
    session = Session(model({}, "First?", {}))
    session.say("our lists differ")
    before = dict(session.ctx.interview)
    failed = session.say("and more")
    assert failed.exit_code != 0
    assert session.ctx.interview == before


def test_an_engine_has_to_be_named_and_known():
    nameless = Session(None, "")
    assert nameless.say("hello").error_code == "invalid_request"
    unknown = Session(None, "explorations")
    assert unknown.say("hello").error_code == "not_found"


BY_TYPE = {
    "string": "It is a wiki, where everybody who works here can write what they know",
    "number": "12",
    "boolean": "yes",
    "array": "a wiki; a database; leave it as it is",
    "object": "a wiki; everybody here can already write in one",
}


def answer_all(session: Session, engine: str) -> None:
    """Answer the form until the way on is open."""
    config = registry().get(engine).config
    outcome = session.say("Hello, I need some help")
    for _ in range(80):
        if outcome.interview.target:
            return
        field = config.field(session.ctx.interview.get("asked", ""))
        outcome = session.say("1" if field and field.choices else BY_TYPE[field.value_type] if field else "well")
    pytest.fail(f"never ready: {session.ctx.interview['completeness']}")


@pytest.mark.covers("S3-104", "S3-126")
def test_another_engine_goes_on_in_the_same_session_with_the_handoff():
    session = Session(None, "exploration")
    answer_all(session, "exploration")
    outcome = session.say("yes", accept="project-discovery")
    assert outcome.exit_code == 0, outcome
    [handed] = session.of(HandedOver)
    assert (handed.source, handed.target) == ("exploration", "project-discovery")
    started = session.of(InterviewStarted)[-1]
    assert started.engine == "project-discovery"
    assert started.handoff["metadata"]["sourceEngineId"] == "exploration"
    assert outcome.interview.engine == "project-discovery"
    assert session.ctx.interview["inboundHandoff"]["metadata"]["targetEngineId"] == "project-discovery"
    assert session.ctx.interview["asked"] == "purposeAndProblem.triggerEvent"
    assert outcome.final_message.startswith("Taken over:\n- Decided: a wiki: everybody here can already write in one\n")


def test_tasks_are_not_written_without_the_person(tmp_path):
    session = Session(None, "project-discovery", Skipped())
    session.ctx.base = str(tmp_path)
    answer_all(session, "project-discovery")
    outcome = session.say("yes", accept="repo-agent")
    assert len(session.person.asked) == 1
    assert (outcome.goal.status, session.of(HandedOver)) == (GoalStatus.SKIPPED, [])
    assert "ended" not in session.ctx.interview


def test_tasks_of_a_folder_are_not_replaced(tmp_path):
    (tmp_path / "TASKS.md").write_text("# mine\n")
    session = Session(None, "project-discovery")
    session.ctx.base = str(tmp_path)
    answer_all(session, "project-discovery")
    assert session.say("yes", accept="repo-agent").error_code == "invalid_state"
    assert (session.person.asked, (tmp_path / "TASKS.md").read_text()) == ([], "# mine\n")


def test_messages_are_those_of_the_interview_in_order():
    history = [
        GoalItem(goal_id="0", text="before it"),
        GoalItem(goal_id="1", text="one"),
        ReplyItem(raw="r", text="first"),
        GoalItem(goal_id="2", text="two"),
        ReplyItem(raw="r", text="second"),
        GoalItem(goal_id="3", text="this one"),
    ]
    state = memory(turn_number=2)
    assert [(each.role, each.text, each.turn) for each in messages(history, state)] == [
        ("user", "one", 1), ("assistant", "first", 1), ("user", "two", 2), ("assistant", "second", 2),
    ]  # fmt: skip


def test_turns_that_a_summary_stands_for_are_not_read_again():
    history = [item for turn in range(50) for item in (GoalItem(goal_id="", text="x"), ReplyItem(raw="r", text="y"))]
    for summarized, first in ((0, 1), (30, 31), (49, 46)):
        known = memory(turn_number=49, context=ContextState(summarized_through=summarized))
        found = messages([*history[:98], GoalItem(goal_id="", text="this one")], known)
        assert (found[0].turn, found[-1].turn) == (first, 49)
    assert isinstance(Session().ctx, RequestContext)


@pytest.mark.covers("S3-87")
def test_what_came_with_a_message_is_background_of_the_reply():
    said = model({}, "Noted.")
    session = Session(said)
    options = RunOptions(interview=InterviewOptions(engine="project-discovery"))
    given = UserInput(
        text="see the file", files=(FileInput(path="notes.md", content="Members are kept in three lists"),)
    )
    asyncio.run(
        session.engine.run(session.ctx, RunRequest(input=given, options=options), session.emitter, session.person)
    )
    prompt = said._provider.requests[-1].messages[0].content
    assert "Members are kept in three lists" in prompt and 'source="notes.md"' in prompt


def test_nothing_in_the_background_is_asked_of_a_cascade_whose_next_one_nobody_was_told_of(monkeypatch):
    said = model({}, "Noted.")
    monkeypatch.setattr(type(said), "name", property(lambda self: "cascade"))
    session = Session(said, "exploration")
    assert session.say("a site for our club").exit_code == 0
    ask = asking_beside(session.ctx)
    with pytest.raises(InvalidState):
        asyncio.run(ask("what did others do?", None))
    assert len(said._provider.requests) == 2  # the two of the turn itself


@pytest.mark.covers("S3-112", "S3-113")
def test_the_model_chooses_techniques_and_names_modes_where_the_person_wants_that():
    chosen, named = {"choice": ["active_listening"]}, {"choice": ["validate", "extract"]}
    session = Session(model({}, chosen, "So they differ each week?", named), strategies="model")
    assert session.say("our lists differ").final_message == "So they differ each week?"
    [turned] = session.of(InterviewTurned)
    assert turned.steps["technique selection"]["values"]["techniques"] == ["active_listening"]
    assert turned.steps["mode classification"]["values"]["modes"] == ["validate", "extract"]
    kinds = [each.reply for each in session.of(PlannerFinished)]
    assert kinds == ["aside", "aside", "chat", "aside"]


@pytest.mark.covers("S3-112", "S3-113")
@pytest.mark.parametrize("strategies", ["rules", "model"])
def test_without_a_model_rules_choose_whatever_is_wanted(strategies):
    form, usual = Session(strategies=strategies), Session()
    for each in (form, usual):
        assert each.say("our lists differ").exit_code == 0
    steps = [each.of(InterviewTurned)[0].steps for each in (form, usual)]
    for name in ("technique selection", "mode classification"):
        assert steps[0].get(name) == steps[1].get(name)
    assert steps[0]["technique selection"]["values"]["techniques"]


@pytest.mark.thorough
def test_a_turn_adds_little_to_the_log_however_much_is_known():
    session = Session()
    answer_all(session, "project-discovery")
    session.say("one more thing")
    assert len(session.ctx.interview["extraction"]) > 20
    ours = [each for each in session.log.records if isinstance(each.event, InterviewTurned | FieldExtracted)]
    assert sum(len(encode(each)) for each in ours) / len(session.of(InterviewTurned)) < 4_000


@pytest.mark.covers("S3-71", "S3-72")
def test_the_record_of_what_was_understood_has_labels_that_are_the_same_in_each_session():
    said, paths = "Ada Byron, ada@example.org, has it worst", []
    for _ in range(2):
        session = Session(engine="project-discovery")
        session.ctx.redactor = SecretRedactor(key=b"k" * 16)
        session.say(said)
        paths += [each.value for each in session.of(FieldExtracted)]
        assert session.ctx.interview["extraction"][PROBLEM]["value"] == said  # it may be what was asked for
    assert paths[0] == paths[1] and "[redacted:email:" in paths[0] and "example.org" not in paths[0]


def test_the_role_of_the_session_stands_first_in_the_prompt_of_a_reply():
    said = model({}, "Since when?")
    session = Session(said)
    session.ctx.role_text = "Be terse. Talk like a pirate."
    session.say("our lists differ")
    extraction, reply = (each.messages[0].content for each in said._provider.requests)
    assert reply.startswith("Be terse. Talk like a pirate.\n") and "pirate" not in extraction
