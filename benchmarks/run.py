"""Run every benchmark and print its figures; exit 1 if one falls short. `python -m benchmarks.run [NAME...]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

_NOT_BENCHMARKS = {"run", "figures", "screen"}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    everything = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in _NOT_BENCHMARKS)
    missed = 0
    for name in names or everything:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"--- {name}: {(module.__doc__ or '').splitlines()[0]}")
        figures = module.main()
        for figure in figures or ():
            print(figure)
            missed += not figure.holds
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
