"""Specification of a rehearsal's sandbox, as it travels to the helper. Standard library only."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(kw_only=True)
class Spec:
    """Paths and other bytes stand as latin-1 text, so that JSON keeps them.

    `kind` is "rehearse"; `layout` "root" or "user". `scratch`: our folder of this rehearsal. `overlays`: (place, scratch folder, flags
    of mount(2)). `binds`: what a root layout shows read-only as it is. `fresh`:
    folders that are empty inside. `masks`: folders of ours to hide. `quiet`: folders with sockets, shown through a read-only overlay;
    `sockets`: files to be covered. `shell_dir`: where `files` (name -> content) are put for the shell, below the first mask.
    `most_files`, `most_bytes`: the budget. `dump`: which of the files to bring back.
    """

    kind: str = "rehearse"
    layout: str = "root"
    scratch: str = ""
    overlays: list[tuple[str, str, int]] = field(default_factory=list)
    binds: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    quiet: list[str] = field(default_factory=list)
    sockets: list[str] = field(default_factory=list)
    shell_dir: str = ""
    files: dict[str, str] = field(default_factory=dict)
    dump: str = ""
    network: bool = False
    most_files: int = 20_000
    most_bytes: int = 1 << 30

    def message(self) -> dict[str, Any]:
        """As a launch request carries it."""
        return asdict(self)


def from_message(message: dict[str, Any]) -> Spec:
    """The spec of a launch request. Raises TypeError for keys that it has not."""
    return Spec(**message)


def packed(path: bytes) -> str:
    """Bytes as latin-1 text."""
    return path.decode("latin-1")


def unpacked(text: str) -> bytes:
    """The bytes of `packed` text."""
    return text.encode("latin-1")
