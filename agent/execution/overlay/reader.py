"""Read the changes of a rehearsal from the upper folders of its overlays: steps that make it real, in an order that works.

The overlay must be unmounted, or at least no longer written to. What the command left in the upper folder is hostile: nothing in it is
followed, opened (but regular files) or trusted.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from agent.execution.overlay.compare import ReadLimits
from agent.execution.overlay.identities import identify
from agent.execution.overlay.model import Layer, Step
from agent.execution.overlay.ordering import Ordering
from agent.execution.overlay.upper_tree import Gone, Unreadable, UpperTree

TRIES = 4
GONE = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """Steps in the order in which they are to be done, and the layers that they count. `remarks`: what they do not show, in words.

    `obstacle`: why they are not all there and may not be committed, "" if they are.
    """

    steps: tuple[Step, ...]
    layers: tuple[Layer, ...] = ()
    remarks: tuple[str, ...] = ()
    obstacle: str = ""


def read_steps(layers: Sequence[Layer], *, limit_files: int = 100_000, limit_bytes: int = 1 << 30) -> ReadResult:
    """Read all layers.

    `limit_files`: entries of the upper folders that are read at most, all together; more is an obstacle. `limit_bytes`: how much is read
    to find out whether files of equal size are equal; a file beyond it counts as modified. Never raises for what a command left there.
    Real files that somebody removes or replaces while they are read are no obstacle: then all is read again.
    """
    for attempt in range(TRIES):
        reading = _Reading(layers, limit_files, limit_bytes)
        obstacle, again = "", False
        try:
            reading.read()
        except Unreadable as error:
            obstacle = f"below {os.fsdecode(reading.root)!r}: {error}"
            again = isinstance(error, Gone)
        except OSError as error:
            obstacle = f"cannot read what changed: {error}"
            again = error.errno in GONE
        if not again or attempt == TRIES - 1:
            break
    return ReadResult(tuple(reading.steps), tuple(layers), tuple(dict.fromkeys(reading.remarks)), obstacle)


class _Reading:
    """One try. `root` is the layer where it stopped."""

    def __init__(self, layers: Sequence[Layer], limit_files: int, limit_bytes: int) -> None:
        self.root = b""
        self.steps: list[Step] = []
        self.remarks: list[str] = []
        self._layers = layers
        self._limit_files = limit_files
        self._limits = ReadLimits(limit_files, limit_bytes)

    def read(self) -> None:
        """Raises Unreadable and OSError."""
        for number, layer in enumerate(self._layers):
            self.root = layer.root
            try:
                tree = UpperTree(layer, self._limits)
            except FileNotFoundError:
                if os.listdir(layer.upper):
                    raise
                continue  # it was unmounted meanwhile, and the command had nothing to do with it
            with closing(tree):
                tree.read()
                ordering = Ordering(tree, identify(tree, self._limit_files), number)
                self.steps += ordering.order()
                self.remarks += ordering.remarks
        if self._limits.ran_out:
            self.remarks.append(
                "some large files were not compared and are shown as modified, though their content may be the same"
            )
