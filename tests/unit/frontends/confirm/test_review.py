"""What is shown after a rehearsal, and which keys make it real: one, and never by accident."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.frontends.confirm.plain_confirm import PlainConfirmer
from agent.protocol.confinement import Confinement, Confining
from agent.protocol.confirmations import (
    Approved,
    CancelGoal,
    Commit,
    Confirmation,
    ConfirmationRequest,
    Discard,
    EditAgain,
    Rehearse,
    Review,
    Skipped,
)
from agent.protocol.rehearsals import Change, Rehearsal
from agent.risk.classifier import classify
from tests.support.fake_rehearser import ADDED, FILE, rehearsal_of
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, rate_by_word, request_for, typed
from tests.support.fakes import failing

ENTER, CTRL_C, CTRL_U, F1, F9, ALT_R = "\r", "\x03", "\x15", "\x1bOP", "\x1b[20~", "\x1br"
OFFLINE = "network: curl wanted it; rehearse with the network on to allow it"


def confirmer(terminal: FakeTerminal, processes: FakeProcesses) -> PromptConfirmer:
    return PromptConfirmer(terminal.screen, processes, {"HOME": "/nowhere"}, rate_by_word)


def confirm(terminal: FakeTerminal, processes: FakeProcesses, request: ConfirmationRequest, *keys: str) -> Confirmation:
    return typed(terminal, lambda: confirmer(terminal, processes).confirm(request), *keys)


def review(
    terminal: FakeTerminal, processes: FakeProcesses, rehearsal: Rehearsal, *keys: str, level: str = "medium"
) -> Review:
    request = request_for(rehearsal.command, level)
    return typed(terminal, lambda: confirmer(terminal, processes).review(request, rehearsal), *keys)


@pytest.mark.parametrize("key", [F9, ALT_R])
def test_a_key_rehearses_what_stands_in_the_prompt(terminal: FakeTerminal, processes: FakeProcesses, key: str) -> None:
    request = replace(request_for("cp a b"), rehearsal="ask")
    assert confirm(terminal, processes, request, " c" + key) == Rehearse(command="cp a b c")
    assert "F9 rehearse" in terminal.seen


def test_a_blank_line_is_skipped_not_rehearsed(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    request = replace(request_for("cp a b"), rehearsal="ask")
    assert confirm(terminal, processes, request, CTRL_U + F9) == Skipped()


def test_the_key_does_nothing_where_nothing_can_be_rehearsed(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    assert confirm(terminal, processes, request_for("cp a b"), F9, ENTER) == Approved(command="cp a b")
    assert "F9 rehearse" not in terminal.seen


def test_auto_says_what_enter_does(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    request = replace(request_for("cp a b"), rehearsal="auto")
    assert confirm(terminal, processes, request, ENTER) == Approved(command="cp a b")
    assert "Enter rehearses" in terminal.seen


def test_the_prompt_comes_back_with_the_edited_text(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    request = replace(request_for("cp a b"), draft="cp a c", note="not committed: files were changed\n/a: written to")
    assert confirm(terminal, processes, request, ENTER) == Approved(command="cp a c")
    assert "edited" in terminal.seen
    assert "/a: written to" in terminal.seen


@pytest.mark.parametrize(
    ("rehearsal", "said"),
    [("no", "cannot be undone: network"), ("ask", "undo only after a rehearsal (F9): network"), ("auto", "")],
)
def test_what_a_rehearsal_makes_undoable_is_not_said_to_be_lost(
    terminal: FakeTerminal, processes: FakeProcesses, rehearsal: str, said: str
) -> None:
    confirm(
        terminal,
        processes,
        replace(request_for("cp a b"), undo="cannot be undone: network", rehearsal=rehearsal),
        CTRL_C,
    )
    assert said in terminal.seen
    assert ("undo" in terminal.seen) is bool(said)


def test_help_names_the_key(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    confirm(terminal, processes, replace(request_for("cp a b"), rehearsal="ask"), F1, CTRL_C)
    assert "Alt-r" in terminal.seen


def test_help_does_not_name_the_key_where_a_rehearsal_tells_nothing(
    terminal: FakeTerminal, processes: FakeProcesses
) -> None:
    request = replace(request_for("python3 -q"), report=classify("python3 -q"), rehearsal="ask")
    confirm(terminal, processes, request, F1, CTRL_C)
    assert "Alt-e" in terminal.seen
    assert "F9" not in terminal.seen


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("c" + ENTER,), Commit()),
        (("commit" + ENTER,), Commit()),
        (("C" + ENTER,), Commit()),
        (("e" + ENTER,), EditAgain()),
        (("d" + ENTER,), Discard()),
        ((CTRL_C,), CancelGoal()),
        (("\x04",), CancelGoal()),
        ((ENTER, ENTER, "d" + ENTER), Discard()),
        (("yes" + ENTER, "y" + ENTER, "d" + ENTER), Discard()),
        (("n" + ENTER, "d" + ENTER), Discard()),
        (("v" + ENTER, "c" + ENTER), Commit()),
    ],
)
def test_letters(terminal: FakeTerminal, processes: FakeProcesses, keys: tuple[str, ...], expected: Review) -> None:
    assert review(terminal, processes, rehearsal_of("cp a b", ADDED), *keys) == expected


def test_keys_typed_while_it_ran_commit_nothing(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    from prompt_toolkit.input.typeahead import store_typeahead
    from prompt_toolkit.key_binding.key_processor import KeyPress
    from prompt_toolkit.keys import Keys

    store_typeahead(terminal.screen.input, [KeyPress("c"), KeyPress(Keys.ControlM, "\r")])
    assert review(terminal, processes, rehearsal_of("cp a b", ADDED), "d" + ENTER) == Discard()


def test_the_list_the_diff_and_the_totals_are_shown(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    gone = Change(path="/work/old", op="delete", kind="file", before=FILE)
    wide = Change(path="/etc/x", op="create", kind="file", after=replace(FILE, mode=0o4777), flags=("setuid",))
    review(terminal, processes, rehearsal_of("cp a b", ADDED, gone, wide, not_shown=("sockets",)), "d" + ENTER)
    for words in (
        "+ new",
        "- old",
        "+ /etc/x",
        "[setuid]",
        "+hi",
        "not shown: sockets",
        "3 changes",
        "nothing was changed",
    ):
        assert words in terminal.seen, words


def test_what_no_rehearsal_shows_is_said_once(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    seen = rehearsal_of("cp a b", ADDED, not_shown=("sockets", "not part of any rehearsal: services"))
    review(terminal, processes, seen, "d" + ENTER)
    review(terminal, processes, seen, "d" + ENTER)
    review(terminal, processes, seen, "v" + ENTER, "d" + ENTER)
    assert terminal.seen.count("Not isolated: ") == terminal.seen.count("services") == 1
    assert terminal.seen.count("not shown: sockets") == 4
    more = rehearsal_of(
        "cp a b", ADDED, not_shown=("not part of any rehearsal: services", "not part of any rehearsal: links")
    )
    review(terminal, processes, more, "d" + ENTER)
    assert "Not isolated: links" in terminal.seen


def test_a_failed_command_says_so_first(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    assert review(terminal, processes, rehearsal_of("cp a b", ADDED, result=failing(3)), "c" + ENTER) == Commit()
    assert "it failed in the rehearsal (exit 3)" in terminal.seen


def test_names_and_contents_cannot_draw_on_the_terminal(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    hostile = replace(ADDED, path="/work/a\x1b]0;x\x07\n\u202eb\udcff", diff="@@ -0,0 +1 @@\n+\x1b[2J\x9b31mx\r+y\n")
    review(terminal, processes, rehearsal_of("cp \x1b[8ma", hostile), "d" + ENTER)
    for raw in ("\x1b]0;x", "\x1b[2J", "\u202e", "\x9b", "\x1b[8m", "\udcff"):
        assert raw not in terminal.raw.replace("\x1b[2J\x1b", ""), raw
    assert "<U+202E>" in terminal.seen


def test_nothing_that_was_not_shown_is_committed(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    many = tuple(replace(ADDED, path=f"/work/f{number:03}") for number in range(200))
    assert review(terminal, processes, rehearsal_of("cp a b", *many), "c" + ENTER, "d" + ENTER) == Discard()
    assert "this was all of it; c commits it now" in terminal.seen


def test_one_that_would_change_nothing_is_done_with_enter(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    assert review(terminal, processes, rehearsal_of("ls"), ENTER) == Commit()
    assert "it would change nothing" in terminal.seen


def test_but_not_where_it_wanted_the_network(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    again = Rehearse(command="curl x", network=True)
    assert review(terminal, processes, rehearsal_of("curl x", not_shown=(OFFLINE,)), ENTER, "n" + ENTER) == again


def test_an_obstacle_leaves_nothing_to_commit(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    stuck = rehearsal_of("cp a b", ADDED, obstacle="it would write more than 20,000 files")
    assert review(terminal, processes, stuck, "c" + ENTER, "d" + ENTER) == Discard()
    assert "cannot be committed" in terminal.seen


@pytest.mark.parametrize(("mode", "expected"), [("workspace", Discard()), ("off", Commit())])
def test_what_confinement_keeps_out_cannot_be_committed(
    terminal: FakeTerminal, processes: FakeProcesses, mode: Confinement, expected: Review
) -> None:
    confining = Confining(mode=mode, workspace="/elsewhere")
    request = replace(request_for("cp a b"), confining=confining)
    outside = rehearsal_of("cp a b", ADDED)
    keys = ("c" + ENTER, "d" + ENTER)
    assert typed(terminal, lambda: confirmer(terminal, processes).review(request, outside), *keys) == expected
    assert ("c commit" in terminal.seen) is (mode == "off")
    assert ("it cannot be committed" in terminal.seen) is (mode == "workspace")


def test_a_high_one_says_that_the_word_is_asked_for(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    review(terminal, processes, rehearsal_of("rm x", ADDED), "d" + ENTER, level="high")
    assert "c commit (asks for the word)" in terminal.seen


def test_a_high_one_that_would_change_nothing_asks_for_it_too_and_says_so(
    terminal: FakeTerminal, processes: FakeProcesses
) -> None:
    assert review(terminal, processes, rehearsal_of("kill 1"), ENTER, level="high") == Commit()
    assert "with what it printed (asks for the word)" in terminal.seen


@pytest.mark.parametrize(("line", "expected"), [("r", Rehearse(command="cp a b")), ("y", Approved(command="cp a b"))])
def test_dumb_terminals_rehearse_with_a_line(
    terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch, line: str, expected: Confirmation
) -> None:
    async def answer(screen: object, question: str) -> str:
        assert "r rehearse" in question
        return line

    monkeypatch.setattr("agent.frontends.confirm.plain_confirm.read_plain_line", answer)
    request = replace(request_for("cp a b"), rehearsal="ask")
    assert asyncio.run(PlainConfirmer(terminal.screen).confirm(request)) == expected


@pytest.mark.parametrize("dumb", [False, True])
def test_what_would_be_left_in_the_shell_is_seen_before_the_key(
    terminal: FakeTerminal, processes: FakeProcesses, monkeypatch: pytest.MonkeyPatch, dumb: bool
) -> None:
    asked: list[str] = []

    async def answer(_screen: object, question: str) -> str:
        asked.append(question)
        return ""

    if dumb:
        terminal.screen = replace(terminal.screen, dumb=True)
        monkeypatch.setattr("agent.frontends.confirm.questions.read_plain_line", answer)
    left = rehearsal_of("f", shell=("function ls\x1b[2J", "folder /x"))
    assert review(terminal, processes, left, ENTER) == Commit()
    question = asked[0] if dumb else terminal.seen
    assert "also in the shell: function ls\u241b[2J; folder /x" in " ".join(terminal.seen.split())
    assert "with what it printed and left in the shell" in " ".join(question.split())


def test_all_of_it_ends_its_lines_between_words(terminal: FakeTerminal, processes: FakeProcesses) -> None:
    seen = rehearsal_of("cp a b", ADDED, not_shown=("not part of any rehearsal: " + "services and devices, " * 9,))
    review(terminal, processes, seen, "v" + ENTER, "d" + ENTER)
    told = [line for line in terminal.seen.splitlines() if "devices" in line]
    assert len(told) >= 3
    assert all(len(line) < 80 for line in told)
