"""Journals across mounts, on full disks and in the hands of an ordinary user: each case is a child in a mount namespace of its own.

Run as a script it is that child: `python test_journal_file_systems.py CASE FOLDER`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from agent.execution.journal.records import Entry, now  # noqa: E402
from agent.execution.journal.store import Journals  # noqa: E402
from agent.execution.overlay.model import Layer, Op, Step  # noqa: E402
from agent.protocol.errors import CommitFailed, UndoFailed  # noqa: E402
from tests.support.tree_operations import differences, listing  # noqa: E402

NOBODY = 65534


class Bench:
    """A real folder and an upper folder, filled by hand, and the steps between them."""

    def __init__(self, real: Path, scratch: Path, state: Path, *, same: bool) -> None:
        self.real, self.upper, self.state = real, scratch / "upper", state
        for folder in (real, self.upper):
            folder.mkdir(parents=True, exist_ok=True)
        self.steps: list[Step] = []
        self.layer = Layer(
            os.fsencode(real), os.fsencode(scratch), os.fsencode(self.upper), userxattr=True, same_file_system=same
        )

    def step(self, op: Op, name: str, *, in_place: bool = False, whole: bool = False) -> None:
        path, image = os.fsencode(self.real / name), os.fsencode(self.upper / name)
        before = os.lstat(path) if os.path.lexists(path) else None
        after = os.lstat(image) if os.path.lexists(image) else None
        self.steps.append(
            Step(
                op,
                path,
                0,
                None if after is None else image,
                in_place=in_place,
                whole=whole,
                before=before,
                after=after,
            )
        )

    def commit(self) -> str:
        run = Entry("", now(), "x", "/")
        return Journals(str(self.state)).commit([self.layer], self.steps, run).undo_id

    def now(self) -> dict[str, dict[str, object]]:
        return listing(os.fsencode(self.real))


def filled(bench: Bench) -> Bench:
    """Every kind of step that needs a copy on another file system."""
    real, upper = bench.real, bench.upper
    (real / "a").write_text("old")
    (real / "gone/deep").mkdir(parents=True)
    (real / "gone/deep/x").write_text("x")
    (real / "one").write_text("1")
    os.link(real / "one", real / "two")
    (real / "m").write_text("m")
    os.utime(real, ns=(5, 5))
    (upper / "a").write_text("new")
    os.chmod(upper / "a", 0o640)
    os.setxattr(upper / "a", "user.note", b"n")
    os.setxattr(upper / "a", "user.overlay.origin", b"")
    os.utime(upper / "a", ns=(1, 10**18 + 1))
    (upper / "tree/in").mkdir(parents=True)
    os.chmod(upper / "tree/in", 0o500)
    (upper / "tree/f").write_text("f")
    os.link(upper / "tree/f", upper / "tree/g")
    with open(upper / "tree/sparse", "wb") as file:
        file.truncate(1 << 32)
        file.seek(1 << 31)
        file.write(b"in the middle")
    os.symlink("nowhere", upper / "tree/l")
    os.mkfifo(upper / "tree/p")
    (upper / "one").write_text("12")
    (upper / "m").write_text("m")
    os.chmod(upper / "m", 0o600)
    bench.step("modify", "a")
    bench.step("delete", "gone", whole=True)
    bench.step("create", "tree", whole=True)
    bench.step("modify", "one", in_place=True)
    bench.step("meta", "m")
    return bench


def round_trip(bench: Bench) -> str:
    """Commit, undo, undo again, undo; the id."""
    before = bench.now()
    undo_id = bench.commit()
    after = bench.now()
    journals = Journals(str(bench.state))
    assert (bench.real / "a").read_text() == "new"
    assert (bench.real / "two").read_text() == "12"
    assert os.stat(bench.real / "tree/sparse").st_blocks < 1000
    assert os.stat(bench.real / "tree/f").st_nlink == 2
    assert after["/a"]["xattrs"] == {"user.note": b"n".hex()}
    assert "user.overlay.origin" not in os.listxattr(bench.real / "a")
    for wanted in (before, after, before):
        assert journals.conflicts(undo_id) == ()
        journals.turn(undo_id)
        assert not differences(wanted, bench.now())
    return undo_id


def other_file_system(folder: Path) -> None:
    mount(folder / "other", "size=64m")
    bench = filled(Bench(folder / "other/real", folder / "scratch", folder / "state", same=False))
    undo_id = round_trip(bench)
    home = folder / "other/.agent-shell-0"
    assert (home / "journals" / undo_id / "held").is_dir()
    assert os.stat(home).st_mode & 0o777 == 0o700
    subprocess.run(["umount", folder / "other"], check=True)
    (entry,) = Journals(str(folder / "state")).entries()
    assert entry.state == "broken" and "is that file system mounted?" in entry.note
    with expected(UndoFailed):
        Journals(str(folder / "state")).turn(undo_id)


def home_goes_with_the_last_entry(folder: Path) -> None:
    mount(folder / "other", "size=64m")
    bench = filled(Bench(folder / "other/real", folder / "scratch", folder / "state", same=False))
    bench.commit()
    (folder / "s2/upper").mkdir(parents=True)
    again = Bench(folder / "here/real", folder / "s2", folder / "state", same=True)
    (again.upper / "new").write_text("new")
    again.step("create", "new")
    again.commit()
    Journals(str(folder / "state"), keep_bytes=0).entries()
    assert sorted(os.listdir(folder / "other")) == ["real"]


def full_journal(folder: Path) -> None:
    mount(folder / "small", "size=2m")
    bench = filled(Bench(folder / "small/real", folder / "small/scratch", folder / "small/state", same=True))
    Journals(str(bench.state)).entries()
    before = bench.now()
    fill(folder / "small")
    with expected(CommitFailed, "the disk is full"):
        bench.commit()
    assert not differences(before, bench.now())
    (folder / "small/filler").unlink()
    assert Journals(str(bench.state)).entries() == ()


def full_while_writing_in_place(folder: Path) -> None:
    mount(folder / "small", "size=8m")
    bench = Bench(folder / "small/real", folder / "scratch", folder / "state", same=False)
    (bench.real / "a").write_text("old")
    (bench.upper / "a").write_text("new")
    (bench.real / "one").write_bytes(b"1" * 1_000_000)
    os.link(bench.real / "one", bench.real / "two")
    (bench.upper / "one").write_bytes(b"2" * 3_900_000)
    bench.step("modify", "a")
    bench.step("modify", "one", in_place=True)
    before = bench.now()
    with expected(CommitFailed, "the disk is full"):
        bench.commit()
    assert not differences(before, bench.now())
    assert Journals(str(bench.state)).entries() == ()
    assert os.listdir(folder / "small") == ["real"]


def full_while_copying(folder: Path) -> None:
    mount(folder / "small", "size=1m")
    bench = filled(Bench(folder / "small/real", folder / "scratch", folder / "state", same=False))
    (bench.upper / "tree/large").write_bytes(b"x" * 3_000_000)
    before = bench.now()
    with expected(CommitFailed, "the disk is full"):
        bench.commit()
    assert not differences(before, bench.now())
    assert os.listdir(folder / "small") == ["real"]


def bind_mount(folder: Path) -> None:
    """The same device, but no way to rename from the state folder to there."""
    (folder / "place").mkdir()
    (folder / "bound").mkdir()
    subprocess.run(["mount", "--bind", folder / "place", folder / "bound"], check=True)
    bench = filled(Bench(folder / "bound/real", folder / "bound/scratch", folder / "state", same=True))
    undo_id = round_trip(bench)
    assert (folder / "bound/.agent-shell-0/journals" / undo_id).is_dir()


def ordinary_user(folder: Path) -> None:
    assert os.geteuid() != 0
    bench = filled(Bench(folder / "real", folder / "state/undo/rehearsals/x", folder / "state", same=True))
    os.mkdir(bench.upper / "shut")
    (bench.upper / "shut/inside").write_text("i")
    os.chmod(bench.upper / "shut", 0o500)
    bench.step("create", "shut", whole=True)
    (bench.real / "fixed").mkdir()
    (bench.real / "fixed/mine").write_text("old")
    (bench.upper / "fixed").mkdir()
    (bench.upper / "fixed/mine").write_text("new and longer")
    os.chmod(bench.upper / "fixed/mine", 0o600)
    os.chmod(bench.real / "fixed", 0o500)
    os.chmod(bench.upper / "fixed", 0o000)
    path, image = os.fsencode(bench.real / "fixed/mine"), os.fsencode(bench.upper / "fixed/mine")
    os.chmod(bench.upper / "fixed", 0o500)
    bench.steps.append(Step("modify", path, 0, image, before=os.lstat(path), after=os.lstat(image)))
    os.chmod(bench.upper / "fixed", 0o000)
    number = os.stat(bench.real / "fixed/mine").st_ino
    round_trip(bench)
    assert (
        os.stat(bench.real / "fixed/mine").st_ino == number
    )  # its folder lets nobody give the name away: written in place
    Journals(str(bench.state)).turn(Journals(str(bench.state)).entries()[0].undo_id)
    assert (bench.real / "fixed/mine").read_text() == "new and longer"
    assert os.stat(bench.real / "shut").st_mode & 0o777 == 0o500


CASES: dict[str, Callable[[Path], None]] = {
    each.__name__: each
    for each in (
        other_file_system,
        home_goes_with_the_last_entry,
        full_journal,
        full_while_writing_in_place,
        full_while_copying,
        bind_mount,
        ordinary_user,
    )
}


class expected:
    """Like pytest.raises, for a child without pytest."""

    def __init__(self, kind: type[BaseException], words: str = "") -> None:
        self._kind, self._words = kind, words

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        assert kind is not None and issubclass(kind, self._kind), f"{kind}: {error}"
        assert self._words in str(error), str(error)
        return True


def mount(folder: Path, options: str) -> None:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)


def fill(folder: Path) -> None:
    try:
        with open(folder / "filler", "wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
    except OSError:
        pass


def _as_nobody() -> tuple[list[str], str]:
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    drop = [
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
    ]
    for python in (sys.executable, "/usr/bin/python3"):
        probe = [
            *drop,
            python,
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); import agent.protocol.rehearsals, pytest",
        ]
        if subprocess.run(probe, env={"PYTHONPATH": packages}, capture_output=True).returncode == 0:
            return [*drop, python], packages
    pytest.skip("no interpreter that an ordinary user can start")


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.few(1)
def test_in_a_mount_namespace(case: str, tmp_path: Path) -> None:
    words, packages = [sys.executable], os.environ.get("PYTHONPATH", "")
    folder = tmp_path
    if case == "ordinary_user" and os.geteuid() == 0:
        words, packages = _as_nobody()
        folder = Path(subprocess.check_output(["mktemp", "-d", "-p", "/tmp"], text=True).strip())
        os.chown(folder, NOBODY, NOBODY)
    elif case != "ordinary_user":
        words = ["unshare", "-m", "--propagation", "private", sys.executable]
        if os.geteuid() != 0 or subprocess.run([*words, "-c", ""], capture_output=True).returncode != 0:
            pytest.skip("only root can mount here")
    try:
        done = subprocess.run(
            [*words, __file__, case, folder],
            env={**os.environ, "PYTHONPATH": packages},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr[-3000:]
    finally:
        if folder != tmp_path:
            shutil.rmtree(folder)


if __name__ == "__main__":
    CASES[sys.argv[1]](Path(sys.argv[2]))
