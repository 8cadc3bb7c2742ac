"""What planners are given that ask a model: prices only where they are known to hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.app.lazy_planner import LazyPlanner
from agent.app.planners import PlannerChoice
from agent.config.load import load_settings
from agent.planner.llm import LLMPlanner
from agent.protocol.outcomes import Usage
from agent.redaction.redactor import SecretRedactor


def built(tmp_path: Path, **environ: str) -> LLMPlanner:
    settings = load_settings({}, {"HOME": str(tmp_path), **environ}, cwd=str(tmp_path), checkout="")
    planner = PlannerChoice(settings, SecretRedactor()).make(None, None)
    assert isinstance(planner, LazyPlanner)
    real = planner.built()
    assert isinstance(real, LLMPlanner)
    return real


def test_a_provider_at_its_own_address_is_priced(tmp_path: Path) -> None:
    priced = built(tmp_path, AGENT_PLANNER="openai", OPENAI_API_KEY="sk-none-none-none")._priced
    assert priced is not None
    assert priced(Usage(input_tokens=1_000_000), "gpt-4.1-mini-2025-04-14").cost == pytest.approx(0.4)


@pytest.mark.parametrize(
    "environ",
    [
        {"AGENT_PLANNER": "openai", "OPENAI_API_KEY": "sk-none", "AGENT_BASE_URL": "https://proxy.example/v1"},
        {"AGENT_PLANNER": "openrouter", "OPENROUTER_API_KEY": "sk-none"},
        {"AGENT_PLANNER": "ollama"},
        {"AGENT_PLANNER": "custom", "AGENT_BASE_URL": "http://127.0.0.1:9/v1"},
    ],
)
def test_elsewhere_only_what_the_provider_says_counts(tmp_path: Path, environ: dict[str, str]) -> None:
    assert built(tmp_path, **environ)._priced is None
