"""Every way of writing a command differently, on a slice of our own sets: `python -m benchmarks.risk_metamorphic` does them all."""

from __future__ import annotations

import functools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.risk.classifier import classify
from tests.support.risk_variations import excluded, originals, variations
from tests.support.tries import sampled, some, tries

WAYS = variations()
COMMANDS = functools.cache(originals)
HARMLESS = [
    "echo hello", "ls -la", "cat README.md", "git status", "grep -rn TODO src", "wc -l README.md", "find . -name '*.py'", "head -5 a.txt",
    "ps aux", "df -h", "du -sh .", "git log --oneline | head", "sort a.txt | uniq -c", "date", "which python3", "stat a", "git diff",
]  # fmt: skip
# A decoder in front of a shell, or in the place of a program, is high by itself.
DECODING = (
    "as code: rev", "as code: base64", "as code: hex", "words in base64",
    "words in reversed", "some words in base64", "some words in reversed",
)  # fmt: skip


@settings(max_examples=tries(900), deadline=None, derandomize=True)
@given(
    st.deferred(lambda: st.sampled_from(COMMANDS())),
    st.lists(st.sampled_from(sorted(WAYS)), min_size=1, max_size=3),
    st.integers(0, 999),
)
def test_no_variation_lowers(command: str, names: list[str], seed: int) -> None:
    dice = random.Random(seed)
    text = command
    for name in names:
        if not excluded(name, command) and not excluded(name, text):
            text = WAYS[name](text, dice) or text
    assert classify(text).level.rank >= classify(command).level.rank, (names, text)


def test_every_variation_applies_to_something() -> None:
    dice = random.Random(1)
    samples = [*COMMANDS()[:300], "x=1; echo $x", "f() { ls; }; f", "rm -rf a"]
    for name, vary in WAYS.items():
        assert any(vary(command, dice) not in (None, command) for command in samples), name


@sampled
def test_harmless_commands_stay_harmless() -> None:
    dice = random.Random(1)
    high, tried = [], 0
    for name, vary in WAYS.items():
        for command in some(HARMLESS, 2):
            varied = vary(command, dice)
            if varied is not None:
                tried += 1
                if classify(varied).level == "high":
                    high.append((name, varied))
    assert {name for name, _ in high} <= set(DECODING), high[:5]
    assert len(high) <= tried * 0.05
