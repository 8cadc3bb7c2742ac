"""What is said beside answers and commands."""

from __future__ import annotations

from agent.emitters.notices import Notices
from agent.protocol.errors import ErrorInfo
from agent.protocol.events.command import CommandFinished
from agent.protocol.events.goal import ToolStarted
from agent.protocol.events.session import Failed, Notice, Warned
from agent.protocol.outcomes import ExecutionResult


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
    assert said == {"no room"}


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
