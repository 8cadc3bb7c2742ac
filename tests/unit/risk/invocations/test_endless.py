"""Output without an end is high wherever it goes to a file, and what bounds it takes that away."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.invocations.endless import VAST, size_of
from tests.support.each import each

SOURCES = (
    "yes",
    "cat /dev/zero",
    "cat < /dev/urandom",
    "dd if=/dev/zero bs=1M",
    "tr a b < /dev/zero",
    "head -c 5T /dev/zero",
    "base64 /dev/urandom",
    "openssl rand 9000000000000",
)
INTO_FILES = ("> f", ">> f", "| tee f", "| dd of=f", "| gzip > f", "| tr a b >> f", "| ( cat > f )")
RESERVED = (
    "fallocate -l 100T f",
    "fallocate --length=2TiB f",
    "mkfile 9t f",
    "dd if=/dev/zero of=f",
    "dd if=/dev/zero of=f bs=1G count=5000",
)


@each("source, sink", [(source, sink) for source in SOURCES for sink in INTO_FILES])
def test_without_an_end_into_a_file(source: str, sink: str) -> None:
    assert classify(f"{source} {sink}").level is Level.HIGH


@each("source", SOURCES[:5])
def test_bounded_or_thrown_away_it_is_what_it_was(source: str) -> None:
    for bound in ("| head -c 10 > f", "| head > f", "| head -n 3 | tee f", "| dd of=f bs=1K count=4"):
        assert classify(f"{source} {bound}").level is Level.MEDIUM, bound
    for gone in ("> /dev/null", "| md5sum", "| head -1"):
        assert classify(f"{source} {gone}").level is Level.LOW, gone


LOOPS = ("while :", "while true", "until false", "for ((;;))")


@each("loop, body", [(loop, body) for loop in LOOPS for body in ("cat /dev/urandom", "echo x", "date; ls")])
def test_a_loop_without_an_end_into_a_file(loop: str, body: str) -> None:
    assert classify(f"{loop}; do {body}; done >> f").level is Level.HIGH
    for bounded in (f"{body}; sleep 9", f"{body} || break"):
        assert classify(f"{loop}; do {bounded}; done >> f").level is Level.MEDIUM, bounded
    assert classify(f"{loop}; do {body}; done > /dev/null").level is Level.LOW


@each("command", RESERVED)
def test_more_than_disks_hold(command: str) -> None:
    assert classify(command).level is Level.HIGH


@each(
    "text, size",
    [
        ("10", 10),
        ("1K", 1024),
        ("2g", 2 << 30),
        ("3TiB", 3 << 40),
        ("1MB", 1 << 20),
        ("x", 0),
        ("", 0),
        ("-n", 0),
        ("K", 0),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert size_of(text) == size
    assert size_of("1T") >= VAST > size_of("900G")


LOOPS = ("while :; do {}; done", "while true; do {}; done", "until false; do {}; done", "for ((;;)); do {}; done")


@each("loop", LOOPS)
def test_loops_that_fill_the_disk(loop: str) -> None:
    for body in ("echo x >> f", "cat a >> b", "mkdir d && cd d"):
        assert classify(loop.format(body)).level is Level.HIGH, body
    for body in ("echo x >> f; sleep 1", "date > now", "date", "read l; echo $l >> f", "echo x >> f; break"):
        assert classify(loop.format(body)).level is not Level.HIGH, body
