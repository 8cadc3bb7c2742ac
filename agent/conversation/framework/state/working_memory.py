"""Hold what an interview knows: the working memory, which each turn takes and gives back changed. It is plain data, for log and store.

The keys are camelCase outside, as in the specification. Nothing in here grows with the number of turns, but for the provenance of fields,
which keeps the last turns only.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from agent.conversation.framework.state.config_data import ObligationStatus
from agent.conversation.framework.state.configuration import EngineConfiguration, EngineType, Mode
from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.struct_types import built

TURNS_KEPT = 8  # of those that a field was extracted from
QUESTIONS_KEPT = 8  # that "go back" leads through
NOT_APPLYING = "condition"


class _Data(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class Superseded(_Data, frozen=True, kw_only=True):
    value: Any
    at_turn: int


class ExtractedField(_Data, frozen=True, kw_only=True):
    """A value with its provenance. `evidence`: the person's own words that it stands on."""

    value: Any
    confidence: float
    extracted_from_turns: tuple[int, ...]
    last_updated_at_turn: int
    superseded_previous: Superseded | None = None
    reasoning: str = ""
    evidence: str = ""


Extraction = dict[str, ExtractedField | tuple[ExtractedField, ...]]
"""Fields by their path; a tuple for one whose items are kept each by itself."""


class PhaseVisit(_Data, frozen=True, kw_only=True):
    phase_id: str
    entered_at_turn: int
    exited_at_turn: int
    turns_in_phase: int
    completeness: float


class PhaseState(_Data, frozen=True, kw_only=True):
    current: str
    turns_in_phase: int = 0
    entered_at_turn: int = 0
    history: tuple[PhaseVisit, ...] = ()


class ObligationState(_Data, frozen=True, kw_only=True):
    """`deferred_by`: person ("skip"), unknown ("I don't know"), condition (it does not apply); "" where it was not."""

    id: str
    category: str
    required: bool = True
    status: ObligationStatus = "pending"
    confidence: float = 0.0
    turn: int = 0
    deferred_by: str = ""

    @property
    def applies(self) -> bool:
        return self.deferred_by != NOT_APPLYING

    @property
    def is_settled(self) -> bool:
        """Tell whether nothing has to be found out for it any more."""
        return self.status == "satisfied" or not self.applies


class ObligationsState(_Data, frozen=True, kw_only=True):
    items: tuple[ObligationState, ...] = ()
    summary: str = ""


class Completeness(_Data, frozen=True, kw_only=True):
    overall: float = 0.0
    by_category: dict[str, float] = {}
    is_ready: bool = False
    gaps: tuple[str, ...] = ()


class TechniquesState(_Data, frozen=True, kw_only=True):
    """`cooldowns`: the first turn in which each may be used again."""

    active: tuple[str, ...] = ()
    cooldowns: dict[str, int] = {}


class PendingTask(_Data, frozen=True, kw_only=True):
    """`handle`: what the backend knows it by. `attempt` from 1; `not_before` and `since` are seconds of the clock."""

    task_id: str
    handle: str = ""
    attempt: int = 1
    not_before: float = 0.0
    since: float = 0.0
    stalled: bool = False


class CompletedTask(_Data, frozen=True, kw_only=True):
    """`status`: done; degraded and gap say how it was done without."""

    task_id: str
    status: Literal["done", "degraded", "gap"] = "done"
    result: str = ""
    at_turn: int = 0


class BackgroundState(_Data, frozen=True, kw_only=True):
    pending: tuple[PendingTask, ...] = ()
    completed: tuple[CompletedTask, ...] = ()


class CompressionEvent(_Data, frozen=True, kw_only=True):
    at_turn: int
    strategy: str
    tokens_before: int
    tokens_after: int


class ContextState(_Data, frozen=True, kw_only=True):
    """`summary` stands for the turns up to `summarized_through`. `estimate_ratio`: tokens counted by the model's server for one of ours."""

    tokens: int = 0
    compression_events: tuple[CompressionEvent, ...] = ()
    summary: str = ""
    summarized_through: int = 0
    estimate_ratio: float = 1.0


class SocioEmotional(_Data, frozen=True, kw_only=True):
    """Each 0..1."""

    trust: float = 0.5
    rapport: float = 0.5
    friction: float = 0.0


class Saturation(_Data, frozen=True, kw_only=True):
    """`average`: new concepts a turn, smoothed; `peak`: the highest it was; `quiet_turns`: how many stayed under epsilon."""

    average: float = 0.0
    peak: float = 0.0
    quiet_turns: int = 0
    score: float = 0.0


class ModesState(_Data, frozen=True, kw_only=True):
    """`window`: the modes of the last replies, newest last; `drift` 0..1 from the phase's blend; `nudge`: what is said about it."""

    window: tuple[tuple[Mode, ...], ...] = ()
    drift: float = 0.0
    nudge: str = ""


class HandoffWatch(_Data, frozen=True, kw_only=True):
    """`unacknowledged`: items of the inbound handoff that no reply took up yet; they are told again. `chain`: engines before this one."""

    verified: bool = False
    score: float = 0.0
    unacknowledged: tuple[str, ...] = ()
    tries: int = 0
    chain: tuple[str, ...] = ()


class WorkingMemory(_Data, frozen=True, kw_only=True):
    """`asked`: the obligation or field that the last question was about, `asked_before` those of the questions before, newest last.
    `put_off`: fields that the person does not know or want to tell; they are not asked for again. `quality`: what the last reply lacked,
    told to the next one.

    `unanswered`: how often the question of a field was put and brought nothing.
    `offered`: the target engine of the exit that the person was asked about. `ended`: the interview is over, by that exit or a cancel.
    """

    engine_id: str
    engine_version: str
    engine_type: EngineType
    session_id: str
    project_id: str
    phase: PhaseState
    turn_number: int = 0
    extraction: Extraction = {}
    obligations: ObligationsState = ObligationsState()
    completeness: Completeness = Completeness()
    techniques: TechniquesState = TechniquesState()
    background_tasks: BackgroundState = BackgroundState()
    context: ContextState = ContextState()
    inbound_handoff: EngineHandoff | None = None
    handoff_watch: HandoffWatch = HandoffWatch()
    socio_emotional: SocioEmotional = SocioEmotional()
    saturation: Saturation = Saturation()
    modes: ModesState = ModesState()
    asked: str = ""
    asked_before: tuple[str, ...] = ()
    put_off: tuple[str, ...] = ()
    unanswered: dict[str, int] = {}
    quality: tuple[str, ...] = ()
    offered: str = ""
    ended: str = ""

    def extracted(self, path: str) -> ExtractedField | None:
        """The field with that path; None where it is not known, or its items are kept each by itself."""
        found = self.extraction.get(path)
        return found if isinstance(found, ExtractedField) else None

    def items(self, path: str) -> tuple[ExtractedField, ...]:
        """The items of a collection that are kept each by itself."""
        found = self.extraction.get(path)
        return found if isinstance(found, tuple) else ()

    def kept(self, path: str) -> tuple[ExtractedField, ...]:
        """All that is kept of a field: the whole of it, or its items."""
        found = self.extraction.get(path, ())
        return found if isinstance(found, tuple) else (found,)

    def last_turn(self, path: str) -> int:
        """The turn in which something of a field was learnt last, 0 for none."""
        return max((each.last_updated_at_turn for each in self.kept(path)), default=0)

    def value(self, path: str, default: Any = None) -> Any:
        """The bare value of a field, a list of those of items."""
        found = self.extraction.get(path)
        if isinstance(found, tuple):
            return [each.value for each in found]
        return default if found is None else found.value


def create_empty_working_memory(
    config: EngineConfiguration, session_id: str, project_id: str, *, inbound: EngineHandoff | None = None
) -> WorkingMemory:
    """Make the state before the first turn. `config` must be valid."""
    assert config.engine_type is not UNSET
    items = tuple(
        ObligationState(id=each.id, category=each.category, required=each.required) for each in config.obligations
    )
    return WorkingMemory(
        engine_id=config.engine_id,
        engine_version=config.version,
        engine_type=config.engine_type,
        session_id=session_id,
        project_id=project_id,
        phase=PhaseState(current=config.initial_phase),
        obligations=ObligationsState(items=items),
        inbound_handoff=inbound,
    )


def to_data(memory: WorkingMemory) -> dict[str, Any]:
    """Return it as plain JSON-like data."""
    data: dict[str, Any] = msgspec.to_builtins(memory)
    return data


def from_data(data: Any) -> WorkingMemory:
    """Read what `to_data` gave. Raises msgspec.ValidationError."""
    return msgspec.convert(data, built(WorkingMemory))
