"""Plan the places a rehearsal overlays, those that stay read-only, and why: from facts, before anything is mounted.

Pure: everything it needs to know about the file system comes through `Facts`. Paths are bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.execution.mountinfo import Mount, is_below, is_within, mount_of, way

# What is no store of files: programs of the kernel that look like one.
NOT_FILES = frozenset(
    (
        *("proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "mqueue", "securityfs", "debugfs", "tracefs"),
        *("configfs", "bpf", "pstore", "efivarfs", "fusectl", "binfmt_misc", "autofs", "hugetlbfs", "rpc_pipefs"),
        *("nsfs", "selinuxfs", "smackfs"),
    )
)
_REMADE = (b"/proc", b"/sys", b"/dev")
_SHARED_MEMORY = b"/dev/shm"
_MOST_PLACES = 40
MOST_QUIET = 40  # each costs a mount
# Remade for each rehearsal, or nothing but what a package brought: no service puts a socket there.
_SKIPPED = frozenset(
    b"/" + name
    for name in (b"proc", b"sys", b"dev", b"bin", b"boot", b"etc", b"lib", b"lib32", b"lib64", b"libx32", b"sbin", b"usr")
)  # fmt: skip
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Facts:
    """Answers on a path that the planner asks for: is it a folder, is it mine, may I make files in it (mine, or free for all)?"""

    uid: int
    is_folder: Callable[[bytes], bool]
    owner: Callable[[bytes], int | None]
    can_write: Callable[[bytes], bool]
    entries: Callable[[bytes], list[bytes]]


@dataclass(frozen=True, slots=True)
class Place:
    """A folder to overlay. `mount` holds it; `flags` are that mount's own (ro, nosuid, nodev, noexec)."""

    root: bytes
    mount: Mount

    @property
    def flags(self) -> frozenset[str]:
        return (self.mount.options & {"nosuid", "nodev", "noexec"}) | ({"ro"} if self.mount.read_only else frozenset())


@dataclass(slots=True)
class Layout:
    """`overlays` parents first. `read_only`: mounts that are shown as they are. `fresh`: folders for passing things that are empty inside.

    `left_out`: (path, why it cannot be rehearsed).
    """

    overlays: list[Place] = field(default_factory=list)
    read_only: list[Mount] = field(default_factory=list)
    left_out: list[tuple[bytes, str]] = field(default_factory=list)
    fresh: list[bytes] = field(default_factory=list)


def for_root(mounts: list[Mount], facts: Facts, *, work: tuple[bytes, ...] = ()) -> Layout:
    """Everything is overlaid: `/`, and each real writable mount, up to a number; what holds a path of `work` in any case.

    `mounts` are the visible ones, parents first.
    """
    layout = Layout()
    hidden: list[bytes] = []
    for mount in mounts:
        point = mount.point
        if any(is_within(point, place) for place in (*_REMADE, *hidden)) and point != _SHARED_MEMORY:
            continue
        if mount.kind in NOT_FILES:
            hidden.append(point)
        elif mount.read_only and point != b"/":
            layout.read_only.append(mount)
        elif point != b"/" and not facts.is_folder(point):
            layout.read_only.append(mount)
            layout.left_out.append((point, "a file mounted by itself stays read-only"))
        elif len(layout.overlays) < _MOST_PLACES or any(is_within(path, point) for path in work):
            layout.overlays.append(Place(point, mount))
        else:
            layout.read_only.append(mount)
            layout.left_out.append((point, "there are too many mounts; this one stays read-only"))
    return layout


def for_user(mounts: list[Mount], facts: Facts, *, cwd: bytes, home: bytes) -> Layout:
    """Only what the person can write is overlaid, in place; all else is read-only. `mounts` are the visible ones."""
    layout = Layout()
    ancestors = (_own_ancestor(path, facts) for path in (cwd, home) if path)
    work = [root for root in ancestors if root is not None]
    common = _common_places(work, mounts, facts, layout)
    roots = [root for root in dict.fromkeys((*work, *common)) if mount_of(root, mounts).kind not in NOT_FILES]
    roots = [root for root in roots if not any(_covers(other, root, facts) for other in roots)]
    for root in roots:
        _split(root, mounts, facts, layout)
    for place in layout.overlays[_MOST_PLACES:]:
        layout.left_out.append((place.root, "there are too many places with other mounts between them"))
    del layout.overlays[_MOST_PLACES:]
    layout.overlays.sort(key=lambda place: (place.root.count(b"/"), place.root))
    told = any(path == cwd for path, _ in layout.left_out)
    if not told and not any(is_within(cwd, place.root) for place in layout.overlays):
        layout.left_out.append((cwd, "it is not yours, so it stays read-only"))
    layout.read_only = [mount for mount in mounts if not is_within(mount.point, b"/proc")]
    return layout


def _common_places(work: list[bytes], mounts: list[Mount], facts: Facts, layout: Layout) -> list[bytes]:
    """Folders for temporary files that can be overlaid. One with other mounts below it cannot: it is empty inside, or read-only."""
    found = []
    for path in (b"/tmp", b"/var/tmp", _SHARED_MEMORY, b"/run/user/%d" % facts.uid):
        if not facts.is_folder(path) or not facts.can_write(path):
            continue
        if not any(is_below(mount.point, path) for mount in mounts):
            found.append(path)
        elif any(is_within(root, path) for root in work):
            layout.left_out.append((path, "other file systems are mounted below it, so it stays read-only"))
        else:
            layout.left_out.append(
                (path, "it was empty, and what came there is not shown: other file systems are mounted below it")
            )
            if path != _SHARED_MEMORY:  # that is made anew in any case
                layout.fresh.append(path)
    return found


def _covers(other: bytes, root: bytes, facts: Facts) -> bool:
    """Tell whether an overlay on `other` will do for `root`, too: all folders between them are the person's own and can be copied up."""
    return is_below(root, other) and all(facts.owner(folder) == facts.uid for folder in way(other, root))


def _own_ancestor(path: bytes, facts: Facts) -> bytes | None:
    """The topmost folder on the way to `path` that is the person's own; else `path` itself, if they can write there."""
    for folder in way(b"/", path):
        if facts.owner(folder) == facts.uid:
            return folder if facts.is_folder(folder) else None
    return path if facts.is_folder(path) and facts.can_write(path) else None


def _split(root: bytes, mounts: list[Mount], facts: Facts, layout: Layout) -> None:
    """Overlay `root`, or, where other mounts lie below it (which no overlay of an ordinary user can hold), its parts without any."""
    holder = mount_of(root, mounts)
    if holder.read_only:
        return
    if not any(is_below(mount.point, root) for mount in mounts):
        layout.overlays.append(Place(root, holder))
        return
    layout.left_out.append((root, "other file systems are mounted below it, so files directly in it stay read-only"))
    for name in facts.entries(root):
        path = root.rstrip(b"/") + b"/" + name
        if facts.is_folder(path) and facts.can_write(path) and mount_of(path, mounts).kind not in NOT_FILES:
            _split(path, mounts, facts, layout)


def quiet_places(mounts: list[Mount], facts: Facts, roots: list[bytes]) -> list[bytes]:
    """Outermost folders outside of `roots` (what is overlaid in any case) that have no other mounts below them."""
    found: list[bytes] = []

    def look_into(folder: bytes, depth: int) -> None:
        for name in facts.entries(folder.rstrip(b"/") or b"/"):
            path = folder + name
            if len(found) >= MOST_QUIET or path in _SKIPPED or any(is_within(path, root) for root in roots):
                continue
            if not facts.is_folder(path) or mount_of(path, mounts).kind in NOT_FILES:
                continue
            if not any(is_below(mount.point, path) for mount in mounts):
                found.append(path)
            elif depth < _DEEPEST:
                look_into(path + b"/", depth + 1)

    look_into(b"/", 1)
    return found
