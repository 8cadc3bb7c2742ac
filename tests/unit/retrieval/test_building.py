"""Building: only what changed is read, secrets are not kept, a cancelled build goes on where it was."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agent.protocol.errors import InvalidRequest
from agent.retrieval.building import Built, build
from agent.retrieval.documents import documents
from agent.retrieval.index import RagIndex
from tests.support.each import each


def no_programs(path: str) -> str:
    return ""


def redact(text: str) -> str:
    return text.replace("hunter2", "[redacted]")


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "docs").mkdir()
        (folder / "docs" / "a.md").write_text("# A\napples, password hunter2\n")
        (folder / "docs" / "b.md").write_text("# B\nbananas\n")
        (folder / "docs" / "data.bin").write_bytes(b"\0\1\2")
        (folder / "docs" / ".git").mkdir()
        (folder / "docs" / ".git" / "config").write_text("apples")
        self.index = RagIndex(str(folder / "i.sqlite3"))

    def build(self, *wanted: str, **more: object) -> Built:
        return asyncio.run(
            build(self.index, wanted or ("docs",), str(self.folder), ask=no_programs, redact=redact, **more)  # type: ignore[arg-type]
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_only_what_changed_is_read_again(world: World) -> None:
    first = world.build()
    assert (first.read, [Path(name).name for name in first.unreadable]) == (2, ["data.bin"])
    assert world.build().unchanged == 2
    (world.folder / "docs" / "b.md").write_text("# B\nblueberries\n")
    (world.folder / "docs" / "a.md").unlink()
    assert world.build() == Built(1, 0, 1, world.build().unreadable)
    assert [hit.heading for hit in world.index.search("blueberries", 5)] == ["B"]
    assert world.index.search("apples", 5) == []


def test_a_file_that_was_touched_is_not_cut_again(world: World) -> None:
    world.build()
    (world.folder / "docs" / "b.md").write_text("# B\nbananas\n")
    assert world.build().unchanged == 2
    assert world.build(anew=True).read == 2


def test_secrets_are_not_kept(world: World) -> None:
    world.build()
    assert "hunter2" not in world.index.search("apples", 1)[0].text
    assert b"hunter2" not in (world.folder / "i.sqlite3").read_bytes()


def test_a_cancelled_build_loses_nothing(world: World) -> None:
    async def cancelled() -> None:
        seen: list[int] = []

        def progress(done: int, total: int) -> None:
            seen.append(done)
            if done == 1:
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await build(world.index, ("docs",), str(world.folder), ask=no_programs, redact=redact, progress=progress)

    asyncio.run(cancelled())
    assert world.index.counts()[0] == 1
    assert (world.build().read, world.index.counts()[0]) == (1, 2)


@pytest.mark.covers("S1-22")
def test_programs_tell_their_help_and_man_pages_one_option_a_passage(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = world.folder / "man"
    (root / "man1").mkdir(parents=True)
    (root / "man1" / "pack.1").write_text(
        ".TH PACK 1\n.SH NAME\npack \\- packs things\n.SH OPTIONS\n.TP\n\\fB\\-a\\fR\nall things\n"
        ".TP\n\\fB\\-\\-skip\\fR=\\fIPATTERN\\fR\nleaves pears out\n"
    )
    monkeypatch.setattr("agent.retrieval.manual_files._ROOTS", (str(root),))
    asked = []

    def ask(path: str) -> str:
        asked.append(path)
        return "Usage: tar\n  -z, --gzip    filter plums through gzip\n"

    built = asyncio.run(
        build(world.index, ("man:pack", "man:none", "help:tar", "help:none"), "/", ask=ask, redact=redact)
    )
    assert (built.read, built.unreadable) == (2, ("man:none", "help:none"))
    assert [os.path.basename(path) for path in asked] == ["tar"]
    hit = world.index.search("pears", 5)[0]
    assert (hit.name, hit.heading) == ("man:pack", "OPTIONS › --skip=PATTERN")
    assert [line.strip() for line in hit.text.splitlines()] == ["--skip=PATTERN", "leaves pears out"]
    assert world.index.search("plums", 5)[0].heading == "-z, --gzip"
    (root / "man1" / "pack.1").write_text(".SH NAME\npack \\- packs more\n")
    assert asyncio.run(build(world.index, ("man:pack",), "/", ask=ask, redact=redact)).read == 1


@each("word", ["man:", "man:../x", "help:a b", "help:-x", "man:a;b"])
def test_what_names_no_program(word: str) -> None:
    with pytest.raises(InvalidRequest):
        list(documents([word], "/"))


def test_paths_patterns_and_links(world: World) -> None:
    (world.folder / "docs" / "link.md").symlink_to(world.folder / "docs" / "a.md")
    (world.folder / "docs" / "round").symlink_to(world.folder / "docs")
    found = [
        Path(document.place).name
        for document in documents(["docs/*.md", "docs", "docs/a.md", "none"], str(world.folder))
    ]
    assert found == ["a.md", "b.md", "data.bin", "nothing:none"]


def test_patterns_stay_in_their_folder_and_come_to_an_end(world: World) -> None:
    """A folder of somebody else's, fetched into one's own, may hold links to anything, and to itself."""
    private = world.folder / "private"
    private.mkdir()
    (private / "key.md").write_text("private")
    docs = world.folder / "docs"
    (docs / "sub").mkdir()
    (docs / "sub" / "c.md").write_text("c")
    (docs / "key.md").symlink_to(private / "key.md")
    (docs / "away").symlink_to(private)
    for name in ("round", "about"):
        (docs / name).symlink_to(docs)

    def found(*wanted: str) -> list[str]:
        return [os.path.relpath(document.place, docs) for document in documents(wanted, str(world.folder))]

    assert sorted(found("docs/**/*.md")) == ["a.md", "b.md", "sub/c.md"]
    assert found("docs/**/**/c.*") == found("*/sub/*.md") == found("docs/s*") == ["sub/c.md"]
    assert ".git/config" not in found("docs/**")
    assert found("docs/key.md") == ["../private/key.md"]


def test_what_is_not_there_is_said_and_taken_out(world: World) -> None:
    assert world.build("docs/a.md", "docs/a.md", "docs/*.txt", "gone.md").unreadable == ("docs/*.txt", "gone.md")
    (world.folder / "docs" / "a.md").unlink()
    again = world.build("docs/a.md")
    assert (again.unreadable, again.removed) == (("docs/a.md",), 1)


def test_files_of_secrets_have_to_be_named_themselves(world: World) -> None:
    docs = world.folder / "docs"
    for name in (".env", "id_rsa", "server.key", "secrets.yaml"):
        (docs / name).write_text("API_KEY=abc\n")

    def found(*wanted: str) -> set[str]:
        return {Path(each.place).name for each in documents(wanted, str(world.folder)) if each.kind == "file"}

    assert found("docs", "docs/*", "docs/.e*") == {"a.md", "b.md", "data.bin"}
    assert found("docs/.env") == {".env"}
