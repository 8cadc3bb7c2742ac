"""Order confinements: which is at least as strict as another, and what holds where several are asked for. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast, get_args

from agent.protocol.decisions import Confinement

CONFINEMENTS: tuple[Confinement, ...] = get_args(Confinement)
_FILES = ("off", "workspace", "read-only")


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
