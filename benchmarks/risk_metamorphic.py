"""Writing a command differently never lowers its rating: every variation of every command of our own sets, and pairs of them.

`python -m benchmarks.risk_metamorphic [--cases N] [--seed N] [--show N]` prints how many cases there were and how many were lowered.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator

from agent.risk.classifier import classify
from benchmarks.figures import Figure
from tests.support.risk_variations import excluded, originals, variations

Case = tuple[str, str, str]
"""The name of the variation, the text before, the text after."""


def cases(count: int, seed: int) -> Iterator[Case]:
    """Each variation of each command once, then variations of variations, `count` cases in all."""
    dice = random.Random(seed)
    ways = variations()
    commands = originals()
    given = 0
    for command in commands:
        for name, vary in ways.items():
            varied = None if excluded(name, command) else vary(command, dice)
            if varied is not None and varied != command:
                yield name, command, varied
                given += 1
                if given >= count:
                    return
    names = list(ways)
    while given < count:
        command = dice.choice(commands)
        used = []
        varied = command
        for name in dice.sample(names, dice.choice((2, 2, 3))):
            following = None if excluded(name, command) or excluded(name, varied) else ways[name](varied, dice)
            if following is not None:
                varied = following
                used.append(name)
        if len(used) > 1 and varied != command:
            yield " + ".join(used), command, varied
            given += 1


def run(count: int, seed: int) -> tuple[int, list[Case]]:
    """How many cases were tried, and those that were rated lower."""
    ranks: dict[str, int] = {}
    lowered = []
    tried = 0
    for name, before, after in cases(count, seed):
        tried += 1
        rank = ranks.get(before)
        if rank is None:
            rank = ranks[before] = classify(before).level.rank
        if rank and classify(after).level.rank < rank:
            lowered.append((name, before, after))
    return tried, lowered


def main(arguments: list[str] | None = None) -> list[Figure]:
    """Print the cases that were lowered; figures for `benchmarks.run`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args(arguments or [])
    tried, lowered = run(options.cases, options.seed)
    for name, count in Counter(name for name, _, _ in lowered).most_common(options.show):
        print(f"{count:6}  {name}")
    for name, before, after in lowered[: options.show]:
        print(f"{name}\n    {before!r}\n    {after!r}")
    print(f"{tried:,} cases, {len(lowered)} lowered")
    return [
        Figure("risk: metamorphic cases", tried, 0, "", ">= 200,000", tried >= 200_000),
        Figure("risk: metamorphic cases rated lower", len(lowered), 0, "", "none", not lowered),
    ]


if __name__ == "__main__":
    sys.exit(0 if all(figure.holds for figure in main(sys.argv[1:])) else 1)
