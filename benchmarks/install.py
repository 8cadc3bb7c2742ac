"""What installing costs: packages and megabytes over an empty virtual environment, without extras."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Figure


def main() -> list[Figure]:
    """Install into a fresh environment and weigh it."""
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        empty, before = _packages(venv), _size(venv)
        subprocess.run([venv / "bin/python", "-m", "pip", "install", "-q", "."], check=True)
        packages = len(_packages(venv) - empty)
        megabytes = (_size(venv) - before) / 1e6
    return [
        Figure("packages of a core install", packages, 0, "packages", "<= 26", packages <= 26),
        Figure("size of a core install", megabytes, 0, "MB", "<= 60", megabytes <= 60),
    ]


def _packages(venv: Path) -> set[str]:
    out = subprocess.run(
        [venv / "bin/python", "-m", "pip", "freeze"], check=True, capture_output=True, text=True
    ).stdout
    return {line.split("==")[0].split(" @")[0] for line in out.splitlines()}


def _size(venv: Path) -> int:
    return sum(path.lstat().st_size for path in venv.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    for figure in main():
        print(figure)
