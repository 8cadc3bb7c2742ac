"""Files of a repository that only look like files: a goal and a rating must not wait for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = "from agent.planner.facts.git_facts import *; import sys; t = repository_of(sys.argv[1]); print(repr(head_branch(t)) if t else '-')"


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "link to a secret"])
def test_a_head_that_is_no_file(tmp_path: Path, kind: str) -> None:
    git = tmp_path / ".git"
    (git / "objects").mkdir(parents=True)
    head = git / "HEAD"
    if kind == "fifo":
        os.mkfifo(head)
    elif kind == "device":
        head.symlink_to("/dev/zero")
    elif kind == "folder":
        head.mkdir()
    else:
        (tmp_path / "secret").write_text("top secret\n")
        head.symlink_to(tmp_path / "secret")
    done = subprocess.run([sys.executable, "-c", LOOK, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "secret" not in done.stdout and done.stdout.strip() in ("''", "-")
