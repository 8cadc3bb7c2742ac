"""Take from a message what it tells: threshold, type, provenance, supersession, record. A failure costs the fields, never the reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agent.conversation.framework.extraction.evidence import Said
from agent.conversation.framework.extraction.extraction_values import UNUSABLE, read_value
from agent.conversation.framework.extraction.sensitive import SensitiveInformation
from agent.conversation.framework.extraction.supersession import Change, applied, changes
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.ports import (
    ExtractedValue,
    ExtractionLogEntry,
    LogExtraction,
    RunExtraction,
    TurnMetadata,
)
from agent.conversation.framework.state.repair_data import REPAIR, UNDERSTOOD, RepairKind
from agent.conversation.framework.state.values import as_text, listed
from agent.conversation.framework.state.working_memory import ExtractedField, Extraction
from agent.protocol.errors import Cancelled, RecordingError
from agent.text.visible import well_formed

_LONGEST_REASON = 400  # characters of a reasoning or of evidence


class SupersededField(Struct, frozen=True, kw_only=True, rename="camel"):
    """A value that was replaced by another."""

    field_path: str
    old_value: Any
    new_value: Any
    reason: str


class ExtractionResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """`new_concept_count`: values that were not known in any form before. `failed`: why nothing was extracted, "" where it was.
    `repair`: what the message asks for instead of an answer, as it was understood.
    """

    updated_extraction: Extraction
    fields_updated: tuple[str, ...] = ()
    new_concept_count: int = 0
    sensitive_info_shared: bool = False
    superseded_fields: tuple[SupersededField, ...] = ()
    failed: str = ""
    repair: RepairKind | None = None


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
            said = Said(user_message, self._fields, lambda: _before(conversation_context, current_extraction))
            made = self._changes(found, said, current_extraction, turn_number)
            for change in made:  # what is not in the log is not known
                await self._log(self._entry(change, turn_number, metadata))
        except (Cancelled, RecordingError):
            raise
        except Exception as error:  # whatever a model, a server or a store does: the person gets a reply
            return ExtractionResult(
                updated_extraction=current_extraction,
                sensitive_info_shared=sensitive,
                failed=self._short(str(error)) or type(error).__name__,
            )
        result = _result(made, current_extraction, turn_number)
        return replace(result, sensitive_info_shared=sensitive, repair=_repair(found.get(REPAIR)))

    def _changes(
        self, found: Mapping[str, ExtractedValue | None], said: Said, current: Extraction, turn: int
    ) -> list[Change]:
        made: list[Change] = []
        for path, raw in found.items():
            field = self._fields.get(path)
            if field is None or not isinstance(raw, ExtractedValue):
                continue
            value = read_value(field, raw.value)
            evidence = raw.evidence if isinstance(raw.evidence, str) else ""
            confidence = _sure(raw.confidence)
            if not raw.by_rule and value is not UNUSABLE:
                value = said.supported(value, evidence, field)
                confidence = said.believed(confidence, evidence, value, field)
            if value is UNUSABLE or confidence < field.confidence_threshold or confidence <= 0:
                continue
            fresh = ExtractedField(
                value=self._sensitive.without_secrets(value),
                confidence=confidence,
                extracted_from_turns=(turn,),
                last_updated_at_turn=turn,
                reasoning=self._short(raw.reasoning),
                evidence=self._short(evidence) if raw.by_rule or said.has(evidence) else "",
            )
            made += changes(field, fresh, raw.change, current, turn)
        return made

    def _short(self, text: Any) -> str:
        """A text for the record. It is redacted before it is cut, or half a key would remain."""
        kept = well_formed(text[: 10 * _LONGEST_REASON]).strip() if isinstance(text, str) else ""
        return str(self._sensitive.without_secrets(kept))[:_LONGEST_REASON]

    def _entry(self, change: Change, turn: int, metadata: TurnMetadata) -> ExtractionLogEntry:
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
            replaced=redact(change.old.value) if change.old and change.old.value != change.new.value else None,
        )


def _before(context: str, known: Extraction) -> str:
    """The messages before, and what is known: an answer may refer to either."""
    return "\n".join((context, *(as_text(each.value) for kept in known.values() for each in listed(kept))))


def _sure(confidence: Any) -> float:
    """A confidence 0..1; what is none, NaN or beyond is 0: nothing is believed for being odd."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
        return 0.0
    return float(confidence) if 0 <= confidence <= 1 else 0.0


def _repair(named: ExtractedValue | None) -> RepairKind | None:
    value = named.value if isinstance(named, ExtractedValue) else None
    return next((kind for kind in UNDERSTOOD if kind == value), None)


def _result(made: list[Change], current: Extraction, turn: int) -> ExtractionResult:
    superseded = tuple(
        SupersededField(
            field_path=each.field.path,
            old_value=each.old.value,
            new_value=each.new.value,
            reason=each.new.reasoning or f"told otherwise in turn {turn} than in turn {each.old.last_updated_at_turn}",
        )
        for each in made
        if each.kind == "supersede" and each.old is not None
    )
    return ExtractionResult(
        updated_extraction=applied(made, current),
        fields_updated=tuple(dict.fromkeys(each.field.path for each in made)),
        new_concept_count=sum(each.concepts for each in made),
        superseded_fields=superseded,
    )
