"""Control groups (v2) of our own: one a command, so that its whole tree can be ended at once, and limited.

A group holds whatever is started in it, daemons and new sessions included, and `cgroup.kill` ends them in one step, even while they
fork. Whether a group can be had here is found by making one. Its name tells which process watches it, so that one whose
watcher was killed is recognised and removed. Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import functools
import os
import time

from agent.config.private_file import closing

PREFIX = "agent-shell."
_KILL = "cgroup.kill"
_PAUSE = 0.002


class Group:
    def __init__(self, path: str) -> None:
        self.path = path

    def enter(self) -> None:
        """Move the calling process in. Raises OSError where that is forbidden."""
        self._write("cgroup.procs", "0")

    def fork(self) -> int:
        """Like `os.fork`, but the child begins in the group. Raises OSError where the system has no such call.

        A process that is moved instead waits for the kernel's readers, often 10 ms. Only for a process with one thread.
        """
        from agent.execution import kernel  # not for the REPL, which reads groups but starts nothing in them

        with closing(os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as folder:
            return kernel.fork_into(folder)

    def members(self) -> set[int]:
        found: set[int] = set()
        for folder, _folders, _files in os.walk(self.path):
            try:
                with open(os.path.join(folder, "cgroup.procs"), encoding="utf-8") as file:
                    found.update(int(line) for line in file)
            except (OSError, ValueError):
                continue  # gone meanwhile, or a threaded group, whose processes are listed above it
        return found - {0}

    def populated(self) -> bool:
        """Tell whether anything lives in it, groups below included."""
        try:
            with open(os.path.join(self.path, "cgroup.events"), encoding="utf-8") as file:
                return "populated 1" in file.read()
        except OSError:
            return False

    def kill(self) -> bool:
        """SIGKILL to everything in it at once; False where the kernel did not do it."""
        return self._set(_KILL, 1)

    def limit(self, *, memory: int | None = None, processes: int | None = None) -> tuple[str, ...]:
        """Set limits (bytes, count) before anything enters; the names of those that the kernel took: "memory", "processes".

        Memory includes swap where the kernel counts it. What is not taken has to be limited another way.
        """
        taken = []
        if memory is not None and self._set("memory.max", memory):
            self._set("memory.swap.max", 0)
            self._set("memory.oom.group", 1)
            taken.append("memory")
        if processes is not None and self._set("pids.max", processes):
            taken.append("processes")
        return tuple(taken)

    def exceeded(self) -> tuple[str, ...]:
        """Name the limits that were hit so far: "memory" (something was killed for it), "processes" (a fork failed)."""
        counters = (("memory", "memory.events", "oom_kill"), ("processes", "pids.events", "max"))
        return tuple(name for name, file, key in counters if self._counter(file, key))

    def remove(self, within: float = 0.0) -> bool:
        """Remove it with empty groups below it; False where something still lives in it.

        `within`: seconds that the kernel may need to take the last process out.
        """
        deadline = time.monotonic() + within
        while not self._remove():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE)
        return True

    def _remove(self) -> bool:
        for folder, _folders, _files in os.walk(self.path, topdown=False):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                continue
            except OSError:
                return False
        return True

    def _write(self, name: str, text: str) -> None:
        with open(os.path.join(self.path, name), "wb", buffering=0) as file:
            file.write(text.encode("ascii"))

    def _set(self, name: str, value: int) -> bool:
        try:
            self._write(name, str(value))
        except OSError:
            return False
        return True

    def _counter(self, file: str, key: str) -> int:
        try:
            with open(os.path.join(self.path, file), encoding="utf-8") as lines:
                return sum(int(words[1]) for words in map(str.split, lines) if len(words) == 2 and words[0] == key)
        except (OSError, ValueError):
            return 0


def make(*, limits: bool = False) -> Group | None:
    """A fresh group watched by this process, None where none can be had; with `limits` preferably one that can limit.

    Controllers work only below a group without processes of its own, which ours is not; the one above it may be.
    """
    own = own_folder()
    if own is None:
        return None
    made: list[Group] = []
    for parent in (own, os.path.dirname(own)):
        group = _make_in(parent)
        if group is not None:
            made.append(group)
            if not limits or os.path.exists(os.path.join(group.path, "memory.max")):
                made.reverse()
                break
    for spare in made[1:]:
        spare.remove()
    return made[0] if made else None


def _make_in(parent: str) -> Group | None:
    """A group below `parent` that can be killed as one; None where the kernel or its rights say no."""
    name = f"{PREFIX}{os.getpid()}-{_start_of(os.getpid())}-{os.urandom(4).hex()}"
    group = Group(os.path.join(parent, name))
    try:
        os.mkdir(group.path)
    except OSError:
        return None
    if not os.access(os.path.join(group.path, _KILL), os.W_OK):  # kernels before 5.14
        group.remove()
        return None
    return group


def own_folder() -> str | None:
    """The folder of the group that this process is in, None without cgroup v2."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            own = next((line.rstrip("\n")[3:] for line in file if line.startswith("0::")), None)
        if own is None or "/../" in f"{own}/":
            return None
        return _below(*_hierarchy(), own)
    except (OSError, LookupError):
        return None


@functools.cache
def _hierarchy() -> tuple[str, str]:
    """Find the mount of cgroup v2, and what of it is seen there. Raises LookupError (and is asked again) where it is not."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            if after.startswith("cgroup2 "):
                fields = before.split()
                return fields[4], fields[3]
    raise LookupError("cgroup2")


def _below(mount: str, root: str, own: str) -> str | None:
    """Find `own` below a mount that shows `root` of the hierarchy; names with blanks are not looked at."""
    if "\\" in mount or (root not in ("/", own) and not own.startswith(f"{root}/")):
        return None
    inside = own if root == "/" else own[len(root) :]
    return mount + inside.rstrip("/") if inside != "/" else mount


def groups_of(watcher: int) -> list[Group]:
    """Groups that the process `watcher` made, from below ours or beside it; it may be gone."""
    return [group for group, pid, _start in _all_of_ours() if pid == watcher]


def remove_abandoned() -> None:
    """Remove empty groups whose watcher was killed. Never raises."""
    for group, pid, started in _all_of_ours():
        if _start_of(pid) != started:
            group.remove()


def _all_of_ours() -> list[tuple[Group, int, str]]:
    """Every group with a name of ours: its watcher's pid, and when that started."""
    own = own_folder()
    found = []
    for parent in (own, os.path.dirname(own)) if own is not None else ():
        try:
            names = [name for name in os.listdir(parent) if name.startswith(PREFIX)]
        except OSError:
            continue
        for name in names:
            pid, _, rest = name[len(PREFIX) :].partition("-")
            if pid.isdigit():
                found.append((Group(os.path.join(parent, name)), int(pid), rest.partition("-")[0]))
    return found


def stat_fields(pid: int | str) -> list[bytes]:
    """The fields of /proc/PID/stat behind the name, which stands in parentheses and may hold anything. Raises OSError."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()


def _start_of(pid: int) -> str:
    """The start of a process, in clock ticks since boot; "" for one that is gone. It tells a reused pid apart."""
    try:
        return stat_fields(pid)[19].decode("ascii")
    except (OSError, IndexError):
        return ""
