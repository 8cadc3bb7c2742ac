"""A session retold: what stands on the screen, when, and that nothing hostile gets there."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyte
import pytest
from msgspec import structs

from agent.emitters.export.frames import Frame, Look
from agent.emitters.export.screen_script import MOST_OUTPUT, screen_script
from agent.protocol.decisions import Level
from agent.protocol.events.command import JobFinished, RehearsalFinished, RehearsalStarted
from agent.protocol.events.session import LogRepaired, LogScrubbed, SessionPruned, SessionStarted, Warned
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from agent.protocol.records import Record, decode, encode
from agent.recording.reader import BadLine
from tests.support.each import each
from tests.support.pictured_session import CWD, Session, finding, hostile, pictured

# Colours, movements up and down by little, erasing in a line: all that a terminal may be told.
ALLOWED = re.compile(r"\x1b\[(?:[0-9;:]*m|[0-9]{0,4}[ABEFK]|[JCDG]|[0-9]{0,4}[CDG])")


def text_of(frames: Iterable[Frame]) -> str:
    return "".join(frame.text for frame in frames)


def screen_of(frames: Iterable[Frame], columns: int = 100, rows: int = 200) -> list[str]:
    screen = pyte.Screen(columns, rows)
    pyte.Stream(screen).feed(text_of(frames).replace("\n", "\r\n"))
    return [line.rstrip() for line in "\n".join(screen.display).rstrip().split("\n")]


def session() -> Session:
    made = Session()
    made.add(SessionStarted(session_id="s", frontend="repl", cwd=CWD), 0)
    return made


def test_a_working_morning_looks_as_it_did() -> None:
    lines = screen_of(screen_script(pictured(), Look()))
    start = lines.index("❯ remove the build folder")
    assert lines[start : start + 5] == [
        "❯ remove the build folder",
        "$ rm -rf build  [medium: deletes a folder and all that is in it]",
        "$ rm -rf build/cache  [medium: deletes a folder and all that is in it]  (edited)",
        "✓ completed · 1.2s · 450 tokens · $0.0004 · undo: :undo 6k2m9q",
        "",
    ]
    for expected in (
        "❯ !make test",
        "100%",
        "[… 70,123 bytes not kept …]",
        "exit 2 after 1.3s",
        "(the word was typed)",
        "  - src/old.py  2.0 kB",
        "(skipped)",
        "A lexer turns text into tokens.",
    ):
        assert expected in lines
    assert not any("thinking" in line for line in lines)


def test_without_a_terminal_nothing_moves() -> None:
    text = text_of(screen_script(pictured(), Look(animate=False, color=False)))
    assert "\x1b" not in text
    assert "$ rm -rf build  [medium" in text


def test_output_comes_when_it_came() -> None:
    made = session()
    made.begin_goal("x")
    key = made.propose("slow")
    made.confirm(key, "slow", by="approve-mode", after=0.1)
    made.run(key, "slow", (0.5, "stdout", "one\n"), (7.5, "stdout", "two\n"), took=8.0)
    frames = {frame.text: frame.delay for frame in screen_script(made.records, Look(animate=False))}
    assert frames["one\n"] == pytest.approx(0.5)
    assert frames["two\n"] == pytest.approx(7.0)
    idle = {frame.text: frame.delay for frame in screen_script(made.records, Look(animate=False, idle=2.0))}
    assert idle["one\n"] == pytest.approx(0.5)
    assert idle["two\n"] == 2.0


def test_a_clock_that_goes_back_or_lies_takes_no_time() -> None:
    records = pictured()
    for place, time in ((10, "1970-01-01T00:00:00Z"), (20, "not a time"), (30, "9999-12-31T23:59:59Z"), (40, "")):
        records[place] = structs.replace(records[place], time=time)
    delays = [frame.delay for frame in screen_script(records, Look())]
    assert all(0 <= delay <= 366 * 86_400 for delay in delays)


def test_one_goal_can_be_had() -> None:
    frames = list(screen_script(pictured(), Look(animate=False, color=False), goal=2))
    assert [frame.marker for frame in frames if frame.marker] == ["remove the build folder"]
    assert "which files" not in text_of(frames)
    assert "rename" not in text_of(frames)


def test_the_session_ends_with_the_code_of_its_program() -> None:
    repl = [frame.exit_code for frame in screen_script(pictured(), Look()) if frame.exit_code is not None]
    assert repl == [0]
    records = pictured()
    assert isinstance(records[0].event, SessionStarted)
    records[0] = structs.replace(records[0], event=structs.replace(records[0].event, frontend="cli"))
    assert text_of(screen_script(records, Look())).count("agent-shell undo") >= 2  # what it advised there


def test_a_prompt_that_nobody_answered_is_there() -> None:
    made = session()
    made.begin_goal("x")
    made.plan()
    made.propose("rm -rf build", Level.MEDIUM, finding("d", Level.MEDIUM, "deletes a folder"))
    assert screen_of(screen_script(made.records, Look()))[-1] == "$ rm -rf build  [medium: deletes a folder]"


def test_output_that_is_only_in_the_result_and_very_long_output() -> None:
    made = session()
    made.begin_goal("x")
    key = made.propose("a")
    made.confirm(key, "a", by="approve-mode")
    result = ExecutionResult(exit_code=0, stdout=CapturedStream(head="only here\n"))
    made.run(key, "a", result=result)
    key = made.propose("b")
    made.confirm(key, "b", by="approve-mode")
    made.run(key, "b", *[(0.1, "stdout", "y\n" * 100_000)] * 20)
    text = text_of(screen_script(made.records, Look(color=False)))
    assert "only here\n" in text
    assert "[… more than is shown here]" in text
    assert text.count("y\n") <= MOST_OUTPUT // 2 + 1


@each("look", [Look(), Look(animate=False), Look(color=False), Look(columns=20)])
def test_nothing_hostile_reaches_the_screen(look: Look) -> None:
    told = text_of(screen_script([decode(encode(record)) for record in hostile()], look))
    left = ALLOWED.sub("", told)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", left), left
    for frame in screen_script(hostile(), look):
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", frame.marker)


def test_lines_that_are_no_record_and_endings_that_no_engine_writes_are_passed_over() -> None:
    mixed: list[object] = [BadLine(1, "torn")]
    for record in pictured():
        line = encode(record).decode()
        if '"goal.finished"' in line:
            line = line.replace('"commands":[]', '"commands":[{"duration":"x","outcome":"ran"},{"duration":[]}]')
        mixed.append(decode(line))
    assert sum(isinstance(record, Record) for record in mixed) == len(pictured())
    assert "[goal.finished: cannot be shown]" in text_of(screen_script(mixed, Look(color=False)))
    assert list(screen_script([], Look())) == []


def test_what_was_said_while_a_prompt_stood_there_comes_below_it() -> None:
    made = session()
    made.begin_goal("x")
    key = made.propose("rm a", Level.MEDIUM)
    made.add(Warned(text="cannot be undone"))
    made.confirm(key, "rm a")
    made.run(key, "rm a")
    lines = screen_of(screen_script(made.records, Look()))
    assert lines[lines.index("$ rm a  [medium]") + 1] == "warning: cannot be undone"


def test_what_was_answered_is_said_unless_it_runs() -> None:
    made = session()
    made.begin_goal("x")
    for decision, answer in (
        ("approved", "$ touch a  [medium]"),
        ("declined", "(declined)"),
        ("cancelled", "(cancelled)"),
    ):
        key = made.propose("touch a", Level.MEDIUM)
        made.confirm(key, "touch a" if decision == "approved" else "", decision)
        assert screen_of(screen_script(made.records, Look()))[-1] == answer


def test_what_a_rehearsal_would_change_stands_before_the_answer() -> None:
    made = session()
    made.begin_goal("x")
    key = made.propose("touch a")
    made.add(RehearsalStarted(command_id=key, command="touch a", cwd=CWD))
    made.add(RehearsalFinished(command_id=key, outcome="finished", exit_code=0))
    made.confirm(key, "", "declined")
    lines = screen_of(screen_script(made.records, Look()))
    assert lines[-3:] == [
        "rehearsing, network off; changes nothing",
        "it would change nothing: rehearsed, exit 0",
        "(declined)",
    ]


def test_what_happened_to_the_log_itself_is_said() -> None:
    made = session()
    made.add(LogRepaired(line=3, bytes=40, hash="h", text="line 3 was cut short"))
    made.add(LogRepaired(line=3, bytes=40, hash="h"))
    made.add(LogScrubbed(secrets={"aws": 1}, lines=1, first_line=2, before="h"))
    made.add(SessionPruned(before="h", events=3, bytes=4))
    assert screen_of(screen_script(made.records, Look()))[1:] == [
        "warning: line 3 was cut short",
        "[a crash tore a line of the log here]",
        "[secrets were taken out of this log afterwards]",
        "[this session was pruned; nothing else is left of it]",
    ]


def test_words_that_no_engine_says_are_made_safe() -> None:
    made = session()
    made.begin_goal("x")
    key = made.propose("a")
    made.confirm(key, "a", by="nobody", decision="\x1b]0;title\x07")
    made.add(JobFinished(job_id=1, outcome="\x1b[2J", command="a"))
    told = text_of(screen_script(made.records, Look(color=False, animate=False)))
    assert "\x1b" not in told and "\x07" not in told
    assert "␛]0;title" in told and "␛[2J" in told


def test_the_heading_is_broken_between_words_where_it_is_wider_than_the_screen() -> None:
    started = SessionStarted(session_id="a", program="agent-shell", cwd="/home/ada/src/parser")
    record = Record(v=1, seq=1, time="2030-01-01T00:00:00Z", session="a", run="", goal_id="", event=started)
    text = "".join(frame.text for frame in screen_script([record], Look(columns=40, color=False)))
    assert text.splitlines() == ["agent-shell · session a · 2030-01-01", "00:00:00 UTC · /home/ada/src/parser"]
