"""The compiled recipes only save work: what is not what the files say is not used."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

from agent.planner.offline import book_build, book_tables, recipes


@pytest.mark.thorough
def test_it_does_not_depend_on_the_order_of_sets() -> None:
    script = "import msgspec, zlib; from agent.planner.offline.book_build import build; print(zlib.crc32(msgspec.msgpack.encode(build())))"
    made = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data, with tables made of it."""
    shutil.copytree(Path(book_tables.HERE) / "recipes", tmp_path / "recipes")
    shutil.copy(Path(book_tables.HERE) / "filters.toml", tmp_path)
    monkeypatch.setattr(book_tables, "HERE", str(tmp_path))
    compiled = tmp_path / "_book.msgpack"
    for module in (book_tables, book_build):
        monkeypatch.setattr(module, "COMPILED", str(compiled))
    book_build.main()
    return tmp_path


def is_used(monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether what was compiled is taken, and nothing built."""
    with monkeypatch.context() as patch:
        patch.setattr(book_build, "build", lambda: None)
        patch.setattr(book_build, "keep", lambda tables, started: None)
        return recipes.load_tables() is not None


def test_it_is_used_while_it_is_what_the_files_say(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = elsewhere / "recipes" / "text.toml"
    content, compiled = one.read_bytes(), elsewhere / "_book.msgpack"
    assert is_used(monkeypatch)
    made = compiled.stat().st_mtime_ns
    os.utime(one, ns=(made + 10**9, made + 10**9))
    assert is_used(monkeypatch)  # younger, as after a checkout, and the same
    one.write_bytes(content.replace(b"wc -l", b"wc -c", 1))
    for time in (made + 10**9, made - 10**15):  # as after a checkout, or from an archive
        os.utime(one, ns=(time, time))
        assert not is_used(monkeypatch)  # other content of the same length
    one.write_bytes(content + b"# more\n")
    os.utime(one, ns=(made - 10**9, made - 10**9))
    assert not is_used(monkeypatch)  # older, and longer
    one.write_bytes(content)
    assert is_used(monkeypatch)
    (elsewhere / "recipes" / "new.toml").write_text("")
    assert not is_used(monkeypatch)
    (elsewhere / "recipes" / "new.toml").unlink()
    one.unlink()
    assert not is_used(monkeypatch)


def test_a_damaged_missing_or_foreign_file_is_not_used(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = elsewhere / "_book.msgpack"
    good = compiled.read_bytes()
    tables = recipes.load_tables()
    other = book_tables.packed(structs.replace(tables, format=tables.format + 1))
    inside = good.index(b"count the words of a file")  # where nothing is decoded before a goal comes near
    turned = good[:inside] + b"\xff" + good[inside + 1 :]
    for bad in (b"", b"1", good[:1000], good[:-1], b"\xc1" + good[1:], b"[1, 2]", bytes(len(good)), turned, other):
        compiled.write_bytes(bad)
        assert not is_used(monkeypatch)
    compiled.unlink()
    assert not is_used(monkeypatch)
    compiled.write_bytes(good)
    assert is_used(monkeypatch)


def test_what_others_may_write_is_not_used(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = elsewhere / "_book.msgpack"
    compiled.chmod(0o664)
    assert not is_used(monkeypatch)
    compiled.chmod(0o646)
    assert not is_used(monkeypatch)
    compiled.chmod(0o600)
    assert is_used(monkeypatch)
    compiled.rename(elsewhere / "other")
    compiled.symlink_to(elsewhere / "other")
    assert not is_used(monkeypatch)
    compiled.unlink()
    os.mkfifo(compiled)
    assert not is_used(monkeypatch)  # and nobody waits for a writer
    if os.getuid() == 0:
        compiled.unlink()
        shutil.copy(elsewhere / "other", compiled)
        os.chown(compiled, 12345, -1)
        assert not is_used(monkeypatch)


def test_it_is_kept_where_it_can_be(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = elsewhere / "_book.msgpack"
    compiled.unlink()
    built = recipes.load_tables()
    assert stat.S_IMODE(compiled.stat().st_mode) == 0o644
    assert is_used(monkeypatch)
    assert recipes.load_tables() == built
    with (elsewhere / "recipes" / "text.toml").open("a") as file:
        file.write("# changed\n")
    compiled.unlink()
    compiled.mkdir()  # nothing can be put there
    assert recipes.load_tables().areas == built.areas
    assert sorted(path.name for path in elsewhere.iterdir()) == ["_book.msgpack", "filters.toml", "recipes"]


def test_what_cannot_be_read_is_said(elsewhere: Path) -> None:
    (elsewhere / "filters.toml").write_text("[[filter]\n")
    with pytest.raises(ValueError, match="Expected"):
        book_build.build()


def test_literal_words_of_phrasings() -> None:
    assert book_build.vocabulary_of(["a|b [c] <d:e> f!"]) == {"a", "b", "c", "f"}
