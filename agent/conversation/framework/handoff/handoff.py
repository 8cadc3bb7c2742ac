"""Check a handoff, and write it as the summary that its receiver reads first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from agent.conversation.framework.state import handoff_data as data
from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.struct_types import built
from agent.text.shown import shown_line

REASONING_LENGTH = 20
"""A reasoning has to be longer than this."""
MOST_VISITS = 3
"""Times that one engine can be in a chain of handoffs."""
MOST_HANDOFFS = 8
_MAY_BE_BLANK = ("implication", "reasoning", "seeds")
_GAPS = "knowledgeGapsRevealed"
_MOST_ITEMS = 40  # of a section; what is beyond is counted
_WIDE_RULE = "═" * 59


class HandoffValidation(Struct, frozen=True, kw_only=True):
    """The result of a check. Each error begins with the path of what it is about."""

    valid: bool
    errors: tuple[str, ...] = ()


def validate_handoff(handoff: EngineHandoff) -> HandoffValidation:
    """Check that each section has what it must have, that reasons are reasons, and that there is something to hand over."""
    plain = msgspec.to_builtins(handoff)
    errors = [f"{place}: it is missing" for place in _blanks(plain, "")]
    about, actions = handoff.metadata, handoff.action_list
    if about.source_engine_id == about.target_engine_id:
        errors.append(f"metadata.targetEngineId: {about.target_engine_id} cannot hand over to itself")
    if about.turn_count < 0:
        errors.append("metadata.turnCount: it is negative")
    if not 0 <= about.completeness_score <= 1:
        errors.append("metadata.completenessScore: it is not between 0 and 1")
    for number, phase in enumerate(handoff.phase_results):
        if not 0 <= phase.completion_percentage <= 100:
            errors.append(f"phaseResults[{number}].completionPercentage: it is not between 0 and 100")
    for number, each in enumerate(actions.decisions_reached):
        place = f"actionList.decisionsReached[{number}]"
        if not 0 <= each.confidence <= 1:
            errors.append(f"{place}.confidence: it is not between 0 and 1")
        if not is_reasoning(each.reasoning):
            errors.append(f"{place}.reasoning: it is no reason of more than {REASONING_LENGTH} characters")
    if not (actions.decisions_reached or actions.constraints_identified or plain["situationAwareness"][_GAPS]):
        errors.append("actionList: there is no decision, no constraint and no gap to hand over")
    try:
        msgspec.convert({**plain, "seeds": {}}, built(EngineHandoff))
    except msgspec.ValidationError as error:  # a level that is none
        errors.append(str(error))
    return HandoffValidation(valid=not errors, errors=tuple(errors))


def _blanks(value: Any, place: str) -> Iterator[str]:
    """Yield the places of texts that say nothing, but for those that may; seeds are checked by who takes them."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name not in _MAY_BE_BLANK:
                yield from _blanks(each, f"{place}.{name}" if place else name)
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from _blanks(each, f"{place}[{number}]")
    elif isinstance(value, str) and not value.strip():
        yield place


def is_reasoning(text: str) -> bool:
    """Tell it from a placeholder, which is short, or dots and dashes."""
    bare = text.strip()
    return len(bare) > REASONING_LENGTH and sum(map(str.isalnum, bare)) * 2 > len(bare)


def allowed(chain: Sequence[str], target: str) -> Literal["yes", "consent", "no"]:
    """Tell whether a chain of engines, the current one last, may go on to `target`.

    Going back to where it was needs a consent that says so. No engine hands over to itself, and no chain goes on
    forever.
    """
    visits = chain.count(target)
    if (chain and chain[-1] == target) or len(chain) > MOST_HANDOFFS or visits >= MOST_VISITS:
        return "no"
    return "consent" if visits else "yes"


def format_handoff_for_context(handoff: EngineHandoff, names: Mapping[str, str]) -> str:
    """Write the executive summary. `names`: those of engines by their ids. Each value stands on one line, and can open no section.

    Sections that have nothing to say are left out.
    """
    about = handoff.metadata
    source, target = (
        _line(names.get(engine_id, engine_id)) for engine_id in (about.source_engine_id, about.target_engine_id)
    )
    lines = [
        _WIDE_RULE,
        "HANDOFF CONTEXT — READ THIS FIRST",
        _WIDE_RULE,
        "",
        f"Source: {source} → Target: {target}",
        f"Session: {_line(about.session_id)} | Project: {_line(about.project_id)} | Turns: {about.turn_count}"
        f" | Completeness: {about.completeness_score:.2f}",
        f"Transition Reason: {_line(about.transition_reason)}",
        "",
    ]
    for title, items, written in _sections(handoff):
        if items:
            lines += [f"─── {title} ───", *map(written, items[:_MOST_ITEMS])]
            lines += [f"… and {len(items) - _MOST_ITEMS} more"] if len(items) > _MOST_ITEMS else []
            lines += [""]
    return "\n".join([*lines, _WIDE_RULE])


def _sections(handoff: EngineHandoff) -> Iterator[tuple[str, Sequence[Any], Callable[[Any], str]]]:
    """Yield titles, what stands below each, and what writes one of it."""
    actions, situation = handoff.action_list, handoff.situation_awareness
    context, relation = handoff.accumulated_context, handoff.relational_state
    yield "DECISIONS REACHED", actions.decisions_reached, _decision
    yield "OPTIONS ELIMINATED", actions.options_eliminated, _eliminated
    yield "CONSTRAINTS IDENTIFIED", actions.constraints_identified, _constraint
    yield "KNOWLEDGE GAPS", situation.knowledge_gaps_revealed, _bullet
    yield "CONCEPTS TAUGHT", context.concepts_taught, _concept
    yield "USER GOALS", situation.user_goals, _bullet
    yield "PAIN POINTS", situation.key_pain_points, _bullet
    yield "PRIOR EXPERIENCE", context.prior_experience, _bullet
    yield "ASSUMPTIONS", actions.assumptions_carried_forward, _assumption
    yield "OPEN QUESTIONS", relation.open_questions, _bullet
    yield "SENSITIVITIES", relation.sensitivities, _bullet
    profile = (
        f"Technical Level: {context.technical_level.capitalize()}",
        f"Confidence: {situation.user_confidence_level.capitalize()}",
        f"Trust: {relation.trust_level.capitalize()}",
        f"Rapport: {_line(relation.rapport)}",
    )
    yield "USER PROFILE", profile, str


def _decision(each: data.Decision) -> str:
    return f'✓ Chose "{_line(each.decision)}" (confidence: {each.confidence:.2f})\n  Reasoning: {_line(each.reasoning)}'


def _eliminated(each: data.EliminatedOption) -> str:
    return f"✗ {_pair(each.option, ' — ', ', '.join(each.reasons[:_MOST_ITEMS]))}"


def _constraint(each: data.Constraint) -> str:
    return f"• {_pair(each.constraint, ': ', each.implication)}"


def _concept(each: data.Concept) -> str:
    return f"• {_line(each.concept)} ({each.understanding_level} understanding)"


def _assumption(each: data.Assumption) -> str:
    return f"• {_line(each.assumption)}{' (to be reviewed)' if each.warrant_review else ''}"


def _bullet(text: str) -> str:
    return f"• {_line(text)}"


def _pair(name: str, joint: str, detail: str) -> str:
    return f"{_line(name)}{joint}{_line(detail)}" if detail.strip() else _line(name)


def _line(text: str) -> str:
    return shown_line(text, 500)
