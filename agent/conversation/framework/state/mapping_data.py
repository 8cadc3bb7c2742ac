"""Define the exits of an engine, and from which fields the handoff of each is made."""

from __future__ import annotations

from msgspec import field

from agent.conversation.framework.state.config_data import Condition, ConfigData


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
