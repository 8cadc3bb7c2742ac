"""Take from a message what it tells: threshold, type, provenance, supersession, record. A failure costs the fields, never the reply."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from agent.conversation.framework.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.evidence import Said, words
from agent.conversation.framework.extraction_values import MOST_ITEMS, UNUSABLE, read_value
from agent.conversation.framework.ports import (
    ExtractedValue,
    ExtractionLogEntry,
    LogExtraction,
    RunExtraction,
    TurnMetadata,
)
from agent.conversation.framework.sensitive import SensitiveInformation
from agent.conversation.framework.working_memory import TURNS_KEPT, ExtractedField, Extraction, Superseded
from agent.protocol.errors import Cancelled

_LONGEST_REASON = 400  # characters of a reasoning or of evidence
Kind = Literal["new", "update", "supersede"]


class SupersededField(Struct, frozen=True, kw_only=True, rename="camel"):
    """A value that was replaced by another."""

    field_path: str
    old_value: Any
    new_value: Any
    reason: str


class ExtractionResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """`new_concept_count`: values that were not known in any form before. `failed`: why nothing was extracted, "" where it was."""

    updated_extraction: Extraction
    fields_updated: tuple[str, ...] = ()
    new_concept_count: int = 0
    sensitive_info_shared: bool = False
    superseded_fields: tuple[SupersededField, ...] = ()
    failed: str = ""


class _Change(NamedTuple):
    """One value that becomes known. `at`: its place among the items of a collection, None for a whole field."""

    field: FieldDefinition
    kind: Kind
    new: ExtractedField
    at: int | None
    concepts: int
    old: ExtractedField | None = None


class ExtractionPipeline:
    """Runs on every message. `redaction_key`: what makes labels of sensitive values, equal ones of equal values."""

    def __init__(
        self,
        config: EngineConfiguration,
        run_extraction_llm: RunExtraction,
        log_extraction: LogExtraction,
        *,
        redaction_key: bytes | Callable[[], bytes] | None = None,
    ) -> None:
        self._config = config
        self._run = run_extraction_llm
        self._log = log_extraction
        self._sensitive = SensitiveInformation(redaction_key)
        self._fields = {each.path: each for each in config.extraction_schema.fields}

    async def extract(
        self,
        user_message: str,
        conversation_context: str,
        current_extraction: Extraction,
        turn_number: int,
        metadata: TurnMetadata,
        *,
        fields: Sequence[FieldDefinition] | None = None,
    ) -> ExtractionResult:
        """`fields`: those to look for, all of the schema where it is None."""
        sensitive = self._sensitive.is_shared_in(user_message)
        wanted = tuple(self._fields.values()) if fields is None else tuple(fields)
        try:
            found = await self._run(user_message, conversation_context, wanted, current_extraction) if wanted else {}
            changes = self._changes(found, Said(user_message, self._fields), current_extraction, turn_number)
            for change in changes:  # what is not in the log is not known
                await self._log(self._entry(change, turn_number, metadata))
        except Cancelled:
            raise
        except Exception as error:  # whatever a model, a server or a store does: the person gets a reply
            return ExtractionResult(
                updated_extraction=current_extraction,
                sensitive_info_shared=sensitive,
                failed=str(error)[:_LONGEST_REASON] or type(error).__name__,
            )
        return replace(_applied(changes, current_extraction, turn_number), sensitive_info_shared=sensitive)

    def _changes(
        self, found: Mapping[str, ExtractedValue | None], said: Said, current: Extraction, turn: int
    ) -> list[_Change]:
        changes: list[_Change] = []
        for path, raw in found.items():
            field = self._fields.get(path)
            if field is None or not isinstance(raw, ExtractedValue):
                continue
            value = read_value(field, raw.value)
            evidence = raw.evidence if isinstance(raw.evidence, str) else ""
            confidence = said.believed(_sure(raw.confidence), evidence)
            if value is UNUSABLE or confidence < field.confidence_threshold or confidence <= 0:
                continue
            fresh = ExtractedField(
                value=self._sensitive.without_secrets(value),
                confidence=confidence,
                extracted_from_turns=(turn,),
                last_updated_at_turn=turn,
                reasoning=self._short(raw.reasoning),
                evidence=self._short(evidence),
            )
            if field.collection == "items":
                changes += _items(field, fresh, current, turn)
            elif change := _whole(field, fresh, current, turn):
                changes.append(change)
        return changes

    def _short(self, text: Any) -> str:
        kept = text[:_LONGEST_REASON].strip() if isinstance(text, str) else ""
        redacted: str = self._sensitive.without_secrets(kept)
        return redacted

    def _entry(self, change: _Change, turn: int, metadata: TurnMetadata) -> ExtractionLogEntry:
        redact = self._sensitive.redacted
        return ExtractionLogEntry(
            session_id=metadata.session_id,
            project_id=metadata.project_id,
            message_id=metadata.message_id,
            engine_id=self._config.engine_id,
            field_path=change.field.path,
            extracted_value=redact(change.new.value),
            confidence=change.new.confidence,
            extraction_type=change.kind,
            turn_number=turn,
            reasoning=redact(change.new.reasoning) or None,
            evidence=redact(change.new.evidence),
        )


def _sure(confidence: Any) -> float:
    """A confidence 0..1; what is none, NaN or beyond is 0: nothing is believed for being odd."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not math.isfinite(confidence):
        return 0.0
    return float(confidence) if 0 <= confidence <= 1 else 0.0


def _whole(field: FieldDefinition, fresh: ExtractedField, current: Extraction, turn: int) -> _Change | None:
    old = current.get(field.path)
    if not isinstance(old, ExtractedField):
        if fresh.value == [] and not fresh.evidence:
            return None  # "there are none" is an answer where somebody said it
        return _Change(field, "new", fresh, None, _count(fresh.value))
    return _again(field, old, fresh, None, turn)


def _again(field: FieldDefinition, old: ExtractedField, fresh: ExtractedField, at: int | None, turn: int) -> _Change:
    """The change where something is known already: told again, told more fully, or told otherwise."""
    turns = (*(each for each in old.extracted_from_turns if each != turn), turn)[-TURNS_KEPT:]
    same = _same(old.value, fresh.value)
    if same or _is_fuller(old.value, fresh.value):
        new = replace(
            fresh,
            value=old.value if same else fresh.value,
            confidence=max(old.confidence, fresh.confidence),
            extracted_from_turns=turns,
            superseded_previous=old.superseded_previous,
            evidence=fresh.evidence or old.evidence,
            reasoning=fresh.reasoning or old.reasoning,
        )
        return _Change(field, "update", new, at, 0 if same else _count(fresh.value) - _count(old.value), old)
    before = Superseded(value=old.value, at_turn=old.last_updated_at_turn)
    return _Change(field, "supersede", replace(fresh, superseded_previous=before), at, 1, old)


def _items(field: FieldDefinition, fresh: ExtractedField, current: Extraction, turn: int) -> list[_Change]:
    """A change for each item: those with a known key are the same item, of which keys that are not told again stay."""
    known = current.get(field.path)
    kept = list(known) if isinstance(known, tuple) else []
    places = {_key(field, each.value): at for at, each in enumerate(kept)}
    changes: list[_Change] = []
    for value in fresh.value:
        key = _key(field, value)
        at = places.get(key)
        if at is None:
            if len(places) < MOST_ITEMS:
                places[key] = len(places)
                changes.append(_Change(field, "new", replace(fresh, value=value), places[key], 1))
        elif at < len(kept):
            old = kept[at]
            merged = {**old.value, **value} if isinstance(old.value, dict) and isinstance(value, dict) else value
            changes.append(_again(field, old, replace(fresh, value=merged), at, turn))
    return changes


def _key(field: FieldDefinition, value: Any) -> str:
    named = value.get(field.item_key) if isinstance(value, dict) and field.item_key else value
    return " ".join(words(named)) or named if isinstance(named, str) else repr(named)


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, str) and isinstance(new, str):
        return old == new or (words(old) == words(new) != [])
    return type(old) is type(new) and bool(old == new)


def _is_fuller(old: Any, new: Any) -> bool:
    """Tell whether the new value holds all of the old one: a list with more items, an object with more keys, a text that goes on."""
    if isinstance(old, str) and isinstance(new, str):
        told, now = words(old), words(new)
        return bool(told) and now[: len(told)] == told
    if isinstance(old, list) and isinstance(new, list):
        return all(any(_same(each, other) for other in new) for each in old)
    if isinstance(old, dict) and isinstance(new, dict):
        return all(key in new and (_same(each, new[key]) or _is_fuller(each, new[key])) for key, each in old.items())
    return False


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list) else 1


def _applied(changes: Sequence[_Change], current: Extraction, turn: int) -> ExtractionResult:
    updated = dict(current)
    superseded: list[SupersededField] = []
    for change in changes:
        path = change.field.path
        if change.at is None:
            updated[path] = change.new
        else:
            known = updated.get(path)
            items = list(known) if isinstance(known, tuple) else []
            items[change.at : change.at + 1] = [change.new]
            updated[path] = tuple(items)
        if change.kind == "supersede" and change.old is not None:
            reason = (
                change.new.reasoning or f"told otherwise in turn {turn} than in turn {change.old.last_updated_at_turn}"
            )
            superseded.append(
                SupersededField(field_path=path, old_value=change.old.value, new_value=change.new.value, reason=reason)
            )
    return ExtractionResult(
        updated_extraction=updated,
        fields_updated=tuple(dict.fromkeys(change.field.path for change in changes)),
        new_concept_count=sum(max(change.concepts, 0) for change in changes),
        superseded_fields=tuple(superseded),
    )
