"""Run every benchmark and print its figures; exit 1 if one falls short.

`python -m benchmarks.run [--markdown] [NAME...]`; with `--markdown` the table of the README comes last.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

_NOT_BENCHMARKS = {"run", "figures", "screen", "risk_fuzz_grown", "audit_logs", "audit_words"}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    everything = sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if path.stem not in _NOT_BENCHMARKS and not path.stem.startswith("nl2sh_")
    )
    markdown = "--markdown" in names
    names = [name for name in names if name != "--markdown"]
    missed = 0
    rows = ["| what | here | peer in the same run | wanted |", "|---|---|---|---|"]
    for name in names or everything:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"--- {name}: {(module.__doc__ or '').splitlines()[0]}")
        figures = module.main()
        for figure in figures or ():
            print(figure)
            missed += not figure.holds
            peer = (
                f"{figure.peer_name} {_short(figure.peer)} {figure.unit} ({figure.ratio:.2f}x)" if figure.peer else ""
            )
            row = f"{figure.name} @ {_short(figure.ours)} {figure.unit} @ {peer} @ {figure.wanted}"
            rows.append("| " + row.replace("|", "\\|").replace(" @ ", " | ") + " |")
    if markdown:
        print("\n".join(rows))
    return 1 if missed else 0


def _short(number: float) -> str:
    """Three digits, without exponents."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
