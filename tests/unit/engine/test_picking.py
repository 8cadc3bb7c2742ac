"""What comes nearest is offered, recorded and picked; a pick is proposed like any command, and never runs with a slot in it."""

from __future__ import annotations

import asyncio
from typing import Any

from agent.protocol.confirmations import Alternative, Approved, Confirmation
from agent.protocol.events.command import CommandConfirmed, CommandProposed
from agent.protocol.events.session import ChoiceMade, ChoicesOffered
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.replies import Chat
from agent.protocol.requests import Approval, RunOptions, RunRequest
from tests.support.each import each
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, make_engine, say

CHOICES = (
    Alternative(command="ls a", reason="lists a"),
    Alternative(command="tail <file>", reason="shows the end of a file", slots=("<file>",)),
)
OFFER = Chat(message="The nearest: …", choices=CHOICES)


class PickingPerson(FakePerson):
    """Picks, too."""

    def __init__(self, number: int, *answers: Confirmation) -> None:
        super().__init__(*answers)
        self.number = number

    async def pick(self, choices: tuple[Alternative, ...]) -> int:
        assert choices == CHOICES
        return self.number


class Done:
    def __init__(self, person: FakePerson, **approval: Any) -> None:
        self.executor = FakeExecutor()
        engine, self.context, self.log = make_engine(FakePlanner(OFFER, say("fine")), self.executor)
        options = RunOptions(approval=Approval(**approval))
        request = RunRequest(input=UserInput.from_text("do it"), options=options)
        self.outcome: RunOutcome = asyncio.run(engine.run(self.context, request, FakeEmitter(), person))

    def events(self, kind: type) -> list[Any]:
        return [record.event for record in self.log.records if isinstance(record.event, kind)]

    @property
    def run(self) -> list[str]:
        return [each.command for each in self.executor.ran]


def test_a_pick_is_proposed_beside_the_others_and_recorded() -> None:
    done = Done(PickingPerson(1))
    assert done.events(ChoicesOffered) == [ChoicesOffered(choices=CHOICES)]
    assert done.events(ChoiceMade) == [ChoiceMade(number=1)]
    (proposed,) = done.events(CommandProposed)
    assert (proposed.command, proposed.origin, proposed.reason) == ("ls a", "planner", "lists a")
    assert [each.command for each in proposed.alternatives] == ["tail <file>"]
    assert done.run == ["ls a"]


@each("person", [PickingPerson(0), PickingPerson(3), PickingPerson(-1), FakePerson()])
def test_without_a_pick_nothing_is_proposed_and_the_choices_stay(person: FakePerson) -> None:
    done = Done(person)
    assert not done.events(CommandProposed) and not done.events(ChoiceMade) and done.run == []
    assert done.context.last_alternatives == CHOICES


def test_nobody_is_asked_where_nobody_is_there() -> None:
    done = Done(PickingPerson(1), interactive=False)
    assert done.events(ChoicesOffered) and not done.events(ChoiceMade) and done.run == []


def test_a_slot_has_to_be_filled_in_before_it_runs() -> None:
    person = PickingPerson(2, Approved(command="tail <file>"), Approved(command="tail notes.txt"))
    done = Done(person)
    assert [each.note for each in person.asked] == ["", "fill in <file> first"]
    assert done.run == ["tail notes.txt"]


@each("mode", ["ask", "low", "medium"])
def test_with_a_slot_nothing_runs_unasked_nor_for_one_who_says_yes_to_everything(mode: str) -> None:
    person = PickingPerson(2)  # approves whatever it is shown
    done = Done(person, mode=mode)
    assert done.run == []
    assert done.events(CommandConfirmed)[0].remark == "fill in <file> first"
    # The others have slots of their own when they take its place.
    other = Approved(command="tail <file>")
    assert Done(PickingPerson(1, other, other)).run == []
