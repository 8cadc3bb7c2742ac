import msgspec
import pytest

from agent.conversation.framework.context_parts import blend_in_words, system_prompt, unknown_variables
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import create_empty_working_memory
from agent.protocol.errors import ConfigError


def _config(template: str) -> EngineConfiguration:
    data = {
        "engineId": "small",
        "name": "Small talk",
        "description": "Talk for a while.",
        "version": "1.0.0",
        "engineType": "balanced",
        "phases": [
            {"id": "ONE", "displayName": "The only one", "order": 1, "modeBlend": {"explore": 40, "inform": 60}}
        ],
        "initialPhase": "ONE",
        "overallBlend": {"validate": 100},
        "completenessModel": {"type": "saturation", "readyThreshold": 0.6},
        "informationRatio": {"user": 55, "system": 45},
        "systemPromptTemplate": template,
        "extractionSchema": {"fields": []},
    }
    return msgspec.convert(data, EngineConfiguration)


@pytest.mark.covers("S3-40", "S3-56")
def test_variables_stand_for_what_configuration_and_state_say() -> None:
    template = (
        "{{name}}: {{ description }} {{phase}}: {{phaseBlend}}, of {{blend}}"
        "; {{userShare}}/{{systemShare}}; {{completeness}} of {{ready}}\n"
    )
    config = _config(template)
    memory = create_empty_working_memory(config, "s", "p")
    said = "Small talk: Talk for a while. The only one: 60 % inform, 40 % explore, of 100 % validate; 55/45; 0 of 60"
    assert system_prompt(config, memory) == said


def test_what_is_filled_in_is_not_filled_again() -> None:
    config = msgspec.structs.replace(_config("{{name}}"), name="{{phase}}")
    assert system_prompt(config, create_empty_working_memory(config, "s", "p")) == "{{phase}}"


def test_a_variable_that_is_not_known_is_an_error() -> None:
    config = _config("{{name}} {{persona}} { {x} }")
    assert unknown_variables(config.system_prompt_template) == ("persona",)
    with pytest.raises(ConfigError, match=r"persona.* is not known; there are name, "):
        system_prompt(config, create_empty_working_memory(config, "s", "p"))


def test_without_a_blend_it_is_an_even_mix() -> None:
    assert blend_in_words(None) == "an even mix"
