"""Define the configuration of an engine: the 13 surfaces, as they are written in its file, with the names of the specification.

Keys are camelCase in files. A key that is not known here is a mistake. Shares are 0..1, blends and ratios are percent.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

EngineType = Literal["extract-dominant", "inform-dominant", "balanced"]
Mode = Literal["extract", "explore", "inform", "validate", "refine", "persuade", "deliberate"]
MODES: tuple[Mode, ...] = ("extract", "explore", "inform", "validate", "refine", "persuade", "deliberate")
ValueType = Literal["string", "number", "boolean", "array", "object"]
ObligationStatus = Literal["pending", "partial", "satisfied", "deferred"]
AfterRetries = Literal["degrade", "stall", "proceed-with-gap"]
CompressionStrategy = Literal["summarize_old", "sliding_window", "extractive"]


class _Data(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    pass


class _Condition(_Data, frozen=True, kw_only=True, tag_field="type"):
    """`target`: the phase that a trigger leads to, where it is not the next one."""

    target: str = ""


class ObligationSatisfaction(_Condition, frozen=True, kw_only=True, tag="obligation_satisfaction"):
    """Holds from that share of satisfied obligations of a category on; both names of the category are read."""

    min_satisfaction_rate: float
    category: str = ""
    obligation_category: str = ""

    @property
    def of(self) -> str:
        return self.category or self.obligation_category


class TurnCount(_Condition, frozen=True, kw_only=True, tag="turn_count"):
    """Holds after so many turns: of the phase in a trigger, of the conversation elsewhere."""

    min_turns: int


class CompletenessScore(_Condition, frozen=True, kw_only=True, tag="completeness_score"):
    min_completeness: float


class CustomEvaluator(_Condition, frozen=True, kw_only=True, tag="custom_evaluator"):
    evaluator_name: str
    threshold: float = 0.5


class PhaseIn(_Condition, frozen=True, kw_only=True, tag="phase"):
    """Holds in one of these phases."""

    phases: tuple[str, ...] = field(name="in")


class FieldEquals(_Condition, frozen=True, kw_only=True, tag="field_equals"):
    """Holds where that field was extracted, confidently enough, with this value: an explicit wish, a decision."""

    path: str
    value: Any


class FieldKnown(_Condition, frozen=True, kw_only=True, tag="field_known"):
    """Holds where that field was extracted, confidently enough, whatever its value: what nobody wanted to tell is not known."""

    path: str


class AllOf(_Condition, frozen=True, kw_only=True, tag="all_of"):
    conditions: tuple[Condition, ...]


Condition = (
    ObligationSatisfaction
    | TurnCount
    | CompletenessScore
    | CustomEvaluator
    | PhaseIn
    | FieldEquals
    | FieldKnown
    | AllOf
)
"""The triggers, entry conditions, visibility of sections and exits. Several triggers: any of them fires."""


class ModeBlend(_Data, frozen=True, kw_only=True):
    """Percent of each mode; what is not named is 0, the sum is 100."""

    extract: float = 0
    explore: float = 0
    inform: float = 0
    validate: float = 0
    refine: float = 0
    persuade: float = 0
    deliberate: float = 0

    @property
    def shares(self) -> dict[Mode, float]:
        return {mode: getattr(self, mode) for mode in MODES}


class Checkpoint(_Data, frozen=True, kw_only=True):
    """An obligation that has to be satisfied before its phase is left."""

    obligation_id: str
    required: bool = True


class PhaseDefinition(_Data, frozen=True, kw_only=True):
    """`next_phase`: "" for the one with the next `order`; the last phase has none."""

    id: str
    display_name: str
    order: int
    mode_blend: ModeBlend
    entry_conditions: Condition | None = None
    transition_triggers: tuple[Condition, ...] = ()
    mandatory_checkpoints: tuple[Checkpoint, ...] = ()
    active_techniques: tuple[str, ...] = ()
    agent_instructions: str = ""
    next_phase: str = ""


class ObligationDefinition(_Data, frozen=True, kw_only=True):
    """Something that the conversation has to find out. It is satisfied when all of `fields` are known, or the evaluator gives 1.

    `confirmation`: it waits for the person's yes and does not count for completeness; `confirms` are the categories that the yes is about,
    and a change in one of them asks for it again. `question`: what asks for it without a model.

    `applies_when`: it counts, and is asked for, only while that holds, so that a form grows with the answers.
    """

    id: str
    category: str
    description: str
    required: bool = True
    applies_when: Condition | None = None
    fields: tuple[str, ...] = ()
    evaluator: str = ""
    confirmation: bool = False
    confirms: tuple[str, ...] = ()
    question: str = ""


class FieldDefinition(_Data, frozen=True, kw_only=True):
    """One value to extract. `collection`: an array is kept as one value ("whole"), or each of its items by itself ("items"), with a
    provenance of its own; items with the same `item_key` are one. `item_properties`: the type of each key of an item or object.

    `choices`: the only values there are. `question`: what asks for it without a model.
    """

    path: str
    display_name: str
    description: str
    value_type: ValueType
    required: bool = False
    confidence_threshold: float = 0.70
    collection: Literal["whole", "items"] = "whole"
    item_key: str = ""
    item_properties: dict[str, ValueType] = {}
    choices: tuple[str, ...] = ()
    question: str = ""


class ExtractionSchema(_Data, frozen=True, kw_only=True):
    fields: tuple[FieldDefinition, ...]


class CategoryWeight(_Data, frozen=True, kw_only=True):
    id: str
    weight: float
    category: str


class EvaluatorWeight(_Data, frozen=True, kw_only=True):
    id: str
    weight: float
    evaluator: str


class FieldWeight(_Data, frozen=True, kw_only=True):
    """`threshold`: the confidence that counts, that of the field where it is not given."""

    id: str
    weight: float
    field: str
    threshold: float | None = None


class DimensionWeight(_Data, frozen=True, kw_only=True):
    """`fields`: paths, or the beginning of paths (`industry` for all `industry.…`)."""

    id: str
    weight: float
    fields: tuple[str, ...]


class MaturityLevel(_Data, frozen=True, kw_only=True):
    """A level is reached when all of its criteria hold, and those of the levels before it."""

    id: str
    criteria: tuple[Condition, ...] = ()


class _Model(_Data, frozen=True, kw_only=True, tag_field="type"):
    ready_threshold: float


class ObligationModel(_Model, frozen=True, kw_only=True, tag="obligation"):
    heuristics: tuple[CategoryWeight, ...]
    partial_credit: float = 0.5


class DecisionReadinessModel(_Model, frozen=True, kw_only=True, tag="decision-readiness"):
    heuristics: tuple[EvaluatorWeight, ...]


class MaturityModel(_Model, frozen=True, kw_only=True, tag="maturity"):
    levels: tuple[MaturityLevel, ...]


class EstimabilityModel(_Model, frozen=True, kw_only=True, tag="estimability"):
    heuristics: tuple[FieldWeight, ...]


class CoverageModel(_Model, frozen=True, kw_only=True, tag="coverage"):
    """`scope`: what there is to cover, `scope_field`: what the person adds to it; `covered_field`: what was covered."""

    covered_field: str
    scope: tuple[str, ...] = ()
    scope_field: str = ""


class ProfileModel(_Model, frozen=True, kw_only=True, tag="profile"):
    dimensions: tuple[DimensionWeight, ...]


class SaturationModel(_Model, frozen=True, kw_only=True, tag="saturation"):
    """`alpha`: weight of the newest turn; ready when `turns` turns stay under `epsilon` new concepts."""

    alpha: float = 0.4
    epsilon: float = 0.5
    turns: int = 3


CompletenessModel = (
    ObligationModel
    | DecisionReadinessModel
    | MaturityModel
    | EstimabilityModel
    | CoverageModel
    | ProfileModel
    | SaturationModel
)

Duration = float | str
"""A number in the unit of the specification (`retryDelay` ms, else seconds), or text with a unit: 500ms, 5s, 2m."""


class LowConfidence(_Data, frozen=True, kw_only=True, tag_field="type", tag="low_confidence"):
    threshold: float


class ObligationStatusIs(_Data, frozen=True, kw_only=True, tag_field="type", tag="obligation_status"):
    obligation_ids: tuple[str, ...]
    status: ObligationStatus


class CustomTrigger(_Data, frozen=True, kw_only=True, tag_field="type", tag="custom"):
    evaluator: str
    threshold: float = 0.5


TaskTrigger = LowConfidence | ObligationStatusIs | CustomTrigger


class Retry(_Data, frozen=True, kw_only=True, tag_field="type", tag="retry"):
    """`retry_delay` in ms, doubled each time. `then`: what is done after the last one."""

    max_retries: int = 3
    retry_delay: Duration = 5000.0
    then: AfterRetries = "proceed-with-gap"
    degraded_behavior: str = ""


class Degrade(_Data, frozen=True, kw_only=True, tag_field="type", tag="degrade"):
    degraded_behavior: str


class Stall(_Data, frozen=True, kw_only=True, tag_field="type", tag="stall"):
    """Wait, at most for `timeout` (seconds); the person can go on without it at any time."""

    timeout: Duration = 600.0


class ProceedWithGap(_Data, frozen=True, kw_only=True, tag_field="type", tag="proceed-with-gap"):
    pass


FailureStrategy = Retry | Degrade | Stall | ProceedWithGap


class BackgroundTaskDefinition(_Data, frozen=True, kw_only=True):
    """`handler`: its name in the registry of handlers. `estimated_duration` in seconds."""

    task_id: str
    display_name: str
    description: str
    trigger_condition: TaskTrigger
    handler: str
    failure_strategy: FailureStrategy
    estimated_duration: Duration = 0.0
    block_phase_transition: bool = False


class Allocation(_Data, frozen=True, kw_only=True):
    """Shares of what is left beside the fixed parts; they sum to 1."""

    obligations: float = 0.40
    conversation_history: float = 0.30
    background_intelligence: float = 0.20
    extraction_summary: float = 0.10


class ContextConfig(_Data, frozen=True, kw_only=True):
    """`max_tokens`: None for the model's own. `keep_turns`: how many turns stay whole. `response_tokens` are kept free for the reply."""

    max_tokens: int | None = None
    allocation: Allocation = Allocation()
    compression_strategy: CompressionStrategy = "summarize_old"
    keep_turns: int = 10
    response_tokens: int = 1500


class InformationRatio(_Data, frozen=True, kw_only=True):
    user: float
    system: float


class SidebarSection(_Data, frozen=True, kw_only=True):
    id: str
    title: str
    obligation_categories: tuple[str, ...]
    default_collapsed: bool = False


class DynamicSection(_Data, frozen=True, kw_only=True):
    section: SidebarSection
    appears_when: Condition


class PhaseIndicator(_Data, frozen=True, kw_only=True):
    show: bool = True
    labels: dict[str, str] = {}


class ProgressBar(_Data, frozen=True, kw_only=True):
    show: bool = True
    show_percentage: bool = True


class SidebarConfig(_Data, frozen=True, kw_only=True):
    static_sections: tuple[SidebarSection, ...] = ()
    dynamic_sections: tuple[DynamicSection, ...] = ()
    phase_indicator: PhaseIndicator = PhaseIndicator()
    progress_bar: ProgressBar = ProgressBar()


class DecisionSource(_Data, frozen=True, kw_only=True):
    """`option`: the path of what was decided; `reasoning`: the path of the why, else the reasoning of the extraction."""

    option: str
    reasoning: str = ""


class OptionSource(_Data, frozen=True, kw_only=True):
    """Items of a collection that were ruled out: `name`, `eliminated` and `reasons` are keys of an item."""

    items: str
    name: str = "name"
    eliminated: str = "eliminated"
    reasons: str = "reasons"


class PairSource(_Data, frozen=True, kw_only=True):
    """A path with a text, texts, or objects of which `name` and `detail` are keys."""

    path: str
    name: str = "name"
    detail: str = "detail"


class TaskSource(_Data, frozen=True, kw_only=True):
    """A path with things to do: a text, texts, or objects of which these are keys. `depends`: names of others that come first."""

    path: str
    name: str = "name"
    detail: str = "detail"
    acceptance: str = "acceptance"
    depends: str = "depends"


class Strategies(_Data, frozen=True, kw_only=True):
    """The choice of techniques and the naming of modes: by rules, or by the model in a call of its own; without a model, by rules."""

    technique_scheduler: Literal["rules", "model"] = "rules"
    mode_classifier: Literal["none", "rules", "model"] = "rules"


class HandoffMapping(_Data, frozen=True, kw_only=True):
    """The sources of what a handoff holds: paths of the extraction, or paths below one (`decision.made.option`, where `decision.made` is
    an object). `seeds`: fields of the target's, each with the path of ours that fills it there.

    `out_of_scope`: what is left out on purpose, which is a constraint as well. `tasks` and `acceptance` are for TASKS.md: what is to be
    done, and what has to hold for all of it. Without `tasks`, `user_goals` are.
    """

    decisions: tuple[DecisionSource, ...] = ()
    options_eliminated: tuple[OptionSource, ...] = ()
    constraints: tuple[PairSource, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    assumptions: tuple[PairSource, ...] = ()
    knowledge_gaps: tuple[str, ...] = ()
    user_goals: tuple[str, ...] = ()
    pain_points: tuple[str, ...] = ()
    concepts_taught: tuple[PairSource, ...] = ()
    prior_experience: tuple[str, ...] = ()
    technical_level: str = ""
    open_questions: tuple[str, ...] = ()
    sensitivities: tuple[str, ...] = ()
    seeds: dict[str, str] = {}
    tasks: tuple[TaskSource, ...] = ()
    acceptance: tuple[str, ...] = ()


class ExitTransition(_Data, frozen=True, kw_only=True):
    """`target_engine`: an engine's id, or `planner` or `repo-agent`, which take requirements. The person is asked before it is made."""

    target_engine: str
    condition: Condition
    reason: str
    mapping: HandoffMapping = HandoffMapping()


class EngineConfiguration(_Data, frozen=True, kw_only=True):
    """The identity fields are "" where the file leaves them out: the validator tells, beside all else that is wrong.

    `overall_blend`: what the blends of the phases come to over a whole conversation; the prompt's template may say it.
    """

    engine_id: str = ""
    name: str = ""
    description: str = ""
    version: str = ""
    engine_type: EngineType | UnsetType = UNSET
    phases: tuple[PhaseDefinition, ...] = ()
    initial_phase: str = ""
    overall_blend: ModeBlend | None = None
    obligations: tuple[ObligationDefinition, ...] = ()
    completeness_model: CompletenessModel
    background_tasks: tuple[BackgroundTaskDefinition, ...] = ()
    context_config: ContextConfig = ContextConfig()
    information_ratio: InformationRatio
    sidebar_config: SidebarConfig = SidebarConfig()
    available_techniques: tuple[str, ...] = ()
    strategies: Strategies = Strategies()
    exit_transitions: tuple[ExitTransition, ...] = ()
    system_prompt_template: str = ""
    extraction_schema: ExtractionSchema
    custom_evaluators: tuple[str, ...] = ()

    def phase(self, phase_id: str) -> PhaseDefinition | None:
        return next((each for each in self.phases if each.id == phase_id), None)

    def field(self, path: str) -> FieldDefinition | None:
        return next((each for each in self.extraction_schema.fields if each.path == path), None)
