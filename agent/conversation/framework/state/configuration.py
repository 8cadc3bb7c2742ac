"""Define the configuration of an engine: the 13 surfaces, as they are written in its file, with the names of the specification.

Keys are camelCase in files. A key that is not known here is a mistake. Shares are 0..1, blends and ratios are percent.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType, field

from agent.conversation.framework.state.config_data import Condition, ConfigData
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition, CompletenessModel, ExitTransition

EngineType = Literal["extract-dominant", "inform-dominant", "balanced"]
Mode = Literal["extract", "explore", "inform", "validate", "refine", "persuade", "deliberate"]
MODES: tuple[Mode, ...] = ("extract", "explore", "inform", "validate", "refine", "persuade", "deliberate")
ValueType = Literal["string", "number", "boolean", "array", "object"]
CompressionStrategy = Literal["summarize_old", "sliding_window", "extractive"]


class ModeBlend(ConfigData, frozen=True, kw_only=True):
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


class Checkpoint(ConfigData, frozen=True, kw_only=True):
    """An obligation that has to be satisfied before its phase is left."""

    obligation_id: str
    required: bool = True


class PhaseDefinition(ConfigData, frozen=True, kw_only=True):
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


class ObligationDefinition(ConfigData, frozen=True, kw_only=True):
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


class FieldDefinition(ConfigData, frozen=True, kw_only=True):
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
    item_properties: dict[str, ValueType] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    question: str = ""


class ExtractionSchema(ConfigData, frozen=True, kw_only=True):
    fields: tuple[FieldDefinition, ...]


class Allocation(ConfigData, frozen=True, kw_only=True):
    """Shares of what is left beside the fixed parts; they sum to 1."""

    obligations: float = 0.40
    conversation_history: float = 0.30
    background_intelligence: float = 0.20
    extraction_summary: float = 0.10


class ContextConfig(ConfigData, frozen=True, kw_only=True):
    """`max_tokens`: None for the model's own. `keep_turns`: how many turns stay whole. `response_tokens` are kept free for the reply."""

    max_tokens: int | None = None
    allocation: Allocation = Allocation()
    compression_strategy: CompressionStrategy = "summarize_old"
    keep_turns: int = 10
    response_tokens: int = 1500


class InformationRatio(ConfigData, frozen=True, kw_only=True):
    user: float
    system: float


class SidebarSection(ConfigData, frozen=True, kw_only=True):
    id: str
    title: str
    obligation_categories: tuple[str, ...]
    default_collapsed: bool = False


class DynamicSection(ConfigData, frozen=True, kw_only=True):
    section: SidebarSection
    appears_when: Condition


class PhaseIndicator(ConfigData, frozen=True, kw_only=True):
    show: bool = True
    labels: dict[str, str] = field(default_factory=dict)


class ProgressBar(ConfigData, frozen=True, kw_only=True):
    show: bool = True
    show_percentage: bool = True


class SidebarConfig(ConfigData, frozen=True, kw_only=True):
    static_sections: tuple[SidebarSection, ...] = ()
    dynamic_sections: tuple[DynamicSection, ...] = ()
    phase_indicator: PhaseIndicator = PhaseIndicator()
    progress_bar: ProgressBar = ProgressBar()


class Strategies(ConfigData, frozen=True, kw_only=True):
    """The choice of techniques and the naming of modes: by rules, or by the model in a call of its own; without a model, by rules."""

    technique_scheduler: Literal["rules", "model"] = "rules"
    mode_classifier: Literal["none", "rules", "model"] = "rules"


class TechniqueDefinition(ConfigData, frozen=True, kw_only=True):
    """One of the library. `cooldown_turns`: how many turns it is not used again after it was."""

    id: str
    name: str
    description: str
    category: str
    applicable_modes: tuple[Mode, ...]
    agent_instruction: str
    effectiveness_signal: str
    cooldown_turns: int = 0


class EngineConfiguration(ConfigData, frozen=True, kw_only=True):
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
