"""whatisit: no finding, CAUTION, DANGER."""

from whatisit.safety import check, worst

LEVELS = {None: "low", "CAUTION": "medium", "DANGER": "high"}


def rate(command):
    return LEVELS[worst(check(command))]
