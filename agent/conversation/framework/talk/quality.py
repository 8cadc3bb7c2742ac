"""Check a reply by rules. What it lacks is said to the next one; whether it is asked for again is the runner's decision."""

from __future__ import annotations

from collections.abc import Sequence

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.values import is_known
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.framework.talk.modes import Sentence, mode_of, promises, sentences
from agent.text.vocabulary import SMALL_WORDS, words

MOST_QUESTIONS = 2
_ALIKE = 0.9  # of the words of two replies, for one that says the last again
_EXTRACTS = 50  # percent of a blend from which a phase is there to ask
_SHORT = 8  # words: two short replies may well be alike


def check(
    reply: str, memory: WorkingMemory, config: EngineConfiguration, asked_before: Sequence[str] = ()
) -> tuple[str, ...]:
    """List what the reply lacks, each as an instruction. `asked_before`: earlier replies, the last one at the end."""
    if not reply.strip():
        return ("The last reply was empty.",)
    parts = list(sentences(reply))
    questions = [each for each in parts if each.asks]
    phase = config.phase(memory.phase.current)
    blend = phase.mode_blend if phase else None
    longest = longest_reply(config)
    count = sum(each.words for each in parts)
    found = []
    if len(questions) > MOST_QUESTIONS:
        found.append(f"Ask one question at a time; the last reply had {len(questions)}.")
    if asked_before and _is_alike(reply, asked_before[-1]):
        found.append("Do not say the same again; say it differently, or go on.")
    if known := _asks_for_known(questions, memory, config):
        found.append(f"Do not ask for what is known: {', '.join(known)}.")
    is_open = not memory.ended and any(each.status in ("pending", "partial") for each in memory.obligations.items)
    if is_open and not questions and blend is not None and blend.extract >= _EXTRACTS:
        found.append("End with a question: this phase is there to find something out.")
    if count > longest:
        found.append(f"Be shorter: at most {longest} words; the last reply had {count}.")
    if any(promises(each) for each in parts):
        found.append(
            "Do not promise to run, install or change anything: this conversation only finds out what is wanted."
        )
    return tuple(found)


def longest_reply(config: EngineConfiguration) -> int:
    """The words that a reply may have: 40, and 4 more for each percent of the conversation that is the system's."""
    return round(40 + 4 * min(max(config.information_ratio.system, 0), 100))


def _is_alike(reply: str, before: str) -> bool:
    now, then = set(words(reply)), set(words(before))
    if not now or not then:
        return False
    return now == then if min(len(now), len(then)) < _SHORT else len(now & then) >= _ALIKE * len(now | then)


def _asks_for_known(
    questions: Sequence[Sentence], memory: WorkingMemory, config: EngineConfiguration
) -> tuple[str, ...]:
    """The fields that a question asks for though they are known; to have them confirmed is no such question."""
    asked = [set(words(each.text)) for each in questions if mode_of(each) == "extract"]
    if not asked:
        return ()
    found = []
    for field in config.extraction_schema.fields:
        if (
            field.path not in memory.extraction
            or field.collection == "items"
            or not is_known(memory, config, field.path)
        ):
            continue
        told = set(words(field.question)), set(words(field.display_name)) - SMALL_WORDS
        if any(
            len(each) >= least and each <= question
            for each, least in zip(told, (3, 2), strict=True)
            for question in asked
        ):
            found.append(field.display_name)
    return tuple(found)
