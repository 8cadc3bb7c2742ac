"""Options in front of a sub-command that take no value change nothing about it; one that nobody knows may have taken a word."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.tables.names import names
from tests.support.each import each
from tests.support.tries import some

COMMANDS = (
    ("systemctl", "status sshd", Level.LOW),
    ("systemctl", "stop sshd", Level.HIGH),
    ("kubectl", "get pods", Level.LOW),
    ("kubectl", "delete ns x", Level.HIGH),
    ("docker", "system prune -a -f", Level.HIGH),
)


@each("program, rest, level", COMMANDS)
def test_a_switch_is_no_value(program: str, rest: str, level: Level) -> None:
    for word in (*some(sorted(names("switches.words") - {"dry-run"}), 8), "no-pager", "no-anything"):
        assert classify(f"{program} --{word} {rest}").level is level, word


def test_behind_switches_an_unknown_option_still_may_take_a_word() -> None:
    assert classify("systemctl --no-pager --unlisted list-units stop sshd").level is Level.HIGH
    assert classify("kubectl --insecure-skip-tls-verify --unlisted get delete ns x").level is Level.HIGH
