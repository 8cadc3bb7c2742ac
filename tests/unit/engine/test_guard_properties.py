"""The guard against an independent, slower statement of its rules, over arbitrary sequences."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agent.engine.guard import RepeatGuard, fingerprint, normalise
from tests.support.tries import tries

_words = st.sampled_from([("a",), ("b",), ("b", "-x"), ("tool", "t", "{}")])
_cwd = st.sampled_from(["/x", "/y"])


class GuardMachine(RuleBasedStateMachine):
    """No command ever runs for the third time after two failures without a success in between."""

    @initialize()
    def start(self) -> None:
        self.guard = RepeatGuard()
        self.failures: dict[tuple[tuple[str, ...], str], int] = {}
        self.runs = 0

    @rule(
        words=_words, cwd=_cwd, code=st.sampled_from([0, 0, 1, 2, 124]), interrupted=st.booleans(), fresh=st.booleans()
    )
    def propose_and_run(self, words: tuple[str, ...], cwd: str, code: int, interrupted: bool, fresh: bool) -> None:
        key = (words, cwd)
        verdict = self.guard.before(words, cwd)
        if self.failures.get(key, 0) >= 2:
            assert verdict.kind == "error"
        if verdict.kind == "error":
            assert verdict.text
            return
        self.runs += 1
        note = self.guard.after(words, cwd, code, "z" * self.runs if fresh else "same", interrupted)
        if interrupted:
            assert note is None
            return
        self.failures[key] = self.failures.get(key, 0) + 1 if code else 0
        if self.failures[key] == 2:
            assert note

    @rule(words=_words, cwd=_cwd)
    def propose_and_skip(self, words: tuple[str, ...], cwd: str) -> None:
        verdict = self.guard.before(words, cwd)
        if self.failures.get((words, cwd), 0) >= 2:
            assert verdict.kind == "error"

    @rule()
    def say_nothing(self) -> None:
        assert self.guard.idle().kind in ("ok", "note", "error")

    @invariant()
    def failures_never_pass_two(self) -> None:
        assert all(count <= 2 for count in getattr(self, "failures", {}).values())


GuardMachine.TestCase.settings = settings(max_examples=tries(60), stateful_step_count=30, deadline=None)
TestGuardMachine = GuardMachine.TestCase


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.tuples(_words, st.sampled_from([0, 1])), max_size=60))
def test_every_endless_loop_over_a_few_commands_ends(steps: list[tuple[tuple[str, ...], int]]):
    """However a planner orders a handful of commands with unchanging results, it is stopped within a bound."""
    guard = RepeatGuard()
    ran = 0
    for words, code in steps:
        if guard.before(words, "/").kind == "error":
            break
        ran += 1
        guard.after(words, "/", code, f"result of {words} {code}", False)
    assert ran <= 8 * 4 + 4


@settings(deadline=None)
@given(st.text(max_size=400))
def test_normalising_is_stable_enough_to_compare(text: str):
    assert fingerprint(text) == fingerprint(text)
    assert fingerprint(text + "\n") == fingerprint(text)
    assert isinstance(normalise(text), str)


@settings(deadline=None)
@given(st.datetimes(), st.integers(2, 99_999), st.floats(0, 1000))
def test_times_pids_and_durations_do_not_tell_outputs_apart(when, pid: int, seconds: float):
    text = f"{when.isoformat()} build[{pid}]: done in {seconds:.2f}s"
    assert fingerprint(text) == fingerprint("2026-11-21T22:11:02 build[1]: done in 0.00s")


def test_plain_numbers_do_tell_outputs_apart():
    assert fingerprint("12 files") != fingerprint("13 files")
    assert fingerprint("exit 1") != fingerprint("exit 2")


def test_examples_of_what_is_ignored():
    same = [
        ("Sat Nov 21 22:11:02 UTC 2026", "Sun Nov 22 01:00:00 UTC 2026"),
        ("attempt 3 failed", "attempt 4 failed"),
        ("pid 12: gone", "pid 13: gone"),
        ("50% done", "75 % done".replace(" %", "%")),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174fff"),
        ("/tmp/tmp.AbC123/x", "/tmp/tmp.Zz9/x"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("since 1760000000", "since 1760000999"),
        ("a   b\t c", "a b c"),
    ]
    for left, right in same:
        assert fingerprint(left) == fingerprint(right), (left, right)


def test_a_flood_costs_bounded_work_and_keeps_its_ends():
    flood = "line\n" * 2_000_000
    assert fingerprint(flood + "error A") != fingerprint(flood + "error B")
