"""Define the larger surfaces of a configuration: the seven models of completeness, background tasks, and the exits with their handoffs."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from agent.conversation.framework.state.config_data import Condition, ConfigData, ObligationStatus


class CategoryWeight(ConfigData, frozen=True, kw_only=True):
    id: str
    weight: float
    category: str


class EvaluatorWeight(ConfigData, frozen=True, kw_only=True):
    id: str
    weight: float
    evaluator: str


class FieldWeight(ConfigData, frozen=True, kw_only=True):
    """`threshold`: the confidence that counts, that of the field where it is not given."""

    id: str
    weight: float
    field: str
    threshold: float | None = None


class DimensionWeight(ConfigData, frozen=True, kw_only=True):
    """`fields`: paths, or the beginning of paths (`industry` for all `industry.…`)."""

    id: str
    weight: float
    fields: tuple[str, ...]


class MaturityLevel(ConfigData, frozen=True, kw_only=True):
    """A level is reached when all of its criteria hold, and those of the levels before it."""

    id: str
    criteria: tuple[Condition, ...] = ()


class _Model(ConfigData, frozen=True, kw_only=True, tag_field="type"):
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


AfterRetries = Literal["degrade", "stall", "proceed-with-gap"]
Duration = float | str
"""A number in the unit of the specification (`retryDelay` ms, else seconds), or text with a unit: 500ms, 5s, 2m."""


class LowConfidence(ConfigData, frozen=True, kw_only=True, tag_field="type", tag="low_confidence"):
    threshold: float


class ObligationStatusIs(ConfigData, frozen=True, kw_only=True, tag_field="type", tag="obligation_status"):
    obligation_ids: tuple[str, ...]
    status: ObligationStatus


class CustomTrigger(ConfigData, frozen=True, kw_only=True, tag_field="type", tag="custom"):
    evaluator: str
    threshold: float = 0.5


TaskTrigger = LowConfidence | ObligationStatusIs | CustomTrigger


class Retry(ConfigData, frozen=True, kw_only=True, tag_field="type", tag="retry"):
    """`retry_delay` in ms, doubled each time. `then`: what is done after the last one."""

    max_retries: int = 3
    retry_delay: Duration = 5000.0
    then: AfterRetries = "proceed-with-gap"
    degraded_behavior: str = ""


class Degrade(ConfigData, frozen=True, kw_only=True, tag_field="type", tag="degrade"):
    degraded_behavior: str


class Stall(ConfigData, frozen=True, kw_only=True, tag_field="type", tag="stall"):
    """Wait, at most for `timeout` (seconds); the person can go on without it at any time."""

    timeout: Duration = 600.0


class ProceedWithGap(ConfigData, frozen=True, kw_only=True, tag_field="type", tag="proceed-with-gap"):
    pass


FailureStrategy = Retry | Degrade | Stall | ProceedWithGap


class BackgroundTaskDefinition(ConfigData, frozen=True, kw_only=True):
    """`handler`: its name in the registry of handlers. `estimated_duration` in seconds."""

    task_id: str
    display_name: str
    description: str
    trigger_condition: TaskTrigger
    handler: str
    failure_strategy: FailureStrategy
    estimated_duration: Duration = 0.0
    block_phase_transition: bool = False


class DecisionSource(ConfigData, frozen=True, kw_only=True):
    """`option`: the path of what was decided; `reasoning`: the path of the why, else the reasoning of the extraction."""

    option: str
    reasoning: str = ""


class OptionSource(ConfigData, frozen=True, kw_only=True):
    """Items of a collection that were ruled out: `name`, `eliminated` and `reasons` are keys of an item."""

    items: str
    name: str = "name"
    eliminated: str = "eliminated"
    reasons: str = "reasons"


class PairSource(ConfigData, frozen=True, kw_only=True):
    """A path with a text, texts, or objects of which `name` and `detail` are keys."""

    path: str
    name: str = "name"
    detail: str = "detail"


class TaskSource(ConfigData, frozen=True, kw_only=True):
    """A path with things to do: a text, texts, or objects of which these are keys. `depends`: names of others that come first."""

    path: str
    name: str = "name"
    detail: str = "detail"
    acceptance: str = "acceptance"
    depends: str = "depends"


class HandoffMapping(ConfigData, frozen=True, kw_only=True):
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
    seeds: dict[str, str] = field(default_factory=dict)
    tasks: tuple[TaskSource, ...] = ()
    acceptance: tuple[str, ...] = ()


class ExitTransition(ConfigData, frozen=True, kw_only=True):
    """`target_engine`: an engine's id, or `planner` or `repo-agent`, which take requirements. The person is asked before it is made."""

    target_engine: str
    condition: Condition
    reason: str
    mapping: HandoffMapping = HandoffMapping()
