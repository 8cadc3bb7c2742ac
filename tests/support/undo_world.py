"""The gate of undo with real rating, policy and journals, and a person who answers from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from agent.engine.stream import EventStream
from agent.execution.journal.store import Journals
from agent.gate.rating import Rater
from agent.gate.undo_actions import UndoActions
from agent.gate.verdicts import Judges
from agent.planner.facts.facts import context_of
from agent.policy.deciding import decide
from agent.policy.model import Policy, PolicyFile, Rule
from agent.protocol.actions import TurnRun
from agent.protocol.confirmations import ConfirmationRequest
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.events.known import Event
from agent.protocol.execution import UndoStore
from agent.protocol.ports import UndoPerson
from agent.protocol.rehearsals import Conflict, UndoChoice, UndoEntry, Undone
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from agent.risk.file_actions import rate_action
from tests.support.fakes import FakeEmitter, FakeFacts, FakeRecorder, FakeRedactor, FakeStreamRedaction

Rate = Callable[[RiskContext], RiskReport]


class RealFacts(FakeFacts):
    def context_of(self, rate: Rate, cwd: str) -> RiskContext:
        return context_of(rate, cwd)


def undo_actions(
    store: UndoStore,
    person: UndoPerson,
    recorder: FakeRecorder,
    *,
    rules: Iterable[Rule] = (),
    approval: Approval | None = None,
    facts: FakeFacts | None = None,
) -> UndoActions:
    """The gate, with `rules`, as they are when they are asked for, as the person's policy."""
    approval = approval or Approval()
    judges = Judges(
        classify,
        lambda report, approval, policy: decide(report, approval, policy=policy),
        facts or FakeFacts(),
        FakeRedactor(),
        FakeStreamRedaction,
        policy=lambda cwd: Policy(files=(PolicyFile(path="/policy.toml", trust="user", rules=tuple(rules)),)),
        rate_action=rate_action,
    )
    events = EventStream(recorder, FakeEmitter(), run="")
    return UndoActions(judges, Rater(judges, events, approval), person, events, approval, store)


@dataclass
class ScriptedUndoPerson:
    """ports.UndoPerson. `meanwhile` happens while the question stands there."""

    agrees: bool = True
    choices: list[UndoChoice] = field(default_factory=list)
    word: str | None = None
    meanwhile: Callable[[], object] = lambda: None
    can_choose: bool = True
    shown: list[tuple[TurnRun, tuple[Conflict, ...]]] = field(default_factory=list)
    words_asked: int = 0

    async def show(self, action: TurnRun, entry: UndoEntry, changed: tuple[Conflict, ...]) -> None:
        self.shown.append((action, changed))

    async def agree(self, action: TurnRun) -> bool:
        self.meanwhile()
        return self.agrees

    async def choose(self, changed: Conflict) -> UndoChoice:
        return self.choices.pop(0)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        self.words_asked += 1
        return self.word


class UndoWorld:
    """One state folder with journals, and a log."""

    def __init__(self, state: Path, person: ScriptedUndoPerson | None = None, recorder: FakeRecorder | None = None):
        self.store = Journals(str(state))
        self.person = person or ScriptedUndoPerson()
        self.recorder = recorder or FakeRecorder()

    def turn(
        self,
        undo_id: str = "",
        *,
        sure: bool = False,
        rules: Iterable[Rule] = (),
        approval: Approval | None = None,
    ) -> Undone | None:
        """Take back the run `undo_id` (default: the newest)."""
        entry = next(each for each in self.store.entries() if undo_id in ("", each.undo_id))
        gate = undo_actions(self.store, self.person, self.recorder, rules=rules, approval=approval, facts=RealFacts())
        return asyncio.run(gate.turn(entry, sure=sure))

    @property
    def events(self) -> list[Event]:
        return [record.event for record in self.recorder.records]

    def types(self) -> list[str]:
        return [type(event).__name__ for event in self.events]
