"""Carry the limits of a confined process to the helper. Standard library only."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Files = Literal["all", "workspace", "read-only"]
"""Files it may write to: everywhere, in the workspace, nowhere (but in its own folder for temporary files)."""

Rung = Literal["namespaces", "landlock"]
"""The way it is held: by a mount namespace of its own, or where there is none by Landlock and a seccomp filter alone."""


class Plan(NamedTuple):
    """One confinement. Paths are absolute, as bytes; `writable` are folders, `protected` what stays read-only inside them."""

    files: Files
    network: bool
    rung: Rung
    writable: tuple[bytes, ...] = ()
    protected: tuple[bytes, ...] = ()

    def encoded(self) -> dict[str, Any]:
        """As the `sandbox` key of a launch request; bytes travel as latin-1."""
        paths = {name: [path.decode("latin-1") for path in getattr(self, name)] for name in ("writable", "protected")}
        return {"kind": "confine", **self._asdict(), **paths}


def decoded(spec: dict[str, Any]) -> Plan:
    """The plan of a launch request. Raises ValueError or KeyError for one that is not whole: then nothing may run."""
    files, rung, network = spec["files"], spec["rung"], spec["network"]
    if files not in ("all", "workspace", "read-only") or rung not in ("namespaces", "landlock"):
        raise ValueError(f"unknown confinement: {files!r} by {rung!r}")
    if not isinstance(network, bool):
        raise ValueError("the network is neither on nor off")
    writable, protected = (tuple(path.encode("latin-1") for path in spec[name]) for name in ("writable", "protected"))
    return Plan(files, network, rung, writable, protected)


class WriteFolders(NamedTuple):
    """Folders that a confined session may write to. `workspace`: its own, for good: `cd` does not widen it.

    `also`: other folders the person allows. `protected`: folders that are never writable (the program's own settings and state).
    """

    workspace: str
    also: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    home: str = ""
