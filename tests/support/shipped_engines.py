"""The engines that ship, and the example, as tests take them: configuration and evaluators."""

from __future__ import annotations

from pathlib import Path

import msgspec

from agent.conversation.engines.exploration.evaluators import EVALUATORS
from agent.conversation.framework.configuration import EngineConfiguration
from agent.conversation.framework.ports import Evaluator

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "project-discovery": ROOT / "agent/conversation/engines/project_discovery",
    "exploration": ROOT / "agent/conversation/engines/exploration",
    "business-profile": ROOT / "agent/conversation/engines/business_profile",
    "ideation": ROOT / "agent/conversation/engines/ideation",
    "feature-prioritization": ROOT / "examples/interviews/feature_prioritization",
}


def shipped(engine_id: str) -> EngineConfiguration:
    return msgspec.toml.decode((FOLDERS[engine_id] / "engine.toml").read_bytes(), type=EngineConfiguration)


def evaluators(engine_id: str) -> dict[str, Evaluator]:
    return EVALUATORS if engine_id == "exploration" else {}
