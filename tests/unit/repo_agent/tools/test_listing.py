"""Files and text that the repo agent finds: those that git knows of and does not ignore, wherever the repository tries to lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.repo_agent.tools import listing
from tests.support.tool_place import ToolPlace, git


@pytest.fixture
def here(tmp_path: Path) -> ToolPlace:
    here = ToolPlace(tmp_path)
    here.write(".gitignore", "build/\n*.log\n")
    here.write("a.py", "import os\nNeedle = 1\r\n")
    here.write("src/b.py", "needle = 2\n")
    here.write("src/deep/c.txt", "a needle\n" * 30)
    here.write("build/out.py", "needle\n")
    here.write("x.log", "needle\n")
    here.write("kept.log", "needle\n")
    here.write("we:ird\nname", "needle")
    here.write("bin", b"needle\0\n")
    here.write(".env", "needle=1\n")
    (here.root / "link.py").symlink_to("/etc/passwd")
    (here.root / "out").symlink_to("/etc")
    git(here.root, "add", "-f", "kept.log", "a.py", ".gitignore")
    here.write("gone.py", "needle")
    git(here.root, "add", "gone.py")
    (here.root / "gone.py").unlink()
    return here


def test_what_git_ignores_is_left_out(here: ToolPlace) -> None:
    names = here.call("list_files").content.split("\n")
    assert {"a.py", "src/b.py", "src/deep/c.txt", "kept.log", ".gitignore", "link.py"} <= {*names}
    assert not {"x.log", "build/out.py", "gone.py"} & {*names} and not any(
        name.startswith((".git/", "out/")) for name in names
    )


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"path": "src"}, ["src/b.py", "src/deep/c.txt"]),
        ({"path": "./src/deep/"}, ["src/deep/c.txt"]),
        ({"pattern": "*.py"}, ["a.py", "link.py", "src/b.py"]),
        ({"path": "src", "pattern": "*.txt"}, ["src/deep/c.txt"]),
        ({"pattern": "src/*.py"}, ["src/b.py"]),
        ({"pattern": "*.rs"}, ["no such file"]),
    ],
)
def test_a_list_can_be_narrowed(here: ToolPlace, arguments: dict[str, str], names: list[str]) -> None:
    result = here.call("list_files", **arguments)
    assert not result.is_error and result.content.split("\n") == names


def test_of_many_files_folders_are_counted(here: ToolPlace) -> None:
    for n in range(500):
        here.write(f"many/d{n % 3}/f{n}", "")
    lines = here.call("list_files").content.split("\n")
    assert (
        lines[0].endswith("files; name a folder or a pattern to see them:")
        and "many/ 500 files" in lines
        and "a.py" in lines
    )
    assert "many/d0/ 167 files" in here.call("list_files", path="many").content


def test_a_name_is_no_pattern(here: ToolPlace) -> None:
    here.write("w[ab]/x", "needle")
    here.write("wa/x", "needle")
    for arguments in ({"path": "w[ab]"}, {"path": "w[ab]", "pattern": "x"}):
        assert here.call("list_files", **arguments).content == "w[ab]/x"


def test_lines_are_found_with_their_places(here: ToolPlace) -> None:
    lines = here.call("search", pattern=r"needle( =|\b)").content.split("\n")
    assert "src/b.py:1: needle = 2" in lines
    assert not any(line.startswith(("x.log", "build", ".env", "bin", "link", "out")) for line in lines)
    assert sum(line.startswith("src/deep/c.txt:") for line in lines) == 20 and "lines in" in lines[-1]


def test_a_search_can_be_narrowed(here: ToolPlace) -> None:
    assert (
        here.call("search", pattern="NEEDLE", ignore_case=True, files="*.py").content
        == "a.py:2: Needle = 1\nsrc/b.py:1: needle = 2"
    )
    assert here.call("search", pattern="needle", path="src/b.py").content == "src/b.py:1: needle = 2"
    assert here.call("search", pattern="nothing").content == "no line matches"
    assert here.call("search", pattern="--output=x").content == "no line matches"


@pytest.mark.few(4)
@pytest.mark.covers("S2-20")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_files", {"path": ".."}), ("list_files", {"path": "out"}), ("list_files", {"path": "/etc"}),
        ("list_files", {"path": "nowhere"}),
        ("list_files", {"path": ".git"}),
        ("list_files", {"pattern": "../*"}), ("list_files", {"pattern": "/etc/*"}), ("search", {"pattern": "root", "path": "out"}),
        ("search", {"pattern": ""}), ("search", {"pattern": "a\nb"}), ("search", {"pattern": "("}),
        ("search", {"pattern": "a", "files": "../*"}),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(here: ToolPlace, tool: str, arguments: dict[str, str]) -> None:
    result = here.call(tool, **arguments)
    assert result.is_error and result.content


def test_a_repository_cannot_have_programs_run(here: ToolPlace, tmp_path: Path) -> None:
    spoor = tmp_path / "ran"
    program = here.write("evil.sh", f"#!/bin/sh\ntouch {spoor}\ncat\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "diff.x.textconv", "core.pager", "filter.x.clean", "core.sshCommand"):
        git(here.root, "config", name, str(program))
    here.write(".gitattributes", "* diff=x filter=x\n")
    git(here.root, "config", "grep.textconv", "true")
    here.call("list_files")
    assert "needle = 2" in here.call("search", pattern="needle").content
    assert not spoor.exists()


def test_submodules_are_named_and_not_entered(here: ToolPlace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / "inner.py").write_text("needle")
    git(other, "add", ".")
    git(other, "commit", "-qm", "x")
    git(here.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    git(here.root, "config", "submodule.recurse", "true")
    assert "sub" in here.call("list_files").content.split("\n")
    assert "sub/" not in here.call("search", pattern="needle").content
    assert os.path.exists(here.root / "sub/inner.py")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "narrowed", [{}, {"path": "src"}, {"files": "*.py"}, {"pattern": "needle.*2"}, {"pattern": "("}]
)
def test_what_is_found_by_the_index_is_what_stands_in_the_files(
    here: ToolPlace, narrowed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Committed, changed, staged, removed, renamed, new, ignored, of odd names: by reading all files it is the same."""
    git(here.root, "add", "-A")
    git(here.root, "commit", "-qm", "all")
    here.write("a.py", "needle in place of it\n")
    here.write("src/b.py", "nothing\n")
    here.write("src/new.py", "a new needle 2\n")
    here.write("src/sta ged.py", "needle\nneedle\n")
    git(here.root, "add", "src/sta ged.py")
    here.write("src/sta ged.py", "one needle\n")
    git(here.root, "mv", "src/deep/c.txt", "src/deep/d.txt")
    (here.root / "we:ird\nname").unlink()
    git(here.root, "rm", "-q", "kept.log")  # tracked and ignored: reading all files, git leaves it out
    here.write("src/deep/d.txt", "a needle\n" * 3)
    quickly = here.call("search", **{"pattern": "needle", **narrowed})
    monkeypatch.setattr(listing, "_MOST_CHANGED", 0)  # then each file is opened
    slowly = here.call("search", **{"pattern": "needle", **narrowed})
    assert sorted(quickly.content.split("\n")) == sorted(slowly.content.split("\n"))
    assert quickly.is_error == slowly.is_error == (narrowed.get("pattern") == "(")
