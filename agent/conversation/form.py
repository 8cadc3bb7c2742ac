"""Lead an interview without a model, as a guided form: questions from the configuration, answers read by the type of their field.

Questions come in the order of the fields. What is optional is asked for once, what is required until it is known or put off; before the
first confirmation everything that is known is summed up. `NAME: value` corrects a field at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from agent.conversation.form_answers import SURE, asks_back, corrections, explained, read_answer, taken_back
from agent.conversation.framework.extraction.evidence import Said
from agent.conversation.framework.progress.questions import IN_A_ROW, QuestionOrder
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.conversation.framework.state.ports import AgentReply, ExtractedValue
from agent.conversation.framework.state.repair_data import ASK_AGAIN, REPAIR, RepairKind
from agent.conversation.framework.state.values import as_text
from agent.conversation.framework.state.working_memory import Extraction, WorkingMemory
from agent.conversation.framework.talk.repair import recognize

_BESIDE: tuple[RepairKind, ...] = ("digression", "topic_switch")
"""Repairs whose message is read for nothing: without a model nobody can tell what of it is an answer."""
_MOST_NOTED, _MOST_SUMMED_UP = 5, 60
_HINTS = {
    "number": "a number",
    "boolean": "yes or no",
    "array": "a list, one a line or separated by semicolons",
    "object": "an answer",
}


class GuidedForm:
    """The two calls of a runner, without a model. `see` the state before each of them."""

    def __init__(self, config: EngineConfiguration) -> None:
        self._config = config
        self._memory: WorkingMemory | None = None
        self._repair: RepairKind | None = None
        self._unread = self._corrected = False

    def see(self, memory: WorkingMemory, repair: RepairKind | None = None) -> None:
        """Take the state as it is now: before the extraction, and before the reply. `repair`: what the message asked for instead."""
        self._memory, self._repair = memory, repair

    async def run_extraction(
        self, user_message: str, context: str, fields: Sequence[FieldDefinition], current: Extraction
    ) -> Mapping[str, ExtractedValue | None]:
        """Read corrections; what else is said is the answer to the question that was asked."""
        asked = self._config.field(self._memory.asked) if self._memory else None
        mended = recognize(user_message, self._memory, self._config) if self._memory else None
        if mended is not None and mended.kind in _BESIDE and asked is not None:
            self._unread = mended.kind == "digression"
            return {}
        corrected, rest = corrections(self._config, user_message)
        if not corrected and self._memory is not None:
            back = taken_back(self._memory, self._config, user_message)
            corrected, rest = ([back], "") if back else ([], user_message)
        found = {field.path: _instead(read_answer(field, text)) for field, text in corrected}
        self._corrected = bool(corrected) and not rest.strip()
        if asked is not None and asked.path not in found and not self._corrected:
            said = Said(rest, (each.path for each in self._config.extraction_schema.fields))
            found[asked.path] = answer = None if said.is_of_the_form else read_answer(asked, rest)
            taken_as_text = asked.value_type in ("string", "array", "object") and not asked.choices
            if (answer is None or taken_as_text) and asks_back(rest, asked):
                return {REPAIR: ExtractedValue(value="question", confidence=SURE)}
            self._unread = answer is None
        return found

    async def run_main_agent(self, prompt: str) -> AgentReply:
        """Say what was understood, and ask the next question, or the same one again. The prompt is not read."""
        assert self._memory is not None
        form, asked = QuestionOrder(self._memory, self._config), self._config.field(self._memory.asked)
        unread, corrected, self._unread, self._corrected = self._unread, self._corrected, False, False
        stays = corrected and asked is not None and form.is_open(asked) and not form.confirms(asked)
        unread = unread and asked is not None and self._memory.unanswered.get(asked.path, 0) < IN_A_ROW
        again = self._repair in (*ASK_AGAIN, "topic_switch")
        field = asked if asked is not None and (unread or again or stays) else form.next()
        lines = list(_reply(self._memory, self._config, form, field))
        if asked is not None and self._repair in ("question", "repeat"):
            lines = [*explained(asked, self._config), *_asked(asked, form)]
        elif asked is not None and self._repair == "go_back" and asked.path in self._memory.extraction:
            lines.insert(0, f"So far: {as_text(self._memory.value(asked.path))}")
        if unread and asked is not None:
            hint = "one of these" if asked.choices else _HINTS.get(asked.value_type, "an answer")
            lines = [f"I could not read that as {hint}.", *_asked(asked, form)]
        return AgentReply(text="\n".join(lines), asked=field.path if field else "")


def _instead(found: ExtractedValue | None) -> ExtractedValue | None:
    """Take what corrects a list for all of it, also where its items are kept one by one."""
    return found and replace(found, change="replaces")


def _reply(
    memory: WorkingMemory, config: EngineConfiguration, form: QuestionOrder, field: FieldDefinition | None
) -> Iterator[str]:
    if memory.inbound_handoff is not None and memory.turn_number == 1:
        yield from ("Taken over:", *_taken_over(memory.inbound_handoff), "")
    noted = (line for path in memory.extraction if (line := _noted(memory, config, path)))
    yield from (f"Noted: {line}" for line in islice(noted, _MOST_NOTED))
    if field is None:
        yield "That is all I have to ask."
        yield from _left_open(memory, config)
        return
    if form.confirms(field):
        before = config.field(memory.asked)
        refused = memory.extracted(field.path)
        if refused is not None and refused.last_updated_at_turn == memory.turn_number:
            yield "What is to be changed? Write it as NAME: new value, with a name from above."
            return
        if refused is not None or before is None or not form.confirms(before):
            yield from ("", "This is what I know:", *summed_up(memory, config), *_left_open(memory, config), "")
    yield from _asked(field, form)


def _taken_over(handoff: EngineHandoff) -> Iterator[str]:
    done = handoff.action_list
    parts = (
        ("Decided", [f"{each.decision}: {each.reasoning}" for each in done.decisions_reached]),
        ("Ruled out", [each.option for each in done.options_eliminated]),
        ("Limit", [f"{each.constraint} {each.implication}" for each in done.constraints_identified]),
        ("Open", list(handoff.situation_awareness.knowledge_gaps_revealed)),
    )
    yield from (f"- {title}: {as_text(text)}" for title, texts in parts for text in texts[:_MOST_NOTED])


def _asked(field: FieldDefinition, form: QuestionOrder) -> list[str]:
    question = form.question(field) or field.display_name
    return [question, *(f"  {number}) {choice}" for number, choice in enumerate(field.choices, 1))]


def _noted(memory: WorkingMemory, config: EngineConfiguration, path: str) -> str:
    new = [each.value for each in memory.kept(path) if each.last_updated_at_turn == memory.turn_number]
    definition = config.field(path)
    if not new or definition is None or definition.value_type == "boolean":
        return ""
    return f"{definition.display_name}: {as_text(new if len(new) > 1 else new[0], limit=200) or 'none'}"


def summed_up(memory: WorkingMemory, config: EngineConfiguration) -> list[str]:
    """Return what is known, a line for each field; a confirmation is none."""
    form = QuestionOrder(memory, config)
    known = (each for each in config.extraction_schema.fields if each.path in memory.extraction)
    lines = [
        f"- {each.display_name}: {as_text(memory.value(each.path)) or 'none'}"
        for each in known
        if not form.confirms(each)
    ]
    return lines[:_MOST_SUMMED_UP]


def _left_open(memory: WorkingMemory, config: EngineConfiguration) -> list[str]:
    states = {each.id: each for each in memory.obligations.items}
    put_off = [
        each.description
        for each in config.obligations
        if each.id in states and states[each.id].status == "deferred" and states[each.id].required
    ]
    return [f"Still open: {'; '.join(put_off)}"] if put_off else []
