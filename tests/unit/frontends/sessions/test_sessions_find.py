"""`sessions list`, `search` and `stats` through their public door."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.emitters.streams import MemorySink
from agent.frontends.sessions import list as list_action
from agent.frontends.sessions import search as search_action
from agent.frontends.sessions import stats as stats_action
from agent.protocol.errors import InvalidRequest
from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionStarted
from agent.protocol.records import Record
from benchmarks.audit_logs import write_sessions
from tests.support.pictured_session import hostile, pictured
from tests.support.session_folder import SessionFolder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SessionFolder:
    folder = SessionFolder(tmp_path_factory.mktemp("made"))
    write_sessions(str(folder.path), goals=120, seed=4, goals_per_session=4)
    return folder


@pytest.fixture
def pictures(tmp_path: Path) -> SessionFolder:
    folder = SessionFolder(tmp_path)
    folder.put(pictured())
    return folder


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> MemorySink:
    """Standard output as a terminal of 80 columns."""
    sink = MemorySink(is_tty=True, columns=80)
    for module in (list_action, search_action, stats_action):
        monkeypatch.setattr(module, "sink_of", lambda stream: sink)
    return sink


def rows(capfd: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def test_sessions_newest_first(made: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert made.run("list", json=True) == 0
    found = rows(capfd)
    began = [str(row["began"]) for row in found]
    assert began == sorted(began, reverse=True) and began[0].endswith("Z")
    assert sum(int(str(row["goals"])) for row in found) == 120
    assert {"session", "date", "bytes", "path", "cwd", "goal", "status", "risk", "duration", "cost"} <= found[0].keys()
    assert made.run("list", "--limit", "3", json=True) == 0
    assert rows(capfd) == found[:3]


def test_goals_of_sessions(made: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert made.run("list", "--goals", json=True) == 0
    found = rows(capfd)
    assert len(found) == 120
    assert made.run("list", "--goals", "--status", "failed", "--status", "skipped", json=True) == 0
    assert rows(capfd) == [row for row in found if row["status"] in ("failed", "skipped")]
    assert made.run("list", "--goals", "--cwd", "/home/user/src", json=True) == 0
    below = [row for row in found if str(row["cwd"]).startswith("/home/user/src/")]
    assert rows(capfd) == below and below
    assert made.run("list", "--goals", "--since", "2026-09-01", "--until", "2026-09-30", json=True) == 0
    assert {str(row["began"])[:7] for row in rows(capfd)} <= {"2026-08", "2026-09", "2026-10"}


def test_the_table_fits_the_screen(made: SessionFolder, screen: MemorySink, capfd: pytest.CaptureFixture[str]) -> None:
    assert made.run("list") == 0
    lines = screen.text.splitlines()
    assert lines[0].split() == ["WHEN", "SESSION", "GOALS", "STATUS", "RISK", "GOAL"]
    assert len(lines) == 21 and max(map(len, lines)) <= 80
    assert "--limit 100" in capfd.readouterr().err


def json_in(screen: MemorySink) -> list[dict[str, object]]:
    return [json.loads(line) for line in screen.text.splitlines() if line.startswith("{")]


def ended(name: str, *statuses: str) -> list[Record]:
    events: list[Event] = [SessionStarted(session_id=name, frontend="repl")]
    for status in statuses:
        events += [GoalStarted(goal="x"), GoalFinished(goal="x", status=status, exit_code=0)]
    return [
        Record(
            v=1, seq=seq, time=f"2026-03-14T09:00:{seq:02}Z", session=name, run="r", goal_id=f"g{seq // 2}", event=event
        )
        for seq, event in enumerate(events, 1)
    ]


def test_sessions_without_goals_are_counted_and_shown_on_demand(
    tmp_path: Path, screen: MemorySink, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = SessionFolder(tmp_path)
    folder.put(ended("full", "completed"), "full", modified=1_000)
    for name in ("one", "two"):
        folder.put(ended(name), name, modified=2_000)
    written = datetime(2026, 3, 15, 13, 47).timestamp()
    (tmp_path / "sessions" / "2026-03-15-torn.jsonl").touch()
    os.utime(tmp_path / "sessions" / "2026-03-15-torn.jsonl", (written, written))
    assert folder.run("list") == 0
    assert "full" in screen.text and not any(name in screen.text for name in ("one", "two", "torn"))
    assert "3 empty sessions not shown; --all shows them" in capfd.readouterr().err
    assert folder.run("list", "--all") == 0
    assert all(name in screen.text for name in ("full", "one", "two", "torn")) and "an empty log" in screen.text
    assert "not shown" not in capfd.readouterr().err
    assert folder.run("list", json=True) == 0
    times = {row["session"]: str(row["ended"]) for row in json_in(screen)}
    assert times["torn"] == f"{datetime.fromtimestamp(written, UTC):%Y-%m-%dT%H:%M:%S}.000000Z", (
        "that of the file, none is made up"
    )


@pytest.mark.parametrize(
    ("statuses", "shown"),
    [
        (("cancelled", "skipped", "completed"), "2 stopped"),
        (("interrupted", "completed"), "1 stopped"),
        (("completed", "cancelled"), "cancelled"),
        (("failed", "cancelled", "skipped"), "1 failed"),
    ],
)
def test_what_was_stopped_has_not_failed(
    tmp_path: Path, screen: MemorySink, statuses: tuple[str, ...], shown: str
) -> None:
    folder = SessionFolder(tmp_path)
    folder.put(ended("s", *statuses), "s")
    assert folder.run("list") == 0 and shown in screen.text
    assert folder.run("list", json=True) == 0
    (row,) = json_in(screen)
    assert (row["failed"], row["stopped"]) == (
        statuses.count("failed"),
        len([s for s in statuses if s not in ("failed", "completed")]),
    )


def test_an_empty_folder_is_no_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = SessionFolder(tmp_path)
    assert folder.run("list") == 0
    assert "nothing is recorded in" in capfd.readouterr().err
    assert folder.run("stats") == 0
    assert capfd.readouterr().err == "no goals are recorded yet\n"
    assert folder.run("search", "x") == 1
    assert capfd.readouterr().err == "nothing found\n"


def test_a_search_shows_goal_command_line_and_what_to_do_next(
    pictures: SessionFolder, capfd: pytest.CaptureFixture[str]
) -> None:
    assert pictures.run("search", "lexer.py") == 0
    out = capfd.readouterr().out
    assert "  agent-shell sessions show" in out and "lexer.py" in out and "\x1b" not in out


def test_a_search_for_programs(made: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert made.run("search", "--exit", "nonzero", "--by", "person", json=True) == 0
    found = rows(capfd)
    assert found
    for row in found:
        commands = row["commands"]
        assert isinstance(commands, list) and commands
        assert all(command["exit_code"] not in (0, None) and command["by"] == "person" for command in commands)
        assert row["show"] == f"agent-shell sessions show {row['session']}"
    assert made.run("search", "permission", json=True) == 0
    assert all("permission" in str(row["match"]).lower() for row in rows(capfd))


def test_a_search_for_nothing_is_told_so(made: SessionFolder) -> None:
    with pytest.raises(InvalidRequest, match="nothing to look for"):
        made.run("search")


@pytest.mark.parametrize("pattern", ["(?=a)b", "[", r"(a)\1", "x" * 3000])
def test_patterns_that_cannot_be_searched_for_in_linear_time_are_refused(made: SessionFolder, pattern: str) -> None:
    with pytest.raises(InvalidRequest, match="--regex"):
        made.run("search", "--regex", pattern)


@pytest.mark.parametrize("pattern", ["ab(c", "(?i)ab(c"])
def test_what_is_no_pattern_is_told_with_what_is_missing(made: SessionFolder, pattern: str) -> None:
    with pytest.raises(InvalidRequest) as told:
        made.run("search", "--regex", pattern)
    assert told.value.message.endswith(f"RE2 reads: missing ): {pattern}")


def test_flags_of_patterns(made: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    counts = []
    for words in (("^PUSH IT$",), ("(?i)^PUSH IT$",), ("^PUSH IT$", "-i"), ("^push it$",)):
        made.run("search", "--regex", *words, json=True)
        counts.append(len(rows(capfd)))
    assert counts[0] == 0 and counts[1] == counts[2] == counts[3] > 0


@pytest.mark.parametrize(
    "words", [("--risk", "awful"), ("--exit", "many"), ("--since", "blub"), ("--limit", "-1"), ("--by", "me")]
)
def test_bad_conditions(made: SessionFolder, capfd: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        made.run("search", *words)
    assert words[0] in capfd.readouterr().err


def test_hostile_text_reaches_no_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], screen: MemorySink
) -> None:
    folder = SessionFolder(tmp_path)
    folder.put(hostile(), "evil")
    assert folder.run("list") == 0
    assert folder.run("list", "--goals") == 0
    assert folder.run("search", "--since", "2000-01-01", "--limit", "0") == 0
    assert folder.run("stats") == 0
    assert folder.run("list", json=True) == 0
    assert folder.run("search", "--since", "2000-01-01", json=True) == 0
    assert len(screen.text) > 500
    assert not set(screen.text) & {"\x1b", "\x07", "\x9b", "\x00", "\r", "\u202e", "\u2066"}


def test_the_figures(made: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert made.run("stats", json=True) == 0
    (row,) = rows(capfd)
    assert row["total"]["goals"] == 120  # type: ignore[index]
    assert sum(day["goals"] for day in row["days"]) == 120  # type: ignore[attr-defined]
    assert sum(row["statuses"].values()) == 120  # type: ignore[attr-defined]
    for name, status in (("done", "completed"), ("answered", "answered"), ("not_understood", "not_understood")):
        assert row["total"][name] == row["statuses"].get(status, 0)  # type: ignore[index,attr-defined]
    assert row["total"]["done"]  # type: ignore[index]
    assert sum(program["proposed"] for program in row["commands"]) == row["decisions"]["proposed"]  # type: ignore[attr-defined,index]
    assert made.run("stats", "--cwd", "/nowhere") == 0
    assert capfd.readouterr().err == "no goals are recorded that fit\n"


@pytest.mark.parametrize("words", [(), ("--ascii",)])
def test_the_plots_fit_the_screen(made: SessionFolder, screen: MemorySink, words: tuple[str, ...]) -> None:
    assert made.run("stats", *words) == 0
    lines = screen.text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "goals a week" in lines and "by program  commands" in lines
    assert screen.text.isascii() == bool(words)


def test_the_index_is_made_anew_when_asked(made: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    made.run("list", json=True)
    found = rows(capfd)
    (made.path / ".index.sqlite3").write_bytes(b"")
    assert made.run("list", "--rebuild", json=True) == 0
    assert rows(capfd) == found


def test_own_commands_are_no_goals_of_a_planner(made: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert made.run("list", "--goals", json=True) == 0
    own = sum(row["origin"] == "shell" for row in rows(capfd))
    assert made.run("stats", json=True) == 0
    (found,) = rows(capfd)
    counts = {row["planner"]: row["goals"] for row in found["planners"]}  # type: ignore[attr-defined]
    assert own and counts[""] == own
    assert made.run("stats") == 0
    assert f"own commands {own}" in " ".join(capfd.readouterr().out.split())
