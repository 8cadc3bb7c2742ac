"""One rehearsed run: plan the sandbox, start the shell in it, and collect what it left."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from agent.execution.overlay.model import Layer
from agent.execution.rehearsal.budget import Budget
from agent.execution.rehearsal.planning import Planned, plan
from agent.execution.sandbox import reports
from agent.execution.sandbox.mountinfo import is_below
from agent.execution.sandbox.spec import packed, unpacked

PREAMBLE, DUMP, COMMAND = b"start", b"state", b"command"


@dataclass(frozen=True)
class Ran:
    """What a sandbox left. `reports`: lines of its report file; `dump`: what the shell wrote of its state; `layers`: what was overlaid."""

    planned: Planned
    reports: tuple[dict[str, Any], ...]
    layers: tuple[Layer, ...]
    dump: bytes

    @property
    def started(self) -> bool:
        """Tell whether the command itself was reached: everything around it was there."""
        return self.said("built") is not None and self.said("failed") is None

    @property
    def failure(self) -> tuple[str, int]:
        """The step that failed, and the errno."""
        failed = self.said("failed")
        return (str(failed["step"]), int(failed["errno"])) if failed else ("", 0)

    def said(self, event: str) -> dict[str, Any] | None:
        """The first line of this kind."""
        return next((report for report in self.reports if report["event"] == event), None)


class Sandbox:
    """The sandbox of one rehearsal, from plan to what it left. `kind`: "root" or "user"."""

    def __init__(self, kind: str, *, cwd: str, home: str, state_dir: str, budget: Budget, network: bool) -> None:
        """Plan it, and make its scratch folders. Raises OSError."""
        self.planned = plan(
            kind,
            cwd=os.fsencode(cwd),
            home=os.fsencode(home),
            state_dir=os.fsencode(state_dir),
            budget=budget,
            network=network,
        )

    def path(self, name: bytes) -> str:
        """Where the file `name` will be for the shell inside."""
        return os.fsdecode(unpacked(self.planned.spec.shell_dir) + b"/" + name)

    def put(self, name: bytes, content: bytes) -> None:
        """Have a file there."""
        self.planned.spec.files[packed(name)] = packed(content)

    def bring_back(self, name: bytes) -> None:
        """Have a file of the shell's brought back in the end."""
        self.put(name, b"")
        self.planned.spec.dump = packed(name)

    def message(self) -> dict[str, Any]:
        """The `sandbox` of a launch request."""
        return self.planned.spec.message()

    def collect(self) -> Ran:
        """What it left, once nothing runs in it any more."""
        scratch = unpacked(self.planned.spec.scratch)
        lines = tuple(reports.read(scratch))
        try:
            with open(scratch + b"/" + reports.STATE, "rb") as file:
                dump = file.read()
        except OSError:
            dump = b""
        return Ran(self.planned, lines, _layers(self.planned, lines), dump)

    def remove(self) -> None:
        """Take the scratch away."""
        self.planned.scratch.remove()


def _layers(planned: Planned, lines: tuple[dict[str, Any], ...]) -> tuple[Layer, ...]:
    overlaid = [line for line in lines if line["event"] == "overlaid"]
    roots = [os.fsencode(line["root"]) for line in overlaid]
    others = {mount.point for mount in planned.layout.read_only}
    made: list[Layer] = []
    for line, root in zip(overlaid, roots, strict=True):
        place = os.fsencode(line["place"])
        apart = {path for path in (*roots, *planned.masks, *others) if is_below(path, root)}
        if root == b"/":
            apart |= {b"/proc", b"/sys", b"/dev"}
        made.append(
            Layer(
                root=root,
                scratch=place,
                upper=place + b"/upper",
                userxattr=bool(line["userxattr"]),
                indexed=bool(line["indexed"]),
                same_file_system=planned.bases[root].same_file_system,
                apart=tuple(sorted(apart)),
                start=reports.status_of(line["start"]),
            )
        )
    return tuple(made)
