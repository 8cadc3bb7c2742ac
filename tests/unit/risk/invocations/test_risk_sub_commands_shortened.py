"""Shortened sub-commands stand for the whole; what could be several stands for itself."""

from __future__ import annotations

from agent.risk.classifier import classify
from agent.risk.invocations.sub_commands import full_verb
from tests.support.each import each


@each(
    ("text", "verbs", "whole"),
    [
        ("sub", {"subvolume", "scrub"}, "subvolume"),
        ("a", {"a", "addr", "address"}, "a"),
        ("add", {"addr", "address"}, "addr"),
        ("de", {"delete", "device"}, "de"),
        ("", {"delete"}, ""),
        ("other", {"delete"}, "other"),
    ],
)
def test_what_a_shortened_word_stands_for(text: str, verbs: set[str], whole: str) -> None:
    assert full_verb(text, verbs) == whole


@each(
    ("short", "long"),
    [
        ("btrfs sub del x", "btrfs subvolume delete x"),
        ("btrfs fi sh", "btrfs filesystem show"),
        ("btrfs dev rem /dev/sdb /", "btrfs device remove /dev/sdb /"),
        ("ip lin se eth0 down", "ip link set eth0 down"),
        ("ip ro flu table main", "ip route flush table main"),
    ],
)
def test_rated_like_the_whole(short: str, long: str) -> None:
    assert classify(short).level is classify(long).level
    assert [found.rule for found in classify(short).findings] == [found.rule for found in classify(long).findings]
