"""Choose the fields that are worth looking for in a message, where there are too many to ask a model for."""

from __future__ import annotations

from collections.abc import Sequence

from agent.conversation.framework.state.config_data import categories_of
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.values import as_text
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.text.vocabulary import SMALL_WORDS, words

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
