"""Tell of each field where its value comes from: how sure it is, from which turns, in whose words, and what it replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent.conversation.exports.inline import inline
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.values import as_text
from agent.conversation.framework.state.working_memory import ExtractedField, WorkingMemory
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.events.interview import FieldExtracted
from agent.text.fuzzy import most_alike

_MOST_LOGGED = 50  # entries of a field, the newest


def provenance(memory: WorkingMemory, config: EngineConfiguration, log: Sequence[FieldExtracted] = ()) -> str:
    """Return the report in Markdown. `log`: what was understood in the interview, for the whole history of each field."""
    lines = [f"# {inline(config.name)}: where it comes from", ""]
    for field in config.extraction_schema.fields:
        if field.path in memory.extraction:
            lines += [f"## {inline(field.display_name)} ({inline(field.path)})", ""]
            for name, value in _facts(memory, field, log):
                lines.append(f"- {name}: {inline(value)}" if name else f"- {inline(value)}")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def why(memory: WorkingMemory, config: EngineConfiguration, name: str, log: Sequence[FieldExtracted] = ()) -> list[str]:
    """Return the same of one field as lines of text. `name`: as it is displayed, or its path. Raises NotFound, InvalidRequest."""
    wanted = name.strip().casefold()
    known = [each.display_name for each in config.extraction_schema.fields if each.path in memory.extraction]
    listed = f"known so far: {', '.join(known)}" if known else "nothing is known yet"
    if not wanted:
        raise InvalidRequest("which field?", hint=f":why FIELD; {listed}")
    names = {
        said.casefold(): each for each in config.extraction_schema.fields for said in (each.display_name, each.path)
    }
    begun = {each.path: each for said, each in names.items() if wanted and said.startswith(wanted)}
    field = names.get(wanted) or (next(iter(begun.values())) if len(begun) == 1 else None)
    if field is None:
        alike = most_alike(wanted[:200], names, count=3)
        raise NotFound("field", name, hint=f"did you mean {', '.join(alike)}?" if alike else listed)
    if field.path not in memory.extraction:
        return [f"{field.display_name}: nothing is known yet"]
    facts = _facts(memory, field, log)
    return [field.display_name, *(f"  {label}: {text}" if label else f"  {text}" for label, text in facts)]


def _facts(memory: WorkingMemory, field: FieldDefinition, log: Sequence[FieldExtracted]) -> Iterator[tuple[str, str]]:
    for each in memory.kept(field.path):
        yield from _of_value(each, field)
    entries = [each for each in log if each.path == field.path]
    for entry in entries[-_MOST_LOGGED:]:
        yield "", _logged(entry)


def _logged(entry: FieldExtracted) -> str:
    text = as_text(entry.value)
    if entry.how == "supersede":
        return f"turn {entry.turn}, " + (f"replaced by: {text}" if text else "taken back")
    return f"turn {entry.turn}, {entry.how}: {text}"


def _of_value(extracted: ExtractedField, field: FieldDefinition) -> Iterator[tuple[str, str]]:
    yield "value", as_text(extracted.value)
    enough = (
        "" if extracted.confidence >= field.confidence_threshold else f", {field.confidence_threshold:.2f} is enough"
    )
    yield "confidence", f"{extracted.confidence:.2f}{enough}"
    if extracted.extracted_from_turns:
        yield "from turns", ", ".join(map(str, extracted.extracted_from_turns))
    if extracted.evidence:
        yield "said", f"“{as_text(extracted.evidence)}”"
    if extracted.reasoning:
        yield "why", as_text(extracted.reasoning)
    before = extracted.superseded_previous
    if before is not None:
        yield "replaced", f"{as_text(before.value)} (turn {before.at_turn})"
