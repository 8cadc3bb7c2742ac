"""Define the seven models of completeness, and what each of them weighs."""

from __future__ import annotations

from agent.conversation.framework.state.config_data import Condition, ConfigData


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
