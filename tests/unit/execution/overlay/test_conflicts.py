"""What somebody changed since a rehearsal began is found, and what the rehearsal itself leaves behind is no conflict."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agent.execution.overlay.conflicts import clock_offset, same_as_before
from agent.execution.overlay.reader import read_steps
from tests.support.overlay_world import FAITHFUL, FOR_USERS, OverlayWorld
from tests.unit.execution.rehearsal.reading import inside, overlay

BEFORE = (
    "echo a > f; echo b > m; mkdir -p d/e; echo c > d/e/g; mkdir r; echo r > r/x; ln -s a l; echo k > kept; mkdir w"
)
COMMAND = (
    "echo b >> f; chmod 600 m; rm -r d; mv r r2; ln -sfn b l; echo n > new; mkdir tree; echo t > tree/t; echo v > w/v"
)


@pytest.fixture(scope="module", params=[FAITHFUL, FOR_USERS], ids=["faithful", "user"])
def world(request: pytest.FixtureRequest) -> Iterator[OverlayWorld]:
    with overlay(request.param) as made:
        yield made


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("meanwhile", "paths"),
    [
        pytest.param("true", [], id="nothing"),
        pytest.param("echo z >> kept; touch other; echo q > w/other", [], id="what-was-not-touched"),
        pytest.param("echo z >> f", ["f"], id="written"),
        pytest.param("cp -p f t; mv t f", ["f"], id="replaced-by-its-equal"),
        pytest.param("rm f", ["f"], id="removed"),
        pytest.param("rm f; mkdir f", ["f"], id="another-kind"),
        pytest.param("chmod 640 m", ["m"], id="mode"),
        pytest.param(
            "echo z > t; touch -r f t; cat t > /dev/null; mv t d/e/h", ["d/e", "d/e/h"], id="new-in-a-removed-folder"
        ),
        pytest.param("echo Z > d/e/g; touch -d 2001-01-01 d/e/g", ["d/e/g"], id="dated-back-in-a-removed-folder"),
        pytest.param("rm d/e/g", ["d/e"], id="removed-in-a-removed-folder"),
        pytest.param("touch d/z", ["d"], id="new-at-the-top-of-a-removed-folder"),
        pytest.param("echo z >> r/x", ["r/x"], id="in-a-renamed-folder"),
        pytest.param("ln -sfn c l", ["l"], id="link-elsewhere"),
        pytest.param("touch new", ["new"], id="taken-name"),
        pytest.param("ln -s /etc tree", ["tree"], id="taken-name-of-a-folder"),
        pytest.param("rm -r d; ln -s /etc d", ["d"], id="link-instead-of-a-removed-folder"),
        pytest.param("mv w w2; ln -s w2 w", ["w"], id="link-on-the-way"),
        pytest.param("ln f another", ["f"], id="one-more-name"),
    ],
)
def test_changes_of_somebody_else(world: OverlayWorld, meanwhile: str, paths: list[str]) -> None:
    world.new_case()
    world.prepare(BEFORE)
    done = world.run(COMMAND)
    assert done["code"] == 0, done["said"]
    result = read_steps([world.layer()])
    assert not result.obstacle and same_as_before(result.steps, result.layers) == ()
    world.prepare(meanwhile)
    assert (
        sorted(inside(world, os.fsencode(each.path)) for each in same_as_before(result.steps, result.layers)) == paths
    )


def test_a_change_before_the_reading_counts_as_well(world: OverlayWorld) -> None:
    world.new_case()
    world.prepare(BEFORE)
    world.run(COMMAND)
    world.prepare("echo z >> f; echo z >> d/e/g")
    result = read_steps([world.layer()])
    found = [inside(world, os.fsencode(each.path)) for each in same_as_before(result.steps, result.layers)]
    assert sorted(found) == ["d/e/g", "f"]


def test_where_the_clock_was_set_back_nothing_counts_as_unchanged(world: OverlayWorld) -> None:
    world.new_case()
    world.prepare(BEFORE)
    world.run(COMMAND)
    world.prepare("echo z > d/e/h; echo z > t; touch -r f t; mv t d/e/t")
    layer = world.layer()
    assert layer.start is not None
    later = layer.start.st_ctime_ns + 3_600_000_000_000
    told = {"st_ctime_ns": later, "st_mtime_ns": layer.start.st_mtime_ns}
    layer = replace(layer, start=os.stat_result(tuple(layer.start), told), clock=clock_offset() + 3600)
    result = read_steps([layer])
    found = {inside(world, os.fsencode(each.path)): each.reason for each in same_as_before(result.steps, result.layers)}
    assert {"d", "f", "l", "m", "r", "w/v"} >= set(found) >= {"d", "f", "l", "m", "r"}
    assert "the clock was set back" in found["d"]


@pytest.mark.few(1)
def test_no_more_than_a_hundred_are_named(world: OverlayWorld) -> None:
    world.new_case()
    world.prepare("mkdir d; touch d/{1..300}")
    world.run("rm -r d")
    result = read_steps([world.layer()])
    world.prepare("touch d/*")
    assert len(same_as_before(result.steps, result.layers)) == 100
