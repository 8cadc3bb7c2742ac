"""Which start of the machine this is: what a power cut can have taken is told from what somebody took."""

from __future__ import annotations

from functools import cache


@cache
def boot_id() -> str:
    """A name of this start of the machine, the same for all its processes; empty where the system does not tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(64).strip()
    except (OSError, ValueError):
        return ""
