"""Plans, and how a goal was read, as a session's story tells them in each form."""

from __future__ import annotations

from agent.audit.story.goal import stories
from agent.audit.story.model import GoalStory, Mark
from agent.audit.story.objects import goal_object
from agent.emitters.export.html_report import rendered
from agent.emitters.story_text import StoryText
from agent.protocol.events.command import CommandProposed
from agent.protocol.events.goal import GoalStarted, PlanFinished, PlanProposed, PlanStepped
from agent.protocol.events.known import Event
from agent.protocol.records import Record
from agent.protocol.replies import PlanStep

EVIL = "a\x1b[2J<b>\u202e"
EVENTS: tuple[Event, ...] = (
    GoalStarted(goal="two things"),
    PlanProposed(plan=1, planned=(PlanStep(goal="one", command="ls"), PlanStep(goal=EVIL))),
    PlanStepped(plan=1, step=1, total=2, goal="one", state="begun", command="ls"),
    CommandProposed(command_id="g.1", command="ls", reading=f"list · {EVIL}", unused=("now", EVIL)),
    PlanStepped(plan=1, step=1, total=2, goal="one", state="done", command="ls"),
    PlanStepped(plan=1, step=2, total=2, goal=EVIL, state="failed"),
    PlanFinished(plan=1, outcome="stopped", done=1, total=2, left=(EVIL,), reason="cancelled"),
)


def goal() -> GoalStory:
    records = [
        Record(v=1, seq=seq, time=f"2030-01-02T03:04:0{seq}.000000Z", session="s", run="r", goal_id="g", event=event)
        for seq, event in enumerate(EVENTS, 1)
    ]
    [story] = stories(records)
    assert isinstance(story, GoalStory)
    return story


def test_the_story_has_a_mark_for_each_turn_of_a_plan() -> None:
    marks = [step for step in goal().steps if isinstance(step, Mark)]
    assert [mark.kind for mark in marks] == ["plan.proposed", "plan.step", "plan.step", "plan.finished"]
    assert marks[0].text == f"a plan of 2 steps: 1. one; 2. {EVIL}"
    assert marks[0].data["commands"] == ["ls", ""]
    assert [mark.weight for mark in marks] == ["info", "info", "warning", "warning"]


def test_lines_tell_the_plan_and_the_reading_and_draw_nothing() -> None:
    text = "\n".join(StoryText(color=False).lines([goal()]))
    for words in (
        "a plan of 2 steps",
        "step 1 of 2: one",
        "read as: list",
        "not used: now",
        "1 of 2 steps done; left:",
    ):
        assert words in text
    assert not {"\x1b", "\u202e"} & set(text)


def test_the_page_and_the_objects_have_the_reading() -> None:
    story = goal()
    page = rendered("goal_section", story, 1, 1, True)
    assert "read as: list" in page and "not used: now" in page
    assert "<b>" not in page and "\x1b" not in page
    told = goal_object(story, 1)["commands"][0]
    assert (told["reading"], told["unused"]) == (f"list · {EVIL}", ("now", EVIL))
