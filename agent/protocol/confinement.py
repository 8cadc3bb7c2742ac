"""Define confinements, and order them: which is at least as strict as another, and what holds where several are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast, get_args

from msgspec import Struct

Confinement = Literal["off", "workspace", "read-only", "no-network", "workspace,no-network", "read-only,no-network"]
"""Rights of a run: everything; write only in the workspace; write nothing; everything but the network; two of these at once."""
CONFINEMENTS: tuple[Confinement, ...] = get_args(Confinement)
_FILES = ("off", "workspace", "read-only")


class Confining(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The confinement that a command would have if it ran now, in words for the person.

    `workspace`: the folder that stays writable, and so do those in `also`, but never those in `protected`. `how` it is held; `misses`: what
    that does not stop. `reason`: why it cannot be had, with `remedy`; then it runs, if a person agrees to that, not confined.
    """

    mode: Confinement = "off"
    workspace: str = ""
    how: str = ""
    misses: tuple[str, ...] = ()
    reason: str = ""
    remedy: str = ""
    also: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()

    @property
    def had(self) -> Confinement:
        """The confinement that a run really gets."""
        return "off" if self.reason else self.mode


def strictest(modes: Iterable[Confinement]) -> Confinement:
    """All of them at once; "off" for none."""
    files, network = 0, True
    for mode in modes:
        its_files, its_network = _meaning(mode)
        files, network = max(files, its_files), network and its_network
    if network:
        return cast(Confinement, _FILES[files])
    return cast(Confinement, f"{_FILES[files]},no-network" if files else "no-network")


def is_as_strict(mode: Confinement, other: Confinement) -> bool:
    """Tell whether `mode` denies all that `other` denies."""
    return strictest((mode, other)) == mode


def _meaning(mode: Confinement) -> tuple[int, bool]:
    parts = mode.split(",")
    return max(_FILES.index(part) if part in _FILES else 0 for part in parts), "no-network" not in parts
