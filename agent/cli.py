"""argv to front end."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Run the program; the exit code."""
    raise SystemExit(2)
