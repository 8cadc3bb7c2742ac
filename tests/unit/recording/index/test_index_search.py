"""What a search finds, and which line it shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.audit.queries.conditions import Conditions
from agent.audit.queries.figures import past, program_of
from agent.audit.queries.search import Hit, search
from agent.policy.linear_regex import LinearPattern
from agent.recording.index.access import LogIndex
from tests.support.each import each

DAY = 86_400_000_000
NOON = 1_795_348_800_000_000  # 2026-11-22T12:00:00Z

Search = Callable[..., list[Hit]]


class Log:
    """Lines of one session; each goal begins a day after the one before."""

    def __init__(self, session: str = "a") -> None:
        self.lines: list[str] = []
        self.goals = 0
        self._session = session

    def add(self, type: str, **fields: object) -> None:
        day = 21 + self.goals
        head = {"v": 1, "seq": len(self.lines) + 1, "time": f"2026-11-{day:02d}T12:00:00.{len(self.lines):06d}Z"}
        place = {"session": self._session, "run": "", "goal_id": f"{self._session}{self.goals}", "type": type}
        self.lines.append(json.dumps(head | place | fields))

    def goal(
        self, goal: str, *, cwd: str = "/w", status: str = "completed", message: str = "", **fields: object
    ) -> Log:
        self.goals += 1
        self.add("goal.started", goal=goal, cwd=cwd, planner="offline", **fields)
        if message:
            self.add("assistant.message", text=message)
        self._status = status
        return self

    def command(
        self,
        command: str,
        *,
        run: str | None = None,
        risk: str = "low",
        by: str = "person",
        exit_code: int | None = 0,
        output: str = "",
    ) -> Log:
        command_id = f"{self._session}{self.goals}.{len(self.lines)}"
        run = command if run is None else run
        self.add("command.proposed", command_id=command_id, command=command, origin="planner", cwd="/w")
        self.add("command.rated", command_id=command_id, stage="proposed", report={"level": risk}, verdict={})
        decision = "refused" if not run else "edited" if run != command else "approved"
        self.add("command.confirmed", command_id=command_id, decision=decision, by=by, command=run)
        if run:
            self.add("command.started", command_id=command_id, command=run, cwd="/w")
            self.add("command.output", command_id=command_id, stream="stdout", data=output, offset=0)
            self.add("command.finished", command_id=command_id, exit_code=exit_code, result={"duration": 1.0})
        return self

    def end(self) -> Log:
        self.add("goal.finished", status=self._status, exit_code=0, duration=2.0, message="")
        return self


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = Log()
    log.goal("run the tests of foo.py", message="two of them fail").command(
        "pytest foo.py",
        risk="medium",
        exit_code=1,
        output="collected 3 items\nE  AssertionError: häfen is not 5\n2 failed\n",
    ).command("ls -la", output="total 4\nfoo.py\n").end()
    log.goal("delete the folder build", cwd="/w/sub", status="failed").command(
        "rm -r build",
        run="rm -r build2",
        risk="high",
        exit_code=2,
        output="rm: cannot remove 'build2': Permission denied\n",
    ).end()
    log.goal("make it all public", cwd="/where", status="blocked_by_policy").command(
        "chmod -R 777 /", run="", risk="high", by="policy"
    ).end()
    log.goal("日本語のファイルを数える").command("ls *日本語* && wc -l", by="approve-mode", exit_code=0).end()
    log.goal("say nothing of this", private=True).command("cat diary").end()
    log.goal("nor of this", unlisted=True).command("cat diary2").end()
    log.goal("delete the folder build", cwd="/w/sub", status="skipped").end()
    place = tmp_path_factory.mktemp("found")
    (place / "2026-11-22-a.jsonl").write_text("\n".join(log.lines) + "\n")
    return place


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[LogIndex]:
    with LogIndex(str(folder), "") as opened:
        yield opened


@pytest.fixture
def find(index: LogIndex, folder: Path) -> Search:
    def one(*words: str, regex: str = "", limit: int = 0, **conditions: object) -> list[Hit]:
        wanted = Conditions(**conditions)  # type: ignore[arg-type]
        pattern = LinearPattern(regex, "m") if regex else None
        return index.ask(
            lambda database: search(database, str(folder), words, wanted, pattern=pattern, limit=limit, numbered=True)
        ).hits

    return one


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (("foo",), [1]),
        (("FOO.py",), [1]),
        (("oo.py",), []),  # words are found from their beginning
        (("assert",), [1]),
        (("häfen",), [1]),
        (("hafen",), [1]),  # without its accents, too
        (("delete", "permission"), [2]),  # a word may be in the goal, another in the output
        (("delete",), [7, 2]),  # newest first
        (("build2",), [2]),
        (("&&",), [4]),
        (("777", "/"), [3]),
        (("本語",), [4]),
        (("two", "fail"), [1]),
        (("foo py",), []),  # one with blanks is found as it is written
        (("cannot remove",), [2]),
        (('"', "OR", "NOT"), []),
        (("foo*", "NEAR("), []),
        (("(",), []),
        (("diary",), [6, 5]),  # in the log it is: what is private is no secret from who reads the log
        (("nothing-like-it",), []),
    ],
)
def test_words(find: Search, words: tuple[str, ...], numbers: list[int]) -> None:
    assert [hit.number for hit in find(*words)] == numbers


@pytest.mark.parametrize(
    ("conditions", "numbers"),
    [
        ({"exit_code": "nonzero"}, [2, 1]),
        ({"exit_code": 2}, [2]),
        ({"exit_code": 0, "risks": ("medium",)}, []),  # of one and the same command
        ({"risks": ("high",)}, [3, 2]),
        ({"risks": ("medium", "high")}, [3, 2, 1]),
        ({"edited": True}, [2]),
        ({"by": "policy"}, [3]),
        ({"by": "approve-mode"}, [4]),
        ({"statuses": ("failed", "skipped")}, [7, 2]),
        ({"cwd": "/w/sub"}, [7, 2]),
        ({"cwd": "/w"}, [7, 6, 5, 4, 2, 1]),  # and below it, but not /where
        ({"cwd": "/"}, [7, 6, 5, 4, 3, 2, 1]),
        ({"since": NOON + 2 * DAY, "until": NOON + 4 * DAY}, [4, 3]),
        ({"limit": 2}, [7, 6]),
        ({"limit": 1, "by": "person"}, [6]),
    ],
)
def test_conditions(find: Search, conditions: dict[str, object], numbers: list[int]) -> None:
    assert [hit.number for hit in find(**conditions)] == numbers


def test_words_must_be_about_the_command_that_the_conditions_are_about(find: Search) -> None:
    assert [hit.number for hit in find("total")] == [1]
    assert find("total", exit_code="nonzero") == []  # ls said that, and pytest failed
    (hit,) = find("assertion", exit_code="nonzero")
    assert [(command.run, command.matched) for command in hit.commands] == [("pytest foo.py", True)]


def test_the_line_and_the_places_in_it(find: Search) -> None:
    (hit,) = find("permission", "cannot")
    assert (hit.field, hit.match) == ("output", "rm: cannot remove 'build2': Permission denied")
    assert [hit.match[start:end] for start, end in hit.spans] == ["cannot", "Permission"]
    (hit,) = find("two")
    assert (hit.field, hit.match, hit.status) == ("message", "two of them fail", "completed")
    (command,) = find("build2")[0].commands
    assert (command.proposed, command.run, command.edited, command.exit_code) == (
        "rm -r build",
        "rm -r build2",
        True,
        2,
    )


@pytest.mark.parametrize(
    ("regex", "numbers"),
    [
        (r"^\d failed$", [1]),
        (r"folder bu\w+d$", [7, 2]),
        (r"Permission|777", [3, 2]),
        (r"PERMISSION", []),
        (r"failed.*collected", []),  # lines are looked at one by one
        (r"[語]の", [4]),
    ],
)
def test_patterns(find: Search, regex: str, numbers: list[int]) -> None:
    assert [hit.number for hit in find(regex=regex)] == numbers
    assert find("nothing-like-it", regex=regex) == []


def test_a_search_ends_when_its_time_is_over(index: LogIndex, folder: Path) -> None:
    found = index.ask(lambda database: search(database, str(folder), (), Conditions(), seconds=-1.0))
    assert (found.hits, found.late) == ([], True)


def test_history_has_each_text_once_and_nothing_private(index: LogIndex) -> None:
    entries = index.ask(past)
    goals = [(entry.text, entry.times, entry.outcome) for entry in entries if not entry.is_command]
    assert goals[0] == ("delete the folder build", 2, "skipped")
    assert {text for text, *_ in goals} == {
        "delete the folder build", "run the tests of foo.py", "make it all public", "日本語のファイルを数える",
    }  # fmt: skip
    commands = {entry.text: (entry.outcome, entry.cwd) for entry in entries if entry.is_command}
    assert commands == {
        "pytest foo.py": ("exit 1", "/w"), "ls -la": ("exit 0", "/w"), "rm -r build2": ("exit 2", "/w"),
        "ls *日本語* && wc -l": ("exit 0", "/w"),
    }  # fmt: skip


@each(
    ("command", "program"),
    [
        ("ls -la", "ls"),
        ("/usr/bin/git log", "git"),
        ("sudo -n systemctl restart x", "systemctl"),
        ("A=1 B=2 make all", "make"),
        ("(cd x && ls)", "cd"),
        ("'my prog' x", "my"),
        ("", "?"),
        ("A=1", "A=1"),
        ("-x", "-x"),
        ("x" * 1000, "x" * 40),
    ],
)
def test_the_program_of_a_command(command: str, program: str) -> None:
    assert program_of(command) == program
