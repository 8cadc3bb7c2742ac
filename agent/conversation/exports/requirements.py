"""Write the requirements that an interview found as a document in Markdown, with what is not known yet."""

from __future__ import annotations

from collections.abc import Iterator

from agent.conversation.exports.inline import bullets, inline
from agent.conversation.framework.progress.sidebar import percentage
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.values import as_texts, is_known
from agent.conversation.framework.state.working_memory import ObligationState, WorkingMemory
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
