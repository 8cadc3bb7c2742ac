"""The confirmation prompt, key by key."""

from __future__ import annotations

import asyncio
import os
import stat

import pytest
from msgspec.structs import replace

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.protocol.confirmations import (
    Approved,
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    Declined,
    Regenerate,
    Remark,
    Skipped,
)
from agent.protocol.rehearsals import Preview
from tests.support.fake_rehearser import rehearsal_of
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, rate_by_word, report_of, request_for, typed

CTRL_U, CTRL_C, CTRL_D, ENTER, ALT_ENTER = "\x15", "\x03", "\x04", "\r", "\x1b\r"
F1, F2, F3, F4, F5, F7, F10 = "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[18~", "\x1b[21~"


def confirmer(terminal: FakeTerminal, processes: FakeProcesses, **options: str) -> PromptConfirmer:
    environ = {"EDITOR": "my-editor --wait", "HOME": "/nowhere"}
    return PromptConfirmer(terminal.screen, processes, environ, rate_by_word, **options)


def answer(
    terminal: FakeTerminal, processes: FakeProcesses, request: ConfirmationRequest, *keys: str, **options: str
) -> Confirmation:
    """Type `keys` once the prompt stands: each part after the one before was read.

    Keys come faster here than anything is rated, which test_confirm_unseen is about.
    """
    got = typed(terminal, lambda: confirmer(terminal, processes, **options).confirm(request), *keys)
    return replace(got, unrated=False) if isinstance(got, Approved) else got


@pytest.mark.few(9)
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((ENTER,), Approved(command="cp a b")),
        ((" c", ENTER), Approved(command="cp a b c")),
        ((CTRL_U + "ls -l" + ENTER,), Approved(command="ls -l")),
        ((CTRL_U + ENTER,), Skipped()),
        ((CTRL_U + "   " + ENTER,), Skipped()),
        ((CTRL_C,), CancelGoal()),
        ((CTRL_U + CTRL_D,), CancelGoal()),
        (("\x01" + CTRL_D + ENTER,), Approved(command="p a b")),
        ((ALT_ENTER + "ls" + ENTER,), Approved(command="cp a b\nls")),
        ((CTRL_U + "rm x" + F3 + ENTER,), Approved(command="cp a b")),
        ((CTRL_U + "rm x\x1bo" + ENTER,), Approved(command="cp a b")),
        ((F5,), Regenerate()),
        (("\x1bg",), Regenerate()),
        ((F4, "only in src" + ENTER), Remark(text="only in src")),
        ((F4, ENTER, ENTER), Approved(command="cp a b")),
        ((F4, CTRL_C, CTRL_C), CancelGoal()),
        ((F1, ENTER), Approved(command="cp a b")),
        ((F10, ENTER), Approved(command="cp a b")),
    ],
)
def test_keys(terminal: FakeTerminal, processes: FakeProcesses, keys: tuple[str, ...], expected: Confirmation) -> None:
    assert answer(terminal, processes, request_for("cp a b"), *keys) == expected


def test_pasted_lines_do_not_run(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    pasted = "\x1b[200~; echo one\r\necho two\n\x1b[201~"
    got = answer(terminal, processes, request_for("true"), pasted, "#" + ENTER)
    assert got == Approved(command="true; echo one\necho two\n#")


def test_own_command_has_no_planner_to_remark_to(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    assert answer(terminal, processes, request_for("ls", origin="person"), F5, F4, ENTER) == Approved(command="ls")


def test_keys_typed_before_the_prompt_are_not_its_answer(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    from prompt_toolkit.input.typeahead import store_typeahead
    from prompt_toolkit.key_binding.key_processor import KeyPress
    from prompt_toolkit.keys import Keys

    store_typeahead(terminal.screen.input, [KeyPress(Keys.ControlM, "\r")])
    assert answer(terminal, processes, request_for("rm x"), CTRL_C) == CancelGoal()


def test_what_it_does_and_what_must_be_seen_stand_above_the_command(
    terminal: FakeTerminal, processes: FakeProcesses
) -> None:
    answer(
        terminal,
        processes,
        request_for("rm -r build", "high", why="frees space", safety_off=True, is_root=True),
        CTRL_C,
    )
    for words in ("■ high · it changes files", "safety is off", "runs as root", "SAFETY OFF", "■ ❯ rm -r build"):
        assert words in terminal.seen
    assert "why:" not in terminal.seen


def test_that_it_runs_as_root_is_said_once(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    for _ in range(2):
        answer(terminal, processes, request_for("rm -r build", "high", is_root=True), CTRL_C)
    assert terminal.seen.count("runs as root") == 1


def test_one_key_shows_all_that_is_known(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    request = request_for("cp a b", why="frees space", undo="undo: keeps b")
    answer(terminal, processes, request, F1, CTRL_C)
    for words in ("why: frees space", "undo: keeps b", "medium: it changes files", "F2  Alt-e"):
        assert words in terminal.seen


def test_badge_follows_the_text_and_says_edited(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    answer(terminal, processes, request_for("cp a b"), CTRL_U + "rm x", CTRL_C)
    assert "▲ ❯" in terminal.seen
    assert "high edited ❯" in terminal.seen


def test_without_a_preview_an_edit_stands_there_with_what_its_rating_knows(
    terminal: FakeTerminal, processes: FakeProcesses
) -> None:
    async def preview(text: str) -> None:
        del text

    async def ask() -> None:
        request = replace(
            request_for("cp a b"), previewed=Preview(line="would copy a", rehearsal=rehearsal_of("cp a b"))
        )
        answered = asyncio.ensure_future(confirmer(terminal, processes).confirm_live(request, preview))
        async with asyncio.timeout(60):
            for shown, keys in (("F1 more", CTRL_U + "rm x"), ("it changes files", CTRL_C)):
                while shown not in terminal.seen:
                    await asyncio.sleep(0.01)
                terminal.keys.send_text(keys)
            await answered

    asyncio.run(ask())
    assert "only known when it runs" not in terminal.seen
    assert terminal.seen.count("it changes files") == 1, "the line below does not say it again"


def test_above_the_word_stands_what_the_first_question_did_not_say(
    terminal: FakeTerminal, processes: FakeProcesses
) -> None:
    first = request_for("rm x", "high", note="look twice")
    second = replace(first, note="look twice\nand once more")
    other = replace(first, report=report_of("rm y", "high", "it does another thing"), draft="rm y")

    async def ask(word: ConfirmationRequest) -> str | None:
        await confirmer(terminal, processes).confirm(first)
        return await confirmer(terminal, processes).ask_word(word)

    for word, once, twice in (
        (second, "and once more", ()),
        (other, "it does another thing", ()),
        (replace(first, proposal=replace(first.proposal, command_id="g.2")), "will run: ", ("it changes files",)),
    ):
        before = len(terminal.seen)
        assert typed(terminal, lambda word=word: ask(word), ENTER, "proceed" + ENTER) == "proceed"
        seen = terminal.seen[before:]
        assert once in seen and seen.count("look twice") == 1 + bool(twice)
        assert seen.count("it changes files") == 1 + bool(twice)


def test_hidden_characters_are_written_out_and_kept(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    command = "echo a\u202eb\u200bc\x1b[31m\x07"
    assert answer(terminal, processes, request_for(command), ENTER) == Approved(command=command)
    assert "<U+202E>" in terminal.seen
    assert "<U+200B>" in terminal.seen
    assert "\u202e" not in terminal.raw
    assert "^[[31m" in terminal.seen


def test_editor_gets_a_private_file_and_its_text_comes_back(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    modes: list[int] = []

    def edit(path: str) -> None:
        modes.extend((stat.S_IMODE(os.stat(path).st_mode), stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)))
        with open(path, "w") as file:
            file.write("echo from editor\n")

    processes.edit = edit
    assert answer(terminal, processes, request_for("ls"), F7, ENTER) == Approved(command="echo from editor")
    assert modes == [0o600, 0o700]
    assert processes.calls[0][:2] == ("my-editor", "--wait")
    assert not os.path.exists(processes.calls[0][2])


def test_failing_editor_changes_nothing(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    processes.code = 1
    assert answer(terminal, processes, request_for("ls"), "\x18\x05", ENTER) == Approved(command="ls")
    assert "exit code 1" in terminal.seen


def test_explain_shows_findings_of_the_edited_text(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    answer(terminal, processes, request_for("ls"), CTRL_U + "rm x", F2, CTRL_C)
    assert "test.rule" in terminal.seen


@pytest.mark.parametrize("mode", ["vi", "emacs"])
def test_edit_modes(terminal: FakeTerminal, processes: FakeProcesses, mode: str) -> None:
    assert answer(terminal, processes, request_for("ls"), " x" + ENTER, edit_mode=mode) == Approved(command="ls x")


def test_vi_keys(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    assert answer(terminal, processes, request_for("ls foo"), "\x1b", "0dw", ENTER, edit_mode="vi") == Approved(
        command="foo"
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("command", ["echo " + "x" * 200_000, "\n".join(f"echo line {n}" for n in range(500))])
def test_long_commands(terminal: FakeTerminal, processes: FakeProcesses, command: str) -> None:
    assert answer(terminal, processes, request_for(command), "y", ENTER, ENTER) == Approved(command=command + "y")
    assert "long command" in terminal.seen


@pytest.mark.parametrize(("typed", "expected"), [("proceed", "proceed"), ("yes", "yes"), ("", "")])
def test_word(terminal: FakeTerminal, processes: FakeProcesses, typed: str, expected: str) -> None:
    assert ask_word(terminal, processes, typed + ENTER) == expected
    assert "proceed" in terminal.seen
    assert "it changes files" in terminal.seen


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_word_cancelled(terminal: FakeTerminal, processes: FakeProcesses, key: str) -> None:
    assert ask_word(terminal, processes, key) is None


def ask_word(terminal: FakeTerminal, processes: FakeProcesses, keys: str) -> str | None:
    terminal.keys.send_text(keys)
    return asyncio.run(confirmer(terminal, processes).ask_word(request_for("rm -rf /", "high")))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("y" + ENTER, Approved(command="write_file a.py")),
        ("n" + ENTER, Declined()),
        (ENTER, Declined()),
        (CTRL_C, CancelGoal()),
    ],
)
def test_write(terminal: FakeTerminal, processes: FakeProcesses, keys: str, expected: Confirmation) -> None:
    request = request_for("write_file a.py", origin="tool", kind="write", preview="x = 1\n\x1b[2Jy = 2")
    assert answer(terminal, processes, request, keys) == expected
    assert "x = 1" in terminal.seen
    assert "\x1b[2J" not in terminal.raw


def test_closed_input_cancels(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    terminal.keys.close()
    assert asyncio.run(confirmer(terminal, processes).confirm(request_for("rm x"))) == CancelGoal()


def test_cancelled_from_outside(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    async def run() -> None:
        task = asyncio.ensure_future(confirmer(terminal, processes).confirm(request_for("ls")))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
