"""Files that commands wrote: named by the rating, and changed since."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from agent.engine.written import written
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from tests.support.each import each


@pytest.mark.covers("S0-15")
@each(
    ("command", "files"),
    [
        ("echo hi > made.txt", ("made.txt",)),
        ("echo hi >> old.txt", ("old.txt",)),
        ("cp old.txt new.txt", ("new.txt",)),
        ("cp old.txt sub/", ("sub/old.txt",)),
        ("mv old.txt moved.txt", ("moved.txt",)),
        ("sed -i s/a/b/ old*.txt", ("old.txt",)),
        ("cd sub && touch inner", ("sub/inner",)),
        ("for i in 1 2; do echo $i > f$i; done", ("f1", "f2")),
        ("tar -czf all.tgz old.txt", ("all.tgz",)),
        ("mkdir -p sub/more", ()),
        ("cat old.txt", ()),
        ("rm old.txt", ()),
        ("false && echo hi > never.txt", ()),
    ],
)
def test_what_a_command_wrote(tmp_path: Path, command: str, files: tuple[str, ...]) -> None:
    place = tmp_path / command.replace("/", "_")
    (place / "sub").mkdir(parents=True)
    old = place / "old.txt"
    old.write_text("a\n")
    (place / "sub" / "there").write_text("a\n")
    time.sleep(0.05)
    since = time.time_ns()
    report = classify(command, RiskContext(cwd=str(place), workspace=str(place)))
    subprocess.run(["bash", "-c", command], cwd=place, check=False)
    assert written(report, str(place), str(place), since) == files


def test_files_elsewhere_have_their_whole_path(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    report = classify("echo hi > ../outside", RiskContext(cwd=str(base)))
    (tmp_path / "outside").write_text("hi\n")
    os.utime(tmp_path / "outside")
    assert written(report, str(base), str(base), time.time_ns() - 10**9) == (str(tmp_path / "outside"),)
