"""Mounts and disks in use, from made-up /proc and /sys trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.planner.facts.file_systems import Mount, device_facts, disk_use, mounts

ROOT = "25 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n"
DATA = "30 25 8:17 / /mnt/my\\040data rw - xfs /dev/sdb1 rw\n"
SWAPS = "Filename\tType\tSize\tUsed\tPriority\n/dev/sdc1 partition 1 0 -2\n"


def machine(tmp_path: Path, mountinfo: str = ROOT + DATA) -> dict[str, str]:
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "mountinfo").write_text(mountinfo)
    (proc / "swaps").write_text(SWAPS)
    for number, name in (("8:0", "sda"), ("8:16", "sdb"), ("8:32", "sdc"), ("8:48", "sdd"), ("8:64", "sde")):
        disk = sys / "devices" / name
        (disk / "holders").mkdir(parents=True)
        major, minor = number.split(":")
        for part in (1, 2):
            folder = disk / f"{name}{part}"
            (folder / "holders").mkdir(parents=True)
            (folder / "partition").write_text(f"{part}\n")
            (folder / "dev").write_text(f"{major}:{int(minor) + part}\n")
            link(sys, f"{major}:{int(minor) + part}", folder)
        link(sys, number, disk)
    (sys / "devices" / "sde" / "sde2" / "holders" / "dm-0").mkdir()
    return {"proc": str(proc), "sys": str(sys)}


def link(sys: Path, number: str, folder: Path) -> None:
    (sys / "dev" / "block").mkdir(parents=True, exist_ok=True)
    (sys / "dev" / "block" / number).symlink_to(folder)


@pytest.mark.parametrize(
    ("number", "path", "expected"),
    [
        ("8:2", "/dev/sda2", ("/", True)),
        ("8:0", "/dev/sda", ("/", True)),
        ("8:1", "/dev/sda1", ("", True)),
        ("8:16", "/dev/sdb", ("/mnt/my data", True)),
        ("8:32", "/dev/sdc", ("swap", True)),
        ("8:48", "/dev/sdd", ("", True)),
        ("8:64", "/dev/sde", ("part of a volume", True)),
        ("9:99", "/dev/unheard-of", ("", False)),
    ],
)
def test_disks(tmp_path: Path, number: str, path: str, expected: tuple[str, bool]) -> None:
    assert disk_use(number, path, **machine(tmp_path)) == expected


def test_a_partition_of_a_disk_that_a_volume_holds_is_in_use(tmp_path: Path) -> None:
    there = machine(tmp_path)
    (tmp_path / "sys" / "devices" / "sdd" / "holders" / "dm-3").mkdir()
    assert disk_use("8:49", "/dev/sdd1", **there) == ("part of a volume", True)


@pytest.mark.parametrize(
    "mountinfo",
    [
        "",
        "25 1 0:45 / / rw - overlay overlay rw\n",  # a container: the host's mounts do not show
        ROOT + "40 25 0:50 / /pool rw - zfs tank rw\n",  # whose disks no table names
        "broken\nlines - here\n",
    ],
)
def test_doubt_is_not_called_unused(tmp_path: Path, mountinfo: str) -> None:
    assert disk_use("8:48", "/dev/sdd", **machine(tmp_path, mountinfo)) == ("", False)


def test_the_table_of_mounts(tmp_path: Path) -> None:
    there = machine(tmp_path)
    assert mounts(there["proc"]) == [
        Mount("/", "/dev/sda2", "ext4", "8:2"),
        Mount("/mnt/my data", "/dev/sdb1", "xfs", "8:17"),
    ]
    assert mounts(str(tmp_path / "nowhere")) == []
    assert any(mount.point == "/" for mount in mounts())


def test_what_is_no_disk_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "image.img").write_text("x")
    for path in (str(tmp_path / "image.img"), "/dev/null", "/nonexistent", "\0"):
        assert device_facts(path) == ()
