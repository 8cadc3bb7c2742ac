"""The engines that ship, and the example, as tests take them: configuration and evaluators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import Evaluator
from agent.conversation.framework.talk.techniques import library
from agent.conversation.registry.loading import Engine
from agent.conversation.registry.registry import EngineRegistry

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/interviews/feature_prioritization"
ENGINES = ("project-discovery", "exploration", "business-profile", "ideation", "feature-prioritization")


@cache
def registry() -> EngineRegistry:
    made = EngineRegistry(techniques=library(), handlers=HANDLERS, installed=())
    made.add(EXAMPLE)
    return made


def loaded(engine_id: str) -> Engine:
    return registry().get(engine_id)


def shipped(engine_id: str) -> EngineConfiguration:
    return loaded(engine_id).config


def evaluators(engine_id: str) -> Mapping[str, Evaluator]:
    return loaded(engine_id).evaluators
