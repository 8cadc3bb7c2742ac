"""The mount table: escapes, and which mounts a path can really lead into."""

from __future__ import annotations

import os

import pytest

from agent.execution import mountinfo
from agent.execution.mountinfo import is_below, is_within, mount_of, parse, visible
from tests.support.each import each

_ROOT = b"1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"


def line(number: int, parent: int, point: bytes, *, kind: bytes = b"tmpfs", options: bytes = b"rw") -> bytes:
    return b"%d %d 0:%d / %s %s - %s none rw\n" % (number, parent, number, point, options, kind)


def points(table: bytes) -> list[tuple[int, bytes]]:
    return [(mount.number, mount.point) for mount in visible(parse(table))]


def test_fields_and_escapes() -> None:
    (mount,) = parse(b"36 35 98:0 /mnt1 /a\\040b\\134\\012 rw,noatime master:1 - ext3 /dev/root ro,errors=continue\n")
    assert (mount.number, mount.parent, mount.kind) == (36, 35, "ext3")
    assert mount.point == b"/a b\\\n"
    assert mount.options == {"rw", "noatime"}
    assert mount.read_only  # the file system is, if not the mount


def test_lines_of_another_shape_are_left_out() -> None:
    assert parse(b"\nnonsense\n1 2 3\n" + _ROOT)[0].point == b"/"


def test_the_last_mount_on_a_place_is_the_one_that_shows() -> None:
    table = _ROOT + line(2, 1, b"/mnt") + line(3, 2, b"/mnt/x") + line(4, 2, b"/mnt") + line(5, 4, b"/mnt/y")
    assert points(table) == [(1, b"/"), (4, b"/mnt"), (5, b"/mnt/y")]


def test_what_lies_under_a_later_mount_is_hidden() -> None:
    assert points(_ROOT + line(2, 1, b"/a/b") + line(3, 1, b"/a")) == [(1, b"/"), (3, b"/a")]


def test_a_mount_over_the_root() -> None:
    assert points(_ROOT + line(2, 1, b"/x") + line(3, 1, b"/") + line(4, 3, b"/y")) == [(3, b"/"), (4, b"/y")]


def test_parents_come_first() -> None:
    table = _ROOT + line(2, 1, b"/a") + line(3, 2, b"/a/b/c") + line(4, 1, b"/b")
    assert [point for _number, point in points(table)] == [b"/", b"/a", b"/b", b"/a/b/c"]


@each(("path", "number"), [(b"/", 1), (b"/a", 2), (b"/ab", 1), (b"/a/b", 2), (b"/a/b/c", 3), (b"/a/b/cd", 2)])
def test_the_mount_of_a_path(path: bytes, number: int) -> None:
    mounts = visible(parse(_ROOT + line(2, 1, b"/a") + line(3, 2, b"/a/b/c")))
    assert mount_of(path, mounts).number == number


def test_inside_is_by_whole_names() -> None:
    assert is_below(b"/a/b", b"/a") and is_below(b"/a", b"/") and is_within(b"/a", b"/a")
    assert not is_below(b"/ab", b"/a") and not is_below(b"/a", b"/a") and not is_below(b"/", b"/")


@pytest.mark.skipif(not os.path.exists("/proc/self/mountinfo"), reason="no mount table here")
def test_this_machines_table() -> None:
    mounts = visible(mountinfo.read())
    assert mounts[0].point == b"/"
    assert mount_of(b"/proc/self", mounts).kind == "proc"
