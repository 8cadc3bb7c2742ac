"""Plan the sandbox of one rehearsal from the facts of this machine, and collect what it left."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agent.execution import kernel, mountinfo
from agent.execution.mountinfo import Mount, is_below, is_within
from agent.execution.overlay.conflicts import clock_offset
from agent.execution.overlay.model import Layer
from agent.execution.overlay.places import Base, base_for, state_base
from agent.execution.rehearsal.budget import Budget
from agent.execution.rehearsal.scratches import Scratch
from agent.execution.sandbox import layout as layouts
from agent.execution.sandbox import reports
from agent.execution.sandbox.layout import Place
from agent.execution.sandbox.reports import Spec, packed, unpacked

_FLAGS = {"ro": kernel.MS_RDONLY, "nosuid": kernel.MS_NOSUID, "nodev": kernel.MS_NODEV, "noexec": kernel.MS_NOEXEC}
_HOLDERS = (b"/dev/shm", b"/run", b"/tmp", b"/var/tmp")


@dataclass(frozen=True)
class Ran:
    """The remains of a sandbox. `reports`: lines of its report file; `dump`: what the shell wrote of its state; `layers`: the overlays."""

    reports: tuple[dict[str, Any], ...]
    layers: tuple[Layer, ...]
    dump: bytes

    @property
    def failure(self) -> tuple[str, int] | None:
        """The step that failed, and the errno, where the command itself was not reached."""
        if failed := self.said("failed"):
            return str(failed["step"]), int(failed["errno"])
        return None if self.said("built") else ("", 0)

    def said(self, event: str) -> dict[str, Any] | None:
        """The first line of this kind."""
        return next((report for report in self.reports if report["event"] == event), None)


class Sandbox:
    """The sandbox of one rehearsal, from plan to what it left. `kind`: "root" or "user". `bases`: by overlaid root."""

    def __init__(self, kind: str, *, cwd: str, home: str, state_dir: str, budget: Budget, network: bool) -> None:
        """Plan it, and make its scratch folders. Raises OSError where nothing can be put anywhere."""
        mounts = mountinfo.visible(mountinfo.read())
        facts = _facts()
        real_cwd = os.path.realpath(os.fsencode(cwd))
        real_home = os.path.realpath(os.fsencode(home)) if home else b""
        if kind == "root":
            self.layout = layouts.for_root(mounts, facts, work=(real_cwd, real_home))
        else:
            self.layout = layouts.for_user(mounts, facts, cwd=real_cwd, home=real_home)
        state = os.fsencode(state_dir)
        own = Base(state_base(state), True)
        holders = {self._holder(path) for path in (real_cwd, real_home) if path}
        self.bases = {
            place.root: _base(place.root, place.root in holders, state, mounts) for place in self.layout.overlays
        }
        self.scratch = Scratch((own, *self.bases.values()))
        self._clock = clock_offset()
        self._masks = tuple(dict.fromkeys(base.folder for base in (own, *self.bases.values())))
        self.spec = Spec(
            layout=kind,
            scratch=packed(self.scratch.on(own)),
            overlays=[self._overlay(number, place) for number, place in enumerate(self.layout.overlays)],
            masks=[packed(mask) for mask in self._masks],
            shell_dir=packed(own.folder + b"/" + self.scratch.name),
            network=network,
            most_files=budget.files,
            most_bytes=budget.bytes,
        )
        self._settle_rest(mounts, facts)

    def _holder(self, path: bytes) -> bytes:
        """The overlaid root that holds `path`, "" for none."""
        return max((place.root for place in self.layout.overlays if is_within(path, place.root)), key=len, default=b"")

    def _overlay(self, number: int, place: Place) -> tuple[str, str, int]:
        folder = self.scratch.on(self.bases[place.root]) + b"/%d" % number
        return packed(place.root), packed(folder), sum(_FLAGS[name] for name in place.flags)

    def _settle_rest(self, mounts: list[Mount], facts: layouts.Facts) -> None:
        """Settle what is not overlaid: what is shown read-only, and which sockets there have to be covered."""
        spec, layout = self.spec, self.layout
        if spec.layout == "root":
            plain = [mount.point for mount in layout.read_only]
            spec.binds = [packed(point) for point in plain]
            reachable = [path for path in _listening() if any(is_within(path, point) for point in plain)]
        else:
            spec.fresh = [packed(path) for path in layout.fresh]
            roots = [*(place.root for place in layout.overlays), *layout.fresh]
            quiet = layouts.quiet_places(mounts, facts, roots)
            spec.quiet = [
                packed(path) for path in quiet if os.access(path, os.X_OK)
            ]  # elsewhere nothing can be reached
            reachable = [path for path in _listening() if not any(is_within(path, root) for root in roots)]
        spec.sockets = [packed(path) for path in reachable if not is_within(path, b"/dev")]

    def put(self, name: bytes, content: bytes) -> str:
        """Have a file for the shell inside; its path there."""
        self.spec.files[packed(name)] = packed(content)
        return os.fsdecode(unpacked(self.spec.shell_dir) + b"/" + name)

    def collect(self) -> Ran:
        """Read what it left, once nothing runs in it any more."""
        scratch = unpacked(self.spec.scratch)
        lines = tuple(reports.read(scratch))
        if not any(line["event"] in ("built", "failed") for line in lines) and _is_full(scratch):
            lines += ({"event": "failed", "step": f"scratch {os.fsdecode(scratch)}", "errno": errno.ENOSPC},)
        dump = b""
        with suppress(OSError), open(scratch + b"/" + reports.STATE, "rb") as file:
            dump = file.read()
        return Ran(lines, tuple(self._layers([line for line in lines if line["event"] == "overlaid"])), dump)

    def _layers(self, overlaid: Sequence[dict[str, Any]]) -> list[Layer]:
        roots = [os.fsencode(line["root"]) for line in overlaid]
        others = {*roots, *self._masks, *(mount.point for mount in self.layout.read_only)}
        made = []
        for line, root in zip(overlaid, roots, strict=True):
            place = os.fsencode(line["place"])
            apart = {path for path in others if is_below(path, root)}
            if root == b"/":
                apart |= {b"/proc", b"/sys", b"/dev"}
            made.append(
                Layer(
                    root=root,
                    scratch=place,
                    upper=place + b"/upper",
                    userxattr=bool(line["userxattr"]),
                    indexed=bool(line["indexed"]),
                    same_file_system=self.bases[root].same_file_system,
                    apart=tuple(sorted(apart)),
                    start=reports.status_of(line["start"]),
                    clock=self._clock,
                )
            )
        return made


def _is_full(folder: bytes) -> bool:
    """Tell whether nothing more can be written there: then what stood around the command could not say so either."""
    try:
        facts = os.statvfs(folder)
    except OSError:
        return False
    return not facts.f_bavail or bool(facts.f_files and not facts.f_favail)


def _base(root: bytes, is_work: bool, state_dir: bytes, mounts: list[Mount]) -> Base:
    """Choose a place for the upper folder of one overlay. Only where work is done a folder is made on another file system for it.

    An overlay cannot be written to another overlay (a container's `/`): then any other file system has to do.
    """
    base = base_for(root, state_dir, mounts=mounts, anywhere=not is_work)
    if mountinfo.mount_of(base.folder, mounts).kind != "overlay":
        return base
    for holder in _HOLDERS:
        if os.path.isdir(holder) and mountinfo.mount_of(holder, mounts).kind not in ("overlay", "rootfs"):
            found = base_for(holder, state_dir, mounts=mounts)
            if found.same_file_system:
                return Base(found.folder, False)
    return base


def _facts() -> layouts.Facts:
    return layouts.Facts(
        uid=os.geteuid(),
        is_folder=lambda path: os.path.isdir(path) and not os.path.islink(path),
        owner=_owner,
        can_write=lambda path: os.access(path, os.W_OK | os.X_OK),
        entries=_entries,
    )


def _owner(path: bytes) -> int | None:
    try:
        facts = os.lstat(path)
    except OSError:
        return None
    return facts.st_uid if stat.S_ISDIR(facts.st_mode) else None


def _entries(path: bytes) -> list[bytes]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _listening() -> list[bytes]:
    """Paths of the Unix sockets of this network namespace that exist as files: one reached by its path leads out of any namespace."""
    found = set()
    with suppress(OSError), open("/proc/net/unix", "rb") as file:
        for line in file.read().split(b"\n")[1:]:
            path = line.split(b" ", 7)[-1].lstrip()
            with suppress(OSError):
                if path.startswith(b"/") and stat.S_ISSOCK(os.stat(path).st_mode):
                    found.add(os.path.realpath(path))
    return sorted(found)
