"""An index of chunks: what is put is found, what is removed is gone, what is damaged is made anew."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agent.protocol.errors import IoError
from agent.retrieval.chunking import Chunk
from agent.retrieval.index import RagIndex


def filled(path: Path) -> RagIndex:
    index = RagIndex(str(path / "i.sqlite3"))
    index.put("a.md", "/a.md", "1", "x", [Chunk(1, "Install", "run make install"), Chunk(9, "Use", "type a goal")])
    index.put("b.md", "/b.md", "1", "y", [Chunk(3, "", "a goal is undone with :undo")])
    return index


def test_the_nearest_comes_first_and_says_where_it_stands(tmp_path: Path) -> None:
    index = filled(tmp_path)
    hits = index.search("how do I undo a goal?", 5)
    assert [hit.source for hit in hits] == ["b.md:3", "a.md:9"]
    assert hits[0].score > hits[1].score
    assert index.search("installing", 1)[0].heading == "Install", "words are stemmed"
    assert index.counts() == (2, 3)


@pytest.mark.parametrize("text", ["", "???", '" OR 1 --', "zebra", "NEAR(", "a* ^b {c}", "goal\0goal", "é" * 50])
def test_no_text_is_a_query_language(tmp_path: Path, text: str) -> None:
    assert len(filled(tmp_path).search(text, 5)) <= 3


def test_a_document_that_is_put_again_replaces_what_it_was(tmp_path: Path) -> None:
    index = filled(tmp_path)
    index.put("a.md", "/a.md", "2", "z", [Chunk(1, "", "nothing of it")])
    assert index.search("install", 5) == []
    assert index.known()["/a.md"] == ("2", "z")
    index.remove(["/a.md", "/b.md", "/none"])
    assert (index.counts(), index.search("goal nothing", 5)) == ((0, 0), [])


def test_words_that_stand_everywhere_count_only_where_there_are_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.retrieval.index._COMMON", 50)
    index = RagIndex(str(tmp_path / "i.sqlite3"))
    index.put("c", "/c", "", "", [Chunk(n, "", f"common word {'rare' if n == 7 else ''}") for n in range(1, 100)])
    assert [hit.line for hit in index.search("common rare", 5)] == [7]
    assert len(index.search("common word", 5)) == 5


def test_the_file_is_the_persons_alone_and_is_made_anew_where_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "i.sqlite3"
    filled(tmp_path).close()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    again = RagIndex(str(path))
    assert again.counts() == (2, 3)
    again.close()
    for name in ("i.sqlite3-wal", "i.sqlite3-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    path.write_bytes(b"no database at all" * 100)
    assert RagIndex(str(path)).counts() == (0, 0)
    with pytest.raises(IoError):
        RagIndex(str(tmp_path / "nowhere" / "i.sqlite3"))
