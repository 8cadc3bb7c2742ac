"""Copy a repository that was made once in this process: making each anew takes a dozen programs."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

_MADE: dict[tuple[Callable[..., None], tuple[str, ...]], Path] = {}


def copy_of(make: Callable[..., None], base: Path, *texts: str) -> None:
    """Put into `base` what `make` puts into an empty folder, told `texts`; settings of git that name that folder name `base` then."""
    if (make, texts) not in _MADE:
        folder = Path(tempfile.mkdtemp()).resolve()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        make(folder, *texts)
        for sample in folder.glob("**/hooks/*.sample"):
            sample.unlink()
        _MADE[make, texts] = folder
    made = _MADE[make, texts]
    shutil.copytree(made, base, symlinks=True, dirs_exist_ok=True)
    for place in made.glob("**/config"):
        there = base / place.relative_to(made)
        there.write_text(there.read_text().replace(str(made), str(base)))


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write each text into the file of its name, with the folders that it needs."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
