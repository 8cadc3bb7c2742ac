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


@each(
    "line",
    [
        "nft list 'ruleset;flush' ruleset",
        "nft list 'ruleset\nflush' ruleset",
        "nft list ruleset ';flush' ruleset",
        "nft list ruleset '\n' flush ruleset",
        "ovs-vsctl show -- --if-exists del-br x",
        "ovs-vsctl --no-wait show -- --if-exists del-br x",
        "ovs-vsctl list br -- --all destroy qos",
    ],
)
def test_a_command_ends_within_a_word_or_before_options(line: str) -> None:
    assert level(line) is not Level.LOW


@each(
    "line",
    ["mdadm -D --zero-super", "mdadm -D -w", "mdadm -E --udev-rules=/etc/x", "sfdisk -V --reor", "sfdisk -l --part-t"],
)
def test_an_option_that_acts_may_be_shortened(line: str) -> None:
    assert level(f"{line} /dev/sda") is Level.HIGH


def test_parted_that_repairs_what_it_reads_changes_it() -> None:
    for option in ("-f", "--fix", "-sf"):
        assert level(f"parted {option} /dev/sda print") is Level.HIGH, option


@each("tells", ["-q", "-qp", "-qa", "-qi", "-V"])
def test_rpm_that_tells_and_sets_rights_does_both(tells: str) -> None:
    for acts in ("--restore", "--setperms", "--setugids", "--import", "--rebuilddb"):
        assert level(f"rpm {tells} {acts} x") is Level.MEDIUM, acts
    assert level(f"rpm {tells} x") is Level.LOW
    assert level("rpm --erase x") is level("rpm -e x")


def test_shortened_options_of_gpg_are_what_they_stand_for() -> None:
    for line in ("--delete-secret-k x", "--fingerprint --yes --delete-secret-k x"):
        assert level(f"gpg {line}") is Level.HIGH, line
    for line in ("--list-keys --delete-k x", "--fingerprint --impor x"):
        assert level(f"gpg {line}") is Level.MEDIUM, line
    for line in ("--list-k", "--list-keys x", "--export -a x"):
        assert level(f"gpg {line}") is Level.LOW, line
