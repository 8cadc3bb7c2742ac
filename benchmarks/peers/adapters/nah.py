"""nah: allow, context (looks closer), ask, block."""

from nah.bash import classify_command

LEVELS = {"allow": "low", "context": "medium", "ask": "medium", "block": "high"}


def rate(command):
    return LEVELS[classify_command(command).final_decision]
