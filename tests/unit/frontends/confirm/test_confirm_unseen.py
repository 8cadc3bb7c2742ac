"""What did not fit on the screen is shown before it can be approved; what runs is what was shown."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.frontends.confirm.heading import is_previewed, word_heading, write_heading
from agent.frontends.screen import Screen
from agent.frontends.wrapping import rows_of
from agent.protocol.actions import WriteFile
from agent.protocol.confirmations import Approved, CancelGoal, Confirmation, ConfirmationRequest, Declined
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Preview, Rehearsal
from agent.risk.classifier import classify
from agent.risk.file_actions import rate_action
from agent.text.shown import shown_name
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, Recording, rate_by_word, request_for

ENTER, CTRL_C, CTRL_U, F2 = "\r", "\x03", "\x15", "\x1bOQ"


def answer(terminal: FakeTerminal, processes: FakeProcesses, request: ConfirmationRequest, *keys: str) -> Confirmation:
    async def run() -> Confirmation:
        confirmer = PromptConfirmer(terminal.screen, processes, {"HOME": "/nowhere", "PAGER": ""}, rate_by_word)
        asked = asyncio.ensure_future(confirmer.confirm(request))
        for part in keys:
            await asyncio.sleep(0.1)
            terminal.keys.send_text(part)
        async with asyncio.timeout(60):
            return await asked

    return asyncio.run(run())


LONG = {
    "scrolled out above": "rm -rf precious\n" + "\n" * 20 + "ls",
    "far to the left": "rm -rf precious; ls" + " " * 1900,
    "wrapped lines": "\n".join(f"echo {n} {'x' * 150}" for n in range(9)),
    "wide letters": "echo " + "\u4e2d" * 600,
    "control characters": "echo " + "\x01" * 600,
}


@pytest.mark.few(2)
@pytest.mark.parametrize("command", LONG.values(), ids=LONG)
def test_the_first_enter_shows_what_did_not_fit(terminal: FakeTerminal, processes: FakeProcesses, command: str) -> None:
    request = request_for(command)
    assert answer(terminal, processes, request, ENTER, CTRL_C) == CancelGoal()
    assert answer(terminal, processes, request, ENTER, ENTER) == Approved(command=command)
    assert "only a part" in terminal.seen
    assert "this was all of it" in terminal.seen


def test_who_has_explained_it_has_seen_it(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    command = LONG["scrolled out above"]
    assert answer(terminal, processes, request_for(command), F2, ENTER) == Approved(command=command)


def test_an_edit_of_a_long_text_is_shown_again(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    command = LONG["scrolled out above"]
    got = answer(terminal, processes, request_for(command), ENTER, "x", ENTER, CTRL_C)
    assert got == CancelGoal()


def test_an_edit_that_was_typed_faster_than_it_is_rated_says_so(
    terminal: FakeTerminal, processes: FakeProcesses
) -> None:
    """The gate shows it then, unless it is low."""
    request = request_for("wc -l notes.txt")
    edited = f"{CTRL_U}cp a b"
    assert answer(terminal, processes, request, edited + ENTER) == Approved(command="cp a b", unrated=True)
    assert answer(terminal, processes, request, edited, "", "", ENTER) == Approved(command="cp a b")
    assert answer(terminal, processes, request, ENTER) == Approved(command="wc -l notes.txt")


def test_an_own_command_may_be_pasted_so_it_is_shown_whole_as_well(
    terminal: FakeTerminal, processes: FakeProcesses
) -> None:
    command = LONG["wrapped lines"]
    request = request_for(command, origin="person")
    assert answer(terminal, processes, request, ENTER, ENTER) == Approved(command=command)
    assert "Enter runs" in terminal.seen


def test_enter_speaks_of_what_stood_there_when_it_was_pressed(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    def shown(text: str) -> Preview:
        result = ExecutionResult(exit_code=0)
        return Preview(
            line=f"would {text}", rehearsal=Rehearsal(rehearsal_id=text, command=text, cwd="/", result=result)
        )

    async def run(typed: str, *, waits: bool) -> Confirmation:
        terminal.screen.dead_time = 0.05
        asked, ready = asyncio.Event(), asyncio.Event()

        async def preview(text: str) -> Preview:
            asked.set()
            await ready.wait()
            return shown(text)

        confirmer = PromptConfirmer(terminal.screen, processes, {"HOME": "/nowhere", "PAGER": ""}, rate_by_word)
        request = replace(request_for("mv a b"), previewed=shown("mv a b"))
        before = len(terminal.seen)
        answered = asyncio.ensure_future(confirmer.confirm_live(request, preview))
        while "F1" not in terminal.seen[before:]:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)  # what comes sooner belongs to what was typed before
        terminal.keys.send_text(typed)
        async with asyncio.timeout(60):
            await asked.wait()
            if waits:
                ready.set()
                while f"would mv a b{typed}" not in terminal.seen:
                    await asyncio.sleep(0.01)
            terminal.keys.send_text(ENTER)
            await asyncio.sleep(0.03)
            ready.set()  # it comes while the guard waits whether the key is held
            return await answered

    assert asyncio.run(run("c", waits=False)) == Approved(command="mv a bc")
    assert asyncio.run(run("d", waits=True)) == Approved(command="mv a bd", seen="mv a bd")


@given(st.text(max_size=400), st.integers(20, 200))
def test_rows_are_never_too_few(text: str, columns: int) -> None:
    assert rows_of(text, columns) >= text.count("\n") + 1
    assert rows_of(text, columns) >= sum(1 + len(line) // columns for line in text.split("\n"))


def said(lines: object) -> list[str]:
    return ["".join(part for _, part in line) for line in lines]  # type: ignore[attr-defined]


def test_the_second_prompt_shows_line_ends() -> None:
    lines = said(word_heading(request_for("echo safe # \nrm -rf precious", "high")))
    assert "will run: echo safe # " in lines
    assert any(line.endswith("· rm -rf precious") for line in lines)


def test_the_second_prompt_says_what_it_leaves_out() -> None:
    lines = said(word_heading(request_for("x" * 700 + "\n" * 30, "high")))
    assert any("200 more" in line for line in lines) and any("more lines" in line for line in lines)


def write_request(path: str, content: str) -> ConfirmationRequest:
    return request_for(f"write_file {path}", kind="write", preview=content)


def test_a_path_is_shown_whole() -> None:
    path = "./" * 400 + ".git/hooks/pre-commit"
    assert said(write_heading(write_request(path, "x")))[-1].endswith(".git/hooks/pre-commit")
    assert shown_name("a  b\nc") == "a  b\u240ac"


def test_a_path_is_said_once_where_the_line_above_has_all_of_it() -> None:
    for path in ("/state/worktrees/shop-1c2d3e4f/task-1/shop/reading.py", "/" + "deep/" * 90 + "x.py"):
        action = WriteFile(path=path, content="x\n")
        request = replace(write_request(path, "x\n"), report=rate_action(action, RiskContext(cwd="/")))
        assert "\n".join(said(write_heading(request))).count(path) == 1


def test_a_line_that_is_cut_says_so() -> None:
    content = "harmless" + " " * 600 + "; rm -rf ~"
    assert any("more]" in line for line in said(write_heading(write_request("a.sh", content))))
    assert not is_previewed(content) and not is_previewed("x\n" * 30) and is_previewed("x\n" * 10)


def test_content_that_did_not_fit_is_shown_before_it_is_written(
    terminal: FakeTerminal, processes: FakeProcesses
) -> None:
    request = write_request("a.sh", "harmless\n" * 40 + "rm -rf ~\n")
    assert answer(terminal, processes, request, "y" + ENTER, "n" + ENTER) == Declined()
    assert processes.calls or "rm -rf ~" in terminal.seen  # by the pager, where there is one
    assert isinstance(answer(terminal, processes, request, "y" + ENTER, "y" + ENTER), Approved)
    assert isinstance(answer(terminal, processes, write_request("a.sh", "short"), "y" + ENTER), Approved)


def test_what_it_does_stands_with_the_command_once_the_window_was_narrowed(processes: FakeProcesses) -> None:
    size = [80]
    stream = Recording()

    async def run() -> Confirmation:
        with create_pipe_input() as keys:
            output = Vt100_Output(stream, lambda: Size(24, size[0]), term="xterm", enable_cpr=False)
            screen = Screen(input=keys, output=output, dead_time=0)
            confirmer = PromptConfirmer(screen, processes, {"HOME": "/nowhere", "PAGER": ""}, rate_by_word)
            answered = asyncio.ensure_future(confirmer.confirm(request_for("ls src", "low")))
            for columns, times in ((80, 1), (50, 2)):
                size[0] = columns
                while stream.getvalue().count("read-only") < times:
                    keys.send_text(" \x7f")  # painted anew
                    await asyncio.sleep(0.02)
            keys.send_text(CTRL_C)
            return await answered

    async def bounded() -> Confirmation:
        async with asyncio.timeout(60):
            return await run()

    assert asyncio.run(bounded()) == CancelGoal()


def test_what_would_be_refused_is_said_while_it_is_edited(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    def rate(command: str, cwd: str, session: str = "") -> RiskReport:
        return classify(command)

    async def run() -> Confirmation:
        confirmer = PromptConfirmer(terminal.screen, processes, {"HOME": "/nowhere", "PAGER": ""}, rate)
        answered = asyncio.ensure_future(confirmer.confirm(request_for("ls", "low")))
        while "Enter runs" not in terminal.seen:
            await asyncio.sleep(0.01)
        terminal.keys.send_text(CTRL_U + "rm -rf /")
        while "refused as it stands" not in terminal.seen:
            await asyncio.sleep(0.01)
        terminal.keys.send_text(CTRL_C)
        return await answered

    async def bounded() -> Confirmation:
        async with asyncio.timeout(60):
            return await run()

    assert asyncio.run(bounded()) == CancelGoal()
