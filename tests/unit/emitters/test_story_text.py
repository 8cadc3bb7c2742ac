"""A session as a person reads it: looks, bounds, and nothing that acts on a terminal."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.story.goal import stories
from agent.audit.story.model import CommandStory, Decision, GoalStory, Mark, OutputPiece, SessionBegan
from agent.emitters.paint import cell_width, wrapped
from agent.emitters.story_output import HEAD_LINES, TAIL_LINES, output_lines
from agent.emitters.story_text import StoryText
from agent.emitters.story_words import flowed, took
from agent.protocol.outcomes import Origin
from tests.support.each import each
from tests.support.pictured_session import hostile, pictured, taken_back

GOLDEN = Path(__file__).parents[2] / "golden" / "story"
SGR = re.compile(r"\x1b\[[0-9;:]*m")


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def text_of(records: list[object], **options: object) -> str:
    shown = StoryText(**{"color": False, **options})  # type: ignore[arg-type]
    items = stories(records, undone=taken_back(records))  # type: ignore[arg-type]
    return "\n".join(shown.lines(items)) + "\n"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("short-80", {"columns": 80}),
        ("full-110", {"columns": 140, "full": True}),
        ("color-80", {"columns": 80, "color": True}),
    ],
)
def test_the_look_of_a_session(name: str, options: dict[str, object]) -> None:
    shown = text_of(pictured(), **options)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("AGENT_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown)
    assert shown == path.read_text()


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("color", [False, True])
def test_nothing_hostile_reaches_the_terminal(color: bool, full: bool) -> None:
    shown = SGR.sub("", text_of(hostile(), color=color, full=full)) if color else text_of(hostile(), full=full)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)


def test_prose_is_not_wider_than_the_screen() -> None:
    words = "installed 設定 of a very long kind " * 12
    assert max(cell_width(line) for line in wrapped(words, 40)) <= 40
    assert " ".join("".join(wrapped(words, 40)).split()) != ""
    assert max(cell_width(line) for line in wrapped("設" * 200, 41)) <= 41


def test_flowing_keeps_every_word_and_its_style() -> None:
    parts = [("✗ failed · exit 1", "red"), (" · planner with a name · 450 tokens · and more of it", "dim")]
    lines = list(flowed(parts, 24))
    assert [("".join(text for text, _ in line)) for line in lines] == [
        "✗ failed · exit 1 ·", "planner with a name ·", "450 tokens · and more of", "it",
    ]  # fmt: skip
    assert lines[0] == [("✗ failed · exit 1", "red"), (" ·", "dim")]


def test_a_long_output_shows_its_ends() -> None:
    command = CommandStory(
        command_id="c",
        began="",
        proposed="seq",
        outputs=(OutputPiece("stdout", "".join(f"{n}\n" for n in range(5_000)), 0),),
    )
    shown = list(output_lines(command, color=False, full=False))
    assert len(shown) == HEAD_LINES + 1 + TAIL_LINES
    assert (shown[0], shown[HEAD_LINES], shown[-1]) == ("│ 0", "┊ … 4,980 more lines (--full shows them) …", "│ 4999")
    assert len(list(output_lines(command, color=False, full=True))) == 5_000


def test_streams_that_take_turns_keep_their_lines_apart() -> None:
    pieces = (("stdout", "a"), ("stderr", "b\nc"), ("stdout", "d\n"), ("stdout", "e"))
    command = CommandStory(
        command_id="c",
        began="",
        proposed="x",
        outputs=tuple(OutputPiece(*piece, 0) for piece in pieces),
        stdout_tail="f\n",
        stderr_tail="g\n",
        stderr_dropped=7,
    )
    assert list(output_lines(command, color=False, full=True)) == [
        "│ a", "┃ b", "┃ c", "│ d", "│ ef", "┊ stderr: [… 7 bytes not kept …]", "┃ g",
    ]  # fmt: skip


def test_a_carriage_return_hides_nothing() -> None:
    piece = OutputPiece("stdout", "rm -rf /\rls\r\n", 0)
    command = CommandStory(command_id="c", began="", proposed="x", outputs=(piece,))
    assert list(output_lines(command, color=False, full=True)) == ["│ rm -rf /␍ls"]
    assert list(output_lines(command, color=False, full=False)) == ["│ …␍ls"]


def test_one_goal_alone() -> None:
    shown = text_of(pictured(), only=4)
    assert shown.startswith(" 4  make the disk empty\n")
    assert "refused by policy" in shown
    assert "make test" not in shown
    assert "session" not in shown


@each("duration", [-1.0, float("inf"), float("nan"), 1e300])
def test_impossible_times(duration: float) -> None:
    assert took(duration) == "an impossible time"


def test_what_a_command_tells_is_not_told_again_as_a_warning() -> None:
    refusal = "deletes a whole folder; only --safety-off opens this [floor.system]"
    command = CommandStory(
        command_id="g.1",
        began="2026-03-14T09:26:53Z",
        proposed="sleep 3",
        decisions=(Decision(time="", decision="refused", by="policy", remark=refusal),),
        notes=("it goes on as job 1",),
    )
    marks = [
        Mark(time="", kind="warning", text=text, weight="warning")
        for text in ("it goes on as job 1", f"not run: {refusal}", "something else")
    ]
    goal = GoalStory(goal_id="g", goal="x", began="", ended="", status="blocked_by_policy", steps=(command, *marks))
    shown = "\n".join(StoryText(color=False, columns=110).lines([goal]))
    assert shown.count("it goes on as job 1") == shown.count(refusal) == shown.count("something else") == 1


@each(
    ("how", "words"),
    [
        ("branch", "branched from session one, after its record 7"),
        (
            "undo-turn",
            "branched from session one to leave out a goal, after its record 7",
        ),
        ("replay", "runs commands of session one again"),
    ],
)
def test_where_a_session_comes_from(how: str, words: str) -> None:
    began = SessionBegan(time="2026-03-14T09:26:53Z", session_id="two", origin=Origin(session="one", seq=7, how=how))
    assert f"  {words}" in list(StoryText(color=False, columns=110).lines([began]))
