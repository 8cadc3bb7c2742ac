"""Upper folders as other kernels and nested overlays leave them, made by hand: whiteouts as attributes, metacopies, hostile notes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.execution.overlay.model import Layer
from agent.execution.overlay.overlay_notes import is_own, prefix_of
from agent.execution.overlay.reader import read_steps
from tests.support.overlay_world import OverlayWorld
from tests.unit.execution.rehearsal.reading import overlay, read, words


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    """A layer with notes as ordinary users have them, which anybody may write."""
    for name in ("root", "scratch", "scratch/upper"):
        (tmp_path / name).mkdir()
    try:
        os.setxattr(tmp_path, "user.overlay.probe", b"x")
        os.removexattr(tmp_path, "user.overlay.probe")
    except OSError as error:
        pytest.skip(f"no extended attributes here: {error}")
    root, scratch = os.fsencode(tmp_path / "root"), os.fsencode(tmp_path / "scratch")
    return Layer(root, scratch, scratch + b"/upper", userxattr=True)


def steps_of(layer: Layer) -> list[tuple[str, str]]:
    result = read_steps([layer])
    assert not result.obstacle
    return [(step.op, os.fsdecode(step.path[len(layer.root) + 1 :])) for step in result.steps if not step.quiet]


def note(path: bytes, name: str, value: bytes) -> None:
    os.setxattr(path, f"user.overlay.{name}", value, follow_symlinks=False)


def write(path: bytes, text: bytes = b"text") -> bytes:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text)
    return path


def test_a_whiteout_as_an_attribute_deletes(layer: Layer) -> None:
    write(layer.root + b"/d/f")
    note(write(layer.upper + b"/d/f", b""), "whiteout", b"")
    note(layer.upper + b"/d", "opaque", b"x")
    assert steps_of(layer) == [("delete", "d/f")]


def test_a_file_with_content_is_no_whiteout(layer: Layer) -> None:
    note(write(layer.upper + b"/f"), "whiteout", b"")
    assert steps_of(layer) == [("create", "f")]


def test_a_whiteout_of_nothing_is_nothing(layer: Layer) -> None:
    note(write(layer.upper + b"/f", b""), "whiteout", b"")
    assert steps_of(layer) == []


def test_what_a_command_itself_noted_is_content(layer: Layer) -> None:
    os.mkdir(layer.root + b"/d")
    write(layer.root + b"/d/f")
    os.mkdir(layer.upper + b"/d")
    note(layer.upper + b"/d", "overlay.opaque", b"y")  # how the kernel keeps a user.overlay.opaque that a command set
    os.utime(layer.upper + b"/d", ns=(0, os.stat(layer.root + b"/d").st_mtime_ns))
    assert steps_of(layer) == [("meta", "d")]
    assert is_own(b"user.overlay.opaque", prefix_of(True))
    assert not is_own(b"user.overlay.overlay.opaque", prefix_of(True))
    assert not is_own(b"user.overlay.opaque", prefix_of(False))


@pytest.mark.parametrize("redirect", [b"../../etc", b"a/b", b"/../etc", b"/nowhere", b"..", b"/link"])
def test_a_redirect_that_leads_out_or_nowhere_is_an_obstacle(layer: Layer, redirect: bytes) -> None:
    os.mkdir(layer.upper + b"/d")
    os.symlink(b"/etc", layer.root + b"/link")
    note(layer.upper + b"/d", "redirect", redirect)
    result = read_steps([layer])
    assert result.obstacle and not result.steps


def test_one_folder_in_two_places_is_an_obstacle(layer: Layer) -> None:
    os.mkdir(layer.root + b"/a")
    for name in (b"/x", b"/y"):
        os.mkdir(layer.upper + name)
        note(layer.upper + name, "redirect", b"/a")
    assert "two places" in read_steps([layer]).obstacle


def test_a_metacopy_without_its_data_is_an_obstacle(layer: Layer) -> None:
    note(write(layer.upper + b"/f", b""), "metacopy", b"")
    assert "not in the overlay" in read_steps([layer]).obstacle


def test_a_link_in_place_of_the_root_is_not_followed(layer: Layer, tmp_path: Path) -> None:
    os.rmdir(layer.root)
    os.symlink(b"/etc", layer.root)
    assert read_steps([layer]).obstacle.startswith("cannot read what changed")


def test_garbage_as_an_origin_is_no_origin(layer: Layer) -> None:
    write(layer.root + b"/f")
    for number, value in enumerate([b"\x00", b"x" * 300, b"\x00\xfb\xff\x00\x01"]):
        note(write(layer.upper + b"/g%d" % number), "origin", value)
    assert steps_of(layer) == [("create", "g0"), ("create", "g1"), ("create", "g2")]


METACOPY = "redirect_dir=on,index=on,metacopy=on"


@pytest.fixture(scope="module")
def metacopying() -> Iterator[OverlayWorld]:
    with overlay(METACOPY) as made:
        yield made


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("command", "steps"),
    [
        ("chmod 600 f", [("meta", "f")]),
        ("mv f g; chmod 600 g", [("rename", "g", "from f"), ("meta", "g")]),
        ("mv d e; chmod 600 e/f", [("rename", "e", "from d", "whole"), ("meta", "e/f")]),
        ("echo x >> f", [("modify", "f")]),
    ],
)
def test_metacopies_are_changes_of_what_is_said_of_a_file(
    metacopying: OverlayWorld, command: str, steps: list[tuple[str, ...]]
) -> None:
    assert words(metacopying, read(metacopying, "echo a > f; mkdir d; echo b > d/f", command)) == steps
