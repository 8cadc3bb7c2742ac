"""One line ends a goal: what was done, what it took, and how to take it back."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from msgspec.structs import replace

from agent.emitters.streams import MemorySink
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.protocol.events.command import CommandFinished, CommandOutput, CommandStarted, RehearsalFinished
from agent.protocol.events.goal import GoalFinished, GoalStarted, PlannerFinished, PlannerStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantDelta, AssistantMessage, Warned
from agent.protocol.outcomes import NOTE_DETAILS, TIME_OUT_NOTE, ExecutionResult, Usage
from agent.protocol.rehearsals import Totals
from tests.support.each import each
from tests.support.event_cases import as_record

OUTPUT = CommandOutput(command_id="c", stream="stdout", data="3 a.txt\n", offset=0.0)


def ran(undo_id: str = "") -> CommandFinished:
    return CommandFinished(command_id="c", exit_code=0, result=ExecutionResult(exit_code=0), undo_id=undo_id)


def printed(*told: Event) -> tuple[str, str]:
    """Stdout and stderr, where stdout is a pipe."""
    out, err = MemorySink(), MemorySink(is_tty=True)
    emitter = TerminalEmitter(TerminalEmitterOptions(show_spinner=False), out, err)

    async def play() -> None:
        for event in (GoalStarted(goal="g"), *told):
            await emitter.emit(as_record(event))

    asyncio.run(play())
    return out.getvalue().decode(), err.getvalue().decode()


def ended(
    status: str = "completed", exit_code: int = 0, *, duration: float = 0.03, usage: Usage | None = None
) -> GoalFinished:
    commands = [{"command": "x", "outcome": "ran", "duration": duration}]
    return GoalFinished(goal="g", status=status, exit_code=exit_code, commands=commands, usage=usage or Usage())


def shown(
    *told: Event, typed: bool = False, columns: int = 80, one_screen: bool = True, at_prompt: bool = True
) -> list[str]:
    out = MemorySink(is_tty=True, columns=columns)
    err = out if one_screen else MemorySink()
    emitter = TerminalEmitter(TerminalEmitterOptions(at_prompt=at_prompt, show_spinner=False), out, err)

    async def play() -> None:
        for event in (GoalStarted(goal="g", typed=typed), *told):
            await emitter.emit(as_record(event))

    asyncio.run(play())
    both = out.getvalue() + (b"" if one_screen else err.getvalue())
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", both.decode()).splitlines()


def message(*pieces: str) -> list[Event]:
    """A message as a planner gives it: piece by piece, then whole."""
    finished = PlannerFinished(step=2, reply="chat")
    return [
        *(AssistantDelta(text=piece) for piece in pieces),
        finished,
        AssistantMessage(text="".join(pieces)),
    ]


@pytest.mark.covers("S4-22")
@pytest.mark.parametrize("pieces", [("done: renamed",), ()])
def test_what_was_done_and_how_to_take_it_back_are_one_line(pieces: tuple[str, ...]) -> None:
    words = message(*pieces) if pieces else [AssistantMessage(text="done: renamed")]
    assert shown(ran("6k2m"), *words, ended()) == ["✓ renamed · undo: :undo 6k2m"]


def test_what_the_output_says_is_not_said_again() -> None:
    assert shown(OUTPUT, ran("6k2m"), *message("done: 3 a.txt"), ended()) == ["undo: :undo 6k2m"]
    assert shown(OUTPUT, ran(), *message("done: 3 of them"), ended()) == ["✓ 3 of them"]


@each(
    ("pieces", "said"),
    [(["3 a.txt\n"], "3 a.txt"), (["a\n\nb\n"], "2 lines of output"), (["a", "b\nc\n", "d"], "3 lines of output")],
)
def test_where_all_of_it_is_on_the_screen_nothing_is_said(pieces: list[str], said: str) -> None:
    told = [CommandOutput(command_id="c", stream="stdout", data=piece, offset=0.0) for piece in pieces]
    begun = CommandStarted(command_id="c", command="x")
    done = message(f"done: {said}")
    assert shown(begun, *told, ran(), *done, ended()) == []
    assert shown(begun, *told[:-1], ran(), *done, ended()) == [f"✓ {said}"]
    assert shown(begun, *told, ran(), *done, ended(duration=2.0)) == ["✓ completed · 2.0s"]
    assert shown(begun, *told, ran(), *done, ended("failed", 1)) == [f"done: {said}", "✗ failed"]
    assert shown(begun, *told, ran(), *done, ended(usage=Usage(input_tokens=5))) == ["✓ completed · 5 tokens"]


BEGUN = CommandStarted(command_id="c", command="x")
COMPLAINT = CommandOutput(command_id="c", stream="stderr", data="cat: a: No such file\n", offset=0.0)
FAILING = CommandFinished(command_id="c", exit_code=3, result=ExecutionResult(exit_code=3))


def stopped(**how: Any) -> CommandFinished:
    result = ExecutionResult(**{"exit_code": 130, "duration": 2.0, **how})
    return CommandFinished(command_id="c", exit_code=result.exit_code, result=result)


@each(
    ("finished", "status", "line"),
    [
        (FAILING, "failed", "exit 3"),
        (stopped(exit_code=3), "failed", "exit 3 after 2.0s"),
        (stopped(interrupted=True), "interrupted", "interrupted after 2.0s"),
        (stopped(timed_out=True), "budget_exhausted", "timed out after 2.0s"),
        (stopped(signal=11), "failed", "killed by SIGSEGV after 2.0s"),
    ],
)
def test_a_command_that_did_not_go_well_is_told_of_once(finished: CommandFinished, status: str, line: str) -> None:
    assert shown(BEGUN, finished, ended(status, finished.exit_code, duration=2.0)) == [line]
    undo = replace(finished, undo_id="6k2m")
    assert shown(BEGUN, undo, ended(status, finished.exit_code)) == [line, "undo: :undo 6k2m"]
    for other in {"failed", "interrupted", "budget_exhausted"} - {status}:
        assert len(shown(BEGUN, finished, ended(other, 1))) == 2


@pytest.mark.parametrize("at_prompt", [True, False])
def test_a_time_out_is_no_warning_beside(at_prompt: bool) -> None:
    note = f"{TIME_OUT_NOTE}2 s"
    finished = stopped(timed_out=True, notes=(note, "another"))
    told = shown(
        BEGUN, finished, Warned(text=note), Warned(text="another"), ended("budget_exhausted", 124), at_prompt=at_prompt
    )
    assert told == ["timed out after 2.0s", "warning: another"]
    assert shown(Warned(text=note)) == [f"warning: {note}"]


def test_why_something_was_refused_is_said_once() -> None:
    why = "deletes a whole home folder; only --safety-off opens this [floor.home]"
    commands = [{"command": "rm -rf ~", "outcome": "refused"}]
    refused = GoalFinished(goal="g", status="blocked_by_policy", exit_code=5, commands=commands)
    assert shown(Warned(text=f"not run: {why}"), refused, columns=200) == [f"warning: not run: {why}"]
    assert [line.count(why) for line in shown(replace(refused, message=why), columns=200)] == [1]


def test_a_job_is_one_line_with_what_the_screen_can_show_of_it() -> None:
    note = NOTE_DETAILS.join(("it continues in the background as job 1", "pid 7", "its output goes to /x"))
    finished = stopped(exit_code=0, job=1, notes=(note,))
    told = (BEGUN, finished, Warned(text=note), ended("handed_off", duration=2.0))
    assert shown(*told) == ["it continues in the background as job 1; see :jobs"]
    assert shown(*told, at_prompt=False) == [note]


def test_why_it_failed_ends_the_goal_unless_it_was_printed() -> None:
    failed = (BEGUN, COMPLAINT, FAILING)
    assert shown(*failed, *message("failed: there is no a"), ended("failed", 1)) == ["exit 3", "✗ there is no a"]
    assert shown(*failed, *message("failed: cat: a: No such file"), ended("failed", 1)) == ["exit 3"]
    assert shown(*failed, *message("failed: there is no a"), ended("completed")) == ["exit 3", "failed: there is no a"]


def test_the_prompt_is_told_no_exit_code_of_a_goal() -> None:
    skipped = GoalFinished(goal="g", status="skipped", exit_code=6)
    assert shown(skipped) == ["– skipped"]
    assert shown(skipped, at_prompt=False) == ["– skipped · exit 6"]
    why = replace(skipped, message="not run: the word was not typed")
    assert shown(why) == ["– not run: the word was not typed"]
    assert shown(why, at_prompt=False) == ["– not run (exit 6): the word was not typed"]


def test_an_answer_ends_a_goal_by_itself() -> None:
    answered = GoalFinished(goal="g", status="answered", exit_code=0, message="Hello.")
    assert shown(*message("Hello."), answered) == ["Hello."]
    assert shown(*message("Hello."), replace(answered, usage=Usage(input_tokens=5))) == [
        "Hello.",
        "✓ answered · 5 tokens",
    ]
    assert shown(replace(answered, message="")) == ["✓ answered"]


def test_what_prints_nothing_says_what_it_changed() -> None:
    seen = RehearsalFinished(
        command_id="c", outcome="finished", exit_code=0, totals=Totals(deleted=1, renamed=2), preview=True
    )
    begun = CommandStarted(command_id="c", command="x", via="rehearsal")
    silent = message("done; it printed nothing")
    assert shown(seen, begun, ran(), *silent, ended()) == ["✓ 1 deleted, 2 renamed"]
    direct = CommandStarted(command_id="c", command="x", via="")
    assert shown(seen, direct, ran(), *silent, ended()) == ["✓ done"]


def test_several_commands_are_listed() -> None:
    assert shown(ran("6k2m"), ran("6k2n"), ended()) == ["✓ completed · undo: :undo list"]


def test_a_goal_that_failed_can_be_taken_back_and_says_what_it_said() -> None:
    assert shown(ran("6k2m"), *message("done: renamed"), ended("failed", 1)) == [
        "done: renamed",
        "✗ failed · undo: :undo 6k2m",
    ]


def test_a_command_of_ones_own_says_at_once_how_to_take_it_back() -> None:
    assert shown(ran("6k2m"), typed=True) == ["undo: :undo 6k2m"]
    assert shown(ran("6k2m"), ended(), typed=True) == ["undo: :undo 6k2m"]


@each(
    ("pieces", "said"),
    [
        (("done: a", "nd more"), ["done: and more"]),
        (("done: a\nb",), ["done: a", "b"]),
        (("The work is done: renamed",), ["The work is done: renamed"]),
        (("done: " + "x" * 60,), ["done: " + "x" * 60]),
    ],
)
def test_other_words_stand_on_lines_of_their_own(pieces: tuple[str, ...], said: list[str]) -> None:
    assert shown(ran("6k2m"), *message(*pieces), ended()) == [*said, "✓ completed · undo: :undo 6k2m"]


def test_on_a_narrow_screen_each_has_its_line() -> None:
    lines = shown(ran("6k2m"), *message("done: renamed"), ended(), columns=25)
    assert lines == ["done: renamed", "undo: :undo 6k2m", "✓ completed"]


def test_what_is_said_before_the_end_stays_before_it() -> None:
    warned = Warned(text="the disk is nearly full")
    assert shown(*message("done: renamed"), warned, ended()) == [
        "done: renamed",
        "warning: the disk is nearly full",
        "✓ completed",
    ]


def test_where_the_answer_goes_elsewhere_it_goes_there() -> None:
    assert shown(*message("done: renamed"), ended(), one_screen=False) == ["done: renamed", "✓ completed"]
    assert shown(*message("done; it printed nothing"), ended(), one_screen=False) == ["✓ completed"]


def test_a_pipe_is_not_told_what_it_got() -> None:
    begun = CommandStarted(command_id="c", command="x")
    for said in ("done: 3 a.txt", "done: 1 lines of output"):
        assert shown(begun, OUTPUT, ran(), *message(said), ended(), one_screen=False) == []


def test_words_of_a_planner_are_made_safe_in_the_line() -> None:
    (line,) = shown(*message("done: a\x1b[2Jb"), ended())
    assert "\x1b" not in line and "b" in line


STARTED = CommandStarted(command_id="c", command="grep x a")


@pytest.mark.parametrize("words", ["nothing matched", "done: renamed", "failed: no such file", "two\nlines"])
@pytest.mark.parametrize("status", ["completed", "answered", "failed"])
@pytest.mark.parametrize(("planner", "model"), [("offline", ""), ("openai", "offline"), ("cascade", "offline")])
def test_a_pipe_gets_no_word_of_recipes_about_a_command(words: str, status: str, planner: str, model: str) -> None:
    told = (
        PlannerStarted(step=2, planner=planner, model=""),
        AssistantDelta(text=words),
        PlannerFinished(step=2, reply="chat", model=model),
        AssistantMessage(text=words),
    )
    out, err = printed(STARTED, ran(), *told, ended(status))
    assert out == "" and err.count(words) == 1
    out, err = printed(*told, ended(status))
    assert out.count(words) == 1 and words not in err, "without a command they are the answer"


@each("pieces", [("The answer ", "is 3"), ("done: 3",), ("3",)])
def test_a_pipe_gets_what_a_model_answers(pieces: tuple[str, ...]) -> None:
    asked = PlannerStarted(step=2, planner="openai", model="m")
    out, _ = printed(STARTED, ran(), asked, *message(*pieces), ended())
    assert out == "".join(pieces) + "\n"
