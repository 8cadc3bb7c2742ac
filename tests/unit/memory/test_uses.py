"""What one goal of a log teaches."""

from __future__ import annotations

from agent.memory.uses import PastGoal, RanCommand, Use, runs_of, uses_of


def ran(
    run: str,
    exit_code: int | None = 0,
    *,
    proposed: str = "",
    by: str = "person",
    origin: str = "planner",
    outcome: str = "ran",
) -> RanCommand:
    return RanCommand(proposed or run, run, origin, "/w", 7, 1, outcome, by, exit_code)


def uses(
    *commands: RanCommand, text: str = "do it", origin: str = "goal", status: str = "completed"
) -> list[tuple[str, str]]:
    found = uses_of(PastGoal(text, origin, status, "m", commands), lambda command, code: code == 0)
    return [(use.command, use.kind) for use in found]


def test_one_command_that_worked_teaches() -> None:
    assert uses(ran("ls")) == [("ls", "taught")]
    goal = PastGoal("do it", "goal", "completed", "m", (ran("ls -a", proposed="ls"),))
    assert uses_of(goal, lambda command, code: True) == [
        Use("ls -a", "taught", True, "/w", 7, 1, chosen=True),
        Use("ls", "refused", False, "/w", 7, 1),
    ]


def test_a_correction_teaches_what_worked_in_the_end() -> None:
    assert uses(ran("gti x", 127), ran("git x")) == [("gti x", "failed"), ("git x", "taught")]
    assert uses(ran("sort a.txt", 2), ran("sort b.txt"), text="sort a.txt") == [("sort a.txt", "failed")]


def test_several_that_worked_teach_none_of_them() -> None:
    assert uses(ran("ls"), ran("cat x")) == []
    assert uses(ran("cat x"), ran("ls", 1)) == [("ls", "failed")]


def test_nobody_asked_teaches_nothing_by_itself() -> None:
    assert uses(ran("ls", by="approve-mode")) == [("ls", "ran")]
    assert uses(ran("ls", by="policy")) == [("ls", "ran")]


def test_what_is_no_goal_or_did_not_end_well_teaches_nothing() -> None:
    assert uses(ran("ls"), origin="shell") == []
    assert uses(ran("ls"), origin="continuation") == []
    assert uses(ran("ls", origin="replay")) == []
    assert uses(ran("ls", None)) == []
    assert uses(ran("ls", outcome="skipped")) == []
    for status in ("open", "failed", "cancelled", "interrupted"):
        assert uses(ran("ls"), status=status) == []


def test_signals_and_time_outs_say_nothing() -> None:
    assert uses(ran("ls", 130)) == []
    assert uses(ran("ls", 124)) == []
    assert runs_of([ran("ls", 137), ran("ls", 124), ran("x", 1)], lambda command, code: False)[0].command == "x"


def test_what_is_true_of_a_moment_is_not_remembered() -> None:
    for command in ("kill 4711", "git show 1a2b3c4d", "find . -newermt 2026-11-12", "cat /tmp/tmp.Xy12", "echo 123456"):
        assert uses(ran(command)) == []
        assert uses(ran(command), text=f"do it with {command.split()[-1]}") == [(command, "taught")]
    assert uses(ran("awk '{s+=$1} END {print s/1048576}' f")) != []


def test_what_is_about_the_command_before_it_means_nothing_later() -> None:
    for text in ("fix it", "why did that fail?", "explain the error"):
        assert uses(ran("cat people.csv"), text=text) == []
    assert uses(ran("cat people.csv"), text="show people.csv") != []


def test_secrets_and_what_cannot_be_shown_are_not_remembered() -> None:
    assert uses(ran("curl -H [redacted:token:1a2b] x")) == []
    assert uses(ran("ls"), text="use [redacted:token:1a2b]") == []
    assert uses(ran("ls \x1b[2J")) == []
    assert uses(ran("ls \u202e")) == []
    assert uses(ran("ls"), text="two\nlines") == []
    assert uses(ran("ls"), text="x" * 500) == []
    assert uses(ran("y" * 3_000)) == []


def test_what_was_taken_instead_of_another_is_a_choice() -> None:
    goal = PastGoal("do it", "goal", "completed", "m", (ran("ls", None, outcome="regenerate"), ran("ls -a")))
    assert uses_of(goal, lambda command, code: True) == [
        Use("ls -a", "taught", False, "/w", 7, 1, chosen=True),
        Use("ls", "refused", False, "/w", 7, 1),
    ]
    assert uses(ran("ls", None, outcome="remark"), ran("ls src")) == []
