"""Define how a configuration is written: keys in camelCase, one that is not known is a mistake; and its conditions, the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct, field

ObligationStatus = Literal["pending", "partial", "satisfied", "deferred"]


class ConfigData(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    pass


class _Condition(ConfigData, frozen=True, kw_only=True, tag_field="type"):
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


def categories_of(conditions: Iterable[Condition]) -> Iterator[str]:
    """Yield the categories of obligations that conditions wait for."""
    for each in conditions:
        if isinstance(each, ObligationSatisfaction):
            yield each.of
        elif isinstance(each, AllOf):
            yield from categories_of(each.conditions)
