"""Entries of the library: the person's own come first, names cannot lead elsewhere, what cannot be read back is not written."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.library.agents import roles_in
from agent.library.library import KINDS, Library, overview
from agent.protocol.errors import ConfigError, InvalidRequest, InvalidState, IoError, NotFound


def test_own_entries_come_before_those_that_ship(tmp_path: Path) -> None:
    roles = roles_in(str(tmp_path))
    assert "explain" in roles.load("explain").text.lower()
    (tmp_path / "explain.md").write_text("mine\n")
    (tmp_path / "pirate.md").write_text("arr")
    assert roles.load("explain").text == "mine"
    assert {"explain", "pirate", "terse"} <= set(roles.names())
    assert roles.own() == ("explain", "pirate")


def test_unknown_entries_name_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        roles_in(str(tmp_path / "nowhere")).load("none")
    assert "explain" in caught.value.hint


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a\x00b", "a b", "-x", "x" * 65])
@pytest.mark.parametrize("kind", KINDS)
def test_names_that_are_none(tmp_path: Path, kind: str, name: str) -> None:
    entries = Library(str(tmp_path)).of(kind)
    for use in (entries.load, entries.delete, lambda name: entries.save(name, "x")):
        with pytest.raises(InvalidRequest):
            use(name)
    assert list(tmp_path.iterdir()) == []


def test_what_is_saved_is_the_persons_alone_and_whole(tmp_path: Path) -> None:
    roles = roles_in(str(tmp_path / "roles"))
    path = roles.save("reviewer", "Look for bugs.")
    assert Path(path).read_text() == "Look for bugs.\n"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(tmp_path / "roles").st_mode) == 0o700
    with pytest.raises(ConfigError):
        roles.save("reviewer", "---\nnonsense: 1\n---\ntext")
    with pytest.raises(IoError):
        roles.save("other", "half a character \ud800")
    assert os.listdir(tmp_path / "roles") == ["reviewer.md"]
    assert roles.load("reviewer").text == "Look for bugs."


def test_only_own_entries_can_be_deleted(tmp_path: Path) -> None:
    roles = roles_in(str(tmp_path))
    with pytest.raises(InvalidState, match="explain"):
        roles.delete("explain")
    with pytest.raises(NotFound):
        roles.delete("none")
    roles.save("explain", "mine")
    roles.delete("explain")
    assert roles.own() == ()


def test_a_folder_in_place_of_a_role_and_a_huge_one(tmp_path: Path) -> None:
    (tmp_path / "odd.md").mkdir()
    (tmp_path / "huge.md").write_text("x" * 300_000)
    os.mkfifo(tmp_path / "pipe.md")
    for name in ("odd", "huge", "pipe"):
        with pytest.raises(IoError):
            roles_in(str(tmp_path)).load(name)


def test_the_overview_says_what_is_wrong_with_one(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text("---\nvariables: 3\n---\ntext")
    (tmp_path / "good.md").write_text("---\ndescription: finds bugs\n---\ntext")
    shown = overview(roles_in(str(tmp_path)))
    assert "finds bugs" in shown
    assert "bad.md:2" in shown
    assert "comes with agent-shell" in shown


def test_a_link_to_nothing_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    with pytest.raises(IoError, match="is a link to a file that is not there"):
        roles_in(str(tmp_path)).load("gone")


def test_the_overview_names_the_file_without_its_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text("---\nvariables: 3\n---\ntext")
    (tmp_path / "odd.md").mkdir()
    shown = overview(roles_in(str(tmp_path)))
    assert "bad    bad.md:2: `variables` must be a list" in shown.replace("bad      ", "bad    ")
    assert str(tmp_path) not in shown


def test_several_threads_save_one_name(tmp_path: Path) -> None:
    roles = roles_in(str(tmp_path))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: roles.save("one", f"text {number}"), range(60)))
    assert os.listdir(tmp_path) == ["one.md"]
