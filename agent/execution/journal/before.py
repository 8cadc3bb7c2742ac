"""Record the files of a direct run before it starts: kept on disk while it runs, so that it can be compared even after a crash."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, field
from typing import Any

from agent.execution.journal import trees
from agent.execution.journal.attributes import Facts, Values, look, pin, read_values
from agent.execution.journal.intent import facts_in, facts_out, values_in, values_out
from agent.execution.overlay.folders import Folders

FILE = b"before.json"
NAME = b".name"  # beside a slot: one more name of the file itself, which keeps it the file that its other names have


@dataclass(slots=True)
class Kept:
    """One path: `facts` of all that was at and below it, by path from there ("" itself; empty: there was nothing).

    `slot`: where its copy lies, b"" where it was not copied. `values`: mode, owner and attributes, by the same paths, where only those
    may change.
    """

    path: bytes
    slot: bytes = b""
    facts: dict[bytes, Facts] = field(default_factory=dict)
    values: dict[bytes, Values] = field(default_factory=dict)
    _inside: dict[bytes, list[bytes]] = field(default_factory=dict)

    def names_in(self, inner: bytes) -> list[bytes]:
        """What was in the folder at `inner`, as paths like those of `facts`."""
        if not self._inside:
            for each in self.facts:
                if each:
                    self._inside.setdefault(each.rpartition(b"/")[0], []).append(each)
        return self._inside.get(inner, [])


@dataclass(slots=True)
class Before:
    """All paths of one run, and the folders around them: inode and time of the last change by path. `journals` as in an intent."""

    kept: list[Kept] = field(default_factory=list)
    folders: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    journals: list[bytes] = field(default_factory=list)

    def note_folder(self, folders: Folders, path: bytes) -> None:
        """Remember the time of a folder in which names may come and go."""
        facts = look(folders, path)
        if facts is not None and facts.is_folder:
            self.folders.setdefault(path, (facts.ino, facts.mtime))

    def encode(self) -> bytes:
        """As bytes for the file."""
        return json.dumps(
            {
                "kept": [_kept_out(each) for each in self.kept],
                "folders": [[os.fsdecode(path), *facts] for path, facts in self.folders.items()],
                "journals": [os.fsdecode(path) for path in self.journals],
            },
            separators=(",", ":"),
        ).encode("ascii")

    @classmethod
    def decode(cls, data: bytes) -> Before:
        """Read what `encode` wrote. Raises ValueError."""
        try:
            found = json.loads(data)
            return cls(
                [_kept_in(each) for each in found["kept"]],
                {os.fsencode(path): (ino, mtime) for path, ino, mtime in found["folders"]},
                [os.fsencode(path) for path in found["journals"]],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not what was kept: {error}") from error


def facts_below(folders: Folders, path: bytes) -> dict[bytes, Facts]:
    """The facts of a file or tree, by path from there; empty for nothing."""
    if look(folders, path) is None:
        return {}
    fd, name = folders.parent(path)
    return {inner: Facts.of(info) for inner, info in trees.walk(fd, name)}


def values_below(folders: Folders, path: bytes, facts: dict[bytes, Facts]) -> dict[bytes, Values]:
    """Mode, owner and attributes of everything in `facts`."""
    found = {}
    for inner in facts:
        fd, name = folders.parent(joined(path, inner))
        pinned = pin(fd, name)
        try:
            found[inner] = read_values(pinned)
        finally:
            os.close(pinned)
    return found


def joined(path: bytes, inner: bytes) -> bytes:
    """`inner` below `path`, itself for ""."""
    return path + b"/" + inner if inner else path


def measure(path: bytes, most_files: int, most_bytes: int) -> tuple[int, int] | None:
    """How many files and bytes on disk lie at `path`; None beyond the limits (or for what cannot be read)."""
    files = size = 0
    with Folders() as folders:
        try:
            for _, info in trees.walk(*folders.parent(path)):
                files += 1
                size += info.st_blocks * 512 if stat.S_ISREG(info.st_mode) else 0
                if files > most_files or size > most_bytes:
                    return None
        except OSError:
            return None
    return files, size


def _kept_out(kept: Kept) -> list[Any]:
    return [
        os.fsdecode(kept.path),
        os.fsdecode(kept.slot),
        {os.fsdecode(inner): facts_out(facts) for inner, facts in kept.facts.items()},
        {os.fsdecode(inner): values_out(values) for inner, values in kept.values.items()},
    ]


def _kept_in(found: list[Any]) -> Kept:
    path, slot, facts, values = found
    kept = Kept(os.fsencode(path), os.fsencode(slot))
    for inner, each in facts.items():
        known = facts_in(each)
        if known is not None:
            kept.facts[os.fsencode(inner)] = known
    for inner, each in values.items():
        value = values_in(each)
        if value is not None:
            kept.values[os.fsencode(inner)] = value
    return kept
