"""Choose the next question: the fields in their order, what is optional once, what is required until it is known or put off.

One that brought no answer is put again at once, since people speak of something else, and models overlook what was said. What was put off
and is needed to leave the phase comes once more, before anything is confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent.conversation.framework.state.config_data import categories_of
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition, ObligationDefinition
from agent.conversation.framework.state.values import as_text, is_known
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.text.vocabulary import SMALL_WORDS, words

IN_A_ROW = 2
"""Times that a question is put that brings no answer, before another one is."""
MOST_TRIES = 4
"""Such times at all; then it is left open."""


class Question(Struct, frozen=True, kw_only=True):
    """The next thing to ask, about the field at `path`."""

    path: str
    text: str


def next_question(memory: WorkingMemory, config: EngineConfiguration) -> Question | None:
    """Return the next question after the one that was asked last; None where nothing is left to ask."""
    form = QuestionOrder(memory, config)
    chosen = form.next()
    return Question(path=chosen.path, text=form.question(chosen)) if chosen is not None else None


def counted(memory: WorkingMemory, path: str, *, answered: bool) -> WorkingMemory:
    """Return the state in which the question of that field was put once more, and brought an answer or none."""
    times = 0 if answered else memory.unanswered.get(path, 0) + 1
    others = {each: number for each, number in memory.unanswered.items() if each != path}
    return replace(memory, unanswered=others | ({path: times} if times else {}))


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
        asked = self._config.field(self._memory.asked)
        if asked is not None and self.waits(asked):
            return asked
        confirmations = [at for at, each in enumerate(self._fields) if self.confirms(each)]
        border = min(confirmations, default=len(self._fields))
        before, behind = range(border), [at for at in range(border, len(self._fields)) if at not in confirmations]
        if (at := self._next_in(before)) is None and (needed := self._needed()) is not None:
            return needed
        found = (at, self._next_in(confirmations), self._next_in(behind))
        return next((self._fields[each] for each in found if each is not None), None)

    def _needed(self) -> FieldDefinition | None:
        """Return what was put off once, is required, and keeps the phase from being left."""
        memory, config = self._memory, self._config
        waited_for = paths_of_phase(config, memory) if memory.put_off else set()
        for field in self._fields:
            again = field.path in memory.put_off and memory.unanswered.get(field.path, 0) < IN_A_ROW
            needed = field.path in waited_for and self._is_required(field) and not self.confirms(field)
            if again and needed and not is_known(memory, config, field.path):
                return field
        return None

    def _next_in(self, places: Sequence[int]) -> int | None:
        """Return the first place behind the last question; where there is none, the first of what is required."""
        asked = next((at for at, each in enumerate(self._fields) if each.path == self._memory.asked), -1)
        wanted = [at for at in places if self.is_open(self._fields[at])]
        behind = [at for at in wanted if at > asked]
        return min(behind or [at for at in wanted if self._is_required(self._fields[at])], default=None)

    def waits(self, field: FieldDefinition) -> bool:
        """Tell whether it was asked for in vain, and is to be asked for at once again."""
        return 0 < self._memory.unanswered.get(field.path, 0) < IN_A_ROW and self.is_open(field)

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


MOST_FIELDS = 24  # a call: beyond it small models lose their way
_TELLING = 4  # letters of a word by which a value is recalled
_MOST_VALUE = 400  # characters of a value that are looked at


def relevant_fields(
    config: EngineConfiguration, memory: WorkingMemory, message: str = ""
) -> tuple[FieldDefinition, ...]:
    """The fields to look for, `MOST_FIELDS` where there are more: what was asked about first, what the message names or recalls, what the
    phase still misses, what else is missing, and what was learnt latest, as that is what people correct.
    """
    fields = config.extraction_schema.fields
    if len(fields) <= MOST_FIELDS:
        return fields
    asked = {path for each in config.obligations if each.id == memory.asked for path in each.fields} | {memory.asked}
    of_phase = paths_of_phase(config, memory)
    said = words(message)

    def rank(field: FieldDefinition) -> tuple[int, int, int]:
        if field.path in asked:
            return (0, 0, 0)
        if _is_spoken_of(field, memory, said):
            return (0, 1, 0)
        if field.path not in memory.extraction:
            return (1, 0, 0) if field.path in of_phase else (2, 0 if field.required else 1, 0)
        return (3, 0, -memory.last_turn(field.path))

    ranked = sorted(fields, key=rank)
    recent = [each for each in ranked if rank(each)[0] == 3][: MOST_FIELDS // 4]
    chosen = [each for each in ranked if each not in recent][: MOST_FIELDS - len(recent)] + recent
    return tuple(each for each in fields if each in chosen)


def _is_spoken_of(field: FieldDefinition, memory: WorkingMemory, said: Sequence[str]) -> bool:
    """Tell if a message has all words of the field's name, or most of those that its value would be recalled by."""
    name, every = words(field.display_name), frozenset(said)
    if SMALL_WORDS.issuperset(name):
        return bool(name) and f" {' '.join(name)} " in f" {' '.join(said)} "
    known = memory.value(field.path)
    telling = {each for each in words(as_text(known, limit=_MOST_VALUE)) if len(each) >= _TELLING} - SMALL_WORDS
    return every >= set(name) - SMALL_WORDS or (bool(telling) and 2 * len(telling & every) >= len(telling))


def paths_of_phase(config: EngineConfiguration, memory: WorkingMemory) -> set[str]:
    """Return the fields that the phase waits for: those of its checkpoints, and of the categories of its triggers."""
    phase = config.phase(memory.phase.current)
    if phase is None:
        return set()
    categories = set(categories_of(phase.transition_triggers))
    gates = {each.obligation_id for each in phase.mandatory_checkpoints}
    return {
        path for each in config.obligations if each.category in categories or each.id in gates for path in each.fields
    }
