"""`sessions show`: the whole, one goal, objects, the pager; and that it starts before it has read everything."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.queries.stories import story
from agent.audit.story.model import GoalStory
from agent.emitters.streams import MemorySink
from agent.execution.processes import HostProcesses
from agent.frontends.sessions.pager import pager_words, show_lines
from agent.protocol.errors import NotFound
from agent.protocol.events.command import UndoFinished
from agent.protocol.events.session import SessionPruned
from agent.protocol.records import Record
from agent.recording.reader import list_sessions
from tests.support.pictured_session import Session, hostile, many, pictured
from tests.support.session_folder import SessionFolder


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    return SessionFolder(tmp_path)


def test_the_story_is_printed(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    path = folder.put(pictured())
    assert folder.run("show") == 0
    shown = capfd.readouterr().out
    assert shown.startswith(f"log: {path}\nsession pictured-1\n")
    assert "taken back later (7n4d1x)" in shown
    assert "\x1b" not in shown


def test_one_goal_by_its_number(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    folder.put(pictured())
    assert folder.run("show", "--goal", "2", "a") == 0
    assert capfd.readouterr().out.startswith(" 2  remove the build folder\n")
    assert folder.run("show", "--goal", "-1", "a") == 0
    assert capfd.readouterr().out.startswith(" 8  what is a lexer?\n")
    for number in ("9", "0", "-9"):
        with pytest.raises(NotFound) as said:
            folder.run("show", "--goal", number)
        assert said.value.hint == "the session has 8 goals"


def test_objects(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    folder.put(pictured())
    assert folder.run("show", json=True) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(row["session"], row["kind"], row["number"]) for row in rows] == [
        ("a", "goal", number) for number in range(1, 9)
    ]
    assert folder.run("show", "--goal", "5", json=True) == 0
    (row,) = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert (row["number"], row["status"], row["commands"][0]["exit_code"]) == (5, "failed", 2)


def test_a_hostile_log_and_one_from_elsewhere(
    folder: SessionFolder, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = folder.put(hostile()).rename(tmp_path / "evidence.jsonl")
    with path.open("ab") as file:
        file.write(b"[" * 100_000 + b'\n{"v":1,"type":"goal.started","goal":7}\n\xff\xfe\n{"torn')
    assert folder.run("show", "--full", str(path)) == 0
    shown = capfd.readouterr().out
    assert "nothing here vouches for it" in shown
    assert "is torn, as a crash leaves it" in shown
    assert not any(ord(character) < 32 and character not in "\n\t" for character in shown)


def test_an_undo_in_the_log_of_another_session_is_known(folder: SessionFolder) -> None:
    folder.put(pictured(), date="2026-03-14")
    later = Session(session="b")
    later.add(UndoFinished(undo_id="6k2m9q", restored=2))
    folder.put(later.records, "b", date="2026-03-15")
    session = next(found for found in list_sessions(str(folder.path)) if found.session_id == "a")
    goals = [item for item in story(session, list_sessions(str(folder.path))) if isinstance(item, GoalStory)]
    assert [goal.commands[0].undo_state for goal in goals[1:3]] == ["undone", "undone"]


def test_the_first_goals_of_a_long_log_are_shown_before_the_rest_is_read(folder: SessionFolder) -> None:
    path = folder.put(many(3_000))
    size = path.stat().st_size
    session = list_sessions(str(folder.path))[0]
    items = story(session, None)
    while not isinstance(next(items), GoalStory):
        pass
    with open("/proc/self/fdinfo/" + _descriptor_of(path), encoding="ascii") as info:
        place = int(info.readline().split()[1])
    assert size > 2_000_000
    assert place < size / 10


def _descriptor_of(path: Path) -> str:
    if not os.path.isdir("/proc/self/fdinfo"):
        pytest.skip("no /proc here")
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}") == str(path):
                return name
        except OSError:
            continue
    raise AssertionError("the log is not open")


# --- the pager ---


def paged(lines: Iterator[str] | list[str], pager: str, *, rows: int = 10) -> tuple[str, MemorySink]:
    out = MemorySink(is_tty=True, columns=80, rows=rows)
    environ = {"PAGER": pager, "PATH": os.environ["PATH"]}
    asyncio.run(show_lines(lambda: iter(lines), out, HostProcesses(), environ))
    return pager, out


def test_what_fits_needs_no_pager(tmp_path: Path) -> None:
    _, out = paged(["a", "b"], f"sh -c 'touch {tmp_path}/started'")
    assert out.text == "a\nb\n"
    assert not (tmp_path / "started").exists()


def test_what_does_not_fit_goes_through_the_pager(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(5_000)]
    _, out = paged(lines, f"sh -c 'cat > {tmp_path}/seen'")
    assert (tmp_path / "seen").read_text() == "".join(f"{line}\n" for line in lines)
    assert out.text == ""


def test_a_pager_that_is_left_ends_an_endless_text() -> None:
    _, out = paged(itertools.repeat("x" * 70), "head -n 1")
    assert out.text == ""


def test_a_pager_that_cannot_start_is_gone_around(tmp_path: Path) -> None:
    broken = tmp_path / "pager"
    broken.write_text("#!/nowhere/at/all\n")
    broken.chmod(0o755)
    lines = [str(number) for number in range(50)]
    _, out = paged(lines, str(broken))
    assert out.text.split() == lines


def test_nothing_is_left_of_the_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    paged([str(number) for number in range(50)], "true")
    assert list(tmp_path.iterdir()) == []


def test_which_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pager_words({"PAGER": "head -n 1"}) == ("head", "-n", "1")
    assert pager_words({"PAGER": "cat"}) == ()
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert pager_words({"PAGER": "not closed '"}) == ()


def test_a_pager_that_reads_has_nothing_lying_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever closes the window now kills both, and nothing can be tidied up any more.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = tmp_path / "seen"
    paged([f"line {number}" for number in range(50)], f"sh -c 'read first; ls {tmp_path} > {seen}; cat >/dev/null'")
    assert seen.read_text() == "seen\n"


def test_a_pruned_session_has_its_name(folder: SessionFolder, capfd: pytest.CaptureFixture[str]) -> None:
    gone = SessionPruned(before="0" * 64, events=1, bytes=1, goals=1)
    folder.put([Record(v=1, seq=2, time="2026-03-14T09:00:00+00:00", session="a", run="", goal_id="", event=gone)])
    assert folder.run("show") == 0
    _, heading, *rest = capfd.readouterr().out.splitlines()
    assert heading == "session a"
    assert "this session was removed: 1 event, 1 byte" in "\n".join(rest)
