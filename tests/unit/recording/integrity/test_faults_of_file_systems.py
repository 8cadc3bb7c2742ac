"""Real file systems that become full, read-only or unreliable under a session: nothing that was written is lost, and it is said why.

The mounts live in a mount namespace of one child, which is this file as a program; it prints what each case found.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.protocol.errors import RecordingError
from agent.protocol.events.session import Notice
from agent.recording.disk import Disk
from agent.recording.integrity.rewriting import rewrite_session
from agent.recording.integrity.verify import verify_folder
from agent.recording.reader import list_sessions
from tests.support.log_place import Place, shouted, told
from tests.support.needs import needs


def mounted(folder: Path, *words: str) -> bool:
    folder.mkdir(exist_ok=True)
    return subprocess.run(["mount", *words, str(folder)], capture_output=True).returncode == 0


def remounted(folder: Path, how: str) -> bool:
    return subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], capture_output=True).returncode == 0


def words_of(do: Callable[[], Any]) -> str:
    """What an error of ours says, "" where there is none."""
    try:
        do()
    except RecordingError as error:
        return error.message
    return ""


def scrubbed(place: Place) -> str:
    (session,) = list_sessions(place.sessions)
    return words_of(
        lambda: rewrite_session(session, place.heads, shouted, note=lambda _: Notice(text="scrubbed"), now="2026")
    )


def state(place: Place) -> dict[str, Any]:
    (checked,) = verify_folder(place.sessions, place.heads)
    lines = b"".join(path.read_bytes() for path in place.files()).split(b"\n")
    whole = all(json.loads(line) for line in lines if line)
    names = sorted(name for name in os.listdir(place.sessions) if not name.endswith(".jsonl"))
    return {"state": checked.state, "told": len(told(place)), "whole": whole and lines[-1] == b"", "others": names}


def filled(place: Place) -> dict[str, Any]:
    """Write until there is no room, look, scrub without room, look, make room, go on, look."""
    ballast = Path(place.sessions).parent / "ballast"
    ballast.write_bytes(b"x" * 100_000)
    recorder = place.open()
    written = 0
    said = ""
    while not said:
        said = words_of(lambda: recorder.append(Notice(text=f"number {'y' * 300}"), goal_id="g"))
        written += not said
    words_of(recorder.close)
    full = state(place)
    scrub = scrubbed(place)
    after_scrub = state(place)
    ballast.unlink()
    place.write(1)
    return {
        "said": said, "written": written, "full": full, "scrub": scrub, "after_scrub": after_scrub, "scrub_with_room": scrubbed(place),
        "at_last": state(place),
    }  # fmt: skip


def small_disk(base: Path) -> dict[str, Any] | None:
    if not mounted(base, "-t", "tmpfs", "-o", "size=160k", "none"):
        return None
    return filled(Place(base))


def made_image(base: Path) -> str:
    """A file with an ext4 file system in it, "" where there is no program to make it."""
    image = base.with_suffix(".img")
    with image.open("wb") as file:
        file.truncate(8 << 20)
    made = (
        shutil.which("mkfs.ext4")
        and not subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], capture_output=True).returncode
    )
    return str(image) if made else ""


def read_only_between(base: Path) -> dict[str, Any] | None:
    if not mounted(base, "-t", "tmpfs", "-o", "size=1m", "none"):
        return None
    place = Place(base)
    place.write(2)
    if not remounted(base, "ro"):
        return None
    found = {"said": words_of(place.write), "scrub": scrubbed(place), "then": state(place)}
    remounted(base, "rw")
    place.write(1)
    return {**found, "at_last": state(place)}


def read_only_under(base: Path) -> dict[str, Any] | None:
    """As after an error of the disk: open files do not hinder it, and what was not synced may be gone."""
    image = made_image(base)
    if not image or not mounted(base, "-o", "loop,errors=remount-ro", image):
        return None
    place = Place(base)
    recorder = place.open()
    place.fill(recorder, 3)
    subprocess.run(["mount", "-o", "remount,abort", str(base)], capture_output=True)
    with contextlib.suppress(OSError):
        (base / "probe").touch()
        return None  # it did not take
    said = words_of(lambda: recorder.append(Notice(text="number never")))
    again = words_of(lambda: recorder.append(Notice(text="number never")))
    words_of(recorder.close)
    found = {
        "said": said,
        "again": again,
        "then": state(place),
        "scrub": scrubbed(place),
        "open": words_of(place.write),
    }
    subprocess.run(["umount", str(base)], check=True)
    if not mounted(base, "-o", "loop", image):
        return None
    place.write(1)
    at_last = state(place)
    subprocess.run(["umount", str(base)], check=True)
    return {**found, "at_last": at_last}


CASES = (small_disk, read_only_between, read_only_under)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    words = ["unshare", "-m", "--propagation", "private", sys.executable]
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("only root can mount here")
    if subprocess.run([*words, "-c", ""], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    folder = tmp_path_factory.mktemp("mounts")
    root = Path(__file__).parents[4]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path[1:]])}
    done = subprocess.run([*words, __file__, str(folder)], env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def of(seen: dict[str, Any], case: Callable[[Path], Any]) -> dict[str, Any]:
    if seen[case.__name__] is None:
        if case is read_only_under:
            needs("mkfs.ext4")
        pytest.skip(f"{case.__name__}: it cannot be mounted here")
    return seen[case.__name__]  # type: ignore[no-any-return]


def test_no_room_is_said_and_loses_nothing(seen: dict[str, Any]) -> None:
    found = of(seen, small_disk)
    assert "the disk is full" in found["said"] and "the disk is full" in found["scrub"]
    assert found["written"] > 10
    for moment in ("full", "after_scrub"):
        assert found[moment] == {"state": found[moment]["state"], "told": found["written"], "whole": True, "others": []}
        assert found[moment]["state"] in ("unfinished", "crash")
    assert found["scrub_with_room"] == ""
    at_last = {"state": "unfinished", "told": found["written"] + 1 + 1, "whole": True, "others": []}
    assert found["at_last"] == at_last  # the note of the rewriting here ends no session


def test_read_only_between_two_sessions(seen: dict[str, Any]) -> None:
    found = of(seen, read_only_between)
    assert "the file system is read-only" in found["said"] and "the file system is read-only" in found["scrub"]
    assert found["then"] == {"state": "whole", "told": 2, "whole": True, "others": []}
    assert found["at_last"] == {"state": "whole", "told": 3, "whole": True, "others": []}


def test_read_only_under_a_running_session(seen: dict[str, Any]) -> None:
    found = of(seen, read_only_under)
    for said in ("said", "again", "open", "scrub"):
        assert "the file system is read-only" in found[said] or "the disk reports an error" in found[said], found
    assert found["then"]["told"] == 3 and found["then"]["whole"]
    assert found["then"]["state"] in ("unfinished", "crash")
    assert (found["at_last"]["state"], found["at_last"]["told"]) == ("whole", 4)


class RenamedTwice(Disk):
    """As NFS does where the answer was lost: the request is sent again, and by then the old name is gone."""

    def replace(self, old: str, new: str) -> None:
        os.replace(old, new)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), old)


def test_a_rename_that_was_done_and_says_it_was_not(place: Place) -> None:
    place.write()
    (session,) = list_sessions(place.sessions)
    said = words_of(
        lambda: rewrite_session(
            session, place.heads, shouted, note=lambda _: Notice(text="x"), now="2026", disk=RenamedTwice()
        )
    )
    assert "cannot be rewritten: no such file" in said
    assert place.one().sound and "NUMBER 1" in told(place)
    place.write(1)
    assert place.one().state == "whole"


def test_files_that_a_server_keeps_for_an_open_one_are_no_logs(place: Place) -> None:
    path = place.write()
    shutil.copy(path, path.with_name(".nfs00000000005a3c3f0000000a"))
    assert [each.state for each in place.verify()] == ["whole"]


class NoWrites(Disk):
    """Whatever is written into a file that is opened through it."""

    def __init__(self, error: int) -> None:
        self.error = error

    def write(self, fd: int, data: bytes) -> int:
        raise OSError(self.error, os.strerror(self.error))


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (errno.ESTALE, "stale file handle"),
        (errno.EDQUOT, "the disk quota is used up"),
        (errno.EIO, "the disk reports an error"),
    ],
)
def test_why_nothing_can_be_written_is_said_and_the_log_stays(place: Place, error: int, why: str) -> None:
    path = place.write()
    before = path.read_bytes()
    (session,) = list_sessions(place.sessions)
    said = words_of(
        lambda: rewrite_session(
            session, place.heads, shouted, note=lambda _: Notice(text="x"), now="2026", disk=NoWrites(error)
        )
    )
    assert said.endswith(f"cannot be rewritten: {why}")
    assert path.read_bytes() == before and os.listdir(place.sessions) == [path.name]
    assert words_of(lambda: place.open(disk=NoWrites(error))).endswith(f"cannot be written: {why}")
    assert path.read_bytes() == before
    assert place.one().sound


if __name__ == "__main__":
    print(json.dumps({case.__name__: case(Path(sys.argv[1]) / case.__name__) for case in CASES}))
