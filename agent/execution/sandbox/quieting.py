"""Which folders an ordinary user's command sees through a read-only overlay: in one no socket and no named pipe leads to the outside.

A read-only mount alone does not help there: connecting and writing to a pipe change no file. Pure, as `layout` is; paths are bytes.
"""

from __future__ import annotations

from agent.execution.sandbox.layout import NOT_FILES, Facts
from agent.execution.sandbox.mountinfo import Mount, is_below, is_within, mount_of

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
