"""Rehearsals made real and taken back when things go wrong, as root and as an ordinary user, each with real executors of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.ordinary_user import NOBODY
from tests.support import warm_program
from tests.support.few import ONE_USER
from tests.support.rehearsal_bench import Bench, changes, err
from tests.support.tree_operations import Listing, differences, listing

SUPPORT = Path(__file__).resolve().parents[1] / "support"
_PYTHON = "import os, socket, sys; "
_ACL = "b'\\2\\0\\0\\0' + b'\\1\\0\\6\\0\\xff\\xff\\xff\\xff' + b'\\4\\0\\4\\0\\xff\\xff\\xff\\xff' + b'\\x20\\0\\0\\0\\xff\\xff\\xff\\xff'"
FURNISH = rf"""
mkdir -p again/deep folder moved/in gone/deep acl 'odd dir'; echo o > again/deep/o; echo f > file; echo i > folder/i; echo m > moved/in/m
echo t > other; echo g > gone/deep/g; ln gone/deep/g gone/other-name; mkfifo old-pipe; ln -s file old-link; echo v > attributed
truncate -s 5G sparse; printf middle | dd of=sparse bs=1 seek=1G conv=notrunc status=none; echo n > name; ln name name-too
echo s > setuid; mkdir sticky; echo p > $'a\nb'; echo q > $'\xff\xfe'; echo r > 'quo"te'\'',:\'; echo x > stamp; chmod 640 stamp
python3 -c "{_PYTHON} os.setxattr('attributed', 'user.old', b'1'); os.setxattr('attributed', 'user.goes', b'2')"
touch -d 2001-02-03 stamp again folder .
"""
EVERYTHING = rf"""
rm -r again; mkdir again; echo new > again/new; rm file; mkdir file; echo in > file/in; rm -r folder; echo now > folder; rm other
ln -s nowhere other; mv moved elsewhere; mv elsewhere/in out; echo more >> out/m; rm -r gone; rm old-pipe; mkfifo pipe
ln -sfn stamp old-link; printf end >> sparse; truncate -s 6G sparse2; ln name-too name-three; rm name; echo w > twice; ln twice too
chmod 4755 setuid; chmod 1777 sticky; chmod 2750 acl; touch -d 2002-03-04 stamp; chmod 600 stamp
echo more >> $'a\nb'; mv $'\xff\xfe' $'\xfd\n'; rm 'quo"te'\'',:\'; echo x > "$(printf 'y%.0s' {{1..255}})"
mkdir -p deep/{{1..3}}/er; echo d > deep/2/er/d; ln deep/2/er/d from-inside; chmod 500 deep/3
python3 -c "{_PYTHON} os.setxattr('attributed', 'user.new', b'3'); os.removexattr('attributed', 'user.goes')"
python3 -c "{_PYTHON} os.setxattr('attributed', 'system.posix_acl_access', {_ACL})"
python3 -c "{_PYTHON} socket.socket(socket.AF_UNIX).bind('socket')"
"""
ROOTS_OWN = "chown 1:2 stamp; echo z >> name-too; mv out/m out/n; chown -h 3:4 old-link; setcap cap_net_raw+ep setuid 2>/dev/null; true"
HUNDRED_THOUSAND = (100, 1000)  # folders, files in each


@pytest.fixture(params=["root", "user"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    bench = Bench(request.param)
    yield bench
    bench.remove()


def undo(bench: Bench, undo_id: str) -> None:
    """Take it back, or do it again, as whoever rehearsed, in a process of its own."""
    code = f"from agent.execution.journal.store import Journals; Journals({str(bench.state)!r}).turn({undo_id!r})"
    done = subprocess.run([*bench.words, "-c", code], env=bench.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def drive(bench: Bench, what: str) -> dict[str, Any]:
    """What the driver says of one of its stories."""
    script = str(SUPPORT / "commit_driver.py")
    bench.runs("true")  # skips where the system has no rehearsals
    words = [*bench.words, script, what, str(bench.work), str(bench.state)]
    done = warm_program.run(words, env=bench.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def inodes(top: Path) -> dict[Path, int]:
    """Inode numbers by path."""
    return {path: path.lstat().st_ino for path in (top, *top.rglob("*"))}


def untimed(tree: Listing) -> Listing:
    """Without the times of what was touched just now: two runs cannot have the same."""
    return {
        path: {key: value for key, value in facts.items() if key != "mtime" or path == "/stamp"}
        for path, facts in tree.items()
    }


@ONE_USER
def test_made_real_is_what_a_plain_run_leaves_and_taken_back_is_what_was(bench: Bench) -> None:
    """Folders made anew, types, links, renames, attributes, ACLs, holes, pipes, sockets, odd names, rights; all at once."""
    twin = bench.base / "twin"
    twin.mkdir()
    bench.own()
    command = EVERYTHING + (ROOTS_OWN if bench.kind == "root" else "")
    for place in (bench.work, twin):
        bench.runs({"text": FURNISH, "direct": True}, cwd=str(place))
    real = os.fsencode(bench.work)
    before, numbers = listing(real), inodes(bench.work)
    (plain,) = bench.runs({"text": command, "direct": True}, cwd=str(twin))
    assert plain["result"]["exit_code"] == 0, err(plain)
    (said,) = bench.runs({"text": command, "then": "commit"})
    assert said["result"]["exit_code"] == 0, err(said)
    after = listing(real)
    assert not differences(untimed(listing(os.fsencode(twin))), untimed(after))
    for wanted in (before, after, before):
        undo(bench, said["committed"]["undo_id"])
        assert not differences(wanted, listing(real))
    assert inodes(bench.work) == numbers


@pytest.mark.thorough
def test_killed_after_each_thing_that_commit_and_undo_do(bench: Bench) -> None:
    said = drive(bench, "crash")
    assert said["wrong"] == []
    assert said["committing"] > 6
    assert min(said["undoing"]) > 6
    assert {"/again/n", "/new/er/y", "/type/x"} <= set(said["names"])


@pytest.mark.thorough
def test_of_two_rehearsals_of_one_file_the_second_is_not_made_real(bench: Bench) -> None:
    said = drive(bench, "rivals")
    assert (said["error"], said["content"], said["undone"]) == ("rehearsal_conflict", "0\none\n", "0\n")
    assert said["names"] == ["f", "one"]


def _on_a_small_disk(bench: Bench, size: str) -> None:
    """Put the bench on a file system of this size, in a mount namespace that goes with whatever runs in it."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    owner = NOBODY if bench.kind == "user" else 0
    script = (
        f'mount --make-rprivate / && mount -t tmpfs -o size={size},uid={owner},gid={owner},mode=755 none "$1" && '
        f'mkdir "$1/work" "$1/state" "$1/home" && chown {owner}:{owner} "$1"/* && shift && exec "$@"'
    )
    bench.words = ("unshare", "-m", "sh", "-c", script, "sh", str(bench.base), *bench.words)


@ONE_USER
def test_a_full_disk_stops_commit_and_undo_before_anything_is_lost(bench: Bench) -> None:
    _on_a_small_disk(bench, "80m")
    said = drive(bench, "full")
    assert said["error"] == "commit_failed"
    assert "the disk is full" in said["message"]
    assert (said["nothing done"], said["one of two"], said["turned"]) == ([], [], [])


@ONE_USER
def test_a_rehearsal_that_fills_the_disk_is_ended(bench: Bench) -> None:
    _on_a_small_disk(bench, "80m")
    (said,) = bench.runs("echo kept > f; head -c 200M /dev/zero > large; sleep 30")
    assert said["obstacle"] == "the rehearsal's disk is nearly full, so this is not all that it would do"


@pytest.fixture(scope="module")
def many() -> Iterator[Path]:
    """100,000 files that belong to an ordinary user, in memory where there is room for that."""
    memory = Path("/dev/shm")
    where = str(memory) if memory.is_dir() and shutil.disk_usage(memory).free > 1 << 30 else None
    top = Path(tempfile.mkdtemp(prefix="many-", dir=where))
    top.chmod(0o755)
    code = (
        f"import os; os.chdir({str(top)!r})\n"
        "for d in range({}):\n os.mkdir(f'd{{d}}')\n for f in range({}):\n"
        "  fd = os.open(f'd{{d}}/f{{f}}', os.O_WRONLY | os.O_CREAT, 0o644); os.write(fd, b'alpha\\n'); os.close(fd)"
    ).format(*HUNDRED_THOUSAND)
    if os.geteuid() == 0:
        os.chown(top, NOBODY, NOBODY)
        code = f"import os; os.setgid({NOBODY}); os.setuid({NOBODY})\n" + code
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)
    yield top
    shutil.rmtree(top)


@pytest.mark.parametrize("kind", ["root", "user"])
@pytest.mark.thorough
def test_nine_of_100_000_files(many: Path, kind: str) -> None:
    bench = Bench(kind, str(many.parent))
    try:
        names = [f"d{number}/f{number}" for number in range(9)]
        text = f"sed -i s/alpha/beta/ {' '.join(names)}"
        counted, said = bench.runs("find . -type f | wc -l", {"text": text, "then": "commit"}, cwd=str(many))
        assert counted["result"]["stdout"]["head"] == f"{HUNDRED_THOUSAND[0] * HUNDRED_THOUSAND[1]}\n"
        assert counted["changes"] == []
        assert {os.path.relpath(change["path"], many) for change in said["changes"]} == set(names)
        assert {(many / name).read_text() for name in names} == {"beta\n"}
        undo(bench, said["committed"]["undo_id"])
        assert {(many / name).read_text() for name in names} == {"alpha\n"}
    finally:
        bench.remove()


@pytest.mark.thorough
def test_files_of_other_users(bench: Bench) -> None:
    """Root's rehearsal keeps owners; an ordinary user can remove and replace what stands in a folder of their own, and no more."""
    if os.geteuid() != 0:
        pytest.skip("needs root to make a file of another user")
    for name in ("removed", "written", "taken", "equal"):
        (bench.work / name).write_text(name)
    bench.own()
    for path in bench.work.iterdir():
        os.chown(path, 1, 2)
    before = bench.listing()
    equal, removed, written, taken = bench.runs(
        {"text": "sed -i s/nothing/of-it/ equal", "then": "commit"},
        {"text": "rm -f removed; echo mine > removed", "then": "commit"},
        {"text": "echo more >> written", "then": "commit"},
        {"text": "chown 5:6 taken", "then": "commit"},
    )
    assert (removed["committed"]["changes"], equal["committed"]["changes"]) == (1, 1)
    codes = (written["result"]["exit_code"] == 0, taken["result"]["exit_code"] == 0)
    owner = os.stat(bench.work / "written")
    assert (owner.st_uid, owner.st_gid) == (1, 2)
    if bench.kind == "root":
        assert codes == (True, True)
        assert (bench.work / "written").read_text() == "writtenmore\n"
        assert os.stat(bench.work / "taken").st_uid == 5
    else:
        assert codes == (False, False)
        assert os.stat(bench.work / "removed").st_uid == NOBODY
    for each in (taken, written, removed, equal):
        if each.get("committed", {}).get("undo_id"):
            undo(bench, each["committed"]["undo_id"])
    assert bench.listing() == before


@ONE_USER
def test_without_an_overlay_file_system_that_is_said_and_nothing_runs(bench: Bench) -> None:
    words = bench.words
    bench.words = (sys.executable, str(SUPPORT / "without_overlay.py"), *words)
    (said,) = bench.ask("touch x /tmp/never-made-either")
    assert said["error"] == "rehearsal_unavailable"
    assert "no overlay can be made" in said["message"]
    assert "modprobe overlay" in said["hint"]
    assert not any(bench.work.iterdir())
    assert not os.path.lexists("/tmp/never-made-either")


@pytest.mark.thorough
def test_what_was_rehearsed_twice_shows_the_same(bench: Bench) -> None:
    bench.runs({"text": FURNISH, "direct": True})
    one, two = bench.runs(EVERYTHING, EVERYTHING)
    assert changes(one) == changes(two)
    assert one["totals"] == two["totals"]


if sys.platform != "linux":
    pytest.skip("rehearsals need Linux", allow_module_level=True)
