"""cmd-risk: safe, moderate, high, critical."""

from cmd_risk import classify

LEVELS = {"safe": "low", "moderate": "medium", "high": "high", "critical": "high"}


def rate(command):
    return LEVELS[classify(command).level]
