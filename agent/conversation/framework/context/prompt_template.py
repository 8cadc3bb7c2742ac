"""Fill the template of an engine's system prompt: `{{name}}` and a few more words, with what its configuration and state say."""

from __future__ import annotations

import re

from agent.conversation.framework.state.configuration import EngineConfiguration, ModeBlend
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import ConfigError

VARIABLES = ("name", "description", "phase", "blend", "phaseBlend", "userShare", "systemShare", "completeness", "ready")
"""The names a template may use. Shares, completeness and the threshold (`ready`) are percent; blends are in words."""
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def unknown_variables(template: str) -> tuple[str, ...]:
    """Return the names in it that stand for nothing."""
    return tuple(dict.fromkeys(each for each in _VARIABLE.findall(template) if each not in VARIABLES))


def system_prompt(config: EngineConfiguration, memory: WorkingMemory) -> str:
    """Return the template with its variables filled. Raises ConfigError for one that is not known."""
    if unknown := unknown_variables(config.system_prompt_template):
        raise ConfigError(f"systemPromptTemplate: {{{{{unknown[0]}}}}} is not known; there are {', '.join(VARIABLES)}")
    phase = config.phase(memory.phase.current)
    values = {
        "name": config.name,
        "description": config.description,
        "phase": phase.display_name if phase else memory.phase.current,
        "blend": blend_in_words(config.overall_blend),
        "phaseBlend": blend_in_words(phase.mode_blend if phase else None),
        "userShare": f"{config.information_ratio.user:g}",
        "systemShare": f"{config.information_ratio.system:g}",
        "completeness": str(round(memory.completeness.overall * 100)),
        "ready": str(round(config.completeness_model.ready_threshold * 100)),
    }
    return _VARIABLE.sub(lambda found: values[found[1]], config.system_prompt_template).strip()


def blend_in_words(blend: ModeBlend | None) -> str:
    """Say a blend, the largest share first: `70 % extract, 20 % validate, 10 % explore`."""
    if blend is None:
        return "an even mix"
    shares = sorted(((share, mode) for mode, share in blend.shares.items() if share), key=lambda each: -each[0])
    return ", ".join(f"{share:g} % {mode}" for share, mode in shares)
