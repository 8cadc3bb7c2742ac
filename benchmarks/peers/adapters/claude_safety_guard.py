"""claude-safety-guard: allow, warn, block."""

from claude_safety_guard.guard import evaluate

LEVELS = {"allow": "low", "warn": "medium", "block": "high"}


def rate(command):
    return LEVELS[evaluate(command).outcome.value]
