"""What a planner is told of a command that was rehearsed and not made real."""

from __future__ import annotations

from msgspec.structs import replace

from agent.planner.report import Reporter, TokenShares
from agent.protocol.events.command import RehearsalFinished
from agent.protocol.messages import CommandItem
from agent.recording.lifecycle import rehearsal_words
from tests.support.event_cases import REHEARSED


def told(item: CommandItem) -> str:
    return Reporter(TokenShares.within(8000), lambda text: text.replace("hunter2", "[redacted]")).command(
        item, show_command=False
    )


def test_it_is_told_as_data_what_would_have_changed() -> None:
    item = CommandItem(
        command_id="c",
        proposed="rm -rf build",
        outcome="skipped",
        rehearsal="would delete /work/build\nwould create hunter2",
    )
    text = told(item)
    assert "The person skipped this command" in text
    assert "A rehearsal, which changes nothing, had shown:" in text
    assert "would delete /work/build" in text
    assert "hunter2" not in text


def test_without_a_rehearsal_nothing_is_said_of_one() -> None:
    assert "rehearsal" not in told(CommandItem(command_id="c", proposed="ls", outcome="skipped"))


def test_words_of_a_rehearsal() -> None:
    lines = rehearsal_words(REHEARSED).split("\n")
    assert lines[0] == "exit code 0 in the rehearsal"
    assert "would delete /work/build and the 12 entries below it" in lines
    assert "would rename /work/old to /work/b" in lines
    assert "and 2 more changes" in lines
    assert "not shown: network: curl wanted it" in lines


def test_words_of_many_changes_are_few() -> None:
    many = replace(REHEARSED, changes=REHEARSED.changes * 100, more=5)
    assert len(rehearsal_words(many).split("\n")) < 50
    assert "and 565 more changes" in rehearsal_words(many)


def test_words_of_one_that_could_not_be_done() -> None:
    event = RehearsalFinished(command_id="c", outcome="unavailable", reason="no overlay here")
    assert rehearsal_words(event) == "it could not be rehearsed: no overlay here"


def test_what_would_be_left_in_the_shell_is_among_the_words() -> None:
    left = replace(REHEARSED, shell=("function ls", "variable PATH"))
    assert "would leave in the shell: function ls; variable PATH" in rehearsal_words(left).split("\n")
    assert "in the shell" not in rehearsal_words(replace(left, reason="it was interrupted"))
