"""An option that only tells holds nothing back: whatever stands beside it and is not known to say how is at least medium."""

from __future__ import annotations

import pytest

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.invocations.telling import does_more, says_how
from agent.risk.tables.names import names
from agent.risk.tables.store import groups, program
from tests.support.each import each
from tests.support.tries import sampled, some

TELLS = ("-l", "--list", "--show", "--status", "--info", "--query")
ROWS = [
    (name, option)
    for name in sorted(name for group in groups() for name in group.programs)
    if (table := program(name)) is not None and does_more(table) and not table.handler and not table.evaluates
    for option in sorted(table.dry.intersection(TELLS) - table.value)
    if classify(f"{name} {option}").level is Level.LOW
]


@pytest.mark.few(3)
@sampled
def test_another_option_is_at_least_medium() -> None:
    assert len(ROWS) > 40
    for name, option in some(ROWS, 4):
        for other in ("--zz-apply", "-Z", *(f"--{verb}" for verb in some(sorted(names("beside.verbs")), 2))):
            command = f"{name} {option} {other}"
            known = program(name)
            told = known is not None and other in known.dry
            assert told or classify(command).level is not Level.LOW, command


@each("option", ["-v", "--json", "--no-headers", "--bootstrap-server", "--sort"])
def test_what_says_how_is_known_by_its_name(option: str) -> None:
    assert says_how(option)


def test_what_it_tells_is_written_where_it_is_told_to() -> None:
    assert classify("nmap --iflist -oN /etc/passwd").level is Level.HIGH
    assert classify("tune2fs -l -O ^has_journal /dev/sda1").level is Level.HIGH
    assert classify("iptables -L -n -v -F").level is Level.HIGH
    assert classify("iptables -L -n -v").level is Level.LOW
