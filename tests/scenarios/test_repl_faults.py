"""Faults in the middle of a REPL session: it says so, runs nothing unrecorded, and stays usable."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from tests.scenarios.program import World, chat, command
from tests.scenarios.test_signal_stages import Person


def offline(world: World) -> Person:
    return Person(world, "--planner", "offline")


def own(person: Person, text: str) -> None:
    """A command of the person's own, confirmed."""
    person.at_prompt()
    person.type(f"!{text}\r")
    person.at_confirmation(text.partition(" ")[0])
    person.type("\r")


@pytest.mark.parametrize("fault", ["log deleted", "folder deleted"])
@pytest.mark.few(1)
def test_a_log_that_vanishes_stops_everything_and_a_new_session_helps(world: World, fault: str) -> None:
    with offline(world) as person:
        own(person, "touch first")
        person.see("completed")
        person.at_prompt()
        if fault == "log deleted":
            world.logs()[0].unlink()
        else:
            shutil.rmtree(world.sessions)
        own(person, "touch ran")  # that the file is gone shows when it has to be kept safe, before the command starts
        person.see("session log.*it was deleted")
        person.at_prompt()
        assert not (world.work / "ran").exists()
        person.type(":new\r")
        person.see("new session")
        own(person, "touch again")
        person.see("touch again.*completed")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves_the_terminal_as_it_was() in (0, 1)
    assert (world.work / "again").exists()
    assert [goal["status"] for goal in world.goals()] == ["completed"]


@pytest.mark.thorough
def test_the_working_folder_vanishes(world: World) -> None:
    place = world.work / "deep"
    place.mkdir()
    with Person(world, "--planner", "offline", "--cwd", str(place)) as person:
        own(person, "pwd")
        person.see(f"\n{place} *\n")
        person.at_prompt()
        place.rmdir()
        own(person, "touch ran")
        person.see("is gone")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves_the_terminal_as_it_was() == 0
    assert not (world.work / "ran").exists()


@pytest.mark.few(1)
@pytest.mark.parametrize("model_fault", ["script over", "rubbish"])
def test_a_planner_error_is_not_the_end(world: World, model_fault: str) -> None:
    replies = [chat("fine")] if model_fault == "script over" else ["rubbish", "rubbish", chat("fine")]
    with Person(world, *world.scripted(*replies)) as person:
        for goal in ("one", "two"):
            person.at_prompt()
            person.type(f"{goal}\r")
            person.see("fine|error")
        person.at_prompt()
        person.type("exit\r")
        person.leaves_the_terminal_as_it_was()
    assert {goal["status"] for goal in world.goals()} == {"answered", "planner_error"}


@pytest.mark.thorough
def test_bytes_that_no_keyboard_sends(world: World) -> None:
    """Invalid UTF-8, NUL and unfinished escape sequences in a paste; wide and combining characters."""
    with Person(world, *world.scripted(chat("understood"))) as person:
        person.at_prompt()
        os.write(person.process.child_fd, b"\x1b[200~bad \xff\xfe \x01 \xed\xa0\x80 \x1b[201~")
        person.type("漢字 e\u0301 done")
        person.see("done", where="screen")
        time.sleep(0.4)  # an Enter that comes with a paste is none
        person.type("\r")
        person.see("understood")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves_the_terminal_as_it_was() == 0
    assert world.goal()["goal"].startswith("bad ")
    assert world.goal()["goal"].endswith("漢字 e\u0301 done")


@pytest.mark.thorough
def test_a_proposal_with_terminal_codes_at_a_terminal(world: World) -> None:
    """It is shown with its hidden characters visible, and skipping it leaves a clean screen."""
    with Person(world, *world.scripted(command("touch ran \x1b[2K\x1b]0;owned\x07"), chat("ok"))) as person:
        person.at_prompt()
        person.type("do it\r")
        person.at_confirmation("touch")
        assert b"\x1b]0;owned" not in person.raw
        person.type("\x03")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves_the_terminal_as_it_was() == 0
    assert not (world.work / "ran").exists()
    assert world.goal()["status"] == "cancelled"
