"""Writing a command differently never lowers its rating: every variation of every command of our own sets, and pairs of them.

`python -m benchmarks.risk_metamorphic [--cases N] [--pairs N] [--seed N] [--show N]` prints how many cases there were, how many of
them were variations of variations, and how many were lowered.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from agent.risk.classifier import classify
from benchmarks.figures import Figure
from tests.support.risk_variations import excluded, originals, variations

Case = tuple[str, str, str]
"""The name of the variation, the text before, the text after."""


def singles(seed: int) -> Iterator[Case]:
    """Each variation of each command once."""
    dice = random.Random(seed)
    ways = variations()
    for command in originals():
        for name, vary in ways.items():
            varied = None if excluded(name, command) else vary(command, dice)
            if varied is not None and varied != command:
                yield name, command, varied


def pairs(seed: int) -> Iterator[Case]:
    """Two or three variations of a command, one on top of the other, without end."""
    dice = random.Random(seed)
    ways = variations()
    names = list(ways)
    commands = originals()
    while True:
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


def run(tries: Iterable[Case]) -> tuple[int, list[Case]]:
    """How many cases were tried, and those that were rated lower."""
    ranks: dict[str, int] = {}
    lowered = []
    tried = 0
    for name, before, after in tries:
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
    parser.add_argument("--cases", type=int, default=300_000, help="variations of commands, at most")
    parser.add_argument("--pairs", type=int, default=150_000, help="pairs and triples of variations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args(arguments or [])
    alone, lowered_alone = run(islice(singles(options.seed), options.cases))
    together, lowered_together = run(islice(pairs(options.seed), options.pairs))
    lowered = lowered_alone + lowered_together
    for name, count in Counter(name for name, _, _ in lowered).most_common(options.show):
        print(f"{count:6}  {name}")
    for name, before, after in lowered[: options.show]:
        print(f"{name}\n    {before!r}\n    {after!r}")
    tried = alone + together
    print(
        f"{alone:,} variations, {len(lowered_alone)} lowered; {together:,} pairs and triples, {len(lowered_together)} lowered"
    )
    return [
        Figure("risk: metamorphic cases", tried, 0, "", ">= 200,000", tried >= 200_000),
        Figure("risk: metamorphic cases, pairs and triples", together, 0, "", ">= 150,000", together >= 150_000),
        Figure("risk: metamorphic cases rated lower", len(lowered), 0, "", "none", not lowered),
    ]


if __name__ == "__main__":
    sys.exit(0 if all(figure.holds for figure in main(sys.argv[1:])) else 1)
