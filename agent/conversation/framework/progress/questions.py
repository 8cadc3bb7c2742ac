"""Choose the next question: the fields in their order, what is optional once, what is required until it is known or put off."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition, ObligationDefinition
from agent.conversation.framework.state.known import is_known
from agent.conversation.framework.state.working_memory import WorkingMemory


class Question(Struct, frozen=True, kw_only=True):
    """The next thing to ask, about the field at `path`."""

    path: str
    text: str
    confirmation: bool = False


def next_question(memory: WorkingMemory, config: EngineConfiguration) -> Question | None:
    """Return the next question after the one that was asked last; None where nothing is left to ask."""
    form = QuestionOrder(memory, config)
    chosen = form.next()
    if chosen is None:
        return None
    return Question(path=chosen.path, text=form.question(chosen), confirmation=form.confirms(chosen))


class QuestionOrder:
    """The fields that have a question, in their order, and what a state still wants of them."""

    def __init__(self, memory: WorkingMemory, config: EngineConfiguration) -> None:
        self._memory, self._config = memory, config
        self._states = {each.id: each for each in memory.obligations.items}
        self._of_field = dict[str, list[ObligationDefinition]]()
        for obligation in config.obligations:
            for path in obligation.fields:
                self._of_field.setdefault(path, []).append(obligation)
        self._fields = [each for each in config.extraction_schema.fields if self.question(each)]

    def question(self, field: FieldDefinition) -> str:
        alone = (each.question for each in self._of_field.get(field.path, ()) if len(each.fields) == 1)
        return field.question or next(filter(None, alone), "")

    def confirms(self, field: FieldDefinition) -> bool:
        return any(each.confirmation for each in self._of_field.get(field.path, ()))

    def next(self) -> FieldDefinition | None:
        """Return the field to ask for: confirmations wait until the rest is done, and what comes after them waits for them."""
        confirmations = [at for at, each in enumerate(self._fields) if self.confirms(each)]
        border = min(confirmations, default=len(self._fields))
        before, behind = range(border), [at for at in range(border, len(self._fields)) if at not in confirmations]
        found = (self._next_in(places) for places in (before, confirmations, behind))
        return next((self._fields[at] for at in found if at is not None), None)

    def _next_in(self, places: Sequence[int]) -> int | None:
        """Return the first place behind the last question; where there is none, the first of what is required."""
        asked = next((at for at, each in enumerate(self._fields) if each.path == self._memory.asked), -1)
        wanted = [at for at in places if self.is_open(self._fields[at])]
        behind = [at for at in wanted if at > asked]
        return min(behind or [at for at in wanted if self._is_required(self._fields[at])], default=None)

    def is_open(self, field: FieldDefinition) -> bool:
        """Tell whether it is to be asked for: a confirmation until there is a yes."""
        if field.path in self._memory.put_off:
            return False
        obligations = self._of_field.get(field.path, ())
        states = [self._states.get(each.id) for each in obligations]
        if obligations and all(each is not None and each.status in ("satisfied", "deferred") for each in states):
            return False
        known = is_known(self._memory, self._config, field.path)
        return not known or self.confirms(field)

    def _is_required(self, field: FieldDefinition) -> bool:
        obligations = self._of_field.get(field.path)
        return any(each.required for each in obligations) if obligations else field.required
