"""The story of a branch begins with what it took over, and says what of that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent.audit.queries import stories
from agent.audit.queries.stories import BRANCHED, goals_before, records
from agent.audit.story.model import GoalStory, Item, Mark, SessionBegan
from agent.protocol.events.command import CommandFinished, CommandProposed, CommandStarted, UndoFinished
from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionFinished, SessionPruned, SessionStarted
from agent.protocol.outcomes import ExecutionResult, Origin
from agent.protocol.records import Record, encode
from agent.recording.chained_lines import line_hash
from agent.recording.reader import SessionFile, list_sessions


def write(folder: Path, name: str, *events: Event, at: int = 1) -> list[str]:
    """A log of these events in one file; the hashes of its lines."""
    lines, goal = [], 0
    for seq, event in enumerate(events, at):
        goal += isinstance(event, GoalStarted)
        time = f"2030-01-01T00:00:{seq % 60:02d}.000000+00:00"
        record = Record(v=1, seq=seq, time=time, session=name, run="r", goal_id=f"{name}.{goal}", event=event)
        lines.append(encode(record))
    (folder / f"2030-01-01-{name}.jsonl").write_bytes(b"".join(lines))
    return [line_hash(line) for line in lines]


def began(name: str, origin: Origin | None = None) -> SessionStarted:
    return SessionStarted(session_id=name, origin=origin)


def goal(text: str) -> tuple[GoalStarted, GoalFinished]:
    return GoalStarted(goal=text), GoalFinished(goal=text, status="answered", exit_code=0)


def ran(undo_id: str) -> tuple[Event, ...]:
    result = ExecutionResult(exit_code=0, duration=0.1)
    return (
        GoalStarted(goal="with a command"),
        CommandProposed(command_id="c", command="touch x"),
        CommandStarted(command_id="c", command="touch x", cwd="/"),
        CommandFinished(command_id="c", exit_code=0, result=result, undo_id=undo_id),
        GoalFinished(goal="with a command", status="completed", exit_code=0),
    )


def place(name: str, hashes: Sequence[str], seq: int) -> Origin:
    return Origin(session=name, seq=seq, hash=hashes[seq - 1], log=hashes[0])


def of(folder: Path, name: str) -> SessionFile:
    (session,) = [session for session in list_sessions(str(folder)) if session.session_id == name]
    return session


def story(folder: Path, name: str) -> list[Item]:
    return list(stories.story(of(folder, name), list_sessions(str(folder))))


def goals(items: Sequence[Item]) -> list[tuple[str, str]]:
    return [(item.goal, item.taken_from) for item in items if isinstance(item, GoalStory)]


def warnings(items: Sequence[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, Mark) and item.weight == "warning"]


def test_what_was_taken_over_comes_first_and_says_whose_it_is(tmp_path: Path) -> None:
    one = write(tmp_path, "one", began("one"), *goal("a"), *goal("b"), *goal("not taken over"))
    two = write(tmp_path, "two", began("two", place("one", one, 5)), *goal("c"), *goal("not this one"))
    write(tmp_path, "three", began("three", place("two", two, 3)), *goal("d"))
    items = story(tmp_path, "three")
    assert isinstance(items[0], SessionBegan)
    assert items[0].session_id == "three"
    assert [item for item in items[1:] if isinstance(item, SessionBegan)] == []
    assert goals(items) == [("a", "one"), ("b", "one"), ("c", "two"), ("d", "")]
    (mark,) = [item for item in items if isinstance(item, Mark)]
    assert mark.kind == BRANCHED
    assert "the 3 goals above" in mark.text
    assert items.index(mark) == len(items) - 2
    assert goals_before(of(tmp_path, "three")) == [("one", 2), ("two", 1)]


def test_a_session_that_is_no_branch_is_told_as_it_stands(tmp_path: Path) -> None:
    write(tmp_path, "one", began("one"), *goal("a"))
    write(tmp_path, "again", began("again", Origin(session="one", seq=3, how="replay")), *goal("b"))
    assert goals(story(tmp_path, "one")) == [("a", "")]
    assert goals(story(tmp_path, "again")) == [("b", "")]
    assert goals_before(of(tmp_path, "again")) == []


def test_the_records_come_in_the_order_in_which_it_happened(tmp_path: Path) -> None:
    one = write(tmp_path, "one", began("one"), *goal("a"), SessionFinished(), began("one"), *goal("b"))
    write(tmp_path, "two", began("two", place("one", one, 7)), *goal("c"))
    kinds = [each.event for each in records(of(tmp_path, "two")) if isinstance(each, Record)]
    assert not any(isinstance(event, SessionFinished) for event in kinds)
    assert [event.goal for event in kinds if isinstance(event, GoalStarted)] == ["a", "b", "c"]


def test_a_missing_a_pruned_and_a_changed_origin_are_said(tmp_path: Path) -> None:
    gone = Origin(session="gone", seq=3, hash="0" * 64)
    write(tmp_path, "one", began("one", gone), *goal("a"))
    pruned = write(tmp_path, "pruned", SessionPruned(events=9, bytes=99, before="0" * 64))
    write(tmp_path, "two", began("two", Origin(session="pruned", seq=3, hash="1" * 64, log=pruned[0])), *goal("a"))
    write(tmp_path, "changed", began("changed"), *goal("made up"))
    write(tmp_path, "three", began("three", Origin(session="changed", seq=3, hash="2" * 64)), *goal("a"))
    for name, words in (("one", "is not there any more"), ("two", "was removed"), ("three", "is not what it was then")):
        items = story(tmp_path, name)
        assert goals(items) == [("a", "")]
        (said,) = warnings(items)
        assert words in said
        assert words in str(next(iter(records(of(tmp_path, name)))))


def test_hostile_origins_end_and_are_not_repeated(tmp_path: Path) -> None:
    write(tmp_path, "one", began("one", Origin(session="two", seq=3)), *goal("a"))
    write(tmp_path, "two", began("two", Origin(session="one", seq=3)), *goal("b"))
    items = story(tmp_path, "one")
    assert goals(items) == [("b", "two"), ("a", "")]
    assert "branched from itself" in warnings(items)[0]
    for name in ("../../etc/passwd", "x" * 100_000, "\x1b]0;title\x07", ""):
        write(tmp_path, "three", began("three", Origin(session=name, seq=1)), *goal("a"))
        (said,) = warnings(story(tmp_path, "three"))
        assert "no session can have" in said
        assert len(said) < 200


def test_an_origin_in_several_files_is_read_across_them(tmp_path: Path) -> None:
    first = [began("one"), *goal("a")]
    hashes = write(tmp_path, "one", *first)
    later = write(tmp_path, "later", *goal("b"), *goal("not taken over"), at=4)
    (tmp_path / "2030-01-01-later.jsonl").rename(tmp_path / "2030-01-01-one~2.jsonl")
    write(tmp_path, "two", began("two", Origin(session="one", seq=5, hash=later[1], log=hashes[0])), *goal("c"))
    assert [len(each.files) for each in list_sessions(str(tmp_path))] == [2, 1]
    items = story(tmp_path, "two")
    assert warnings(items) == []
    assert goals(items) == [("a", "one"), ("b", "one"), ("c", "")]


def test_what_the_branch_took_back_of_its_origin_is_told_there(tmp_path: Path) -> None:
    one = write(tmp_path, "one", began("one"), *ran("abc"))
    write(tmp_path, "two", began("two", place("one", one, 6)), UndoFinished(undo_id="abc", restored=1), *goal("b"))
    told = next(item for item in story(tmp_path, "two") if isinstance(item, GoalStory))
    assert (told.taken_from, told.commands[0].undo_state) == ("one", "undone")
