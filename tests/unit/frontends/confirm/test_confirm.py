"""The confirmation prompt, key by key."""

from __future__ import annotations

import asyncio
import os
import stat

import pytest

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.protocol.decisions import (
    Approved,
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    Declined,
    Regenerate,
    Remark,
    Skipped,
)
from tests.support.prompt_desk import Desk, FakeProcesses, rate_by_word, request_for, typed

CTRL_U, CTRL_C, CTRL_D, ENTER, ALT_ENTER = "\x15", "\x03", "\x04", "\r", "\x1b\r"
F1, F2, F3, F4, F5, F7, F10 = "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[18~", "\x1b[21~"


def confirmer(desk: Desk, processes: FakeProcesses, **options: str) -> PromptConfirmer:
    environ = {"EDITOR": "my-editor --wait", "HOME": "/nowhere"}
    return PromptConfirmer(desk.screen, processes, environ, rate_by_word, **options)


def answer(
    desk: Desk, processes: FakeProcesses, request: ConfirmationRequest, *keys: str, **options: str
) -> Confirmation:
    """Type `keys` once the prompt stands: each part after the one before was read."""
    return typed(desk, lambda: confirmer(desk, processes, **options).confirm(request), *keys)


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
def test_keys(desk: Desk, processes: FakeProcesses, keys: tuple[str, ...], expected: Confirmation) -> None:
    assert answer(desk, processes, request_for("cp a b"), *keys) == expected


def test_pasted_lines_do_not_run(desk: Desk, processes: FakeProcesses) -> None:
    pasted = "\x1b[200~; echo one\r\necho two\n\x1b[201~"
    got = answer(desk, processes, request_for("true"), pasted, "#" + ENTER)
    assert got == Approved(command="true; echo one\necho two\n#")


def test_own_command_has_no_planner_to_remark_to(desk: Desk, processes: FakeProcesses) -> None:
    assert answer(desk, processes, request_for("ls", origin="person"), F5, F4, ENTER) == Approved(command="ls")


def test_keys_typed_before_the_prompt_are_not_its_answer(desk: Desk, processes: FakeProcesses) -> None:
    from prompt_toolkit.input.typeahead import store_typeahead
    from prompt_toolkit.key_binding.key_processor import KeyPress
    from prompt_toolkit.keys import Keys

    store_typeahead(desk.screen.input, [KeyPress(Keys.ControlM, "\r")])
    assert answer(desk, processes, request_for("rm x"), CTRL_C) == CancelGoal()


def test_level_reason_and_why_are_words_on_the_screen(desk: Desk, processes: FakeProcesses) -> None:
    answer(
        desk, processes, request_for("rm -r build", "high", why="frees space", safety_off=True, is_root=True), CTRL_C
    )
    for words in ("high risk", "it changes files", "why: frees space", "safety is off", "as root", "SAFETY OFF"):
        assert words in desk.seen


def test_badge_follows_the_text_and_says_edited(desk: Desk, processes: FakeProcesses) -> None:
    answer(desk, processes, request_for("cp a b"), CTRL_U + "rm x", CTRL_C)
    assert "medium ❯" in desk.seen
    assert "high edited ❯" in desk.seen


def test_hidden_characters_are_written_out_and_kept(desk: Desk, processes: FakeProcesses) -> None:
    command = "echo a\u202eb\u200bc\x1b[31m\x07"
    assert answer(desk, processes, request_for(command), ENTER) == Approved(command=command)
    assert "<U+202E>" in desk.seen
    assert "<U+200B>" in desk.seen
    assert "\u202e" not in desk.raw
    assert "^[[31m" in desk.seen


def test_editor_gets_a_private_file_and_its_text_comes_back(desk: Desk, processes: FakeProcesses) -> None:
    modes: list[int] = []

    def edit(path: str) -> None:
        modes.extend((stat.S_IMODE(os.stat(path).st_mode), stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)))
        with open(path, "w") as file:
            file.write("echo from editor\n")

    processes.edit = edit
    assert answer(desk, processes, request_for("ls"), F7, ENTER) == Approved(command="echo from editor")
    assert modes == [0o600, 0o700]
    assert processes.calls[0][:2] == ("my-editor", "--wait")
    assert not os.path.exists(processes.calls[0][2])


def test_failing_editor_changes_nothing(desk: Desk, processes: FakeProcesses) -> None:
    processes.code = 1
    assert answer(desk, processes, request_for("ls"), "\x18\x05", ENTER) == Approved(command="ls")
    assert "exit code 1" in desk.seen


def test_explain_shows_findings_of_the_edited_text(desk: Desk, processes: FakeProcesses) -> None:
    answer(desk, processes, request_for("ls"), CTRL_U + "rm x", F2, CTRL_C)
    assert "test.rule" in desk.seen


@pytest.mark.parametrize("mode", ["vi", "emacs"])
def test_edit_modes(desk: Desk, processes: FakeProcesses, mode: str) -> None:
    assert answer(desk, processes, request_for("ls"), " x" + ENTER, edit_mode=mode) == Approved(command="ls x")


def test_vi_keys(desk: Desk, processes: FakeProcesses) -> None:
    assert answer(desk, processes, request_for("ls foo"), "\x1b", "0dw", ENTER, edit_mode="vi") == Approved(
        command="foo"
    )


@pytest.mark.parametrize("command", ["echo " + "x" * 200_000, "\n".join(f"echo line {n}" for n in range(500))])
def test_long_commands(desk: Desk, processes: FakeProcesses, command: str) -> None:
    assert answer(desk, processes, request_for(command), "y", ENTER, ENTER) == Approved(command=command + "y")
    assert "a long command" in desk.seen


@pytest.mark.parametrize(("typed", "expected"), [("proceed", "proceed"), ("yes", "yes"), ("", "")])
def test_word(desk: Desk, processes: FakeProcesses, typed: str, expected: str) -> None:
    assert ask_word(desk, processes, typed + ENTER) == expected
    assert "proceed" in desk.seen
    assert "it changes files" in desk.seen


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_word_cancelled(desk: Desk, processes: FakeProcesses, key: str) -> None:
    assert ask_word(desk, processes, key) is None


def ask_word(desk: Desk, processes: FakeProcesses, keys: str) -> str | None:
    desk.keys.send_text(keys)
    return asyncio.run(confirmer(desk, processes).ask_word(request_for("rm -rf /", "high")))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("y" + ENTER, Approved(command="write_file a.py")),
        ("n" + ENTER, Declined()),
        (ENTER, Declined()),
        (CTRL_C, CancelGoal()),
    ],
)
def test_write(desk: Desk, processes: FakeProcesses, keys: str, expected: Confirmation) -> None:
    request = request_for("write_file a.py", origin="tool", kind="write", preview="x = 1\n\x1b[2Jy = 2")
    assert answer(desk, processes, request, keys) == expected
    assert "x = 1" in desk.seen
    assert "\x1b[2J" not in desk.raw


def test_closed_input_cancels(desk: Desk, processes: FakeProcesses) -> None:
    desk.keys.close()
    assert asyncio.run(confirmer(desk, processes).confirm(request_for("rm x"))) == CancelGoal()


def test_cancelled_from_outside(desk: Desk, processes: FakeProcesses) -> None:
    async def run() -> None:
        task = asyncio.ensure_future(confirmer(desk, processes).confirm(request_for("ls")))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
