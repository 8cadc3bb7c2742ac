"""sh-guard: safe, caution, danger, critical."""

from sh_guard import classify

LEVELS = {"safe": "low", "caution": "medium", "danger": "high", "critical": "high"}


def rate(command):
    return LEVELS[classify(command)["level"]]
