"""The same goal in many wordings gives one command; and wordings that are put into others say what they said."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from offline_support import command_for

from agent.planner.offline.grammar.rewording import reworded
from agent.planner.offline.grammar.rewordings import ROWS
from agent.planner.offline.spared_folders import without_spared_folders
from tests.support.each import each

FAMILIES = Path(__file__).with_name("wordings.txt")
FILES = {
    "fruits.txt": "banana\napple\ncherry\napple\ndate\nbanana\n",
    "poem.txt": "The sun climbs over the hill\nand the river answers.\n\nThe wind is at the river\n",
    "numbers.txt": "42\n7\n100\n",
    "employees.csv": "id,name,department,salary,city\n1,Al,Engineering,82000,Berlin\n2,Bob,Sales,54000,Paris\n3,Eve,Sales,61000,Rome\n",
    "sales.csv": "date,region,product,units,price\n2024-01-05,north,apple,10,1.50\n2024-01-06,south,pear,4,2.00\n",
    "config.conf": "# server\nport=8080\nhost=localhost\n\ndebug=false\n",
    "notes.txt": "call the bank\n",
    "todo.txt": "buy milk\n",
    "settings.ini": "; what we log\n[log]\nlevel = info\nname = 'old'\n",
    "app.yaml": "http:\n  debug: false\n  port: 8080\n",
    "main.py": "import os\n# setup\nprint(os)\n",
    "node_modules/x.js": "x\n",
    "photos/a.jpg": "x\n",
    "letters/a.txt": "x\n",
    "recipes/a.txt": "x\n",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("world")
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return str(root)


def families() -> list[tuple[str, str]]:
    """(goal, command) of all families."""
    rows, command = [], ""
    for line in FAMILIES.read_text().splitlines():
        if line.startswith("$ "):
            command = line[2:]
        elif line.strip() and not line.startswith("#"):
            rows.append((line, command))
    return rows


@pytest.fixture(scope="module")
def outcome(world: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[str, dict[str, str]]]:
    """What a command prints, and what is there behind it, in a copy of the world of its own."""

    @cache
    def run(command: str) -> tuple[str, dict[str, str]]:
        copy = tmp_path_factory.mktemp("copy") / "world"
        shutil.copytree(world, copy)
        done = subprocess.run(
            ["bash", "-c", command], cwd=copy, capture_output=True, text=True, check=False, timeout=30
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout, {str(path.relative_to(copy)): _what(path) for path in sorted(copy.rglob("*"))}

    return run


def _what(path: Path) -> str:
    """Kind, rights and content; of an archive only that it is there, because it holds times."""
    if path.is_symlink():
        return f"-> {path.readlink()}"
    text = "" if path.is_dir() or path.name.endswith(".gz") else path.read_text()
    return f"{stat.S_IMODE(path.stat().st_mode):o} {text}"


@each("goal, command", families())
def test_all_wordings_of_a_goal_do_the_same(
    goal: str, command: str, world: str, outcome: Callable[[str], tuple[str, dict[str, str]]]
) -> None:
    given = command_for(goal, world)
    assert given == command or outcome(given) == outcome(command), given


@each(
    "goal, command",
    [
        ("set level to debug in settings.ini", "sed -i 's/^level = .*/level = debug/' settings.ini"),
        ("change level from info to warn in settings.ini", "sed -i 's/^level = .*/level = warn/' settings.ini"),
        ("turn debug on in app.yaml", "sed -i 's/^  debug: .*/  debug: true/' app.yaml"),
        ("disable debug in app.yaml", "sed -i 's/^  debug: .*/  debug: false/' app.yaml"),
        ("comment out the lines with import in main.py", "sed -i '/import/s/^/# /' main.py"),
        ("comment out line 2 of main.py", "sed -i '2s/^/# /' main.py"),
        ("uncomment the line with setup in main.py", r"sed -i '/setup/s/^\([[:space:]]*\)# \{0,1\}/\1/' main.py"),
        ("take the write permission away from others on notes.txt", "chmod o-w notes.txt"),
        ("make everything in letters readable by everyone", "chmod -R a+r letters"),
        ("copy the permissions of notes.txt to todo.txt", "chmod --reference=notes.txt todo.txt"),
        ("create a hard link h.txt to notes.txt", "ln notes.txt h.txt"),
        ("create a symlink letters/n.txt to notes.txt", "ln -sr notes.txt letters/n.txt"),
        ("set the modification date of notes.txt to 2020-01-31", "touch -d 2020-01-31 notes.txt"),
        ("create nested folders a/b/c", "mkdir -p a/b/c"),
        ("make folders for the years 2020 up to 2022", "mkdir -p 2020 2021 2022"),
        ("full path of notes.txt", "realpath notes.txt"),
        ("where is x.js", "find . -name x.js"),
    ],
)
def test_whole_sentences(goal: str, command: str, world: str) -> None:
    assert command_for(goal, world) == without_spared_folders(command)


@each(
    "said, known",
    [
        ("files apart from a.txt", "files except a.txt"),
        ("all lines, regardless of upper or lower case", "all lines, ignoring case"),
        ("lines starting with a in x.txt", "lines starting with 'a' in x.txt"),
        ("lines with the word the", "lines with the word 'the'"),
        ("x.txt with b instead of a", "x.txt with a replaced by b"),
        ("files modified during february 2024", "files modified between 2024-02-01 and 2024-02-29"),
        ("files changed since the first of March 2024", "files changed since 2024-03-01"),
        ("files larger than two megabytes", "files larger than 2 megabytes"),
        ("notes.txt: number of lines", "number of lines in notes.txt"),
        ("links that lead nowhere", "broken symbolic links"),
        # What is quoted, and what is said plainly, stays as it is.
        ("lines with 'apart from' in x.txt", "lines with 'apart from' in x.txt"),
        ('replace "the heaviest" with "all of it" in x.txt', 'replace "the heaviest" with "all of it" in x.txt'),
        ("find files larger than 1M in src", "find files larger than 1M in src"),
        ("find all PDF files", "find all PDF files"),
    ],
)
def test_rewording(said: str, known: str) -> None:
    assert reworded(said) == known


def test_a_wording_is_put_into_words_that_stay() -> None:
    """Twice is as once, so that no row undoes or repeats another."""
    goals = [goal for goal, _ in families()]
    moved = [(goal, once, reworded(once)) for goal in goals if (once := reworded(goal)) != reworded(once)]
    assert moved == []


def test_hostile_text_ends() -> None:
    """A pattern that explodes would never come to its end."""
    texts = [("every " * 66), "a" * 399, "in the " * 57, "1 " * 199, "with all of " * 33, "'" * 399, "from x to " * 39]
    for text in texts:
        assert isinstance(reworded(text), str)
        for row in ROWS:
            row.pattern.search(text[:400])
