"""`apply_patch`: tried as a whole, done file by file by the gate, in the form that each file has."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.confirmations import Skipped
from tests.support.fakes import FakePerson
from tests.support.tool_place import ToolPlace


@pytest.fixture
def here(tmp_path: Path) -> ToolPlace:
    here = ToolPlace(tmp_path)
    here.write("a.txt", "one\ntwo\nthree\n")
    here.write("b.txt", "\ufeffeins\r\nzwei\r\n".encode("utf-16-le"))
    here.write("old.txt", "x\n")
    return here


def head(path: str, new: str = "") -> str:
    return f"--- a/{path}\n+++ b/{new or path}\n"


PATCH = (
    head("a.txt") + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" + head("b.txt") + "@@ -2 +2,2 @@\n-zwei\n+2\n+3\n"
    "--- /dev/null\n+++ b/src/new.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2\n"
    "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
)


def test_files_are_changed_made_and_deleted(here: ToolPlace) -> None:
    result = here.call("apply_patch", patch=PATCH)
    assert not result.is_error, result.content
    assert result.content == "changed a.txt (1 hunk)\nchanged b.txt (1 hunk)\ncreated src/new.py\ndeleted old.txt"
    assert result.files_written == ("a.txt", "b.txt", "src/new.py", "old.txt")
    assert (here.root / "a.txt").read_text() == "one\n2\nthree\n"
    assert (here.root / "b.txt").read_bytes() == "\ufeffeins\r\n2\r\n3\r\n".encode("utf-16-le")
    assert (here.root / "src/new.py").read_text() == "x = 1\ny = 2\n" and not (here.root / "old.txt").exists()
    assert len(here.person.asked) == 4 and "-two\n+2" in here.person.asked[0].preview


def test_where_one_hunk_does_not_fit_nothing_is_done(here: ToolPlace) -> None:
    result = here.call("apply_patch", patch=PATCH.replace("-zwei", "-drei"))
    assert result.is_error and "does not fit" in result.content and not here.person.asked


def test_after_a_no_the_rest_is_left(tmp_path: Path) -> None:
    here = ToolPlace(tmp_path, FakePerson(Skipped()))
    here.write("a.txt", "one\n")
    here.write("b.txt", "one\n")
    patch = "".join(head(name) + "@@ -1 +1 @@\n-one\n+1\n" for name in ("a.txt", "b.txt"))
    result = here.call("apply_patch", patch=patch)
    assert result.is_error and result.content.endswith("not changed: b.txt") and len(here.person.asked) == 1


@pytest.mark.covers("S2-20")
@pytest.mark.parametrize(
    "path", ["../x", "/etc/hostname", ".git/config", "out/x", "link", ".env", "gone", "bin", "lfs"]
)
def test_other_places_are_refused(here: ToolPlace, path: str) -> None:
    (here.root / "out").symlink_to("/tmp")
    (here.root / "link").symlink_to("a.txt")
    here.write(".env", "one\n")
    here.write("bin", b"one\n\0")
    here.write("lfs", "version https://git-lfs.github.com/spec/v1\none\n")
    for old, new in ((path, path), ("/dev/null", path)):
        if new in ("gone",) and old == "/dev/null":
            continue
        lines = (
            f"--- {old if old == '/dev/null' else f'a/{old}'}\n+++ b/{new}\n@@ -1 +1 @@\n"
            + ("" if old == "/dev/null" else "-one\n")
            + "+1\n"
        )
        assert here.call("apply_patch", patch=lines).is_error and not here.person.asked


def test_a_secret_that_is_not_shown_stays_what_it_is(here: ToolPlace) -> None:
    here.write("c.py", "key = 'sk-1'\nx = 1\n")
    assert not here.call("apply_patch", patch=head("c.py") + "@@ -2 +2 @@\n-x = 1\n+x = 2\n").is_error
    assert (here.root / "c.py").read_text() == "key = 'sk-1'\nx = 2\n"
    result = here.call("apply_patch", patch=head("c.py") + "@@ -2 +2 @@\n-x = 2\n+y = '[redacted:api-key:3f2a]'\n")
    assert result.is_error and "secret" in result.content


@pytest.mark.parametrize(
    "patch",
    [PATCH + head("a.txt") + "@@ -1 +1 @@\n-one\n+1\n", "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", ""],
)
def test_what_cannot_be_meant_is_refused(here: ToolPlace, patch: str) -> None:
    assert here.call("apply_patch", patch=patch).is_error and not here.person.asked
