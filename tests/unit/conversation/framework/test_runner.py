"""The 19 steps of a turn: their order, what each keeps, and what a failing one costs. Two engines of different types, one runner."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent.conversation.framework.runner import STEPS, EngineRunner
from agent.conversation.framework.state.ports import AgentReply, ExtractedValue, Message, TaskReport, TurnMetadata
from agent.conversation.framework.state.surfaces import ObligationStatusIs, Stall
from agent.conversation.framework.state.working_memory import (
    BackgroundState,
    PendingTask,
    create_empty_working_memory,
    from_data,
    to_data,
)
from agent.conversation.framework.turn import ProcessMessageInput, RunnerDeps
from agent.protocol.errors import Cancelled, InvalidRequest, ProviderError
from tests.support.each import each
from tests.support.handoff_case import handoff
from tests.support.shipped_engines import shipped

DISCOVERY, EXPLORATION = shipped("project-discovery"), shipped("exploration")
PROBLEM = "purposeAndProblem.coreProblem"
ABOUT = TurnMetadata(session_id="s", project_id="p", message_id="m", user_id="u")


class Model:
    """Two calls that say what they are told to, and keep what they were asked."""

    def __init__(self, found=None, reply="What made you look for something new?") -> None:
        self.found, self.reply = found or {}, reply
        self.prompts, self.extractions, self.logged, self.steps = [], [], [], []

    async def extract(self, message, context, fields, current):
        self.extractions.append((message, context, [each.path for each in fields], current))
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    async def say(self, prompt):
        self.prompts.append(prompt)
        if isinstance(self.reply, Exception):
            raise self.reply
        return AgentReply(text=self.reply)

    async def log(self, entry):
        self.logged.append(entry)

    async def observe(self, step):
        self.steps.append(step)

    def deps(self, **besides):
        return RunnerDeps(
            run_extraction_llm=self.extract,
            run_main_agent=self.say,
            log_extraction=self.log,
            observe=self.observe,
            **besides,
        )


def empty(config):
    return create_empty_working_memory(config, "s", "p")


def turn(model, text, state, config=DISCOVERY, history=(), **besides):
    given = ProcessMessageInput(config=config, user_message=text, current_state=state, metadata=ABOUT, history=history)
    return asyncio.run(EngineRunner(model.deps(**besides)).process_message(given))


def sure(value, words):
    return ExtractedValue(value=value, confidence=0.9, evidence=words)


@pytest.mark.covers("S3-6", "S3-24", "S3-25", "S3-26", "S3-27", "S3-29")
def test_a_turn_takes_a_state_and_gives_the_next_one_leaving_the_first_as_it_was():
    state = empty(DISCOVERY)
    kept = to_data(state)
    done = turn(Model({PROBLEM: sure("our lists differ", "our lists differ")}), "our lists differ", state)
    assert to_data(state) == kept
    after = done.updated_state
    assert (after.turn_number, after.phase.turns_in_phase, after.project_id, after.engine_type) == (
        1, 1, "p", "extract-dominant",
    )  # fmt: skip
    assert after.extracted(PROBLEM).value == "our lists differ"
    assert done.response_text == "What made you look for something new?"
    assert done.sidebar_state.progress_bar is not None
    assert from_data(to_data(after)) == after


@pytest.mark.covers("S3-4", "S3-5", "S3-7", "S3-10", "S3-19", "S3-21")
def test_the_19_steps_are_told_in_their_order():
    model = Model({PROBLEM: sure("our lists differ", "our lists differ")})
    done = turn(model, "our lists differ", empty(DISCOVERY))
    assert [(each.number, each.name) for each in model.steps] == [
        (number, name) for number, (name, _) in enumerate(STEPS, 1)
    ]
    assert len(STEPS) == 19
    assert done.steps == tuple(model.steps)
    assert not [each for each in model.steps if each.outcome == "failed"]
    told = {each.name: each.values for each in model.steps}
    assert told["extraction"]["fieldsUpdated"] == [PROBLEM]
    assert told["completeness"]["overall"] > 0
    assert [entry.field_path for entry in model.logged] == [PROBLEM]


@pytest.mark.covers("S3-1", "S3-130")
def test_one_runner_for_both_types():
    found = Model()
    first = turn(found, "I need a tool for projects", empty(DISCOVERY))
    second = turn(found, "Tell me about ways to run projects", empty(EXPLORATION), EXPLORATION)
    assert first.updated_state.engine_type == "extract-dominant"
    assert second.updated_state.engine_type == "inform-dominant"
    assert "Orientation" in found.prompts[1]


def test_a_failed_extraction_never_costs_the_reply():
    model = Model(ProviderError("openrouter", "500"))
    done = turn(model, "our lists differ", empty(DISCOVERY))
    assert done.response_text
    failed = next(each for each in model.steps if each.name == "extraction")
    assert failed.outcome == "failed"
    assert "500" in failed.detail


def test_a_step_that_fails_leaves_the_state_before_it_and_the_turn_goes_on():
    class Broken:
        async def classify(self, text):
            raise RuntimeError("no idea")

        async def select_techniques(self, able, memory):
            raise RuntimeError("none")

        async def save_state(self, memory):
            raise OSError("the disk is full")

    model, broken = Model(), Broken()
    done = turn(
        model, "hello there", empty(DISCOVERY),
        mode_classifier=broken, technique_scheduler=broken, store=broken,
    )  # fmt: skip
    assert [each.name for each in model.steps if each.outcome == "failed"] == [
        "technique selection", "mode classification", "persist state",
    ]  # fmt: skip
    assert done.updated_state.turn_number == 1


@pytest.mark.parametrize("reply", [ProviderError("openrouter", "500"), "  "], ids=["error", "nothing"])
def test_without_a_reply_there_is_no_turn(reply):
    with pytest.raises(Exception, match=r"500|said nothing"):
        turn(Model(reply=reply), "hello", empty(DISCOVERY))


def test_a_cancelled_call_ends_the_turn():
    with pytest.raises(Cancelled):
        turn(Model(Cancelled()), "hello", empty(DISCOVERY))


@each(
    ("text", "state", "why"),
    [
        (" \n", empty(DISCOVERY), "empty"),
        ("x" * 100_001, empty(DISCOVERY), "too long"),
        ("hello", empty(EXPLORATION), "not of project-discovery"),
        ("hello", replace(empty(DISCOVERY), ended="cancelled"), "has ended"),
    ],
)
def test_bad_input_is_refused(text, state, why):
    with pytest.raises(InvalidRequest, match=why):
        turn(Model(), text, state)


@pytest.mark.covers("S3-11", "S3-12")
def test_a_phase_is_left_when_its_trigger_fires():
    state = empty(DISCOVERY)
    first = state.phase.current
    told = {each.path: sure("so it is with us", "so it is with us") for each in DISCOVERY.extraction_schema.fields[:4]}
    for _ in range(4):
        state = turn(Model(told), "so it is with us", state).updated_state
    assert state.phase.current != first
    assert state.phase.history[0].phase_id == first


@pytest.mark.covers("S3-14", "S3-15", "S3-17")
def test_the_prompt_has_the_phase_its_techniques_and_the_message_last():
    model = Model()
    history = [Message(role="user", text="earlier words", turn=1), Message(role="assistant", text="I see", turn=1)]
    done = turn(model, "the newest words", replace(empty(DISCOVERY), turn_number=1), history=history)
    prompt = model.prompts[0]
    assert prompt.index("earlier words") < prompt.rindex("the newest words")
    assert "Active Techniques (use these in your response):" in prompt
    assert done.updated_state.techniques.active
    assert model.extractions[0][1] == "user: earlier words\nassistant: I see"


@pytest.mark.covers("S3-18")
def test_what_a_reply_lacked_is_told_to_the_next_one():
    first = turn(Model(reply="Why? Who? When? Where? How many?"), "hello", empty(DISCOVERY)).updated_state
    assert first.quality
    model = Model()
    turn(model, "well", first)
    assert first.quality[0] in model.prompts[0]


@pytest.mark.covers("S3-13")
@pytest.mark.covers("S3-91")
def test_who_waits_for_a_task_is_told_and_can_go_on_without_it():
    task = replace(
        EXPLORATION.background_tasks[0],
        trigger_condition=ObligationStatusIs(obligation_ids=("decision_made",), status="pending"),
        failure_strategy=Stall(),
    )
    config = replace(EXPLORATION, background_tasks=(task,))
    cancelled = []

    class Backend:
        async def dispatch(self, task, memory):
            return task.task_id

        async def poll(self, handle):
            return TaskReport(status="failed", error="no answer")

        async def cancel(self, handle):
            cancelled.append(handle)

    model, state = Model(), empty(config)
    for text in ("we need a wiki", "for our team"):
        done = turn(model, text, state, config, task_backend=Backend())
        state = done.updated_state
    step = done.steps[7]
    assert step.told == ("Waiting for background research...", "“just do it” goes on without it")
    assert [each.stalled for each in state.background_tasks.pending] == [True]
    done = turn(model, "just do it", state, config, task_backend=Backend())
    assert done.updated_state.background_tasks.pending == ()
    assert [each.status for each in done.updated_state.background_tasks.completed] == ["gap"]


def test_an_interview_that_ends_ends_its_tasks():
    ended = []

    class Backend:
        async def dispatch(self, task, memory):
            raise AssertionError("nothing begins at the end")

        async def cancel(self, handle):
            ended.append(handle)

    pending = PendingTask(task_id=EXPLORATION.background_tasks[0].task_id, handle="one")
    state = replace(empty(EXPLORATION), background_tasks=BackgroundState(pending=(pending,)))
    done = turn(Model(), "cancel", state, EXPLORATION, task_backend=Backend())
    assert done.updated_state.ended and done.updated_state.background_tasks.pending == () and ended == ["one"]


def test_background_tasks_are_begun_and_their_results_used():
    task = replace(
        EXPLORATION.background_tasks[0],
        trigger_condition=ObligationStatusIs(obligation_ids=("decision_made",), status="pending"),
    )
    config = replace(EXPLORATION, background_tasks=(task,))

    class Backend:
        async def dispatch(self, task, memory):
            return task.task_id

        async def poll(self, handle):
            return TaskReport(status="done", result=f"found by {handle}")

        async def cancel(self, handle):
            raise AssertionError

    state = empty(config)
    for _ in range(2):
        model = Model()
        done = turn(model, "what is there at all", state, config, task_backend=Backend())
        state = done.updated_state
    assert state.background_tasks.completed
    assert any("found by" in prompt for prompt in model.prompts)


EVALUATORS = {name: lambda memory: 1.0 for name in EXPLORATION.custom_evaluators}


@pytest.mark.covers("S3-22")
def test_an_exit_that_is_open_is_offered_and_the_next_prompt_says_so():
    state = empty(EXPLORATION)
    done = turn(Model(), "I take the second one", state, EXPLORATION, evaluators=EVALUATORS)
    values = {
        each.path: sure(True if each.value_type == "boolean" else "a club site", "yes a club site")
        for each in EXPLORATION.extraction_schema.fields
    }
    done = turn(Model(values), "yes a club site", done.updated_state, EXPLORATION, evaluators=EVALUATORS)
    assert done.updated_state.offered == "project-discovery"
    model = Model()
    turn(
        model, "hm", done.updated_state, EXPLORATION, evaluators=EVALUATORS, names={"project-discovery": "Requirements"}
    )
    assert "Enough is known to go on with Requirements" in model.prompts[0]


def test_words_that_only_mend_are_no_answers():
    state = replace(empty(DISCOVERY), asked=PROBLEM)
    model = Model({PROBLEM: sure("skip", "skip")})
    done = turn(model, "skip", state)
    assert model.extractions == []
    assert done.updated_state.extraction == {}
    assert any(each.status == "deferred" for each in done.updated_state.obligations.items)


def test_the_same_turn_twice_is_the_same():
    found = {PROBLEM: sure("our lists differ", "our lists differ")}
    one, other = (turn(Model(found), "our lists differ", empty(DISCOVERY)) for _ in range(2))
    assert one == other


@pytest.mark.covers("S3-23", "S3-110", "S3-111")
def test_a_handoff_is_kept_with_its_reason_and_what_the_first_reply_took_up():
    class Store:
        def __init__(self):
            self.handoffs = []

        async def save_state(self, memory):
            pass

        async def save_handoff(self, handoff, verification):
            self.handoffs.append((handoff, verification))

    store, config = Store(), DISCOVERY
    given = handoff(metadata={"projectId": "p"}, actionList={"constraintsIdentified": []})
    state = replace(empty(config), inbound_handoff=given)
    first = turn(Model(reply="You chose a Custom Web App. Who will use it?"), "hello", state, store=store)
    turn(Model(reply="What about hosting?"), "clerks", first.updated_state, store=store)
    [(kept, checked)] = store.handoffs
    assert kept.metadata.transition_reason == "User reached decision and ready to define requirements"
    assert (checked["verified"], checked["score"]) == (False, pytest.approx(1 / 3))
    assert checked["details"]["identityMatch"] and checked["details"]["decisionsAcknowledged"] == 1
    assert first.response_text  # nothing is blocked by it


@pytest.mark.thorough
@pytest.mark.covers("S3-16", "S3-23")
def test_500_turns_cost_no_more_prompt_and_no_more_state_than_10():
    class Store:
        saved = 0

        async def save_state(self, memory):
            self.saved += 1

    store, state, history, sizes = Store(), empty(DISCOVERY), [], {}
    config = put_tokens(DISCOVERY, 4_000)
    for number in range(1, 501):
        model = Model()
        text = f"answer number {number} " + "and so on " * 20
        done = turn(model, text, state, config, history=tuple(history[-60:]), store=store)
        history += [
            Message(role="user", text=text, turn=number),
            Message(role="assistant", text=done.response_text, turn=number),
        ]
        state = done.updated_state
        sizes[number] = (len(model.prompts[0]), len(str(to_data(state))))
    assert state.turn_number == 500 == store.saved
    assert state.context.compression_events
    assert sizes[500][0] < 1.5 * sizes[30][0]
    assert sizes[500][1] < 1.5 * sizes[30][1]


def put_tokens(config, tokens):
    return replace(config, context_config=replace(config.context_config, max_tokens=tokens))
