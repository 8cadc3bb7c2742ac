"""A folder that a team shares by its group: what a rehearsal cannot change there is said, and said only there."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator

import pytest

from tests.scenarios.ordinary_user import NOBODY, OrdinaryWorld
from tests.support.excuses import excused

TEAM = 61_234


@pytest.fixture
def world() -> Iterator[OrdinaryWorld]:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can give a process another group")
    made = OrdinaryWorld()
    made.launcher = tuple(f"--groups={TEAM}" if word == "--clear-groups" else word for word in made.launcher)
    yield made
    made.remove()


def test_what_fails_in_a_rehearsal_only_is_said(world: OrdinaryWorld) -> None:
    (world.work / "own").write_text("a\n")
    (world.work / "team").write_text("b\n")
    world.own(world.work)
    os.chown(world.work / "team", NOBODY, TEAM)
    probe = world.run("rehearse", "--no-persist", "true")
    if probe.code:
        pytest.skip(excused(probe.stderr.strip()[-300:]))
    done = world.run("rehearse", "echo x >> own; echo x >> team")
    assert os.strerror(errno.EOVERFLOW) in done.stderr
    assert f"not shown: team: of another group of yours ({TEAM})" in done.stdout
    alone = world.run("rehearse", "echo x >> own")
    assert "another group of yours" not in alone.stdout
    assert (world.work / "team").read_text() == "b\n"


@pytest.mark.thorough
def test_a_file_that_would_lose_its_group_is_flagged(world: OrdinaryWorld) -> None:
    (world.work / "team").write_text("b\n")
    (world.work / "own").write_text("b\n")
    world.own(world.work)
    os.chown(world.work / "team", NOBODY, TEAM)
    probe = world.run("rehearse", "--no-persist", "true")
    if probe.code:
        pytest.skip(excused(probe.stderr.strip()[-300:]))
    done = world.run("rehearse", "--json", "sed -i s/b/c/ team own")
    flags = {os.path.basename(each["path"]): each.get("flags", []) for each in json.loads(done.stdout)["changes"]}
    assert flags == {"team": ["group-lost"], "own": []}
    assert "loses its group" in world.run("rehearse", "sed -i s/b/c/ team").stdout
