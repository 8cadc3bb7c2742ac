"""`./agent_shell.py` with a Python that has none of our packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def start(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    base = shutil.which("python3", path=f"{sys.base_prefix}/bin") or sys.executable
    # -I -S: no site-packages of any kind, as on a machine where nothing was installed.
    return subprocess.run(
        [base, "-I", "-S", str(folder / "agent_shell.py"), *words], capture_output=True, text=True, check=False
    )


def test_without_an_environment_it_says_what_to_do(tmp_path: Path) -> None:
    shutil.copy(ROOT / "agent_shell.py", tmp_path)
    done = start(tmp_path, "plan", "list files")
    assert (done.returncode, done.stdout) == (3, "")
    assert "make run" in done.stderr


def test_the_environment_beside_it_is_used_with_all_words(tmp_path: Path) -> None:
    shutil.copy(ROOT / "agent_shell.py", tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nshift\nprintf "<%s>" "$@"\n')
    python.chmod(0o755)
    assert start(tmp_path, "plan", "two words").stdout == "<plan><two words>"
