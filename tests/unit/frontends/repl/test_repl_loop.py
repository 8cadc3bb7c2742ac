"""The REPL's loop over the real engine, keys from a pipe."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.commands.info import help_text
from agent.frontends.repl.repl import run_repl
from agent.protocol.errors import PlannerError
from agent.protocol.events.goal import GoalFinished
from agent.protocol.events.session import SessionChanged
from tests.support.fake_terminal import FakeTerminal, typed
from tests.support.fakes import FakePlanner, FakeRecorder, ok, run, say
from tests.support.front_services import SlowExecutor, World, interrupt

Do = str | Callable[[], None]


def go(terminal: FakeTerminal, world: World, *steps: Do) -> int:
    """Run the REPL; each step is typed (or called) when the program waits for keys again."""
    return typed(terminal, lambda: run_repl(world.services, terminal.screen), *steps, pause=0.06)


def finished(world: World, session: int = -1) -> list[tuple[str, str]]:
    recorder = world.contexts[session].recorder
    assert isinstance(recorder, FakeRecorder)
    return [(event.goal, event.status) for event in recorder.only(GoalFinished)]  # type: ignore[attr-defined]


@pytest.mark.few(2)
@pytest.mark.parametrize("good_bye", ["exit\r", "quit\r", ":q\r", "\x04"])
def test_leaving(terminal: FakeTerminal, tmp_path: Path, good_bye: str) -> None:
    world = World(FakePlanner(say()), tmp_path)
    assert go(terminal, world, good_bye) == 0
    assert world.shut == 1
    assert world.warmed == 1
    assert world.contexts[0].closed


def test_goal_command_confirmation_answer(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(run("ls", "to see"), say("that is all")), tmp_path)
    world.executor._results["ls"] = ok("a.txt\n")
    assert go(terminal, world, "list files\r", "\r", "exit\r") == 0
    assert [command.command for command in world.executor.ran] == ["ls"]
    assert finished(world) == [("list files", "completed")]


def test_ctrl_c_at_the_goal_prompt_clears_and_never_leaves(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    assert go(terminal, world, "half a goal", "\x03", "\x03", "real goal\r", "exit\r") == 0
    assert finished(world) == [("real goal", "answered")]


def test_own_command_asks_and_high_asks_for_the_word(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    go(terminal, world, "!danger now\r", "\r", "yes\r", "!danger now\r", "\r", "proceed\r", "exit\r")
    assert len(world.executor.ran) == 1
    assert [status for _, status in finished(world)] == ["skipped", "completed"]


def test_safety_is_per_session_recorded_and_visible(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    go(terminal, world, ":safety off\r", "!danger\r", "\r", ":safety on\r", ":safety\r", ":safety maybe\r", "exit\r")
    assert len(world.executor.ran) == 1
    recorder = world.contexts[0].recorder
    assert isinstance(recorder, FakeRecorder)
    assert recorder.only(SessionChanged) == [
        SessionChanged(key="safety", before="on", to="off"),
        SessionChanged(key="safety", before="off", to="on"),
    ]
    assert "SAFETY OFF ❯" in terminal.seen
    assert "takes on or off" in terminal.seen


def test_sessions(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    go(
        terminal,
        world,
        "one\r",
        ":session\r",
        ":new\r",
        "two\r",
        ":session old\r",
        ":session missing\r",
        ":session old\r",
        "exit\r",
    )
    assert [context.session_id for context in world.contexts] == ["s1", "s2", "old"]
    assert finished(world, 0) == [("one", "answered")]
    assert finished(world, 1) == [("two", "answered")]
    assert all(context.closed for context in world.contexts)
    for words in ("session  s1", "answered", "new session s2", "no session called 'missing'", "this is session old"):
        assert words in terminal.seen


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (":help\r", "!COMMAND"),
        (":history\r", "no goals yet"),
        (":model\r", "fake-1"),
        (":info nothing\r", "try one of"),
        (":copy\r", ""),
        (":new now\r", "takes no argument"),
    ],
)
def test_commands(terminal: FakeTerminal, tmp_path: Path, line: str, words: str) -> None:
    world = World(FakePlanner(say()), tmp_path)
    assert go(terminal, world, line, "exit\r") == 0
    assert words in terminal.seen


def test_help_fits_an_ordinary_window() -> None:
    """80 columns, 24 rows, less the prompt and its toolbar: what starts a pager is not read."""
    lines = help_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 22


def test_history_shows_goals_and_commands(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(run("change it"), say()), tmp_path)
    go(terminal, world, "do\r", "\r", ":history\r", "exit\r")
    assert "1. do  [completed]" in terminal.seen
    assert "$ change it  [medium, exit 0]" in terminal.seen


def test_planner_errors_do_not_end_the_repl(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(PlannerError("no sense"), say()), tmp_path)
    assert go(terminal, world, "one\r", "two\r", "exit\r") == 0
    assert [status for _, status in finished(world)] == ["planner_error", "answered"]


@pytest.mark.parametrize(
    "goal", ["\x1b[200~first\n  second\x1b[201~", "größe 漢字 e\u0301", "\x1b[200~" + "x" * 100_000 + "\x1b[201~"]
)
def test_odd_goals_arrive_as_typed(terminal: FakeTerminal, tmp_path: Path, goal: str) -> None:
    world = World(FakePlanner(say()), tmp_path)
    go(terminal, world, goal + "\r", "exit\r")
    assert finished(world)[0][0] == goal.replace("\x1b[200~", "").replace("\x1b[201~", "")


def test_interrupt_while_a_command_runs_ends_the_goal_only(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path, executor=SlowExecutor(interrupt))
    assert go(terminal, world, "!sleep\r", "\r", "exit\r") == 0
    assert finished(world) == [("sleep", "interrupted")]


@pytest.mark.few(2)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("moment", ["prompt", "confirmation", "run"])
def test_ending_signals(terminal: FakeTerminal, tmp_path: Path, number: signal.Signals, code: int, moment: str) -> None:
    end = lambda: os.kill(os.getpid(), number)  # noqa: E731
    executor = SlowExecutor(end) if moment == "run" else None
    world = World(FakePlanner(say()), tmp_path, executor=executor)
    steps: dict[str, tuple[Do, ...]] = {"prompt": (end,), "confirmation": ("!ls\r", end), "run": ("!ls\r", "\r")}
    assert go(terminal, world, *steps[moment]) == code
    assert world.shut == 1
    assert world.contexts[0].closed
    started = [name for name in world.types if name.endswith(".started")]
    assert sorted(name.replace("started", "finished") for name in started) == sorted(
        name for name in world.types if name.endswith(".finished")
    )


def test_lost_input_leaves(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    assert go(terminal, world, terminal.keys.close) == 0


def test_secrets_and_private_lines_stay_out_of_the_history(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    go(terminal, world, "use hunter2-secret\r", "!!ls\r", "\x03", " blank in front\r", "exit\r")
    text = (tmp_path / "state" / "agent-shell" / "history.jsonl").read_text()
    assert "[redacted]" in text
    assert "hunter2" not in text
    assert "ls" not in text
    assert "blank" not in text


def test_files_go_with_the_first_goal(terminal: FakeTerminal, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    planner = FakePlanner(say())
    world = World(planner, tmp_path, file=("a.txt",))
    go(terminal, world, "what?\r", "again?\r", "exit\r")
    files = [getattr(item, "files", ()) for item in planner.requests[-1].history if type(item).__name__ == "GoalItem"]
    assert [len(given) for given in files] == [1, 0]


def test_commands_that_ran_are_offered_to_the_shell(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path, shell_history=True)
    go(terminal, world, "!ls -l\r", "!change x\r", "\x03", "exit\r")
    assert (tmp_path / ".bash_history").read_text() == "ls -l\n"


def test_what_is_kept_out_of_histories_is_not_offered_to_the_shell(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path, shell_history=True, approve="low")
    go(terminal, world, "!!ls -a\r", " !ls -b\r", "!ls -l\r", "exit\r")
    assert (tmp_path / ".bash_history").read_text() == "ls -l\n"


def test_colours_change_at_once(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say()), tmp_path)
    go(terminal, world, ":set theme light\r", ":set theme pink\r", "exit\r")
    assert terminal.screen.theme == "light"


def test_lines_after_a_cleared_line_each_have_their_enter(terminal: FakeTerminal, tmp_path: Path) -> None:
    world = World(FakePlanner(say("a"), say("b")), tmp_path)
    terminal.screen.dead_time = 0.18
    terminal.screen.set_aside("typed too early")
    go(terminal, world, "\x03first thing\rsecond thing\r", "exit\r")
    assert [goal for goal, _ in finished(world)] == ["first thing", "second thing"]
