"""The repeated-failure guard: what brings a note, what brings an error, and what does not count."""

from __future__ import annotations

import pytest

from agent.engine.guard import (
    IDLE_BEFORE_ERROR,
    IDLE_BEFORE_NOTE,
    OK,
    SAME_RESULTS_BEFORE_ERROR,
    SAME_RESULTS_BEFORE_NOTE,
    UNRUN_BEFORE_ERROR,
    UNWANTED_BEFORE_ERROR,
    RepeatGuard,
)
from tests.support.each import each

A = ("make", "all")
B = ("make", "clean")
HERE = "/work"


class Driver:
    """Proposes and runs in one step; a proposal that the guard stops does not run."""

    def __init__(self) -> None:
        self.guard = RepeatGuard()
        self.count = 0

    def run(
        self,
        words: tuple[str, ...],
        code: int = 1,
        output: str | None = None,
        cwd: str = HERE,
        interrupted: bool = False,
    ) -> tuple[str, str | None]:
        verdict = self.guard.before(words, cwd)
        if verdict.kind == "error":
            return "error", verdict.text
        self.count += 1
        text = f"unique {'x' * self.count}" if output is None else output
        return verdict.kind, self.guard.after(words, cwd, code, text, interrupted)


@pytest.mark.covers("S4-19")
def test_two_failures_bring_a_note_and_the_third_proposal_an_error_before_it_runs():
    driver = Driver()
    assert driver.run(A) == ("ok", None)
    kind, note = driver.run(A)
    assert kind == "note"
    assert note is not None and "Do not repeat" in note
    kind, why = driver.run(A)
    assert kind == "error"
    assert why == "the planner proposes a command for the third time that failed 2 times"
    assert driver.count == 2


def test_the_count_survives_other_commands_in_between():
    driver = Driver()
    driver.run(A)
    driver.run(B, code=0)
    driver.run(A)
    driver.run(("ls",), code=0)
    assert driver.run(A)[0] == "error"


def test_a_success_resets_the_count():
    driver = Driver()
    driver.run(A)
    driver.run(A, code=0)
    assert driver.run(A) == ("ok", None)
    driver.run(A)
    assert driver.run(A)[0] == "error"


@pytest.mark.covers("S4-28")
def test_another_directory_is_another_command():
    driver = Driver()
    for folder in ("/a", "/b", "/c", "/d"):
        assert driver.run(A, cwd=folder) == ("ok", None)


def test_interrupted_runs_do_not_count():
    driver = Driver()
    for _ in range(5):
        assert driver.run(A, code=130, interrupted=True) == ("ok", None)
    assert driver.run(A) == ("ok", None)


def test_skipped_proposals_are_no_failures():
    guard = RepeatGuard()
    guard.before(A, HERE)
    verdict = guard.before(A, HERE)
    assert verdict.kind == "note"
    assert "was not run" in verdict.text
    assert guard.after(A, HERE, 1, "first", False) is None


def test_the_same_unwanted_proposal_ends_the_goal():
    guard = RepeatGuard()
    kinds = [guard.before(A, HERE).kind for _ in range(UNWANTED_BEFORE_ERROR + 1)]
    assert kinds[0] == "ok"
    assert kinds[-1] == "error"
    assert "error" not in kinds[:-1]


def test_two_commands_that_take_turns_failing_are_noticed_and_stopped():
    driver = Driver()
    driver.run(A)
    driver.run(B)
    driver.run(A)
    _, note = driver.run(B)
    assert note is not None and "take turns" in note
    assert driver.run(A)[0] == "error"
    assert driver.run(B)[0] == "error"


def test_no_progress_brings_a_note_then_an_error():
    driver = Driver()
    notes = [driver.run(A, code=0, output="3 files")[1] for _ in range(SAME_RESULTS_BEFORE_ERROR + 1)]
    assert notes[:SAME_RESULTS_BEFORE_NOTE] == [None] * SAME_RESULTS_BEFORE_NOTE
    assert all(note is not None and "same results" in note for note in notes[SAME_RESULTS_BEFORE_NOTE:])
    kind, why = driver.run(A, code=0, output="3 files")
    assert kind == "error"
    assert why is not None and "do not change" in why


def test_a_loop_over_several_succeeding_commands_is_no_progress():
    driver = Driver()
    for words in (A, B, ("ls",)):
        driver.run(words, code=0, output="same")
    outcomes = [driver.run(words, code=0, output="same") for words in (A, B, ("ls",), A)]
    assert outcomes[0][1] is None
    assert outcomes[1][1] is not None
    assert driver.run(A, code=0, output="same")[0] == "error"
    assert driver.run(("cat", "x"), code=0, output="new")[0] == "ok"


def test_an_edit_between_equal_test_runs_is_progress():
    driver = Driver()
    for number in range(8):
        assert driver.run(("edit", str(number)), code=0, output="") == ("ok", None)
        assert driver.run(("pytest",), code=0, output="5 passed in 0.1s") == ("ok", None)


def test_polling_until_something_changes_is_not_stopped_early():
    driver = Driver()
    for _ in range(3):
        driver.run(A, code=0, output="waiting")
    assert driver.run(A, code=0, output="ready") == ("ok", None)


@each(
    "outputs",
    [
        ["2026-01-02 10:11:12 failed", "2027-11-30 23:59:59 failed"],
        ["took 1.25 s", "took 17 s"],
        ["[4711] stopped", "[4712] stopped"],
        ["at 0x7ffe12", "at 0xdeadbeef"],
    ],
)
def test_no_progress_sees_through_what_changes_by_itself(outputs: list[str]):
    driver = Driver()
    results = [driver.run(A, code=0, output=outputs[number % 2])[0] for number in range(SAME_RESULTS_BEFORE_ERROR + 2)]
    assert results[-1] == "error"


def test_the_same_message_behind_differing_commands_brings_a_note():
    driver = Driver()
    notes = [driver.run(("cmd", str(n)), code=1, output="permission denied")[1] for n in range(4)]
    assert notes[:2] == [None, None]
    assert notes[2] is not None and "same message" in notes[2]


def test_silent_failures_of_differing_commands_bring_none():
    driver = Driver()
    assert [driver.run(("grep", str(n)), code=1, output="")[1] for n in range(6)] == [None] * 6


def test_a_monologue_is_noticed_and_stopped():
    guard = RepeatGuard()
    kinds = [guard.idle().kind for _ in range(IDLE_BEFORE_ERROR)]
    assert kinds == ["ok"] * (IDLE_BEFORE_NOTE - 1) + ["note"] * (IDLE_BEFORE_ERROR - IDLE_BEFORE_NOTE) + ["error"]


def test_a_run_ends_a_monologue():
    guard = RepeatGuard()
    for _ in range(IDLE_BEFORE_ERROR - 1):
        guard.idle()
    guard.before(A, HERE)
    guard.after(A, HERE, 0, "x", False)
    assert guard.idle() == OK


def test_proposals_of_which_none_runs_are_stopped_late_because_a_person_steers():
    guard = RepeatGuard()
    kinds = [guard.before(("cmd", str(n)), HERE).kind for n in range(UNRUN_BEFORE_ERROR + 1)]
    assert kinds[-1] == "error"
    assert kinds.index("error") == UNRUN_BEFORE_ERROR
    assert kinds[IDLE_BEFORE_NOTE] == "note"


def test_tool_calls_are_words_as_well():
    driver = Driver()
    call = ("tool", "run_tests", "{}")
    driver.run(call)
    driver.run(call)
    assert driver.run(call)[0] == "error"
    assert driver.run(("tool", "run_tests", '{"only":"a"}'))[0] == "ok"


def test_a_refused_error_stays_an_error():
    driver = Driver()
    driver.run(A)
    driver.run(A)
    assert [driver.run(A)[0] for _ in range(3)] == ["error"] * 3
