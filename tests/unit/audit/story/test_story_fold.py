"""The story of a log: goals with their steps, one at a time, whatever the log looks like."""

from __future__ import annotations

import msgspec
import pytest

from agent.audit.story import command as story_command
from agent.audit.story import goal as story_goal
from agent.audit.story.goal import stories
from agent.audit.story.model import CommandStory, GoalStory, Mark, PlannerStep, SessionBegan, SessionEnded, ToolStory
from agent.audit.story.objects import as_json, goal_object, item_object
from agent.protocol.decisions import Level
from agent.protocol.events.command import CommandFinished, CommandOutput, CommandProposed, CommandStarted, UndoFinished
from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.known import UnknownEvent
from agent.protocol.events.session import Notice, SessionFinished, SessionStarted
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from agent.protocol.records import Record
from agent.recording.reader import BadLine
from tests.support.each import each
from tests.support.pictured_session import Session, hostile, many, pictured, taken_back


def goals_of(records: object) -> list[GoalStory]:
    return [item for item in stories(records) if isinstance(item, GoalStory)]  # type: ignore[arg-type]


def test_a_working_morning() -> None:
    items = list(stories(pictured()))
    assert [type(item).__name__ for item in items] == [
        "SessionBegan", "Mark", "GoalStory", "GoalStory", "GoalStory", "Mark", "GoalStory", "GoalStory", "GoalStory", "GoalStory",
        "GoalStory", "Mark", "Mark", "Mark", "SessionEnded",
    ]  # fmt: skip
    goals = [item for item in items if isinstance(item, GoalStory)]
    assert [goal.status for goal in goals] == [
        "completed", "completed", "completed", "blocked_by_policy", "failed", "completed", "skipped", "answered",
    ]  # fmt: skip
    assert all(goal.finished and goal.part == 1 and not goal.more for goal in goals)
    assert isinstance(items[0], SessionBegan)
    assert items[0].cwd == "/home/ada/src/parser"


def test_what_became_of_each_command() -> None:
    commands = [command for goal in goals_of(pictured()) for command in goal.commands]
    told = [(command.outcome, command.ran, command.level, command.exit_code, command.edited) for command in commands]
    assert told == [
        ("ran", True, "low", 0, False),
        ("ran", True, "medium", 0, True),
        ("ran", True, "medium", 0, False),
        ("refused", False, "high", None, False),
        ("ran", True, "medium", 2, False),
        ("ran", True, "high", 0, False),
        ("skipped", False, "medium", None, False),
    ]
    edited, rehearsed, failed = commands[1], commands[2], commands[4]
    assert (edited.proposed, edited.run, edited.undo_id) == ("rm -rf build", "rm -rf build/cache", "6k2m9q")
    assert (rehearsed.via, len(rehearsed.rehearsals), rehearsed.rehearsals[0].totals.deleted) == ("rehearsal", 1, 1)
    assert failed.stdout.endswith("[… 70,123 bytes not kept …]\n1 failed, 14 passed\n")
    assert failed.stderr == "make: *** [Makefile:12: test] Error 1\n"
    assert commands[5].last_decision is not None
    assert commands[5].last_decision.word_typed


def test_output_keeps_its_order_and_its_time() -> None:
    (command,) = goals_of(pictured())[0].commands
    assert [(piece.stream, piece.offset) for piece in command.outputs] == [
        ("stdout", 0.02),
        ("stdout", 0.35),
        ("stderr", 0.38),
    ]


def test_steps_stand_in_order() -> None:
    kinds = [type(step).__name__ for step in goals_of(pictured())[-1].steps]
    assert kinds == ["PlannerStep", "ToolStory", "PlannerStep"]
    tool, reply = goals_of(pictured())[-1].steps[1:]
    assert isinstance(tool, ToolStory)
    assert (tool.name, tool.args, tool.finished) == ("read_file", {"path": "src/lexer.py"}, True)
    assert isinstance(reply, PlannerStep)
    assert reply.text.startswith("A **lexer**")


def test_an_undo_told_later_is_known_where_it_was_asked_for() -> None:
    records = pictured()
    known = taken_back(records)
    assert known == {"7n4d1x": "undone"}
    states = [
        command.undo_state
        for item in stories(records, undone=known)
        if isinstance(item, GoalStory)
        for command in item.commands
    ]
    assert states == ["", "", "undone", "", "", "", ""]
    assert not any(command.undo_state for goal in goals_of(records) for command in goal.commands)


@each("length", range(len(pictured())))
def test_a_log_that_ends_anywhere(length: int) -> None:
    records = pictured()[:length]
    goals = goals_of(records)
    assert len(goals) == sum(isinstance(record.event, GoalStarted) for record in records)
    ended = sum(isinstance(record.event, GoalFinished) for record in records)
    assert [goal.finished for goal in goals] == [True] * ended + [False] * (len(goals) - ended)
    assert all(goal.status == "interrupted" and goal.exit_code == 130 for goal in goals if not goal.finished)


def test_a_run_without_an_end_is_interrupted() -> None:
    made = Session()
    made.begin_goal("wait")
    key = made.propose("sleep 99")
    made.confirm(key, "sleep 99")
    made.add(CommandStarted(command_id=key, command="sleep 99", cwd="/"))
    made.add(CommandOutput(command_id=key, stream="stdout", data="so far", offset=0.1))
    (command,) = goals_of(made.records)[0].commands
    assert (command.ran, command.interrupted, command.exit_code, command.stdout) == (True, True, None, "so far")


def test_a_process_that_goes_on_ends_the_goal_that_was_open() -> None:
    made = Session()
    made.begin_goal("one")
    made.add(SessionFinished(reason="crashed"))
    made.add(SessionStarted(session_id="s", resumed=True))
    kinds = [type(item) for item in stories(made.records)]
    assert kinds == [GoalStory, SessionEnded, SessionBegan]


def test_a_conflict_is_no_run() -> None:
    made = Session()
    made.begin_goal("change it")
    key = made.propose("touch a")
    made.confirm(key, "touch a")
    made.add(CommandStarted(command_id=key, command="touch a", cwd="/", via="rehearsal"))
    made.add(CommandFinished(command_id=key, exit_code=126, result=ExecutionResult(exit_code=126), conflict=True))
    made.confirm(key, "", "declined")
    (command,) = goals_of(made.records)[0].commands
    assert (command.ran, command.outcome, len(command.decisions)) == (False, "declined", 2)


def test_a_file_that_a_tool_wrote_is_no_command() -> None:
    made = Session()
    made.begin_goal("write it")
    key = made.propose("write_file a.txt", origin="tool")
    made.confirm(key, "write_file a.txt", by="policy")
    made.end_goal("write it")
    (write,) = goals_of(made.records)[0].commands
    assert (write.is_write, write.ran, write.outcome) == (True, False, "ran")


@each(
    ("text", "is_write"),
    [("write_file /a.txt", True), ("open_pull_request local agent/task-1 main", True), ("git push", False)],
)
def test_what_a_tool_does_is_told_once_with_its_decision_and_its_end(text: str, is_write: bool) -> None:
    made = Session()
    made.begin_goal("do it")
    key = made.propose(text, origin="tool")
    made.confirm(key, text)
    made.add(CommandStarted(command_id=key, command=text, cwd="/", via="tool"))
    made.add(CommandFinished(command_id=key, exit_code=0, result=ExecutionResult(exit_code=0)))
    made.end_goal("do it")
    (told,) = goals_of(made.records)[0].commands
    assert (told.is_write, told.ran, told.exit_code, len(told.decisions)) == (is_write, True, 0, 1)
    assert not told.interrupted


def test_bad_lines_and_events_of_newer_versions_are_told_where_they_stand() -> None:
    records: list[Record | BadLine] = list(pictured())
    records.insert(1, BadLine(2, "not a record", torn=False, path="x"))
    records.insert(6, BadLine(7, "not a record", torn=True, path="x"))
    items = list(stories(records))
    assert isinstance(items[1], Mark)
    assert (items[1].kind, items[1].weight, items[1].data["line"]) == ("bad-line", "warning", 2)
    inside = [step for item in items if isinstance(item, GoalStory) for step in item.steps if isinstance(step, Mark)]
    assert [mark.kind for mark in inside] == ["bad-line", "warning"]
    assert any(isinstance(item, Mark) and item.kind == "moon.phase" for item in items)


def test_events_of_no_open_goal_are_pointed_at() -> None:
    made = Session()
    made.begin_goal("one")
    made.end_goal("one")
    last = made.records[-1]
    stray = msgspec.structs.replace(last, goal_id="elsewhere", event=CommandProposed(command_id="c", command="rm x"))
    told = list(stories([*made.records, stray]))[-1]
    assert isinstance(told, Mark)
    assert (told.weight, "not open" in told.text, "rm x" in told.text) == ("warning", True, False)


def test_a_command_whose_proposal_is_missing_is_not_lost() -> None:
    records = [record for record in pictured() if not isinstance(record.event, CommandProposed)]
    commands = [command for goal in goals_of(records) for command in goal.commands]
    assert [command.run for command in commands][:2] == ["du -ah src | sort -rh | head -4", "rm -rf build/cache"]


def test_a_long_goal_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story_goal, "MOST_STEPS", 10)
    made = Session()
    made.begin_goal("many")
    for number in range(25):
        key = made.propose(f"echo {number}")
        made.confirm(key, f"echo {number}")
        made.run(key, f"echo {number}")
    made.end_goal("many", "failed", 1)
    parts = goals_of(made.records)
    assert [(part.part, part.more, len(part.commands)) for part in parts] == [(1, True, 9), (2, True, 9), (3, False, 7)]
    assert [command.run for part in parts for command in part.commands] == [f"echo {number}" for number in range(25)]
    assert all(command.ran and command.exit_code == 0 for part in parts for command in part.commands)
    assert (parts[-1].status, parts[-1].finished, parts[0].finished) == ("failed", True, False)


def test_a_story_is_bounded_however_long_an_output_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story_command, "MOST_OUTPUT", 1_000)
    made = Session()
    made.begin_goal("endless")
    key = made.propose("yes")
    made.confirm(key, "yes")
    made.run(key, "yes", *((0.1, "stdout", "y" * 300) for _ in range(9)))
    (command,) = goals_of(made.records)[0].commands
    assert (len(command.stdout), command.left_out) == (900, 1_800)


def test_a_million_open_commands_hold_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story_goal, "MOST_STEPS", 50)
    made = Session()
    made.begin_goal("never decided")
    for number in range(400):
        made.add(CommandProposed(command_id=str(number), command="x"))
    parts = goals_of(made.records)
    assert sum(len(part.commands) for part in parts) == 400
    assert max(len(part.steps) for part in parts) <= 50


def test_only_one_goal_is_held_at_a_time() -> None:
    taken = 0

    def counted() -> object:
        nonlocal taken
        for record in many(1_000):
            taken += 1
            yield record

    for item in stories(counted()):  # type: ignore[arg-type]
        if isinstance(item, GoalStory):
            assert taken < 100
            break


def test_hostile_records_make_a_story_and_objects() -> None:
    items = list(stories(hostile()))
    assert isinstance(items[0], SessionBegan)
    for item in items:
        told = goal_object(item, 1) if isinstance(item, GoalStory) else item_object(item)
        assert msgspec.json.decode(as_json(told))


def test_an_object_tells_a_goal_to_programs() -> None:
    goal = goals_of(pictured())[1]
    told = goal_object(goal, 2)
    assert (told["kind"], told["number"], told["goal"], told["status"]) == (
        "goal",
        2,
        "remove the build folder",
        "completed",
    )
    assert [step["kind"] for step in told["steps"]] == ["planner", "command"]
    command = told["commands"][told["steps"][1]["index"]]
    wanted = {
        "proposed": "rm -rf build", "run": "rm -rf build/cache", "edited": True, "level": "medium", "by": "person",
        "decision": "edited", "exit_code": 0, "stdout": "", "undo_id": "6k2m9q",
    }  # fmt: skip
    assert {key: command[key] for key in wanted} == wanted
    assert command["ratings"][0]["report"]["level"] == Level.MEDIUM.value


def test_an_output_that_was_never_recorded_live_is_taken_from_the_result() -> None:
    made = Session()
    made.begin_goal("quick")
    key = made.propose("echo x")
    made.confirm(key, "echo x")
    made.run(key, "echo x", result=ExecutionResult(exit_code=0, stdout=CapturedStream(head="x\n", total_bytes=2)))
    (command,) = goals_of(made.records)[0].commands
    assert command.stdout == "x\n"


def test_marks_say_what_happened() -> None:
    made = Session()
    made.add(SessionStarted(session_id="s"))
    made.add(UndoFinished(undo_id="u", restored=1, state="committed"))
    made.add(Notice(text="hello"))
    made.add(UnknownEvent(type="later", data={"a": [1]}))
    texts = [item.text for item in stories(made.records) if isinstance(item, Mark)]
    assert texts == [
        "the run u was done again: 1 change", "hello", 'an event that this version does not know: later {"a":[1]}',
    ]  # fmt: skip


def test_the_fold_gives_the_outputs_of_a_commands_last_start_only() -> None:
    made = Session()
    made.begin_goal("twice")
    key = made.propose("x")
    made.confirm(key, "x")
    for text in ("first", "second"):
        made.add(CommandStarted(command_id=key, command="x"))
        made.add(CommandOutput(command_id=key, stream="stdout", data=text, offset=0))
    (command,) = goals_of(made.records)[0].commands
    assert isinstance(command, CommandStory)
    assert command.stdout == "second"
