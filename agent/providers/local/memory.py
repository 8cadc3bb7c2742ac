"""Check that a model fits into this machine's memory, before it is loaded."""

from __future__ import annotations

import os

from msgspec import Struct

from agent.protocol.errors import ConfigError
from agent.providers.local.gguf import Gguf

OVERHEAD = 128 << 20  # the library, its buffers and the vocabulary
MOST_CONTEXT = 16_384  # tokens: more is of no use to a planner and costs memory at once
LEAST_CONTEXT = 2_048


class Need(Struct, frozen=True, kw_only=True):
    """Bytes that a model takes once it is loaded with `context` tokens; `free` is None where it cannot be told."""

    context: int
    bytes: int
    free: int | None

    @property
    def fits(self) -> bool:
        return self.free is None or self.bytes <= self.free


def need_of(model: Gguf, wanted: int, *, free: int | None) -> Need:
    """Reckon what `model` needs with `wanted` tokens of context (fewer where it was made for fewer, or memory is short of them).

    The context shrinks down to LEAST_CONTEXT before a model is too large.
    """
    context = min(wanted, model.context or wanted, MOST_CONTEXT)
    while True:
        total = model.size + context * model.kv_per_token + OVERHEAD
        need = Need(context=context, bytes=total, free=free)
        if need.fits or context // 2 < LEAST_CONTEXT:
            return need
        context //= 2


def refuse_too_large(model: Gguf, need: Need) -> None:
    """Raises ConfigError for a model that clearly does not fit."""
    if not need.fits and need.free is not None:
        name, needed, free = os.path.basename(model.path), in_words(need.bytes), in_words(need.free)
        hint = "choose a smaller one, or one with a stronger quantisation (`agent-shell models` lists what is here)"
        raise ConfigError(f"the model {name} needs about {needed} of memory, and {free} is free", hint=hint)


def free_memory() -> int | None:
    """Bytes that a new process can take without others being pushed out; None where the system does not say."""
    found = [value for value in (_meminfo(), _cgroup()) if value is not None]
    return min(found) if found else _pages()


def in_words(size: int) -> str:
    """1.3 GB, 98 MB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"


def _meminfo() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _cgroup() -> int | None:
    """The memory that a container may still take (cgroup v2)."""
    values = []
    for name in ("memory.max", "memory.current"):
        try:
            with open(f"/sys/fs/cgroup/{name}", encoding="ascii") as file:
                values.append(int(file.read()))
        except (OSError, ValueError):  # no such file, or "max"
            return None
    return max(0, values[0] - values[1])


def _pages() -> int | None:
    """All memory of the machine, where only that is known: enough to refuse what can never fit."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None
