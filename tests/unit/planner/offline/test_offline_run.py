"""Commands really executed in a fixture tree, against what Python computes by itself."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.planner.offline.offline_support import command_for, planner

BASH = shutil.which("bash") or "/bin/bash"
HERE = planner(present=lambda name: shutil.which(name) is not None)
NAMES = ["mia", "Zoe", "mia", "adam", "bo", "Zoe", "mia"]


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "work"
    for folder in ("src/app", "docs", "node_modules/lib", "empty/inner", ".hidden"):
        (root / folder).mkdir(parents=True)
    files = {
        "note3.txt": "x\n" * 37,
        "names.txt": "\n".join(NAMES) + "\n",
        "table.txt": "a 3 x\nb 10 y\nc 2 z\n",
        "data.csv": "1,2,3\n4,5,6\n",
        "src/main.py": "import os\n# TODO one\nprint(1)\n",
        "src/app/util.py": "def util():\n    return 1\n",
        "src/app/big.log": "e" * 5000 + "\n",
        "docs/read me.md": "hello world\nTODO later\n",
        "docs/a.txt": "one\ntwo\n",
        "docs/b.txt": "two\nthree\n",
        "node_modules/lib/index.py": "# TODO vendored\n",
        ".hidden/secret.txt": "s\n",
        "-dash.txt": "d\n",
        "old.tmp": "",
        "it's; odd $(x).txt": "o\n" * 3,
    }
    for name, text in files.items():
        (root / name).write_text(text)
    (root / "huge.bin").write_bytes(b"\0" * 300_000)
    ten_days_ago = time.time() - 10 * 86400
    os.utime(root / "table.txt", (ten_days_ago, ten_days_ago))
    (root / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (root / "link").symlink_to("note3.txt")
    (root / "broken").symlink_to("nowhere")
    yield root


def run(goal: str, root: Path) -> str:
    done = subprocess.run(
        [BASH, "-c", command_for(goal, str(root), using=HERE)],
        cwd=root,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(root), "LC_ALL": "C.UTF-8"},
        timeout=60,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout


def files_in(root: Path, keep: Callable[[Path], bool] = lambda path: True) -> set[str]:
    return {f"./{p.relative_to(root)}" for p in root.rglob("*") if p.is_file() and not p.is_symlink() and keep(p)}


def folders_in(root: Path) -> set[str]:
    return {f"./{p.relative_to(root)}" for p in root.rglob("*") if p.is_dir() and not p.is_symlink()}


LISTS: list[tuple[str, Callable[[Path], set[str]]]] = [
    ("find all python files", lambda r: files_in(r, lambda p: p.suffix == ".py")),
    ("list all .txt and .md files", lambda r: files_in(r, lambda p: p.suffix in (".txt", ".md"))),
    ("find all files containing TODO", lambda r: files_in(r, lambda p: b"TODO" in p.read_bytes())),
    (
        "find all python files containing TODO except in node_modules",
        lambda r: files_in(r, lambda p: p.suffix == ".py" and b"TODO" in p.read_bytes() and "node_modules" not in str(p)),
    ),
    ("find txt files not containing two", lambda r: files_in(r, lambda p: p.suffix == ".txt" and b"two" not in p.read_bytes())),
    ("find files larger than 4 KB", lambda r: files_in(r, lambda p: p.stat().st_size > 4096)),
    ("find files smaller than 10 bytes", lambda r: files_in(r, lambda p: p.stat().st_size < 10)),
    ("find files between 1 KB and 100 KB", lambda r: files_in(r, lambda p: 1024 < p.stat().st_size < 102400)),
    ("files older than 7 days", lambda r: {"./table.txt"}),
    ("files changed in the last two days", lambda r: files_in(r) - {"./table.txt"}),
    ("find empty files", lambda r: {"./old.tmp"}),
    ("list empty folders", lambda r: {"./empty/inner"}),
    ("show all folders", lambda r: folders_in(r) | {"."}),
    ("find broken symlinks", lambda r: {"./broken"}),
    ("find symlinks", lambda r: {"./broken", "./link"}),
    ("find files named 'read me.md'", lambda r: {"./docs/read me.md"}),
    ("find files whose name contains 'odd $('", lambda r: {"./it's; odd $(x).txt"}),
    ("find files named \"it's; odd $(x).txt\"", lambda r: {"./it's; odd $(x).txt"}),
    ("find files starting with note", lambda r: {"./note3.txt"}),
    ("find files ending in .tmp", lambda r: {"./old.tmp"}),
    ("list files here but not in subfolders", lambda r: {f"./{p.name}" for p in r.iterdir() if p.is_file() and not p.is_symlink()}),
    ("find files newer than table.txt", lambda r: files_in(r) - {"./table.txt"}),
    ("find all files excluding hidden ones", lambda r: files_in(r, lambda p: ".hidden" not in str(p))),
    ("find txt files except in docs and .hidden", lambda r: files_in(r, lambda p: p.suffix == ".txt" and p.parent == r)),
]  # fmt: skip


@pytest.mark.few(12)
@pytest.mark.parametrize(("goal", "expected"), LISTS, ids=[goal for goal, _ in LISTS])
def test_lists(goal: str, expected: Callable[[Path], set[str]], tree: Path) -> None:
    assert set(run(goal, tree).splitlines()) == expected(tree)


OUTPUTS: list[tuple[str, str]] = [
    ("count the lines of note3.txt", "37 note3.txt"),
    ("count the lines of ./-dash.txt", "1 ./-dash.txt"),
    ("how many python files are there", "3"),
    ("how many folders are in src", "1"),
    ("how many files contain TODO", "3"),
    ("count the lines of all python files", "6"),
    ("count the words in names.txt", "7 names.txt"),
    ("how many bytes has note3.txt", "74 note3.txt"),
    ("show the first 2 lines of names.txt", "mia\nZoe"),
    ("show the last 2 lines of names.txt", "Zoe\nmia"),
    ("show lines 2 to 4 of names.txt", "Zoe\nmia\nadam"),
    ("show line 4 of names.txt", "adam"),
    ("show column 2 of table.txt", "3\n10\n2"),
    ("show column 2 of data.csv", "2\n5"),
    ("sum column 2 of table.txt", "15"),
    ("sum the third column of data.csv", "9"),
    ("average of column 2 of table.txt", "5"),
    ("sort table.txt by column 1", "a 3 x\nb 10 y\nc 2 z"),
    ("show the unique lines of names.txt", "\n".join(sorted(set(NAMES)))),
    ("find duplicate lines in names.txt", "Zoe\nmia"),
    ("reverse the lines of names.txt", "\n".join(reversed(NAMES))),
    ("convert names.txt to uppercase", "\n".join(NAMES).upper()),
    ("what is the longest line in names.txt", "adam"),
    ("which lines do docs/a.txt and docs/b.txt have in common", "two"),
    ("show lines in docs/a.txt that are not in docs/b.txt", "one"),
    ("count the lines containing mia in names.txt", "3"),
    ("show the lines of names.txt that do not contain mia", "Zoe\nadam\nbo\nZoe"),
    ("find the word adam in names.txt", "adam"),
    ("search for 'ADAM' in names.txt ignoring case", "adam"),
    ("show names.txt", "\n".join(NAMES)),
    ("total size of all python files", "71 bytes"),
    ("where does the link ./link point to", "note3.txt"),
    ("what kind of file is run.sh", "shell script"),
    ("show lines containing TODO in all markdown files", "./docs/read me.md:TODO later"),
    ("print the numbers from 1 to 5", "1\n2\n3\n4\n5"),
    ("what was the date 0 days ago", ""),
    ("which weekday is 2024-12-24", "Tuesday"),
    ("convert the timestamp 86400 to a date", "1970"),
    ("where is bash installed", "bash"),
    ("are docs/a.txt and docs/a.txt identical", "same"),
]


@pytest.mark.few(10)
@pytest.mark.parametrize(("goal", "expected"), OUTPUTS, ids=[goal for goal, _ in OUTPUTS])
def test_outputs(goal: str, expected: str, tree: Path) -> None:
    output = run(goal, tree).strip()
    exact = "\n" in expected or goal.startswith(("count", "show", "how many", "sum", "find"))
    assert output == expected if exact else expected in output


def test_the_largest_files(tree: Path) -> None:
    lines = run("find the 3 largest files under this folder", tree).splitlines()
    sizes = sorted(
        (p.stat().st_size, f"./{p.relative_to(tree)}") for p in tree.rglob("*") if p.is_file() and not p.is_symlink()
    )
    assert [tuple(line.split("\t")) for line in lines] == [(str(size), name) for size, name in sizes[:-4:-1]]


def test_the_smallest_and_the_oldest(tree: Path) -> None:
    assert run("list the smallest file", tree) == "0\t./old.tmp\n"
    assert run("what is the oldest file here", tree).strip().endswith("./table.txt")


def test_frequencies(tree: Path) -> None:
    lines = run("count how often each line occurs in names.txt", tree).split()
    counted = dict(zip(lines[1::2], map(int, lines[::2]), strict=True))
    assert counted == dict(Counter(NAMES))


def test_extensions(tree: Path) -> None:
    words = run("count files by extension", tree).split()
    assert dict(zip(words[1::2], map(int, words[::2]), strict=True))["py"] == 3


def test_checksum(tree: Path) -> None:
    assert run("checksum of huge.bin", tree).split()[0] == hashlib.sha256(b"\0" * 300_000).hexdigest()


def test_duplicates(tree: Path) -> None:
    shutil.copy(tree / "names.txt", tree / "docs" / "copy.txt")
    found = {line.split("  ")[1] for line in run("find duplicate files", tree).splitlines()}
    assert {"./names.txt", "./docs/copy.txt"} <= found


def test_delete_by_filter(tree: Path) -> None:
    before = files_in(tree)
    run("delete all python files except in src", tree)
    assert before == files_in(tree)  # what is installed is not meant unless it is named
    run("delete all python files in node_modules", tree)
    assert before - files_in(tree) == {"./node_modules/lib/index.py"}
    run("delete all empty folders", tree)
    assert not (tree / "empty").exists()
    run("delete files older than 7 days", tree)
    assert not (tree / "table.txt").exists()


def test_delete_odd_names(tree: Path) -> None:
    run('delete "it\'s; odd $(x).txt"', tree)
    run("delete '-dash.txt'", tree)
    assert not {"./it's; odd $(x).txt", "./-dash.txt"} & files_in(tree)
    assert (tree / "names.txt").exists()


def test_move_copy_rename(tree: Path) -> None:
    run("move all txt files to docs", tree)
    assert (tree / "docs" / "note3.txt").exists() and (tree / "docs" / "a.txt").exists()
    run("copy docs/a.txt to first.txt", tree)
    run("rename first.txt to second.txt", tree)
    assert (tree / "second.txt").read_text() == "one\ntwo\n"
    run("copy the folder docs to papers", tree)
    assert (tree / "papers" / "b.txt").exists()
    run("rename all .md files to .markdown", tree)
    assert (tree / "docs" / "read me.markdown").exists()


def test_replace(tree: Path) -> None:
    (tree / "conf.ini").write_text("a.b/c&d\naxb/c&d\n")
    run("replace 'a.b/c&d' with 'x/&\\1 $HOME' in conf.ini", tree)
    assert (tree / "conf.ini").read_text() == "x/&\\1 $HOME\naxb/c&d\n"
    run("replace 'TODO' with 'DONE' in all python files", tree)
    assert "DONE" in (tree / "src" / "main.py").read_text()
    run("delete lines containing 'axb/c' from conf.ini", tree)
    assert (tree / "conf.ini").read_text() == "x/&\\1 $HOME\n"


def test_archives(tree: Path) -> None:
    run("compress the folder src into src.tar.gz", tree)
    with tarfile.open(tree / "src.tar.gz") as archive:
        assert "src/app/util.py" in archive.getnames()
    run("unpack src.tar.gz into ./deep/er", tree)
    assert (tree / "deep/er/src/main.py").exists()
    run("compress all python files into code.tar.gz", tree)
    with tarfile.open(tree / "code.tar.gz") as archive:
        assert "./src/main.py" in archive.getnames()
    run("zip docs/a.txt and docs/b.txt into ab.zip", tree)
    with zipfile.ZipFile(tree / "ab.zip") as packed:
        assert packed.namelist() == ["docs/a.txt", "docs/b.txt"]


def test_make_and_permissions(tree: Path) -> None:
    run("create a folder called 'new one'", tree)
    run("create an empty file called 'new one/x.txt'", tree)
    assert (tree / "new one" / "x.txt").read_bytes() == b""
    run("make run.sh executable", tree)
    assert os.access(tree / "run.sh", os.X_OK)
    run("set the permissions of names.txt to 600", tree)
    assert (tree / "names.txt").stat().st_mode & 0o777 == 0o600
    run("append 'last one' to names.txt", tree)
    assert (tree / "names.txt").read_text().endswith("mia\nlast one\n")


def test_git(tree: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words],
            cwd=tree,
            check=True,
            capture_output=True,
        )

    git("init", "-q", "-b", "main")
    git("add", "names.txt")
    git("commit", "-q", "-m", "first")
    assert run("how many commits are in this repo", tree) == "1\n"
    assert run("which branch am I on", tree) == "main\n"
    assert "first" in run("show the last 3 commits", tree)
    assert run("list files tracked by git", tree) == "names.txt\n"
    (tree / "names.txt").write_text("changed\n")
    run("discard changes to names.txt", tree)
    assert (tree / "names.txt").read_text().startswith("mia\n")
