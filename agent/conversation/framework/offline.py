"""Lead an interview without a model, as a guided form: questions from the configuration, answers read by the type of their field.

Questions come in the order of the fields. What is optional is asked for once, what is required until it is known or put off; before the
first confirmation everything that is known is summed up. `NAME: value` corrects a field at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from agent.conversation.framework.configuration import EngineConfiguration, FieldDefinition, ObligationDefinition
from agent.conversation.framework.extraction_values import UNUSABLE, read_value
from agent.conversation.framework.known import is_known
from agent.conversation.framework.ports import AgentReply, ExtractedValue
from agent.conversation.framework.values import as_text
from agent.conversation.framework.working_memory import ExtractedField, Extraction, WorkingMemory
from agent.text.fuzzy import most_alike

SURE, NEARLY_SURE = 0.95, 0.8
"""Confidences: the answer to a question; a choice that was nearly named."""
_MOST_NOTED, _MOST_SUMMED_UP = 5, 60
_NAMED = re.compile(r"\s*(?:[-*]\s+)?([^:\n]{2,60}):[ \t]+(\S.*)")
_PAIR = re.compile(r"([^:=\n]{1,60}?)(?:\s*[:=]\s*(?=\S)|\s+(?=-?\d+(?:\.\d+)?$))(.+)")
_DIGITS = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_YES = frozenset(("yes", "y", "ok", "okay", "right", "correct", "true", "agreed"))
_NO = frozenset(("no", "n", "wrong", "false", "not"))
_NOTHING = frozenset(("none", "nothing", "no", "-"))
_HINTS = {
    "number": "a number",
    "boolean": "yes or no",
    "array": "a list, one a line or separated by semicolons",
    "object": "an answer",
}


class Question(Struct, frozen=True, kw_only=True):
    """The next thing to ask, about the field at `path`."""

    path: str
    text: str
    confirmation: bool = False


def next_question(memory: WorkingMemory, config: EngineConfiguration) -> Question | None:
    """Return the next question after the one that was asked last; None where nothing is left to ask."""
    form = _Form(memory, config)
    chosen = form.next()
    if chosen is None:
        return None
    return Question(path=chosen.path, text=form.question(chosen), confirmation=form.confirms(chosen))


class _Form:
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
        passed = max((at for at in places if self._was_told(self._fields[at])), default=-1)
        wanted = [at for at in places if self._is_open(self._fields[at])]
        required = [at for at in wanted if self._is_required(self._fields[at])]
        behind = [at for at in wanted if at > max(asked, passed)] + [at for at in required if at > asked]
        return min(behind or required, default=None)

    def _was_told(self, field: FieldDefinition) -> bool:
        found = self._memory.extraction.get(field.path, ())
        return any(each.last_updated_at_turn for each in (found if isinstance(found, tuple) else (found,)))

    def _is_open(self, field: FieldDefinition) -> bool:
        """Tell whether it is to be asked for: a confirmation until there is a yes."""
        obligations = self._of_field.get(field.path, ())
        states = [self._states.get(each.id) for each in obligations]
        if obligations and all(each is not None and each.status in ("satisfied", "deferred") for each in states):
            return False
        known = is_known(self._memory, self._config, field.path)
        return not known or (self.confirms(field) and self._memory.value(field.path) is not True)

    def _is_required(self, field: FieldDefinition) -> bool:
        obligations = self._of_field.get(field.path)
        return any(each.required for each in obligations) if obligations else field.required


def read_answer(field: FieldDefinition, message: str) -> ExtractedValue | None:
    """Read a message as the value of the field that was asked for; None where it is none."""
    text = message.strip()
    confidence = SURE
    value: Any = text
    if field.choices:
        value, confidence = _chosen(field, text)
    elif field.value_type == "boolean":
        value = _yes_or_no(text)
    elif field.value_type == "array":
        value = [] if text.rstrip(".!").casefold() in _NOTHING else _listed(text) or None
    elif field.value_type == "object" and text:
        value = _object(field, text)
    if value is None or (found := read_value(field, value)) is UNUSABLE:
        return None
    said = f"answer to: {field.question or field.display_name}"
    return ExtractedValue(value=found, confidence=confidence, reasoning=said, evidence=text, by_rule=True)


def _chosen(field: FieldDefinition, text: str) -> tuple[Any, float]:
    """Return the choices that are meant by their numbers or names, and how sure that is."""
    meant, confidence = list[str](), SURE
    for each in _listed(text) if field.value_type == "array" else [text]:
        bare = each.strip(" .)").casefold()
        names = {choice.casefold(): choice for choice in field.choices}
        if bare.isascii() and bare.isdigit() and 1 <= int(bare[:4]) <= len(field.choices):
            meant.append(field.choices[int(bare[:4]) - 1])
        elif bare in names:
            meant.append(names[bare])
        else:
            begun = [name for name in names if bare and name.startswith(bare)]
            alike = begun if len(begun) == 1 else most_alike(bare[:200], names, least=0.75)
            meant += [names[name] for name in alike[:1]]
            confidence = NEARLY_SURE
    if not meant:
        return None, 0.0
    return (meant if field.value_type == "array" else meant[0]), confidence


def _yes_or_no(text: str) -> bool | None:
    word = re.match(r"\w+", text.casefold())
    return True if word and word[0] in _YES else False if word and word[0] in _NO else None


def _listed(text: str) -> list[str]:
    """Return the items of a list: lines, else what semicolons or else commas separate."""
    lines = [_BULLET.sub("", line, count=1).strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        return lines
    sign = ";" if ";" in text else ","
    return [item for each in (lines or [""])[0].split(sign) if (item := each.strip(" ."))]


def _object(field: FieldDefinition, text: str) -> dict[str, Any]:
    """Return the pairs of `key: value`, `key = value` or `key number`, on lines or between semicolons.

    Without any, the first part is the first key's, and what follows the second's. A field that names no keys takes any.
    """
    parts = [part for line in text.splitlines() for each in line.split(";") if (part := _BULLET.sub("", each).strip())]
    pairs = [(match[1].strip(), _number(match[2])) for each in parts if (match := _PAIR.fullmatch(each[:5_000]))]
    if not field.item_properties:
        return dict(pairs) or {"text": text}
    keys = list(field.item_properties)
    told = {key: value for name, value in pairs for key in keys if key.casefold() == name.casefold()}
    return told or dict(zip(keys, (parts[0], "; ".join(parts[1:])) if parts[1:] else parts, strict=False))


def _number(text: str) -> Any:
    return float(text) if "." in text and _DIGITS.fullmatch(text) else int(text) if _DIGITS.fullmatch(text) else text


def corrections(config: EngineConfiguration, message: str) -> Iterator[tuple[FieldDefinition, str]]:
    """Yield the fields that lines `NAME: value` name, as they are displayed or by their paths, with what is said of them."""
    names = {
        name.casefold(): each for each in config.extraction_schema.fields for name in (each.path, each.display_name)
    }
    for line in message.splitlines()[:100]:
        match = _NAMED.fullmatch(line[:5_000])
        if match and (field := names.get(match[1].strip().casefold())):
            yield field, match[2]


class GuidedForm:
    """The two calls of a runner, without a model. `see` the state before each of them."""

    def __init__(self, config: EngineConfiguration) -> None:
        self._config = config
        self.asked = ""
        """The path of the field that the last reply asked for."""
        self._memory: WorkingMemory | None = None
        self._unread: FieldDefinition | None = None
        self._again = False

    def see(self, memory: WorkingMemory, *, again: bool = False) -> None:
        """Take the state as it is now: before the extraction, and before the reply. `again`: its last question is put once more."""
        self._memory, self._again = memory, again

    async def run_extraction(
        self, user_message: str, context: str, fields: Sequence[FieldDefinition], current: Extraction
    ) -> Mapping[str, ExtractedValue | None]:
        """Read corrections; without any, the answer to the question that was asked."""
        corrected = {field.path: read_answer(field, text) for field, text in corrections(self._config, user_message)}
        asked = self._config.field(self._memory.asked) if self._memory else None
        self._unread = None
        if corrected or asked is None:
            return corrected
        answer = read_answer(asked, user_message)
        self._unread = asked if answer is None else None
        return {asked.path: answer}

    async def run_main_agent(self, prompt: str) -> AgentReply:
        """Say what was understood, and ask the next question. The prompt is not read."""
        assert self._memory is not None
        unread, self._unread = self._unread, None
        if unread is not None:
            self.asked = unread.path
            hint = "one of these" if unread.choices else _HINTS.get(unread.value_type, "an answer")
            question = _Form(self._memory, self._config).question(unread) or unread.display_name
            told = "\n".join((f"I could not read that as {hint}.", *_asked(unread, question)))
            return AgentReply(text=told, asked=self.asked)
        field = self._config.field(self._memory.asked) if self._again else None
        if field is not None:
            self.asked = field.path
            question = _Form(self._memory, self._config).question(field) or field.display_name
            return AgentReply(text="\n".join(_asked(field, question)), asked=field.path)
        following = next_question(self._memory, self._config)
        self.asked = following.path if following else ""
        return AgentReply(text="\n".join(_reply(self._memory, self._config, following)), asked=self.asked)


def _reply(memory: WorkingMemory, config: EngineConfiguration, question: Question | None) -> Iterator[str]:
    noted = (line for path, each in memory.extraction.items() if (line := _noted(memory, config, path, each)))
    yield from (f"Noted: {line}" for line in islice(noted, _MOST_NOTED))
    field = config.field(question.path) if question else None
    if question is None or field is None:
        yield "That is all I have to ask."
        yield from _left_open(memory, config)
        return
    if question.confirmation:
        before = config.field(memory.asked)
        refused = memory.extracted(field.path)
        if refused is not None and refused.last_updated_at_turn == memory.turn_number:
            yield "What is to be changed? Write it as NAME: new value, with a name from above."
            return
        if refused is not None or before is None or not _Form(memory, config).confirms(before):
            yield from ("", "This is what I know:", *summed_up(memory, config), *_left_open(memory, config), "")
    yield from _asked(field, question.text)


def _asked(field: FieldDefinition, question: str) -> list[str]:
    return [question, *(f"  {number}) {choice}" for number, choice in enumerate(field.choices, 1))]


def _noted(
    memory: WorkingMemory, config: EngineConfiguration, path: str, kept: ExtractedField | tuple[ExtractedField, ...]
) -> str:
    fields = kept if isinstance(kept, tuple) else (kept,)
    new = [each.value for each in fields if each.last_updated_at_turn == memory.turn_number]
    definition = config.field(path)
    if not new or definition is None or definition.value_type == "boolean":
        return ""
    return f"{definition.display_name}: {as_text(new if len(new) > 1 else new[0], limit=200)}"


def summed_up(memory: WorkingMemory, config: EngineConfiguration) -> list[str]:
    """Return what is known, a line for each field; a confirmation is none."""
    form = _Form(memory, config)
    known = (each for each in config.extraction_schema.fields if each.path in memory.extraction)
    lines = [f"- {each.display_name}: {as_text(memory.value(each.path))}" for each in known if not form.confirms(each)]
    return lines[:_MOST_SUMMED_UP]


def _left_open(memory: WorkingMemory, config: EngineConfiguration) -> list[str]:
    states = {each.id: each for each in memory.obligations.items}
    put_off = [
        each.description
        for each in config.obligations
        if each.id in states and states[each.id].status == "deferred" and states[each.id].required
    ]
    return [f"Still open: {'; '.join(put_off)}"] if put_off else []
