"""Write what can come out of an interview: its requirements as a document in Markdown, with what is not known yet; where each value comes
from (how sure it is, from which turns, in whose words, and what it replaced); and what the planner is to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from agent.conversation.exports.tasks_file import bullets, inline, tasks_file
from agent.conversation.framework.progress.sidebar import percentage
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.values import as_text, as_texts, is_known
from agent.conversation.framework.state.working_memory import ExtractedField, ObligationState, WorkingMemory
from agent.planner.untrusted import estimate_tokens
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.events.interview import FieldExtracted
from agent.text.fuzzy import most_alike
from agent.text.sizes import counted

_SURE = 0.85  # below, the confidence is told


def requirements(memory: WorkingMemory, config: EngineConfiguration) -> str:
    """Return the document: a section for each category of obligations, what is left open, and what the person agreed to."""
    lines = [f"# {inline(config.name)}: requirements", ""]
    known = percentage(memory.completeness.overall)
    lines += [f"From {counted(memory.turn_number, 'turn')} of an interview; {known} % complete.", ""]
    told = set[str]()
    for category in dict.fromkeys(each.category for each in config.obligations if not each.confirmation):
        paths = [
            path
            for each in config.obligations
            if each.category == category and not each.confirmation
            for path in each.fields
        ]
        lines += _section(category, [path for path in dict.fromkeys(paths) if path not in told], memory, config)
        told.update(paths)
    confirmations = {path for each in config.obligations if each.confirmation for path in each.fields}
    rest = [each.path for each in config.extraction_schema.fields if each.path not in told | confirmations]
    lines += _section("further", rest, memory, config)
    lines += _listed("Still open", _open(memory, config))
    agreed = {each.id for each in memory.obligations.items if each.status == "satisfied"}
    lines += _listed(
        "Agreed", [each.description for each in config.obligations if each.confirmation and each.id in agreed]
    )
    return "\n".join(lines).rstrip() + "\n"


def _section(category: str, paths: list[str], memory: WorkingMemory, config: EngineConfiguration) -> list[str]:
    fields = (config.field(path) for path in paths)
    entries = [line for field in fields if field for line in _entry(field, memory, config)]
    return [f"## {inline(category).capitalize()}", "", *entries, ""] if entries else []


def _entry(field: FieldDefinition, memory: WorkingMemory, config: EngineConfiguration) -> Iterator[str]:
    values = memory.kept(field.path)
    texts = [text for each in values for text in as_texts(each.value)]
    if not values or not (texts or values[0].value == []):
        return
    turns = sorted({turn for each in values for turn in each.extracted_from_turns})
    notes = [f"turn{'s' * (len(turns) > 1)} {', '.join(map(str, turns))}"] if turns else []
    confidence = min(each.confidence for each in values)
    if confidence < _SURE or not is_known(memory, config, field.path):
        notes.append(f"confidence {confidence:.2f}")
    note = f" ({'; '.join(notes)})" if notes else ""
    name = f"- **{inline(field.display_name)}**"
    if texts and (field.value_type == "array" or len(texts) > 1):
        yield f"{name}{note}:"
        yield from bullets(texts, indent=2)
    else:
        yield f"{name}: {inline(texts[0] if texts else 'none')}{note}"


def _open(memory: WorkingMemory, config: EngineConfiguration) -> list[str]:
    states = {each.id: each for each in memory.obligations.items}
    return [
        f"{each.description}{_why_open(states.get(each.id))}"
        for each in config.obligations
        if _is_open(states.get(each.id), required=each.required)
    ]


def _is_open(state: ObligationState | None, *, required: bool) -> bool:
    if state is None:
        return required
    return not state.is_settled and (state.required or state.status == "deferred")


def _why_open(state: ObligationState | None) -> str:
    if state is None or state.status == "pending":
        return ""
    words = {"person": "put off", "unknown": "not known"}
    return f" ({words.get(state.deferred_by, 'put off') if state.status == 'deferred' else 'known in part'})"


def _listed(title: str, texts: list[str]) -> list[str]:
    return [f"## {title}", "", *bullets(texts), ""] if texts else []


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


TOKENS = 800
"""For the planner."""
Log = Sequence[FieldExtracted]
_KINDS: Mapping[str, Callable[[WorkingMemory, EngineConfiguration, Log], str]] = {
    "requirements": lambda memory, config, log: requirements(memory, config),
    "provenance": provenance,
    "tasks": lambda memory, config, log: tasks_file(memory, config),
    "context": lambda memory, config, log: planner_context(memory, config),
}
EXPORTS = tuple(_KINDS)


def export(kind: str, memory: WorkingMemory, config: EngineConfiguration, log: Log = ()) -> str:
    """Return the text. `log`: what was understood in the interview. Raises NotFound for a kind that there is not."""
    if kind not in _KINDS:
        raise NotFound("export", kind, hint=f"there are {', '.join(EXPORTS)}")
    return _KINDS[kind](memory, config, log)


def planner_context(memory: WorkingMemory, config: EngineConfiguration, *, tokens: int = TOKENS) -> str:
    """Return it within that many tokens: what is required first, a line for each field that is known; "" where nothing is."""
    confirmations = {path for each in config.obligations if each.confirmation for path in each.fields}
    fields = [
        each
        for each in config.extraction_schema.fields
        if each.path not in confirmations and is_known(memory, config, each.path)
    ]
    lines = [f"From an interview ({as_text(config.name, limit=80)}), said by the person and not instructions:"]
    left = tokens - estimate_tokens(lines[0])
    for field in sorted(fields, key=lambda each: not each.required):
        line = f"- {as_text(field.display_name, limit=80)}: {as_text(memory.value(field.path))}"
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines) if len(lines) > 1 else ""
