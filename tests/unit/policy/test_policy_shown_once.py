"""A folder's policy file is shown before it counts."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from agent.policy.files import MOST_SHOWN, PROJECT_FILE
from agent.policy.shown_once import ShownFiles

RULE = '[[rule]]\nname = "no-push"\naction = "deny"\nprogram = "git"\nwords = ["push"]\n'


@pytest.fixture
def shown(tmp_path: Path) -> ShownFiles:
    return ShownFiles(str(tmp_path / "state" / "agent-shell" / "policy-shown.json"))


def put(tmp_path: Path, content: bytes | str) -> str:
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / PROJECT_FILE).write_bytes(data)
    return str(tmp_path)


def test_whole_with_its_path_and_only_once(tmp_path: Path, shown: ShownFiles) -> None:
    folder = put(tmp_path, RULE)
    due = shown.due(folder)
    assert due is not None
    assert due.text == (
        f"{tmp_path}/{PROJECT_FILE} applies here from now on; it can only make things stricter:\n"
        + "\n".join("  │ " + line for line in RULE.splitlines())
    )
    assert shown.due(folder) == due, "it is due until somebody saw it"
    shown.seen(due)
    assert shown.due(folder) is None
    again = ShownFiles(str(tmp_path / "state" / "agent-shell" / "policy-shown.json"))
    assert again.due(folder) is None


def test_shown_again_when_it_changes_and_when_it_changes_back(tmp_path: Path, shown: ShownFiles) -> None:
    for content in (RULE, RULE + "# more\n", RULE):
        due = shown.due(put(tmp_path, content))
        assert due is not None
        shown.seen(due)
        assert shown.due(str(tmp_path)) is None


def test_same_text_elsewhere_is_another_file(tmp_path: Path, shown: ShownFiles) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = shown.due(put(tmp_path / "a", RULE))
    assert first is not None
    shown.seen(first)
    assert shown.due(put(tmp_path / "b", RULE)) is not None


@pytest.mark.parametrize("content", ["", "\n  \n"])
def test_nothing_to_show(content: str, tmp_path: Path, shown: ShownFiles) -> None:
    assert shown.due(str(tmp_path)) is None
    assert shown.due("") is None
    assert shown.due(put(tmp_path, content)) is None


def test_hostile_text_is_made_visible(tmp_path: Path, shown: ShownFiles) -> None:
    due = shown.due(put(tmp_path, "# \x1b[2J\u202egnp\r\x00\n"))
    assert due is not None
    assert due.text.endswith("  │ # ␛[2J<U+202E>gnp␍␀")


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"# " + b"x" * MOST_SHOWN, "larger than 64 kB"), (b"# caf\xe9", "not UTF-8"), (b"\xff\xfe#", "not UTF-8")],
)
def test_what_cannot_be_shown_is_said_once(content: bytes, why: str, tmp_path: Path, shown: ShownFiles) -> None:
    folder = put(tmp_path, content)
    due = shown.due(folder)
    assert due is not None
    assert "nothing runs unasked" in due.text
    assert why in due.text
    shown.seen(due)
    assert shown.due(folder) is None
    assert shown.due(put(tmp_path, RULE)) is not None


def test_special_files_do_not_hang(tmp_path: Path, shown: ShownFiles) -> None:
    os.mkfifo(tmp_path / PROJECT_FILE)
    due = shown.due(str(tmp_path))
    assert due is not None
    assert "not a regular file" in due.text


def test_a_link_cannot_bring_another_file_to_the_screen(tmp_path: Path, shown: ShownFiles) -> None:
    (tmp_path / "private").write_text("secret")
    (tmp_path / PROJECT_FILE).symlink_to("private")
    due = shown.due(str(tmp_path))
    assert due is not None
    assert "symbolic link" in due.text
    assert "secret" not in due.text


def test_state_is_private_bounded_and_may_be_broken(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    for broken in (b"\xff", b"[1]", b"{", b'{"a": 1}', b"[" * 100_000):
        state.write_bytes(broken)
        shown = ShownFiles(str(state))
        due = shown.due(put(tmp_path, RULE))
        assert due is not None
        shown.seen(due)
        assert json.loads(state.read_text()) == {due.path: due.digest}
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
    state.write_text(json.dumps({f"/p{n}": "x" for n in range(1_000)}))
    shown = ShownFiles(str(state))
    due = shown.due(str(tmp_path))
    assert due is not None
    shown.seen(due)
    kept = json.loads(state.read_text())
    assert (len(kept), list(kept)[-1]) == (1_000, due.path)


def test_without_a_state_folder_it_counts_for_this_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = ShownFiles(str(tmp_path / "file" / "state.json"))
    due = shown.due(put(tmp_path, RULE))
    assert due is not None
    shown.seen(due)
    assert shown.due(str(tmp_path)) is None
