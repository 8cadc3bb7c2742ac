"""The benchmark's sandbox, with real namespaces: what a command can do, see and leave there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.nl2sh_sandbox import HOME, Outcome, SetupBroken, prepare, run_inside, why_missing
from tests.support.needs import needing

ROOT = Path(__file__).parents[3]
MISSING = why_missing()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"no sandbox here: {MISSING}")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    work = home / "work"
    work.mkdir()
    (work / "a.txt").write_text("alpha\n")
    (work / "b.txt").write_text("beta\n")
    os.link(work / "a.txt", work / "twin.txt")
    os.symlink("a.txt", work / "link")
    for name in ("a.txt", "b.txt"):
        os.utime(work / name, (1_600_000_000, 1_600_000_000))
    yield str(home)


def tried(base: str, command: str, **options: object) -> Outcome:
    return run_inside(command, base=base, cwd="work", **options)  # type: ignore[arg-type]


def test_a_command_sees_its_copy_and_changes_nothing_else(base: str) -> None:
    seen = tried(base, "pwd; ls; echo more >> a.txt; rm b.txt; mkdir new")
    assert seen.stdout == f"{HOME}/work\na.txt\nb.txt\nlink\ntwin.txt\n"
    assert set(seen.changed) == {"work/a.txt", "work/twin.txt", "work/b.txt", "work/new"}
    assert seen.changed["work/b.txt"] == "gone"
    assert seen.changed["work/new"] == "folder 755"
    assert Path(base, "work/a.txt").read_text() == "alpha\n"
    assert Path(base, "work/b.txt").exists()


def test_it_is_an_ordinary_user_without_any_power(base: str) -> None:
    seen = tried(
        base, "id -u; grep -E 'CapEff|NoNewPrivs' /proc/self/status | tr -s '\\t' ' '; test -w /usr || echo closed"
    )
    assert seen.stdout == "1000\nCapEff: 0000000000000000\nNoNewPrivs: 1\nclosed\n"
    assert tried(base, "unshare -U true || unshare -n true").exit_code != 0


def test_nothing_of_the_machine_can_be_written_or_seen(base: str) -> None:
    seen = tried(
        base,
        "touch /usr/x /etc/x /x /dev/x 2>&1 | grep -c -i 'read-only\\|denied'; ls /home; ls -A /root /mnt 2>/dev/null",
    )
    assert seen.stdout == "4\ndana\n"


def test_there_is_no_network_and_no_other_process(base: str) -> None:
    seen = tried(base, "cat /proc/net/dev | grep -c : ; ls /proc | grep -c '^[0-9]*$'; : > /dev/tcp/127.0.0.1/9")
    devices, processes = seen.stdout.split()
    assert devices == "1"
    assert int(processes) < 10
    assert "refused" in seen.stderr or "unreachable" in seen.stderr


@pytest.mark.thorough
def test_what_runs_too_long_is_ended_with_what_it_started(base: str) -> None:
    seen = tried(base, "sleep 60 & echo begun; sleep 60", timeout=8.0)
    assert (seen.timed_out, seen.exit_code, seen.stdout) == (True, 124, "begun\n")


def test_what_it_leaves_in_the_background_does_not_hold_it_up(base: str) -> None:
    seen = tried(base, "sleep 600 & echo done", timeout=60)
    assert (seen.timed_out, seen.stdout) == (False, "done\n")


def test_a_flood_is_cut(base: str) -> None:
    assert tried(base, "head -c 400000 /dev/zero | tr '\\0' x").cut


@pytest.mark.thorough
def test_times_count_where_they_are_asked_for(base: str) -> None:
    assert tried(base, "touch -d 2020-01-01 b.txt").changed == {}
    asked = tried(base, "touch -d 2020-01-01T00:00Z b.txt; cp a.txt c.txt; cp -p a.txt d.txt", times=True).changed
    assert asked["work/b.txt"].endswith("of 1577836800")
    assert asked["work/c.txt"].endswith("of now")
    assert asked["work/d.txt"].endswith("of 1600000000")


@pytest.mark.thorough
def test_archives_count_by_what_is_in_them(base: str) -> None:
    one = tried(base, "tar czf x.tgz a.txt b.txt; gzip -c b.txt > b.gz").changed
    two = tried(base, "tar cf - ./b.txt ./a.txt | gzip -1 > x.tgz; cat b.txt | gzip > b.gz").changed
    other = tried(base, "tar czf x.tgz a.txt; gzip -c a.txt > b.gz").changed
    assert one == two
    assert one["work/x.tgz"] != other["work/x.tgz"]
    assert one["work/b.gz"] != other["work/b.gz"]


def test_an_archive_that_is_none_counts_by_its_bytes(base: str) -> None:
    assert "bytes" in tried(base, "cp a.txt fake.zip").changed["work/fake.zip"]


@pytest.mark.thorough
@needing("git")
def test_repositories_count_by_what_they_record(base: str) -> None:
    make = "git init -q -b main . && git add -A && git -c user.name=D -c user.email=d@x.example commit -q -m"
    one, two = tried(base, f"{make} one").changed, tried(base, f"{make} one; git gc -q; git status").changed
    assert one == two
    assert one != tried(base, f"{make} two").changed


def test_a_setup_makes_a_world_of_its_own(base: str, tmp_path: Path) -> None:
    target = str(tmp_path / "world")
    prepare(
        "umask 0; echo x > made.txt; mkdir -m 750 in; chmod 000 b.txt; ln -s /etc/passwd out",
        base=base,
        cwd="work",
        target=target,
    )
    seen = run_inside("cat made.txt a.txt; stat -c '%a %N' in b.txt out; cat link", base=target, cwd="work")
    assert seen.stdout == "x\nalpha\n750 'in'\n0 'b.txt'\n777 'out' -> '/etc/passwd'\nalpha\n"
    assert seen.changed == {}
    assert not Path(base, "work/made.txt").exists()
    with pytest.raises(SetupBroken, match="ended with 3"):
        prepare("exit 3", base=base, cwd="work", target=str(tmp_path / "none"))


def test_nothing_stays_behind(base: str) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    tried(base, "true")
    assert Path("/proc/self/mountinfo").read_text() == before


@needing("unshare")
def test_without_namespaces_nothing_runs() -> None:
    """A user namespace that allows none below it: there the benchmark says why, and ends with 2."""
    command = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" -m benchmarks.nl2sh --only find --check'
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", command, sys.executable],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("no sandbox here, so nothing is run: ")
