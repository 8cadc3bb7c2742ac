"""OpenHands SDK: its two deterministic analysers together, as its own example wires them; UNKNOWN asks, as medium does."""

import json
import logging

from openhands.sdk.event import ActionEvent
from openhands.sdk.llm import MessageToolCall
from openhands.sdk.security.defense_in_depth import PatternSecurityAnalyzer, PolicyRailSecurityAnalyzer
from openhands.sdk.security.ensemble import EnsembleSecurityAnalyzer

logging.disable(logging.CRITICAL)
ANALYZER = EnsembleSecurityAnalyzer(analyzers=[PatternSecurityAnalyzer(), PolicyRailSecurityAnalyzer()])
LEVELS = {"LOW": "low", "MEDIUM": "medium", "UNKNOWN": "medium", "HIGH": "high"}


def rate(command):
    call = MessageToolCall(id="1", name="terminal", arguments=json.dumps({"command": command}), origin="completion")
    event = ActionEvent.model_construct(
        thought=[], reasoning_content=None, thinking_blocks=[], action=None, tool_name="terminal", tool_call_id="1",
        tool_call=call, llm_response_id="1", responses_reasoning_item=None, summary=None,
    )  # fmt: skip
    return LEVELS[ANALYZER.security_risk(event).value]
