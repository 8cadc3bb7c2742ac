"""`rename_files`: checked as a whole, done one by one by the gate, and told in the document's form."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agent.protocol.confirmations import Approved, Skipped
from tests.support.fakes import FakePerson
from tests.support.tool_place import ToolPlace, git


@pytest.fixture
def here(tmp_path: Path) -> ToolPlace:
    here = ToolPlace(tmp_path, FakePerson(words=("proceed",)))
    for name in ("a", "b", "dir/one", "dir/deep/two", "other/three"):
        here.write(name, name)
    (here.root / "link").symlink_to("a")
    (here.root / "out").symlink_to("/tmp")
    os.mkfifo(here.root / "pipe")
    return here


def tree(here: ToolPlace) -> dict[str, str]:
    return {
        str(path.relative_to(here.root)): path.read_text()
        for path in sorted(here.root.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts
    }


def ops(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"from_path": source, "to_path": target} for source, target in pairs]


@pytest.mark.covers("S2-7", "S2-8")
def test_files_and_folders_are_moved_and_each_is_told(here: ToolPlace) -> None:
    result = here.call(
        "rename_files", operations=ops(("a", "new/a"), ("dir", "moved"), ("b", "b"), ("moved/one", "one"))
    )
    assert not result.is_error and result.files_written == ("new/a", "moved", "one")
    assert here.told("rename_files", operations=ops(("new/a", "a"))) == {
        "ok": True,
        "summary": {"moved": 1, "skipped": 0, "errors": 0},
        "results": [{"from_path": "new/a", "to_path": "a", "status": "moved", "message": ""}],
    }
    assert tree(here) == {
        "a": "a",
        "b": "b",
        "moved/deep/two": "dir/deep/two",
        "one": "dir/one",
        "other/three": "other/three",
    }
    assert [each.proposal.command.split()[0] for each in here.person.asked] == ["rename_file"] * 4


@pytest.mark.covers("S2-7")
def test_a_dry_run_tells_and_does_nothing(here: ToolPlace) -> None:
    before = tree(here)
    told = here.told("rename_files", operations=ops(("a", "c"), ("c", "d"), ("a", "e"), ("b", "../x")), dry_run=True)
    assert [each["status"] for each in told["results"]] == ["would move", "would move", "error", "error"]
    assert (told["ok"], told["summary"]) == (False, {"moved": 2, "skipped": 0, "errors": 2})
    assert tree(here) == before and not here.person.asked


def test_where_one_cannot_be_none_is_done(here: ToolPlace) -> None:
    before = tree(here)
    told = here.told("rename_files", operations=ops(("a", "c"), ("gone", "d")))
    assert [each["status"] for each in told["results"]] == ["skipped", "error"]
    assert tree(here) == before and not here.person.asked


@pytest.mark.covers("S2-7")
@pytest.mark.parametrize(
    ("pair", "after"),
    [
        (("a", "b"), {"b": "a", "dir/one": "dir/one", "dir/deep/two": "dir/deep/two", "other/three": "other/three"}),
        (("dir", "other"), {"a": "a", "b": "b", "other/one": "dir/one", "other/deep/two": "dir/deep/two"}),
    ],
)
def test_what_is_there_is_replaced_only_when_that_is_said(
    here: ToolPlace, pair: tuple[str, str], after: dict[str, str]
) -> None:
    before = tree(here)
    told = here.told("rename_files", operations=ops(pair))
    assert not told["ok"] and "`overwrite`" in told["results"][0]["message"] and tree(here) == before
    told = here.told("rename_files", operations=ops(pair), overwrite=True)
    assert told["ok"] and tree(here) == after
    assert here.person.asked[0].proposal.command.startswith("rename_file --overwrite ")
    undo = next(r.event.undo_id for r in here.world.recorder.records if type(r.event).__name__ == "CommandFinished")
    here.world.undo(undo)
    assert tree(here) == before


def test_two_files_change_names(here: ToolPlace) -> None:
    told = here.told("rename_files", operations=ops(("a", "tmp"), ("b", "a"), ("tmp", "b")))
    assert told["ok"] and (here.root / "a").read_text() == "b" and (here.root / "b").read_text() == "a"


@pytest.mark.few(8)
@pytest.mark.covers("S2-7", "S2-20")
@pytest.mark.parametrize(
    "pair",
    [
        ("a", "../a"), ("../x", "a2"), ("/etc/hostname", "x"), ("a", "/tmp/a"), ("a", "out/a"), ("out/x", "a2"), (".git/config", "x"),
        ("a", ".git/x"),
        ("a", ".GIT/hooks/x"), (".git", "git"), ("a", ".env"), ("dir", "dir/deep/in"), ("dir/deep", "dir"), (".", "x"), ("a", "."),
        ("pipe", "p"),
        ("gone", "x"), ("a", "dir"), ("dir", "a"), ("a", "b/x"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_before_anybody_is_asked(here: ToolPlace, pair: tuple[str, str]) -> None:
    before = tree(here)
    told = here.told("rename_files", operations=ops(pair), overwrite=True)
    assert told["summary"]["errors"] == 1 and told["results"][0]["message"]
    assert tree(here) == before and not here.person.asked


def test_a_folder_with_a_repository_in_it_is_left_to_git(here: ToolPlace) -> None:
    (here.root / "vendor/lib").mkdir(parents=True)
    git(here.root / "vendor/lib", "init", "-q")
    told = here.told("rename_files", operations=ops(("vendor", "third")))
    assert "git mv" in told["results"][0]["message"] and not here.person.asked


def test_of_a_link_the_link_is_moved(here: ToolPlace) -> None:
    assert here.told("rename_files", operations=ops(("link", "dir/link")))["ok"]
    assert (here.root / "dir/link").is_symlink() and (here.root / "a").exists()


def test_after_a_no_the_rest_is_left(tmp_path: Path) -> None:
    class Once(FakePerson):
        async def confirm(self, request: Any) -> Any:
            self.asked.append(request)
            return Approved(command=request.proposal.command) if len(self.asked) == 1 else Skipped()

    here = ToolPlace(tmp_path, Once())
    for name in "abc":
        here.write(name, name)
    result = here.call("rename_files", operations=ops(("a", "x"), ("b", "y"), ("c", "z")))
    assert result.is_error and result.files_written == ("x",) and len(here.person.asked) == 2
    assert tree(here) == {"x": "a", "b": "b", "c": "c"}
