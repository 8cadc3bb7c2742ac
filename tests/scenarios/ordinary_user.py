"""Running the program as somebody who may not write everywhere, even where the tests run as root."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.scenarios.program import ROOT, World
from tests.support.needs import needs

NOBODY = 65534
_DROP = (
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=-all",
    "--bounding-set=-all",
)


@functools.cache
def _launcher() -> tuple[tuple[str, ...], str]:
    """Words before the script, and PYTHONPATH; raises Skipped where no interpreter can be started as another user."""
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    if os.geteuid() != 0:
        return (sys.executable,), ""
    needs("setpriv")
    said = ""
    for python in (sys.executable, "/usr/bin/python3"):
        words = (*_DROP, python)
        # It must be able to start itself again, too, which is more than being started.
        probe = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); import agent.cli.entry, msgspec, tree_sitter, subprocess\n"
            "subprocess.run([sys.executable, '-c', ''], check=True)"
        )
        done = subprocess.run(
            [*words, "-c", probe],
            env={"PYTHONPATH": packages, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
        )
        if done.returncode == 0:
            return words, packages
        said = done.stderr[-300:]
    pytest.skip(f"no interpreter that an ordinary user can start: {said}")


class OrdinaryWorld(World):
    """A world that an ordinary user owns, outside of folders that only root may enter."""

    def __init__(self) -> None:
        words, packages = _launcher()
        base = Path(tempfile.mkdtemp(prefix="scenario-"))
        super().__init__(base)
        self.launcher = words
        if packages:
            self.extra["PYTHONPATH"] = packages
        self.own(base)

    def own(self, folder: Path) -> None:
        """Give a folder and what is in it to the ordinary user."""
        if os.geteuid() != 0:
            return
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def remove(self) -> None:
        for path in (self.base, *self.base.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(self.base)
