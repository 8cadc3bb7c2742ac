"""Which interview is gone on with and exported: the newest in which something was said, or the one that is named, and nothing else."""

from __future__ import annotations

import json

import pytest

from agent.protocol.outcomes import ExitCode
from tests.scenarios.program import ROOT, World

OFFLINE = ("--planner", "offline")


@pytest.mark.thorough
def test_the_newest_interview_whatever_was_done_since(world: World) -> None:
    said = world.run("interview", *OFFLINE, "--json", stdin=b"Parcels get lost\n:panel\n:why core problem\n:go\n")
    assert "hand over to whom?" in said.stderr and "exploration, planner, repo-agent" in said.stderr
    assert {json.loads(line).get("type") for line in said.stdout.splitlines()} >= {"interview.turned"}
    silent = world.run("interview", *OFFLINE, stdin=b"")
    assert silent.code == ExitCode.DECLINED and "nobody answered" in silent.stderr
    world.run("list files", *OFFLINE, "--session-id", "goals", "--approve", "low", stdin=b"")
    assert "Parcels get lost" in world.run("interview", "export").stdout
    again = world.run("interview", *OFFLINE, "--resume", "last", stdin=b"exit\n")
    assert again.code == 0 and "1 turn, 5 % known" in again.stderr
    other = world.run("interview", *OFFLINE, "--resume", "goals", stdin=b"Parcels\n")
    assert other.code == 2 and "goals is no interview" in other.stderr
    named = world.run("interview", *OFFLINE, "--session-id", "goals", stdin=b"Parcels\n")
    assert named.code == 2 and "that session was begun for goals, not for an interview" in named.stderr
    unknown = world.run("interview", *OFFLINE, "--resume", "nonsense", stdin=b"Parcels\n")
    assert unknown.code == 2 and "no session called 'nonsense'" in unknown.stderr
    unready = world.run("interview", "export", "tasks", "--resume", "last")
    assert unready.code == 2 and "so there are no tasks" in unready.stderr


@pytest.mark.thorough
def test_an_engine_of_ones_own_is_named_by_its_folder_again(world: World) -> None:
    folder = str(ROOT / "examples" / "interviews" / "feature_prioritization")
    said = world.run("interview", folder, *OFFLINE, stdin=b"A shop for bicycles\n")
    assert said.code == 0, said.stderr
    unnamed = world.run("interview", "export")
    assert unnamed.code == 2 and "name the folder of one of your own" in unnamed.stderr
    assert "A shop for bicycles" in world.run("interview", "export", "provenance", folder).stdout
    again = world.run("interview", folder, *OFFLINE, "--resume", "last", stdin=b"exit\n")
    assert again.code == 0 and "1 turn" in again.stderr
