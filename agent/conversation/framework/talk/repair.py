"""Notice when a conversation does not go as the person wants, and mend it: the state, what the agent is told, or a reply at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache

from msgspec import Struct, convert
from msgspec.structs import replace

from agent.conversation.framework.extraction.extraction import ExtractionResult
from agent.conversation.framework.progress.obligations import settle
from agent.conversation.framework.progress.phases import PhaseStateMachine
from agent.conversation.framework.state.configuration import EngineConfiguration, ObligationDefinition
from agent.conversation.framework.state.repair_data import Repair, Repaired, RepairKind
from agent.conversation.framework.state.values import is_known
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.struct_types import built
from agent.text.lazy_pattern import lazily
from agent.text.vocabulary import words

_FILE = os.path.join(os.path.dirname(__file__), "repairs.toml")
_LONGEST = 600  # characters of a message that patterns are tried on
_MOST_WORDS = 40  # of a message that tells nothing: a longer one tells something, whatever a model says
_BACK = "The person wants to go back to “{}”. Ask for it, or for what should change about it."
_ENDED = "The interview ends here. What was found out so far is kept."


_LET_US = lazily(r"\blet us\b", re.I)


class _Signs(Struct, frozen=True, forbid_unknown_fields=True):
    """The patterns of one kind, for messages of at most so many `words`."""

    kind: RepairKind
    words: int
    patterns: tuple[str, ...]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    repair: tuple[_Signs, ...]


@cache
def _signs() -> tuple[tuple[RepairKind, int, tuple[re.Pattern[str], ...]], ...]:
    import tomllib

    with open(_FILE, "rb") as file:
        found = convert(tomllib.load(file), built(_File)).repair
    return tuple(
        (each.kind, each.words, tuple(re.compile(text, re.I | re.S) for text in each.patterns)) for each in found
    )


def recognize(message: str, memory: WorkingMemory, config: EngineConfiguration) -> Repair | None:
    """The repair that a message asks for; None for an answer, which a choice of the field that was asked for always is."""
    text = " ".join(message[: 4 * _LONGEST].replace("’", "'").split())
    text = _LET_US.sub("let's", text)
    if not text or len(text) > _LONGEST or _is_choice(text, memory, config):
        return None
    count = len(text.split())
    for kind, most, patterns in _signs():
        if count > most:
            continue
        if any(pattern.match(text) for pattern in patterns):
            return Repair(kind=kind, about=_about(kind, text, memory, config))
    return None


def meant(message: str) -> str:
    """Return what a correction says instead ("no, I meant *the week before*"), "" for none."""
    text = " ".join(message[:_LONGEST].replace("’", "'").split())
    patterns = (each for kind, _, signs in _signs() if kind == "correction" for each in signs)
    found = next((match for each in patterns if (match := each.match(text))), None)
    return text[found.end() :].strip(" ,.:") if found else ""


def _is_choice(text: str, memory: WorkingMemory, config: EngineConfiguration) -> bool:
    letters = "".join(words(text))
    fields = (config.field(path) for path in _paths_asked(memory, config))
    return any("".join(words(choice)) == letters for field in fields if field for choice in field.choices)


def after_extraction(
    repair: Repair | None, message: str, result: ExtractionResult, memory: WorkingMemory, config: EngineConfiguration
) -> Repair | None:
    """Add what the extraction shows: the fields that were corrected; a contradiction where nobody said that it is a correction; and what
    it understood the message to be instead of an answer. “Actually” before something new corrects nothing.
    """
    changed = tuple(each.field_path for each in result.superseded_fields)
    if repair is not None and repair.kind == "correction":
        return replace(repair, about=changed) if changed else None if result.fields_updated else repair
    if repair is not None:
        return repair
    if changed:
        # A list that is changed is meant to be.
        listed = all(isinstance(each.old_value, list) or each.new_value is None for each in result.superseded_fields)
        return Repair(kind="correction" if listed or result.repair == "correction" else "contradiction", about=changed)
    if result.repair is None or result.fields_updated or len(message.split()) > _MOST_WORDS:
        return None
    return Repair(kind=result.repair, about=_about(result.repair, message, memory, config))


def _about(kind: RepairKind, message: str, memory: WorkingMemory, config: EngineConfiguration) -> tuple[str, ...]:
    """Return the fields that a repair concerns: what was asked; of another topic the one whose name was said, the longest of several."""
    said = f" {' '.join(words(message[:_LONGEST]))} " if kind == "topic_switch" else ""
    fields = [each for each in config.extraction_schema.fields if each.question and said]
    named = [each for each in fields if f" {' '.join(words(each.display_name))} " in said]
    longest = max(named, key=lambda each: len(each.display_name), default=None)
    return (longest.path,) if longest else _paths_asked(memory, config)


def asked_obligation(memory: WorkingMemory, config: EngineConfiguration) -> ObligationDefinition | None:
    """The obligation that the last question was about."""
    if not memory.asked:
        return None
    named = next((each for each in config.obligations if each.id == memory.asked), None)
    return named or next((each for each in config.obligations if memory.asked in each.fields), None)


def _paths_asked(memory: WorkingMemory, config: EngineConfiguration) -> tuple[str, ...]:
    obligation = asked_obligation(memory, config)
    if obligation is not None and obligation.id == memory.asked:
        return obligation.fields
    return (memory.asked,) if config.field(memory.asked) else ()


def apply(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
    """Mend it."""
    return _REMEDIES[repair.kind](repair, memory, config)


def _cancel(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
    return Repaired(memory=replace(memory, ended="cancelled"), reply=_ENDED)


def _impatience(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
    """Leave what is optional."""
    optional = {each.id for each in config.obligations if not each.required and not each.confirmation}
    for item in memory.obligations.items:
        if item.id in optional and item.status in ("pending", "partial"):
            memory = settle(memory, item.id, "deferred", deferred_by="person")
    open_ones = [item for item in memory.obligations.items if item.status in ("pending", "partial")]
    after = (
        f"Ask only for what is required and still open ({len(open_ones)} left), one short question, and offer to go on with what is known."
        if open_ones
        else "Ask nothing more; offer to go on with what is known."
    )
    return Repaired(memory=memory, guidance=f"The person wants to get on. Acknowledge it in half a sentence. {after}")


def _defer(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
    """Put off what was asked, with all that wants the same. So is a confirmation: it counts as none until there is a yes, and is not
    asked for in a circle.
    """
    obligation = asked_obligation(memory, config)
    unknown = repair.kind == "dont_know"
    about = f"“{obligation.description}”" if obligation else "the last question"
    satisfied = {each.id for each in memory.obligations.items if each.status == "satisfied"}
    for each in config.obligations:
        if each is obligation or (memory.asked in each.fields and each.id not in satisfied):
            memory = settle(memory, each.id, "deferred", deferred_by="unknown" if unknown else "person")
    guidance = (
        f"The person does not know about {about}. That is fine: offer an example or a usual value once, then go on to something else."
        if unknown
        else f"The person skips {about}. Do not ask for it again; go on to something else."
    )
    put_off = dict.fromkeys((*memory.put_off, *_paths_asked(memory, config)))
    return Repaired(memory=replace(memory, asked="", put_off=tuple(put_off)), guidance=guidance)


def _go_back(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
    """To the question before the last one, though it was put off; else to what was learnt last, or to the phase before where this one
    brought nothing yet.
    """
    before = [path for path in memory.asked_before if path != memory.asked and config.field(path)]
    if before:
        again = replace(_reopened(memory, before[-1], config), asked=before[-1], asked_before=tuple(before[:-1]))
        return Repaired(memory=again, guidance=_BACK.format(_display(before[-1], config)))
    latest = _latest(memory)
    if latest and latest[0] >= memory.phase.entered_at_turn:
        return Repaired(memory=replace(memory, asked=latest[1]), guidance=_BACK.format(_display(latest[1], config)))
    back = PhaseStateMachine(config, {}).go_back(memory)
    phase = config.phase(back.phase.current)
    if back is memory or phase is None:
        return Repaired(
            memory=memory, guidance="There is nothing to go back to: say so, and ask what the person wants to change."
        )
    return Repaired(
        memory=back, guidance=f"The person went back to “{phase.display_name}”. Ask what should change there."
    )


def _display(path: str, config: EngineConfiguration) -> str:
    field = config.field(path)
    return field.display_name if field else path


def _reopened(memory: WorkingMemory, path: str, config: EngineConfiguration) -> WorkingMemory:
    """Take back that a field was put off, and with it what it is needed for."""
    put_off = {each.id for each in memory.obligations.items if each.deferred_by in ("person", "unknown")}
    for each in config.obligations:
        if path in each.fields and each.id in put_off:
            memory = settle(memory, each.id, "pending")
    return replace(memory, put_off=tuple(each for each in memory.put_off if each != path))


def _latest(memory: WorkingMemory) -> tuple[int, str] | None:
    """Turn and path of the field that was learnt last."""
    return max(((memory.last_turn(path), path) for path in memory.extraction), default=None)


def _correction(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
    changed = _names(repair, config)
    if any(is_known(memory, config, path) for path in repair.about) and changed:
        guidance = f"The person corrected something ({changed}). Take it as it is now said, and confirm it in one short sentence."
    else:
        guidance = "The person corrects something. If it is not plain what should change, ask for that alone."
    return Repaired(memory=memory, guidance=guidance)


def _contradiction(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
    what = f"about {_names(repair, config) or 'something'} (what is known has both)"
    return Repaired(
        memory=memory,
        guidance=f"This differs from what the person said earlier {what}. Name both, and ask which one holds.",
    )


def _names(repair: Repair, config: EngineConfiguration) -> str:
    return ", ".join(field.display_name for path in repair.about if (field := config.field(path)))


def _topic_switch(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
    """Go to what was named."""
    field = next((config.field(each) for each in repair.about if each not in _paths_asked(memory, config)), None)
    if field is None:
        return _told("The person turns to another topic. Follow it, and come back to {asked} later.")(
            repair, memory, config
        )
    guidance = f"The person turns to “{field.display_name}”. Ask for it, or for what should change about it; the rest comes later."
    return Repaired(memory=replace(memory, asked=field.path), guidance=guidance)


def _told(guidance: str) -> Callable[[Repair, WorkingMemory, EngineConfiguration], Repaired]:
    """A remedy that only tells the agent something; `{asked}` stands for what was asked."""

    def remedy(repair: Repair, memory: WorkingMemory, config: EngineConfiguration) -> Repaired:
        obligation = asked_obligation(memory, config)
        asked = f"“{obligation.description}”" if obligation else "the last question"
        return Repaired(memory=memory, guidance=guidance.replace("{asked}", asked))

    return remedy


_REMEDIES: dict[RepairKind, Callable[[Repair, WorkingMemory, EngineConfiguration], Repaired]] = {
    "cancel": _cancel,
    "impatience": _impatience,
    "skip": _defer,
    "dont_know": _defer,
    "go_back": _go_back,
    "correction": _correction,
    "contradiction": _contradiction,
    "repeat": _told("The person did not understand. Ask about {asked} again in other, plainer words, with an example."),
    "question": _told("The person asks something. Answer that first, as well as you can, then come back to {asked}."),
    "digression": _told("The person digresses. Take that up in one sentence, then come back to {asked}."),
    "topic_switch": _topic_switch,
    "off_topic": _told("Where this is not about the matter, answer it in one sentence, and come back to {asked}."),
}
