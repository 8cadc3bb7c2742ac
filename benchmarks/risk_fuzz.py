"""Pathological shell text of a given size: what it costs to rate, and that every answer is one.

`python -m benchmarks.risk_fuzz [--size BYTES] [--random N] [--seed N]` prints the slowest texts and all that need longer than the
budget, in CPU milliseconds (best of three, warmed; of six, in two rounds, for the dear ones).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path

from agent.risk.classifier import classify
from benchmarks.figures import Figure
from benchmarks.risk_fuzz_grown import grown

BUDGET_MS = 50.0
SIZE = 10_000

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
PIECES: list[str] = _DATA[
    "pieces"
]  # to be repeated: operators, openers, quotes, expansions, keywords, wrappers, values
NESTS: list[list[str]] = _DATA["nests"]  # opening, middle, closing: to be nested as deep as the size allows
_TAILS = ("", "rm -rf /", "a\n", ")", "}", "'", '"', "`", "; done", "\nA\n")


def repeated(size: int) -> dict[str, str]:
    """Every piece repeated, with and without a beginning that makes it a word of something."""
    texts = {}
    for piece in PIECES:
        count = max(1, size // len(piece))
        for front in ("", "a ", "x='", "echo ", "rm ", "python3 -c '", "f() { a; }; "):
            texts[f"{front!r}{piece!r}*{count}"] = (front + piece * count)[:size]
    return texts


def nested(size: int) -> dict[str, str]:
    """Every nesting: as deep as it fits, and many of a few levels."""
    texts = {}
    for opening, middle, closing in NESTS:
        for levels in (5, 11, 30, size // (len(opening) + len(closing))):
            one = opening * levels + middle + closing * levels
            texts[f"{opening!r} {levels} deep"] = (one + "; ") * max(1, size // (len(one) + 2))
            texts[f"{opening!r} {levels} deep, open"] = (opening * levels + middle + "\n") * max(
                1, size // (len(one) + 1)
            )
    return texts


def mixtures(size: int, count: int, seed: int) -> dict[str, str]:
    """Random mixtures of the pieces: uniform ones, ones of few pieces, and nests of several kinds."""
    dice = random.Random(seed)
    texts = {}
    for number in range(count):
        few = dice.sample(PIECES, dice.choice((2, 3, 4, 6, 12, 40)))
        pieces, total = [], 0
        way = dice.random()
        if way < 0.35:
            unit = "".join(dice.choice(few) for _ in range(dice.randint(2, 6)))
            pieces = [unit * (size // len(unit))]
        elif way < 0.8:
            glue = dice.choice(("", " ", ";", "\n"))
            while total < size:
                pieces.append(dice.choice(few) + glue)
                total += len(pieces[-1])
        else:
            front, back = "", ""
            while len(front) + len(back) < size:
                opening, _, closing = dice.choice(NESTS)
                front, back = front + opening, closing + back
                if dice.random() < 0.3:
                    front += dice.choice(few)
            pieces = [front, "a", back]
        texts[f"mixture {seed}/{number} of {few[:3]!r}"] = ("".join(pieces) + dice.choice(_TAILS))[: size + 20]
    return texts


def cost_ms(text: str, times: int = 3) -> float:
    """CPU milliseconds to rate `text`, the best of `times`."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        classify(text)
        best = min(best, (time.process_time() - start) * 1000)
        if best < BUDGET_MS / 2:
            break
    return best


def run(size: int, count: int, seed: int) -> tuple[list[tuple[float, str]], list[str]]:
    """(cost, name) of every text, dearest first; and the names of those whose rating was a defect of ours."""
    classify("ls")
    texts = {**repeated(size), **nested(size), **grown(size), **mixtures(size, count, seed)}
    costs, broken = [], []
    for name, text in texts.items():
        costs.append((cost_ms(text), name))
        report = classify(text)
        if report.command != text or any("could not be rated" in finding.reason for finding in report.findings):
            broken.append(name + ": " + report.findings[0].reason)
    # A busy moment of the machine lasts longer than three tries in a row: what was dear is tried again later, apart.
    costs = [(min(cost, cost_ms(texts[name])) if cost > BUDGET_MS * 0.7 else cost, name) for cost, name in costs]
    return sorted(costs, reverse=True), broken


def main(arguments: list[str] | None = None) -> list[Figure]:
    """Print the slowest texts; figures for `benchmarks.run`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--random", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args(arguments or [])
    costs, broken = run(options.size, options.random, options.seed)
    over = [item for item in costs if item[0] > BUDGET_MS]
    for cost, name in costs[: max(options.show, len(over))]:
        print(f"{cost:8.1f} ms  {name}")
    for name in broken:
        print("broken:", name)
    print(
        f"{len(costs)} texts of {options.size:,} characters, {len(over)} over {BUDGET_MS:.0f} ms, {len(broken)} broken"
    )
    wanted = f"<= {BUDGET_MS:.0f} ms"
    return [
        Figure("risk: slowest hostile text of 10 kB", costs[0][0], 0, "ms", wanted, costs[0][0] <= BUDGET_MS),
        Figure("risk: defects found by fuzzing", len(broken), 0, "", "none", not broken),
    ]


if __name__ == "__main__":
    sys.exit(0 if all(figure.holds for figure in main(sys.argv[1:])) else 1)
