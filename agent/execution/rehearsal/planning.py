"""From the facts of this machine to the sandbox of one rehearsal."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from agent.config.private_folder import make_folder
from agent.execution import kernel
from agent.execution.overlay.places import Base, base_for
from agent.execution.rehearsal.budget import Budget
from agent.execution.rehearsal.scratches import Scratch
from agent.execution.sandbox import layout as layouts
from agent.execution.sandbox import mountinfo, sockets
from agent.execution.sandbox.layout import NOT_FILES, Facts, Layout, Place
from agent.execution.sandbox.mountinfo import Mount, is_below, is_within, mount_of
from agent.execution.sandbox.spec import Spec, packed

_FLAGS = {"ro": kernel.MS_RDONLY, "nosuid": kernel.MS_NOSUID, "nodev": kernel.MS_NODEV, "noexec": kernel.MS_NOEXEC}
_HOLDERS = (b"/dev/shm", b"/run", b"/tmp", b"/var/tmp")


@dataclass(frozen=True)
class Planned:
    """A sandbox to be built, and what is known about it before. `bases` per overlaid root; `masks` are hidden folders of ours."""

    spec: Spec
    layout: Layout
    scratch: Scratch
    bases: dict[bytes, Base]
    masks: tuple[bytes, ...]


def plan(kind: str, *, cwd: bytes, home: bytes, state_dir: bytes, budget: Budget, network: bool) -> Planned:
    """Plan a "root" or "user" layout and make its scratch folders. Raises OSError where nothing can be put anywhere."""
    mounts = mountinfo.visible(mountinfo.read())
    facts = _facts()
    real_cwd, real_home = os.path.realpath(cwd), os.path.realpath(home) if home else b""
    if kind == "root":
        layout = layouts.for_root(mounts, facts, work=(real_cwd, real_home))
    else:
        layout = layouts.for_user(mounts, facts, cwd=real_cwd, home=real_home)
    own = base_for(state_dir_made(state_dir), state_dir, mounts=mounts)
    work = {_holder(path, layout) for path in (real_cwd, real_home) if path}
    bases = {place.root: _base(place, work, own, state_dir, mounts) for place in layout.overlays}
    scratch = Scratch((own, *bases.values()))
    overlays = []
    for number, place in enumerate(layout.overlays):
        folder = scratch.on(bases[place.root]) + b"/%d" % number
        flags = sum(_FLAGS[name] for name in place.flags)
        overlays.append((packed(place.root), packed(folder), flags))
    masks = tuple(dict.fromkeys((own.folder, *(base.folder for base in bases.values()))))
    spec = Spec(
        layout=kind,
        scratch=packed(scratch.on(own)),
        overlays=overlays,
        masks=[packed(mask) for mask in masks],
        shell_dir=packed(own.folder + b"/" + scratch.name),
        network=network,
        most_files=budget.files,
        most_bytes=budget.bytes,
    )
    _settle_rest(spec, layout, mounts, facts)
    return Planned(spec, layout, scratch, bases, masks)


def state_dir_made(state_dir: bytes) -> bytes:
    """The real path of the state folder, which is made if need be."""
    make_folder(state_dir)
    return os.path.realpath(state_dir)


def _settle_rest(spec: Spec, layout: Layout, mounts: list[Mount], facts: layouts.Facts) -> None:
    """What is not overlaid: what is shown read-only, and which sockets there have to be covered."""
    if spec.layout == "root":
        spec.binds = [packed(mount.point) for mount in layout.read_only]
        plain = [mount.point for mount in layout.read_only]
        reachable = [path for path in sockets.listening() if any(is_within(path, point) for point in plain)]
    else:
        spec.fresh = [packed(path) for path in layout.fresh]
        roots = [*(place.root for place in layout.overlays), *layout.fresh]
        quiet = quiet_places(mounts, facts, roots)
        spec.quiet = [packed(path) for path in quiet if os.access(path, os.X_OK)]  # elsewhere nothing can be reached
        reachable = [path for path in sockets.listening() if not any(is_within(path, root) for root in roots)]
    spec.sockets = [packed(path) for path in reachable if not is_within(path, b"/dev")]


def _holder(path: bytes, layout: Layout) -> bytes:
    """The overlaid root that holds `path`, "" for none."""
    holders = [place.root for place in layout.overlays if is_within(path, place.root)]
    return max(holders, key=len, default=b"")


def _base(place: Place, work: set[bytes], own: Base, state_dir: bytes, mounts: list[Mount]) -> Base:
    """Where the upper folder of one overlay lies. Only where work is done a folder is made on another file system for it.

    An overlay cannot be written to another overlay (a container's `/`): then any other file system has to do.
    """
    base = base_for(place.root, state_dir, mounts=mounts, anywhere=place.root not in work)
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


# Remade for each rehearsal, or nothing but what a package brought: no service puts a socket there.
_SKIPPED = frozenset(
    b"/" + name
    for name in (b"proc", b"sys", b"dev", b"bin", b"boot", b"etc", b"lib", b"lib32", b"lib64", b"libx32", b"sbin", b"usr")
)  # fmt: skip
_DEEPEST = 3
MOST = 40  # each costs a mount


def quiet_places(mounts: list[Mount], facts: Facts, roots: list[bytes]) -> list[bytes]:
    """Outermost folders outside of `roots` (what is overlaid in any case) that have no other mounts below them."""
    found: list[bytes] = []

    def look_at(path: bytes, depth: int) -> None:
        if len(found) >= MOST or path in _SKIPPED or any(is_within(path, root) for root in roots):
            return
        if not facts.is_folder(path) or mount_of(path, mounts).kind in NOT_FILES:
            return
        if not any(is_below(mount.point, path) for mount in mounts):
            found.append(path)
        elif depth < _DEEPEST:
            look_into(path + b"/", depth + 1)

    def look_into(folder: bytes, depth: int) -> None:
        for name in facts.entries(folder.rstrip(b"/") or b"/"):
            look_at(folder + name, depth)

    look_into(b"/", 1)
    return found
