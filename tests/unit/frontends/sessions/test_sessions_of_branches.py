"""show, export, replay and search of a session that was branched from another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionStarted
from agent.protocol.outcomes import Origin
from agent.protocol.records import Record, encode
from agent.recording.chained_lines import line_hash
from tests.support.session_folder import SessionFolder

FORMATS = ("html", "markdown", "sh", "json", "asciicast")


def records(name: str, *events: Event) -> list[Record]:
    made, goal = [], 0
    for seq, event in enumerate(events, 1):
        goal += isinstance(event, GoalStarted)
        time = f"2030-01-01T00:00:{seq:02d}.000000+00:00"
        made.append(Record(v=1, seq=seq, time=time, session=name, run="r", goal_id=f"{name}.{goal}", event=event))
    return made


def goal(text: str) -> tuple[GoalStarted, GoalFinished]:
    return GoalStarted(goal=text), GoalFinished(goal=text, status="answered", exit_code=0)


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    """`old` with four goals, and `new`, which took over two of them and has two of its own."""
    folder = SessionFolder(tmp_path)
    texts = ("find the logs", "count them", "left behind", "left behind, too")
    old = records("old", SessionStarted(session_id="old"), *(each for text in texts for each in goal(text)))
    folder.put(old, "old", modified=1)
    hashes = [line_hash(encode(record)) for record in old]
    origin = Origin(session="old", seq=5, hash=hashes[4], log=hashes[0])
    new = records("new", SessionStarted(session_id="new", origin=origin), *goal("sort them"), *goal("print them"))
    folder.put(new, "new", modified=2)
    return folder


def test_the_story_begins_with_what_was_taken_over(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert folder.run("show", "new") == 0
    shown = capfd.readouterr().out
    places = [shown.index(text) for text in (" 1  find the logs", " 2  count them", " 3  sort them", " 4  print them")]
    assert places == sorted(places)
    assert "left behind" not in shown
    assert shown.count("from session old ·") == 2
    assert "here session new begins; the 2 goals above are taken over" in shown
    assert "4 goals, 2 from before the branch" in shown


def test_only_its_own(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert folder.run("show", "--own", "new") == 0
    shown = capfd.readouterr().out
    assert " 1  sort them" in shown
    assert "find the logs" not in shown
    assert folder.run("show", "--own", "--goal", "2", "new") == 0
    assert "print them" in capfd.readouterr().out


def test_one_goal_counts_what_was_taken_over(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    for number, text in (("2", "count them"), ("3", "sort them"), ("-1", "print them")):
        assert folder.run("show", "--goal", number, "new") == 0
        assert text in capfd.readouterr().out.splitlines()[0]
    with pytest.raises(NotFound) as said:
        folder.run("show", "--goal", "5", "new")
    assert said.value.hint == "the session has 4 goals"


def test_objects_say_whose_they_are(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert folder.run("show", "new", json=True) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(row["session"], row["number"], row["taken_from"]) for row in rows] == [
        ("new", 1, "old"),
        ("new", 2, "old"),
        ("new", 3, ""),
        ("new", 4, ""),
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_exports_hold_it_too(folder: SessionFolder, capfd: pytest.CaptureFixture[str], form: str) -> None:
    assert folder.run("export", "--format", form, "new") == 0
    whole = capfd.readouterr().out
    assert "count them" in whole
    assert "left behind" not in whole
    assert whole.index("count them") < whole.index("sort them")
    if form != "asciicast":
        assert "old" in whole
    assert folder.run("export", "--format", form, "--own", "new") == 0
    assert "count them" not in capfd.readouterr().out


def test_replay_plays_it_in_order(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert folder.run("replay", "new") == 0
    played = capfd.readouterr().out
    places = [played.index(text) for text in ("session old", "count them", "session new", "sort them")]
    assert places == sorted(places)
    assert folder.run("replay", "--goal", "3", "new") == 0
    assert "sort them" in capfd.readouterr().out
    assert folder.run("replay", "--own", "new") == 0
    assert "count them" not in capfd.readouterr().out


def test_what_was_taken_over_is_not_run_again_with_it(folder: SessionFolder) -> None:
    with pytest.raises(InvalidRequest) as said:
        folder.run("replay", "--run", "--goal", "2", "new")
    assert "was taken over from old" in said.value.message
    assert "--run old" in (said.value.hint or "")
    assert folder.run("replay", "--run", "--goal", "3", "new") == 1  # nothing ran in it


def test_what_a_search_names_is_what_is_shown(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    assert folder.run("search", "print") == 0
    called = capfd.readouterr().out.splitlines()[-1].strip()
    assert called == "agent-shell sessions show --own --goal 2 new"
    assert folder.run("show", *called.split()[3:]) == 0
    assert "print them" in capfd.readouterr().out
