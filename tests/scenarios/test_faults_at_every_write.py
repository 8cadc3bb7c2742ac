"""A fault at one call that writes, or at all from it on: what is said is so, nothing is lost or runs unrecorded, the next start works."""

from __future__ import annotations

import errno
import re
import struct
import subprocess
from pathlib import Path

import pytest

from tests.scenarios.program import Ended, World, envelopes
from tests.support.needs import needs

SOURCE = Path(__file__).parents[1] / "support" / "failing_calls.c"
UNFINISHED = re.compile(r"\.(part|rewriting|\d+-[0-9a-f]{8}\.new)$")  # those of the journals are written over
AUTOMATIC = ("exec", "--approve", "medium")
FORM = b"a shop for bicycles\nriders in towns\n"
DOORS: dict[str, tuple[tuple[str, ...], bytes]] = {
    "direct run": ((*AUTOMATIC, "echo two >> a; touch ran"), b""),
    "undo": (("undo", "--yes"), b""),
    "rule": (("policy", "deny", "--yes", "deleting in ~/photos"), b""),
    "role": (("roles", "save", "terse"), b"---\ndescription: short\n---\nBe short.\n"),
    "interview": (("interview", "ideation"), FORM),
}


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("cc")
    made = tmp_path_factory.mktemp("shim") / "failing_calls.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", made, SOURCE, "-ldl"], check=True)
    return made


class Tried:
    """A world in which the file `a` was made and changed, and then a door is gone through with a fault."""

    def __init__(self, base: Path, shim: Path, door: str) -> None:
        base.mkdir()
        self.world, self.door = World(base), door
        self.shim, self.counter = shim, base / "calls"
        self.counter.write_bytes(bytes(4))
        (self.world.work / "a").write_text("zero\n")
        assert self.world.run(*AUTOMATIC, "echo one >> a").code == 0

    def go(self, number: int, error: int, more: bool) -> Ended:
        arguments, given = DOORS[self.door]
        faults = f"{self.counter}:{number}:{error}:{int(more)}:{self.world.base}/"
        env: dict[str, str | None] = {"LD_PRELOAD": str(self.shim), "FAULTS": faults}
        return self.world.run(*arguments, stdin=given, env=env, close_fds=True)  # started anew, so that it is loaded

    @property
    def calls(self) -> int:
        return int(struct.unpack("i", self.counter.read_bytes())[0])

    def check(self, ended: Ended, told: str) -> None:
        world = self.world
        assert ended.code in (0, 1, 6), (told, ended)
        assert ended.code == 0 or ended.stderr.strip(), told
        text = (world.work / "a").read_text()
        if self.door == "direct run":
            ran = (world.work / "ran").exists()
            assert text == ("zero\none\ntwo\n" if ran else "zero\none\n"), told
            assert ended.code or ran, (told, ended)
        elif self.door == "undo":
            undone = ended.code == 0 or "is in no log" in ended.stderr
            assert text == ("zero\n" if undone else "zero\none\n"), (told, ended)
        else:
            kept = {"rule": world.config / "policy.toml", "role": world.config / "roles" / "terse.md"}.get(self.door)
            in_doubt = "session log" in ended.stderr  # the change may be made, and only its end in no log
            assert kept is None or in_doubt or kept.exists() == (ended.code == 0), (told, ended)
        events = [each for path in world.logs() for each in envelopes(path.read_bytes())]
        started = {event["command"] for event in events if event["type"] == "command.started"}
        assert (world.work / "ran").exists() <= any("touch ran" in each for each in started), told
        self.goes_on((text, "zero\n") if "finishes it" in ended.stderr or "does it" in ended.stderr else (text,), told)

    def goes_on(self, texts: tuple[str, ...], told: str) -> None:
        """Without a fault all works, and the file holds one of `texts`."""
        world = self.world
        assert world.run(*AUTOMATIC, "echo fine").code == 0, told
        assert world.run("undo", "--list").code == 0, told
        assert world.run("policy").code == 0 and world.run("roles").code == 0, told
        assert (world.work / "a").read_text() in texts, told


@pytest.mark.thorough
@pytest.mark.parametrize("more", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("door", DOORS)
def test_what_is_said_is_so(tmp_path: Path, shim: Path, door: str, error: int, more: bool) -> None:
    sound = Tried(tmp_path / "sound", shim, door)
    sound.check(sound.go(-1, error, more=False), "without a fault")
    assert sound.calls > 5
    step = sound.calls // 6
    for number in range((error + more * 2) % step, sound.calls, step):  # other calls with each
        tried = Tried(tmp_path / str(number), shim, door)
        tried.check(tried.go(number, error, more), f"call {number} of {sound.calls}")
        tried.world.leave()
