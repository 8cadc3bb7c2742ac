"""Define background tasks: what begins one, who does it, and what is done when it fails."""

from __future__ import annotations

from typing import Literal

from agent.conversation.framework.state.config_data import ConfigData, ObligationStatus

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
