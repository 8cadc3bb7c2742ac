"""Several commands on one line: where any of them, in whatever place, changes something, the line does."""

from __future__ import annotations

import itertools

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

SHOWN = ("print", "p", "print free", "unit s", "print 1", "align-check opt 1", "help rm", "version")
DONE = ("rm 1", "mklabel gpt", "resizepart 1 100%", "name 1 x", "unlisted", '"$x"')


def level(command: str) -> Level:
    return classify(command).level


def test_parted_reads_as_long_as_each_command_only_shows() -> None:
    for first, second in itertools.product(SHOWN, repeat=2):
        assert level(f"parted -s /dev/sda {first} {second}") is Level.LOW, (first, second)


@each("done", DONE)
def test_parted_is_as_high_as_its_worst_command(done: str) -> None:
    for shown in SHOWN:
        lines = (f"{shown} {done}", f"{done} {shown}", f"{shown} {shown} {done}", f"'{shown} '{done}")
        assert [line for line in lines if level(f"parted -s /dev/sda {line}") is not Level.HIGH] == [], shown


@each("line", ["nft list ruleset {} flush ruleset", "virsh list {} undefine x", "ovs-vsctl show {} del-br x"])
def test_a_word_that_ends_a_command_begins_another(line: str) -> None:
    for sign in ("';'", r"\;"):
        assert level(line.format(sign)) is Level.HIGH, sign
    assert level(line.partition(" {}")[0]) is Level.LOW


@each("program", ["sfdisk", "mdadm"])
def test_an_option_that_acts_counts_beside_one_that_tells(program: str) -> None:
    tells, acts = {
        "sfdisk": (("-l", "--dump", "-J", "--list-free"), ("--delete", "-A", "--relocate", "--part-type")),
        "mdadm": (("-D", "--detail", "-Q", "--examine"), ("--zero-superblock", "--stop", "-S", "--fail")),
    }[program]
    for told, act in itertools.product(tells, acts):
        assert level(f"{program} {told} /dev/sda") is Level.LOW
        assert level(f"{program} {told} {act} /dev/sda") is Level.HIGH, (told, act)
        assert level(f"{program} {act} {told} /dev/sda") is Level.HIGH, (act, told)


def test_each_operand_of_chronyc_is_a_command() -> None:
    assert level("chronyc -m tracking 'sources -v'") is Level.LOW
    assert level("chronyc -m tracking sources shutdown") is not Level.LOW
