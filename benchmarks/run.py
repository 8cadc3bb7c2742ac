"""Run every benchmark and print its figures; exit 1 if one falls short.

`python -m benchmarks.run [--write] [NAME...]`; with `--write` the figures go into `docs/figures.md`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.figures_page import PAGE, merged, table_row

_NOT_BENCHMARKS = {
    "run",
    "figures",
    "figures_page",
    "screen",
    "risk_fuzz_grown",
    "audit_logs",
    "audit_words",
    "local_models",
    "manual_facts",
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    everything = sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if path.stem not in _NOT_BENCHMARKS and not path.stem.startswith("nl2sh_")
    )
    write = "--write" in names
    names = [name for name in names if name != "--write"]
    missed = 0
    rows = []
    for name in names or everything:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"--- {name}: {(module.__doc__ or '').splitlines()[0]}")
        for figure in module.main() or ():
            print(figure)
            missed += not figure.holds
            rows.append(table_row(figure))
    if write:
        PAGE.write_text(merged(PAGE.read_text(), "bench", rows))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
