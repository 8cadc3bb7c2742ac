"""Files that the repo agent reads and writes: through the gate, and in the form that they have."""

from __future__ import annotations

import os
import shutil
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from agent.protocol.confirmations import Skipped
from tests.support.fakes import FakePerson
from tests.support.tool_place import ToolPlace


@pytest.fixture
def here(tmp_path: Path) -> ToolPlace:
    return ToolPlace(tmp_path)


@pytest.mark.covers("S2-5")
def test_a_file_is_written_by_the_gate_and_can_be_taken_back(here: ToolPlace) -> None:
    file = here.write("a.txt", "old\n")
    file.chmod(0o750)
    result = here.call("write_file", path="a.txt", content="new\n")
    assert (result.is_error, result.files_written) == (False, ("a.txt",))
    assert file.read_text() == "new\n" and stat.S_IMODE(file.stat().st_mode) == 0o750
    (asked,) = here.person.asked
    assert asked.proposal.command == f"write_file {file}" and "-old\n+new\n" in asked.preview
    assert "command.started" in here.world.recorder.types
    (undo_id,) = (r.event.undo_id for r in here.world.recorder.records if type(r.event).__name__ == "CommandFinished")
    here.world.undo(undo_id)
    assert file.read_text() == "old\n"


def test_a_new_file_gets_its_folders(here: ToolPlace) -> None:
    assert here.call("write_file", path="src/pkg/new.py", content="x = 1\n").files_written == ("src/pkg/new.py",)
    assert (here.root / "src/pkg/new.py").read_text() == "x = 1\n"


FORMS = {
    "windows": (b"one\r\ntwo\r\n", b"1\r\n2\r\n"),
    "mark": (b"\xef\xbb\xbfone\ntwo\n", b"\xef\xbb\xbf1\n2\n"),
    "both": (b"\xef\xbb\xbfone\r\ntwo\r\n", b"\xef\xbb\xbf1\r\n2\r\n"),
    "little": ("\ufeffone\r\nzw\u00f6lf\r\n".encode("utf-16-le"), "\ufeff1\r\n2\r\n".encode("utf-16-le")),
    "big": ("\ufeffone\n".encode("utf-16-be"), "\ufeff1\n2\n".encode("utf-16-be")),
    "one line": (b"one", b"1\n2\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_file_is_written_in_stays(here: ToolPlace, form: str) -> None:
    before, after = FORMS[form]
    file = here.write("a.txt", before)
    result = here.call("write_file", path="a.txt", content="1\n2\n")
    assert not result.is_error and file.read_bytes() == after
    here.call("write_file", path="a.txt", content="\ufeff1\r\n2\r\n" if before.startswith(b"\xef") else "1\r\n2\r\n")
    assert form == "one line" or file.read_bytes() == after, "its form does not depend on how the model says it"


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (b"caf\xe9\n", "UTF-8"),
        (b"\x7fELF\0\0", "no text"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS"),
        (b"\xff\xfe\0\0a\0\0\0", "no text"),
        (b"x" * 1_000_001, "longer than"),
    ],
)
def test_what_cannot_be_kept_in_its_form_is_refused_in_words(here: ToolPlace, before: bytes, said: str) -> None:
    file = here.write("a", before)
    result = here.call("write_file", path="a", content="x")
    assert result.is_error and said in result.content and file.read_bytes() == before and not here.person.asked


@pytest.mark.covers("S2-20")
@pytest.mark.parametrize("path", ["../x", "/tmp/x", ".git/config", "out/x", ".env", "dir", ".", "link", "pipe"])
def test_other_places_are_refused_before_anybody_is_asked(here: ToolPlace, path: str) -> None:
    (here.root / "dir").mkdir()
    (here.root / "out").symlink_to("/tmp")
    (here.root / "link").symlink_to("a")
    os.mkfifo(here.root / "pipe")
    assert here.call("write_file", path=path, content="x").is_error and not here.person.asked


@pytest.mark.covers("S2-21")
@pytest.mark.parametrize(
    "arguments", [{}, {"path": "a"}, {"path": 1, "content": ""}, {"path": "a", "content": "", "mode": 7}]
)
def test_arguments_that_do_not_fit_are_told(here: ToolPlace, arguments: dict[str, object]) -> None:
    result = here.call("write_file", **arguments)
    assert result.is_error and "its arguments are: path, content" in result.content


def test_a_no_and_the_same_text_change_nothing(tmp_path: Path) -> None:
    here = ToolPlace(tmp_path, FakePerson(Skipped()))
    here.write("a", "old")
    result = here.call("write_file", path="a", content="old")
    assert not result.is_error and not result.files_written and not here.person.asked
    assert here.call("write_file", path="a", content="new").is_error and (here.root / "a").read_text() == "old"


def test_a_label_in_place_of_a_secret_is_not_written(here: ToolPlace) -> None:
    here.write("a", "key = 'sk-1'\n")
    result = here.call("write_file", path="a", content="key = '[redacted:api-key:3f2a]'\n")
    assert result.is_error and "secret" in result.content and not here.person.asked


def test_a_folder_that_is_swapped_while_the_person_thinks(tmp_path: Path) -> None:
    class Swapping(FakePerson):
        async def confirm(self, request):  # type: ignore[no-untyped-def]
            os.rename(here.root / "dir", here.root / "was")
            (here.root / "dir").symlink_to(tmp_path)
            return await super().confirm(request)

    here = ToolPlace(tmp_path, Swapping())
    (here.root / "dir").mkdir()
    assert here.call("write_file", path="dir/x", content="x").is_error
    assert not (tmp_path / "x").exists()


@pytest.mark.thorough
@pytest.mark.covers("S2-20")
def test_a_folder_that_is_swapped_again_and_again_is_never_written_through(tmp_path: Path) -> None:
    """One thread turns a folder into a link out and back; whatever is written, nothing of it is outside."""
    here, over, outside = ToolPlace(tmp_path), threading.Event(), tmp_path / "outside"
    outside.mkdir()
    here.write("dir/old", "old")
    (tmp_path / "link").symlink_to(outside)

    def swap() -> None:
        while not over.is_set():
            os.rename(here.root / "dir", tmp_path / "kept")
            with suppress(OSError):  # the tool was quicker, and made the folder anew
                os.rename(tmp_path / "link", here.root / "dir")
                time.sleep(0.0005)
                os.rename(here.root / "dir", tmp_path / "link")
            shutil.rmtree(here.root / "dir", ignore_errors=True)
            os.rename(tmp_path / "kept", here.root / "dir")
            time.sleep(0.002)

    thread, written = threading.Thread(target=swap), 0
    thread.start()
    try:
        for number in range(60):
            written += not here.call("write_file", path=f"dir/{number}", content="x").is_error
            here.call("rename_files", operations=[{"from_path": f"dir/{number}", "to_path": f"dir/again-{number}"}])
    finally:
        over.set()
        thread.join()
    assert written and os.listdir(outside) == []


@pytest.mark.covers("S2-6")
def test_files_are_read_and_each_says_where_it_ends(here: ToolPlace) -> None:
    here.write("a.py", "one\ntwo\n")
    here.write("b.txt", "\ufeffdr\u00e9i\r\n".encode("utf-16-le"))
    result = here.call("retrieve_context_files", paths=["a.py", "b.txt", "gone", "a.py"])
    assert not result.is_error
    mark = result.content[1:7]
    assert result.content.split("\n") == [
        f"[{mark} file a.py, 2 lines]", "one", "two", "", f"[{mark} end]", f"[{mark} file b.txt, 1 line, UTF-16-LE]", "dr\u00e9i\r", "",
        f"[{mark} end]", f"[{mark} not read] gone is not there",
    ]  # fmt: skip


def test_lines_of_a_file_can_be_asked_for(here: ToolPlace) -> None:
    here.write("a.py", "".join(f"line {n}\n" for n in range(1, 9001)))
    here.write("b:1-2", "named so\n")
    text = here.call(
        "retrieve_context_files", paths=["a.py:4000-4001", "a.py:8999-99999", "b:1-2", "a.py:9001-9002"]
    ).content
    assert "a.py, lines 4000-4001 of 9,000]\nline 4000\nline 4001\n" in text and "lines 8999-9000 of 9,000" in text
    assert "named so" in text and "none of them is 9001-9002" in text


def test_what_short_files_leave_is_for_long_ones(here: ToolPlace) -> None:
    here.write("short", "s\n")
    here.write("long", "".join(f"line {n}\n" for n in range(20_000)))
    here.write("long2", "".join(f"line {n}\n" for n in range(20_000)))
    text = here.call("retrieve_context_files", paths=["long", "short", "long2"]).content
    assert text.count("left out") == 2 and text.count("line 19999\n") == 2 and "]\ns\n" in text
    assert 30_000 < len(text) < 44_000


def test_of_a_long_file_both_ends_are_told(here: ToolPlace) -> None:
    here.write("long", "".join(f"line {n}\n" for n in range(400_000)))
    here.write("middle", "".join(f"line {n}\n" for n in range(20_000)))
    for name, last in (("long", 399_999), ("middle", 19_999)):
        text = here.call("retrieve_context_files", paths=[name]).content
        assert "line 0\n" in text and f"line {last}\n" in text and "left out" in text and len(text) < 44_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\0", "no text"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"\0" * 3_000_000, "3.0 MB"),
    ],
)
def test_what_is_no_text_is_told_by_its_size(here: ToolPlace, content: bytes, said: str) -> None:
    here.write("a", content)
    result = here.call("retrieve_context_files", paths=["a"])
    assert result.is_error and said in result.content


@pytest.mark.covers("S2-20")
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/HEAD", "out/passwd", ".env", "dir"])
def test_nothing_outside_is_read(here: ToolPlace, path: str) -> None:
    (here.root / "dir").mkdir()
    (here.root / "out").symlink_to("/etc")
    here.write(".env", "KEY=1")
    assert here.call("retrieve_context_files", paths=[path]).is_error
    assert here.call("retrieve_context_files", paths=[]).is_error


@pytest.fixture
def here_of_patch(tmp_path: Path) -> ToolPlace:
    here_of_patch = ToolPlace(tmp_path)
    here_of_patch.write("a.txt", "one\ntwo\nthree\n")
    here_of_patch.write("b.txt", "\ufeffeins\r\nzwei\r\n".encode("utf-16-le"))
    here_of_patch.write("old.txt", "x\n")
    return here_of_patch


def head(path: str, new: str = "") -> str:
    return f"--- a/{path}\n+++ b/{new or path}\n"


PATCH = (
    head("a.txt") + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" + head("b.txt") + "@@ -2 +2,2 @@\n-zwei\n+2\n+3\n"
    "--- /dev/null\n+++ b/src/new.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2\n"
    "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
)


def test_files_are_changed_made_and_deleted(here_of_patch: ToolPlace) -> None:
    result = here_of_patch.call("apply_patch", patch=PATCH)
    assert not result.is_error, result.content
    assert result.content == "changed a.txt (1 hunk)\nchanged b.txt (1 hunk)\ncreated src/new.py\ndeleted old.txt"
    assert result.files_written == ("a.txt", "b.txt", "src/new.py", "old.txt")
    assert (here_of_patch.root / "a.txt").read_text() == "one\n2\nthree\n"
    assert (here_of_patch.root / "b.txt").read_bytes() == "\ufeffeins\r\n2\r\n3\r\n".encode("utf-16-le")
    assert (here_of_patch.root / "src/new.py").read_text() == "x = 1\ny = 2\n" and not (
        here_of_patch.root / "old.txt"
    ).exists()
    assert len(here_of_patch.person.asked) == 4 and "-two\n+2" in here_of_patch.person.asked[0].preview


def test_where_one_hunk_does_not_fit_nothing_is_done(here_of_patch: ToolPlace) -> None:
    result = here_of_patch.call("apply_patch", patch=PATCH.replace("-zwei", "-drei"))
    assert result.is_error and "does not fit" in result.content and not here_of_patch.person.asked


def test_after_a_no_the_rest_is_left(tmp_path: Path) -> None:
    here_of_patch = ToolPlace(tmp_path, FakePerson(Skipped()))
    here_of_patch.write("a.txt", "one\n")
    here_of_patch.write("b.txt", "one\n")
    patch = "".join(head(name) + "@@ -1 +1 @@\n-one\n+1\n" for name in ("a.txt", "b.txt"))
    result = here_of_patch.call("apply_patch", patch=patch)
    assert result.is_error and result.content.endswith("not changed: b.txt") and len(here_of_patch.person.asked) == 1


@pytest.mark.covers("S2-20")
@pytest.mark.parametrize(
    "path", ["../x", "/etc/hostname", ".git/config", "out/x", "link", ".env", "gone", "bin", "lfs"]
)
def test_other_places_are_refused(here_of_patch: ToolPlace, path: str) -> None:
    (here_of_patch.root / "out").symlink_to("/tmp")
    (here_of_patch.root / "link").symlink_to("a.txt")
    here_of_patch.write(".env", "one\n")
    here_of_patch.write("bin", b"one\n\0")
    here_of_patch.write("lfs", "version https://git-lfs.github.com/spec/v1\none\n")
    for old, new in ((path, path), ("/dev/null", path)):
        if new in ("gone",) and old == "/dev/null":
            continue
        lines = (
            f"--- {old if old == '/dev/null' else f'a/{old}'}\n+++ b/{new}\n@@ -1 +1 @@\n"
            + ("" if old == "/dev/null" else "-one\n")
            + "+1\n"
        )
        assert here_of_patch.call("apply_patch", patch=lines).is_error and not here_of_patch.person.asked


def test_a_secret_that_is_not_shown_stays_what_it_is(here_of_patch: ToolPlace) -> None:
    here_of_patch.write("c.py", "key = 'sk-1'\nx = 1\n")
    assert not here_of_patch.call("apply_patch", patch=head("c.py") + "@@ -2 +2 @@\n-x = 1\n+x = 2\n").is_error
    assert (here_of_patch.root / "c.py").read_text() == "key = 'sk-1'\nx = 2\n"
    result = here_of_patch.call(
        "apply_patch", patch=head("c.py") + "@@ -2 +2 @@\n-x = 2\n+y = '[redacted:api-key:3f2a]'\n"
    )
    assert result.is_error and "secret" in result.content


@pytest.mark.parametrize(
    "patch",
    [PATCH + head("a.txt") + "@@ -1 +1 @@\n-one\n+1\n", "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", ""],
)
def test_what_cannot_be_meant_is_refused(here_of_patch: ToolPlace, patch: str) -> None:
    assert here_of_patch.call("apply_patch", patch=patch).is_error and not here_of_patch.person.asked
