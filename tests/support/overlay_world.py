"""Real overlay mounts for tests: a child in a mount namespace of its own does things in one, and the upper folder is left to be read.

Run as a script it is that child: it reads one request per line (JSON) and answers each with one line.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from agent.execution import kernel  # noqa: E402
from agent.execution.journal.trees import remove_own  # noqa: E402
from agent.execution.overlay.model import Layer  # noqa: E402
from tests.support.tree_operations import Changer, listing  # noqa: E402

NOBODY = 65534
FAITHFUL = "redirect_dir=on,index=on,metacopy=off,volatile"
PLAIN = "redirect_dir=off,index=off,metacopy=off,volatile"
FOR_USERS = "userxattr,volatile"


class OverlayUnavailable(Exception):
    """No overlay can be mounted here; the message says why."""


class OverlayWorld:
    """A tree `lower`, and folders `scratch/upper` and `scratch/work` beside it, on one file system. `options`: one of the above.

    `folder`: where it all lies; see `in_memory`.
    """

    def __init__(self, options: str = FAITHFUL, folder: str | None = None) -> None:
        self.options = options
        self.user = "userxattr" in options
        self.base = Path(tempfile.mkdtemp(prefix="overlay-", dir=folder))
        if self.user and os.geteuid() == 0:
            os.chown(self.base, NOBODY, NOBODY)
        self._child = subprocess.Popen(
            [*_namespace(self.user), _interpreter(self.user), __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environ(),
        )
        self._case = 0
        self.lower = self.scratch = self.upper = self.base
        self.start: os.stat_result | None = None
        self.new_case()

    def new_case(self) -> None:
        """Fresh folders."""
        self._case += 1
        case = self.base / str(self._case)
        self.lower, self.scratch = case / "lower", case / "scratch"
        self.upper = self.scratch / "upper"
        self._ask(
            make=[
                str(path)
                for path in (case, self.lower, self.scratch, self.upper, self.scratch / "work", case / "merged")
            ]
        )

    def grow(self, seed: int, count: int = 14, *, links: bool = True) -> None:
        """A random tree in `lower`, made by the user whose world it is."""
        self._ask(root=str(self.lower), grow=[seed, count, links, os.geteuid() != 0])

    def change(self, seed: int, count: int = 12, *, links: bool = True) -> dict[str, Any]:
        """Random changes in the overlay; answers `listing` of what the overlay shows in the end and `log`."""
        return self._ask(**self._mount(), change=[seed, count, links, os.geteuid() != 0])

    def run(self, script: str) -> dict[str, Any]:
        """A bash script in the overlay; answers `listing`, `code` and `said`."""
        return self._ask(**self._mount(), script=script)

    def prepare(self, script: str) -> None:
        """A bash script in `lower`."""
        answer = self._ask(root=str(self.lower), script=script)
        assert answer["code"] == 0, answer["said"]

    def layer(self) -> Layer:
        """What the reader is told of it."""
        indexed = "index=on" in self.options
        root, scratch, upper = os.fsencode(self.lower), os.fsencode(self.scratch), os.fsencode(self.upper)
        return Layer(root, scratch, upper, userxattr=self.user, indexed=indexed, start=self.start)

    def close(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait(timeout=60)
        if self._child.stdout is not None:
            self._child.stdout.close()
        remove_own(os.fsencode(self.base))

    def _mount(self) -> dict[str, Any]:
        case = self.base / str(self._case)
        self._ask(ready=[str(self.lower), str(self.upper)])
        self.start = os.lstat(self.upper)
        return {
            "root": str(case / "merged"),
            "lower": str(self.lower),
            "scratch": str(self.scratch),
            "options": self.options,
        }

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(json.dumps(request) + "\n")
        self._child.stdin.flush()
        line = self._child.stdout.readline()
        if not line:
            raise OverlayUnavailable(f"the child in the namespace ended ({self._child.wait()})")
        answer: dict[str, Any] = json.loads(line)
        if "unavailable" in answer:
            raise OverlayUnavailable(answer["unavailable"])
        return answer


def _namespace(user: bool) -> list[str]:
    if not user:
        return ["unshare", "-m", "--propagation", "private"]
    drop = []
    if os.geteuid() == 0:
        drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"]
    uid = NOBODY if os.geteuid() == 0 else os.geteuid()
    gid = NOBODY if os.geteuid() == 0 else os.getegid()
    return [*drop, "unshare", "-U", "-m", f"--map-user={uid}", f"--map-group={gid}", "--keep-caps"]


def _environ() -> dict[str, str]:
    """Another interpreter finds the packages of this one, too."""
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    return {**os.environ, "PYTHONPATH": packages}


@functools.cache
def _interpreter(user: bool) -> str:
    if not user or os.geteuid() != 0:
        return sys.executable
    said = ""
    for python in (sys.executable, "/usr/bin/python3"):
        words = [*_namespace(user), python, "-c", "import msgspec"]
        done = subprocess.run(words, env=_environ(), capture_output=True, text=True)
        if done.returncode == 0:
            return python
        said = done.stderr[-200:]
    raise OverlayUnavailable(f"no interpreter that an ordinary user can start in a namespace: {said}")


def in_memory() -> str | None:
    """A folder on a file system without a disk, which is much quicker, if that can hold attributes; None for the usual place."""
    try:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as probe:
            os.setxattr(probe, "user.probe", b"x")
    except OSError:
        return None
    return "/dev/shm"


@functools.cache
def why_not(options: str) -> str:
    """Why such overlays cannot be tested here, "" if they can."""
    if "userxattr" not in options and os.geteuid() != 0:
        return "only root can mount such an overlay"
    try:
        world = OverlayWorld(options)
    except (OverlayUnavailable, OSError) as error:
        return str(error)
    try:
        world.run("true")
    except OverlayUnavailable as error:
        return str(error)
    finally:
        world.close()
    return ""


# The child


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    for path in request.get("make", ()):
        os.mkdir(path, 0o755)
    if "ready" in request:
        _as_the_lower_is(*request["ready"])
    if "root" not in request:
        return {}
    root = os.fsencode(request["root"])
    if "lower" not in request:
        return _do(root, request)
    scratch = request["scratch"]
    options = f"lowerdir={request['lower']},upperdir={scratch}/upper,workdir={scratch}/work,{request['options']}"
    try:
        kernel.mount(b"overlay", root, b"overlay", 0, options.encode())
    except OSError as error:
        return {"unavailable": f"mount: {error}"}
    try:
        done = _do(root, request)
        return {**done, "listing": listing(root)}
    finally:
        kernel.umount(root)


def _as_the_lower_is(lower: str, upper: str) -> None:
    status = os.stat(lower)
    os.chown(upper, status.st_uid, status.st_gid)
    os.chmod(upper, status.st_mode & 0o7777)
    os.utime(upper, ns=(status.st_atime_ns, status.st_mtime_ns))


def _do(root: bytes, request: dict[str, Any]) -> dict[str, Any]:
    if "grow" in request:
        seed, count, links, enterable = request["grow"]
        Changer(root, seed, links=links, enterable=enterable).grow(count)
    if "change" in request:
        seed, count, links, enterable = request["change"]
        changer = Changer(root, seed, links=links, enterable=enterable)
        changer.run(count)
        return {"log": changer.log}
    if "script" in request:
        done = subprocess.run(["bash", "-c", request["script"]], cwd=root, capture_output=True, timeout=60)
        return {"code": done.returncode, "said": (done.stdout + done.stderr).decode(errors="replace")}
    return {}


def _serve() -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
