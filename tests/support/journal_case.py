"""A rehearsed run over a real overlay, ready to be committed."""

from __future__ import annotations

import os
from pathlib import Path

from agent.execution.journal.records import Entry, now
from agent.execution.journal.store import Journals
from agent.execution.overlay.model import Layer, Step
from agent.execution.overlay.reader import read_steps
from agent.protocol.rehearsals import Committed
from tests.support.overlay_world import OverlayWorld
from tests.support.tree_operations import Listing, listing

RUN = Entry("", now(), "something", "/", session="s1", command_id="c1")


class Rehearsed:
    """`script` run over a tree that `before` made. `after`: what the overlay showed."""

    def __init__(self, world: OverlayWorld, before: str, script: str, state: Path | None = None) -> None:
        world.new_case()
        world.prepare(before)
        self.real = world.lower
        self.state = str(state or world.lower.parent / "state")
        self.before = self.now()
        self.rehearse(world, script)
        self.journals = Journals(self.state)

    def rehearse(self, world: OverlayWorld, script: str) -> None:
        """One more rehearsal over the same tree."""
        self.after: Listing = world.run(script)["listing"]
        self.layer: Layer = world.layer()
        result = read_steps([self.layer])
        assert not result.obstacle
        self.steps: tuple[Step, ...] = result.steps

    def commit(self) -> Committed:
        return self.journals.commit([self.layer], self.steps, RUN)

    def now(self) -> Listing:
        return listing(os.fsencode(self.real))
