"""seatbelt: allow, ask, deny."""

from seatbelt.context import Context
from seatbelt.engine import analyze

LEVELS = {"ALLOW": "low", "ASK": "medium", "DENY": "high"}
CONTEXT = Context(cwd="/home/user/project", home="/home/user", environ={})


def rate(command):
    return LEVELS[analyze(command, CONTEXT).level.name]
