"""A pre-image covers everything that a command writes, or says what it does not cover: each command is run, and compared."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent.execution.journal.targets import targets_of
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify

TREE = r"""
printf '1\n2\n' > a.txt; printf '1\n3\n' > b.txt; mkdir d1 d3 d4; echo f > d1/f; echo old > d3/a.txt; printf 'a.txt\nb.txt\n' > list
echo z > z; gzip z; ln -s a.txt l2; ln -s d1 l3; for i in 2 3 4; do echo mine > f$i; done
"""
WORKED_OUT = "files with names that it works out while it runs"


def told(command: str, folder: Path) -> tuple[set[str], set[str]]:
    """Names that are kept, and what is said not to be."""
    report = classify(command, RiskContext(cwd=str(folder), workspace=str(folder), home="/nonexistent"))
    targets, unknown = targets_of(report, str(folder))
    return {os.path.relpath(os.fsdecode(each.path), folder) for each in targets}, {each.reason for each in unknown}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.few(12)
@pytest.mark.parametrize(
    "command",
    [
        "for i in $(seq 1 5); do echo $i > f$i; done",
        "i=0; while [ $i -lt 5 ]; do i=$((i+1)); echo > f$i; done",
        "n=; for x in a b c; do n=$n$x; echo > f$n; done",
        "seq 3 | xargs -I{} touch n{}",
        "t=$(mktemp -p .); echo x > $t",
        "echo x > f$RANDOM",
        "n=1; ((n++)); echo x > f$n",
        "declare -i n=1; n+=1; echo x > f$n",
        "echo x > ${HOME:-no}name",
        "touch q{01..03}",
        "ln a.txt hh; echo z >> hh",
        "ln -s a.txt l && echo z > l",
        "ln -sfn d3 l3; rm l3/a.txt",
        "ln -sfn d3 l3; mv l3/a.txt l3/b.txt",
        "cp -l a.txt q; echo z >> q",
        "cp -rl d1 d5; echo z >> d5/f",
        "cp --parents d1/f d3",
        "cd d1; rm f; cd ..; rm a.txt",
        "cd d1; echo x > f; cd ..; echo x > a.txt",
        "cd none; echo x > f2; rm a.txt",
        "x=d1; cd $x; echo x > f",
        "cd $OLDPWD; echo x > a.txt",
        "pushd d1 >/dev/null; echo x > f; popd >/dev/null; echo x > a.txt",
        "awk '{print > \"o\" NR}' a.txt",
        "split -l 1 a.txt part",
        "cp --backup a.txt b.txt",
        "mv -t d3 a.txt b.txt",
        "gzip a.txt",
        "gzip -k a.txt",
        "gzip -dk z.gz",
        "gunzip z.gz",
        "gzip *.txt",
        "sed -i.bak s/1/2/ a.txt",
        "sed -n -i.bak s/1/2/p a.txt",
        "sed '-i*-old' s/1/2/ a.txt",
        'for f in *.txt; do mv "$f" "${f%.txt}.md"; done',
        'for f in *.txt; do cp "$f" "$f.bak"; done',
        "echo x > l2",
        "cp b.txt l2",
        "cp -rT d1 d3",
        "mv -T d1 d4",
        "mv --no-target-directory d1 d4/../d4",
        "install -T a.txt l2",
        "mkdir -p d3 && cp b.txt d3/new",
    ],
)
def test_no_change_is_neither_kept_nor_told(tmp_path: Path, command: str) -> None:
    subprocess.run(["bash", "-c", TREE], cwd=tmp_path, check=True)
    kept, remarks = told(command, tmp_path)
    before = contents(tmp_path)
    environment = {"PATH": os.environ["PATH"], "HOME": "its"}
    subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, check=False, capture_output=True)
    after = contents(tmp_path)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed
    assert all(any(Path(name).is_relative_to(each) for each in kept) for name in changed) or remarks


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("gzip a.txt", {"a.txt", "a.txt.gz"}),
        ("gunzip z.gz", {"z.gz", "z"}),
        ("xz -9k a.txt", {"a.txt", "a.txt.xz"}),
        ("sed -i.bak s/1/2/ a.txt", {"a.txt", "a.txt.bak"}),
        ("sed -i 's/hello world/w x/' a.txt", {"a.txt"}),
        ("cp a.txt b.txt d3", {"d3/a.txt", "d3/b.txt"}),
        ("rm *.txt", {"a.txt", "b.txt"}),
        ("for f in a.txt b.txt; do sed -i s/1/2/ $f; done", {"a.txt", "b.txt"}),
    ],
)
def test_what_is_covered_has_no_remark(tmp_path: Path, command: str, kept: set[str]) -> None:
    subprocess.run(["bash", "-c", TREE], cwd=tmp_path, check=True)
    assert told(command, tmp_path) == (kept, set())


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("ln -sfn a.txt way", {"way"}),
        ("ln -s -f --no-dereference a.txt way", {"way"}),
        ("ln -sf a.txt way", {"d1/a.txt"}),
        ("ln -sfT a.txt way", {"way"}),
        ("ln -sfn a.txt d1", {"d1/a.txt"}),
        ("cp -T a.txt l2", {"l2", "a.txt"}),
        ("mv -fT a.txt l2", {"l2", "a.txt"}),
    ],
)
def test_a_folder_is_what_is_replaced_where_an_option_says_so(tmp_path: Path, command: str, kept: set[str]) -> None:
    subprocess.run(["bash", "-c", f"{TREE} ln -s d1 way"], cwd=tmp_path, check=True)
    assert told(command, tmp_path) == (kept, set())


def test_names_made_up_while_it_runs_are_told_to_be_left_out(tmp_path: Path) -> None:
    assert told("for i in $(seq 1 5); do echo $i > f$i; done", tmp_path) == ({"f1"}, {WORKED_OUT})


def test_a_command_of_which_nothing_is_kept_needs_no_second_reason(tmp_path: Path) -> None:
    assert told("make $RANDOM", tmp_path)[1].isdisjoint({WORKED_OUT})
