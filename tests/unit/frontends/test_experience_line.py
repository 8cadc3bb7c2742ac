"""How commands like this one went, in a line at the confirmation."""

from __future__ import annotations

from agent.frontends.heading import heading
from agent.planner.examples import experience_line
from agent.recording.memory.model import Experience
from tests.support.prompt_desk import request_for


def test_it_is_one_dim_line_above_the_command() -> None:
    line = "like this: worked 12 of 14 times here"
    assert heading(request_for("ls", "low"), experience=line)[-1] == [("class:hint", line)]
    assert heading(request_for("ls", "low")) == heading(request_for("ls", "low"), experience="")


def test_too_little_is_not_said() -> None:
    assert experience_line(Experience(worked_here=1, runs_here=1, worked=1, runs=1)) == ""
    assert (
        experience_line(Experience(worked_here=12, runs_here=14, worked=20, runs=30))
        == "like this: worked 12 of 14 times here"
    )
    assert (
        experience_line(Experience(runs_here=1, worked=3, runs=4)) == "like this: worked 3 of 4 times, mostly elsewhere"
    )
