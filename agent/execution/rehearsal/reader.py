"""What a rehearsal changed, read from the upper folders of its overlays: steps that make it real, in an order that works.

The overlay must be unmounted, or at least no longer written to. What the command left in the upper folder is hostile: nothing in it is
followed, opened (but regular files) or trusted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from agent.execution.rehearsal.compare import Budget
from agent.execution.rehearsal.identities import identify
from agent.execution.rehearsal.model import Layer, Step
from agent.execution.rehearsal.ordering import Ordering
from agent.execution.rehearsal.upper_tree import Limits, Unreadable, UpperTree

DEFAULT_FILES = 100_000
DEFAULT_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class ReadResult:
    """Steps in the order in which they are to be done, and the layers that they count. `remarks`: what they do not show, in words.

    `obstacle`: why they are not all there and may not be committed, "" if they are.
    """

    steps: tuple[Step, ...]
    layers: tuple[Layer, ...] = ()
    remarks: tuple[str, ...] = ()
    obstacle: str = ""


def read_steps(
    layers: Sequence[Layer], *, limit_files: int = DEFAULT_FILES, limit_bytes: int = DEFAULT_BYTES
) -> ReadResult:
    """Read all layers.

    `limit_files`: entries of the upper folders that are read at most, all together; more is an obstacle. `limit_bytes`: how much is read
    to find out whether files of equal size are equal; a file beyond it counts as modified. Never raises for what a command left there.
    """
    limits = Limits(limit_files, Budget(limit_bytes))
    steps: list[Step] = []
    remarks: list[str] = []

    def stopped(reason: str) -> ReadResult:
        return ReadResult(tuple(steps), tuple(layers), tuple(remarks), reason)

    for number, layer in enumerate(layers):
        try:
            tree = UpperTree(layer, limits)
        except OSError as error:
            return stopped(f"cannot read what changed: {error}")
        try:
            tree.read()
            ordering = Ordering(tree, identify(tree, limit_files), number)
            steps.extend(ordering.order())
            remarks.extend(ordering.remarks)
        except Unreadable as error:
            return stopped(f"below {os.fsdecode(layer.root)!r}: {error}")
        except OSError as error:
            return stopped(f"cannot read what changed: {error}")
        finally:
            tree.close()
    if limits.budget.ran_out:
        remarks.append(
            "some large files were not compared and are shown as modified, though their content may be the same"
        )
    return ReadResult(tuple(steps), tuple(layers), tuple(dict.fromkeys(remarks)))
