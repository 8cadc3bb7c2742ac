"""What is said beside answers and commands, and a plan on the screen: its steps, the one that has begun, what is left of it."""

from __future__ import annotations

from agent.emitters.notices import Notices, PlanLines
from agent.protocol.errors import ErrorInfo
from agent.protocol.events.command import CommandFinished
from agent.protocol.events.goal import PlanFinished, PlanProposed, PlanStepped, ToolStarted
from agent.protocol.events.session import Failed, Notice, Warned
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.replies import PlanStep


def shown(*events: object, tools: bool = False) -> tuple[list[str], list[str], set[str]]:
    out, aside, said = list[str](), list[str](), set[str]()
    notices = Notices(out.append, aside.append, said, color=False, tools=tools, at_prompt=True)
    for event in events:
        notices.show(event)  # type: ignore[arg-type]
    return out, aside, said


def test_notices_are_answers_and_the_rest_stands_beside() -> None:
    failed = Failed(error=ErrorInfo(code="io", message="no room"))
    out, aside, said = shown(Notice(text="a\x1b[2J"), Warned(text="careful"), failed)
    assert out == ["a␛[2J"] and aside[0] == "warning: careful" and "no room" in aside[1]
    assert said == {"a\x1b[2J", "no room"}


def test_what_a_planner_says_each_time_it_is_asked_is_shown_once_in_a_goal() -> None:
    stands_in = Notice(text="nothing answers; the offline planner takes over")
    assert shown(stands_in, Notice(text="step 2"), stands_in)[0] == [stands_in.text, "step 2"]


def test_a_cancel_is_no_error_and_tools_are_told_where_that_is_wanted() -> None:
    events = (Failed(error=ErrorInfo(code="cancelled", message="x")), ToolStarted(call_id="1", name="look\n"))
    assert shown(*events)[1] == []
    (line,) = shown(*events, tools=True)[1]
    assert line.startswith("⚙ Using look") and "\n" not in line


def test_what_became_of_a_job_is_no_warning_until_the_next_command() -> None:
    aside = list[str]()
    notices = Notices(aside.append, aside.append, set(), color=False, tools=False, at_prompt=True)
    note = "goes on as job 1"
    notices.end_command(
        CommandFinished(command_id="1", exit_code=0, result=ExecutionResult(exit_code=0, job=1, notes=(note,)))
    )
    notices.show(Warned(text=note))
    notices.begin_command()
    notices.show(Warned(text=note))
    assert aside == [note, f"warning: {note}"]


def test_steps_have_their_levels_and_a_step_that_has_begun_its_line() -> None:
    aside = list[str]()
    plans = PlanLines(aside.append, aside.append, color=False, at_prompt=True)
    steps = (PlanStep(goal="look", command="ls"), PlanStep(goal="clean\x1b[2J", command=""))
    assert plans.show(PlanProposed(plan=1, planned=steps, levels=("low", ""))) is None
    assert aside[0].splitlines() == [
        "plan · 2 steps; nothing has run yet",
        "  1  look",
        "     $ ls  [low]",
        "  2  clean␛[2J",
        "     (its command is planned when it is reached)",
    ]
    begun = PlanStepped(plan=1, step=2, total=2, goal="clean", state="begun", command="")
    assert plans.show(begun) == "step 2/2 · clean"
    assert plans.show(PlanStepped(plan=1, step=2, total=2, goal="clean", state="done", command="")) == ""


def test_what_is_left_can_be_resumed() -> None:
    for at_prompt, way in ((True, ":resume"), (False, "`:resume` in this session")):
        apart = list[str]()
        plans = PlanLines(apart.append, apart.append, color=False, at_prompt=at_prompt)
        assert plans.show(PlanFinished(plan=1, outcome="stopped", done=1, total=2, left=("clean",))) == ""
        assert apart == [f"plan stopped: 1 of 2 steps done; left:\n  2  clean\n{way} continues it"]
    plans.show(PlanFinished(plan=1, outcome="done", done=2, total=2))
    assert len(apart) == 1
