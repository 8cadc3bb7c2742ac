"""A plan on the screen: its steps, the one that has begun, and what is left of it."""

from __future__ import annotations

from agent.emitters.plan_lines import PlanLines
from agent.protocol.events.goal import PlanFinished, PlanProposed, PlanStepped
from agent.protocol.replies import PlanStep


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
