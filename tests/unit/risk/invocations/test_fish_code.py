"""Code that fish is given counts wherever it stands."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each


@each(
    "more",
    [
        "-C 'rm -rf /'",
        "-c 'rm -rf /'",
        "-ic 'rm -rf /'",
        "'-Crm -rf /'",
        "--init-command='rm -rf /'",
        "--command 'rm -rf /'",
    ],
)
def test_code_behind_the_first(more: str) -> None:
    assert classify(f"fish -c true {more}").level is Level.HIGH
    assert classify(f"fish {more} -c true").level is Level.HIGH


def test_operands_are_no_code() -> None:
    assert classify("fish -c 'echo $argv' a b").level is Level.LOW
