"""What CONTRIBUTING.md shows how to add is added, in a tree of its own, and does what is said there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SECTIONS = re.split(r"^### ", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.M)[1:]
WALKTHROUGHS = {
    section.partition("\n")[0]: section.partition("```diff\n")[2].partition("```\n")[0] for section in SECTIONS
}


def apply(diff: str, tree: Path) -> None:
    """Do what the diff says to the files of `tree`, which links to those of the repository."""
    parts = re.split(r"^\+\+\+ b/(.+)\n", diff, flags=re.M)
    assert parts[0] == ""
    for name, changes in zip(parts[1::2], parts[2::2], strict=True):
        path = tree / name
        for folder in (*reversed(path.relative_to(tree).parents[:-1]),):
            _take_apart(tree / folder)
        text = path.read_text() if path.exists() else ""
        for hunk in re.split(r"^@@\n", changes, flags=re.M):
            lines = hunk.splitlines(keepends=True)
            before = "".join(line[1:] for line in lines if line[0] in " -")
            after = "".join(line[1:] for line in lines if line[0] in " +")
            assert text.count(before) == 1 if before else not path.exists(), f"{name} has changed: {before}"
            text = text.replace(before, after) if before else after
        path.unlink(missing_ok=True)
        path.write_text(text)


def _take_apart(folder: Path) -> None:
    """Make of a link to a folder a folder of links: to what is compiled too, as long as its source is the same."""
    if folder.is_symlink():
        real = folder.resolve()
        folder.unlink()
        folder.mkdir()
        for entry in real.iterdir():
            (folder / entry.name).symlink_to(entry)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for part in ("agent", "tests"):
        (tmp_path / part).symlink_to(ROOT / part)
    return tmp_path


def done(tree: Path, code: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tree), "HOME": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tree,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_each_walkthrough_is_known_here() -> None:
    assert [*WALKTHROUGHS] == ["A command in one module", "A tool in one module and one line", "An event in one class"]
    for diff in WALKTHROUGHS.values():
        assert len(re.findall(r"^\+\+\+ ", diff, re.M)) == 2  # files that somebody touches who adds one


def test_a_command(tree: Path) -> None:
    apply(WALKTHROUGHS["A command in one module"], tree)
    said = done(
        tree,
        "from tests.support.command_world import CommandWorld\n"
        "from tests.unit.commands.test_stamp import *\n"
        "from tests.support.docs_check import commands_page\n"
        "test_without_a_log_there_is_nothing_to_stamp_in()\n"
        "world = CommandWorld()\n"
        "world.recorder.path = 'log'\n"
        "world.do(':stamp before the upgrade')\n"
        "print(world.result.text)\n"
        "print(':stamp before the upgrade' in commands_page())\n",
    )
    assert re.fullmatch(r"\d\d:\d\d:\d\d before the upgrade\nTrue\n", said), said


def test_a_tool(tree: Path) -> None:
    apply(WALKTHROUGHS["A tool in one module and one line"], tree)
    (tree / "file").write_text("x" * 1234)
    said = done(
        tree,
        "import asyncio\n"
        "from agent.tools.own_tools import own_tools\n"
        "tool = own_tools('.')['file_size']\n"
        "for path in ('file', 'nothing', '../file'):\n"
        "    result = asyncio.run(tool.run({'path': path}, None))\n"
        "    print(result.content if not result.is_error else 'refused')\n",
    )
    assert said == "1,234 bytes\nrefused\nrefused\n"


@pytest.mark.thorough
def test_an_event(tree: Path) -> None:
    apply(WALKTHROUGHS["An event in one class"], tree)
    said = done(
        tree,
        "from pathlib import Path\n"
        "from agent.protocol.events.known import event_schema\n"
        "from tests.unit.engine.test_stream import test_every_type_that_is_recorded_is_emitted as check\n"
        "check(Path('place'))\n"
        "logs = [path.read_text() for path in Path('place').rglob('*.jsonl')]\n"
        "print('session.stamped' in str(event_schema()), any('session.stamped' in log for log in logs))\n",
    )
    assert said == "True True\n"
