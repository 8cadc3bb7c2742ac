"""The bounds of the repo agent's tools: no way leads out of the worktree, to what is git's, or to secrets."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.errors import InvalidRequest
from agent.repo_agent.root import protected, read_up_to, root_of
from agent.tools.root import Root
from tests.support.each import each
from tests.support.tries import tries


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    (base / "dir/deep").mkdir(parents=True)
    (base / "dir/a").write_text("inside")
    (base / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "secret").write_text("outside")
    (tmp_path / "base-2").mkdir()
    for name, target in {
        "up": "..",
        "out": "../secret",
        "far": "/etc",
        "near": str(base / "dir"),
        "beside": f"{base}-2",
        "in": "dir",
        "dir/back": "../dir/./deep/../a",
        "round": "round",
        "over": "dir/../../secret",
        "store": ".git",
    }.items():
        (base / name).symlink_to(target)
    return base


def reads(root: Root, path: str) -> str:
    with root.opened(path) as (fd, _):
        return read_up_to(fd, 100).decode()


@pytest.mark.covers("S2-20")
@pytest.mark.parametrize(
    "path",
    [
        "", " ", "/etc/passwd", "..", "../secret", "dir/../../secret", "up/secret", "out", "far/passwd", "beside/x", "round", "round/x",
        "over", "in/../../secret", "a\0b", "a\nb", "dir/deep/../../../secret", "x" * 5000, "gone/../../secret", "dir/a/../../../secret",
        "\ud800", "dir/a/b",
    ],
)  # fmt: skip
def test_no_path_leads_out(base: Path, path: str) -> None:
    root = root_of(str(base))
    with pytest.raises(InvalidRequest):
        reads(root, path)
    with pytest.raises(InvalidRequest):
        root.place(path, follow=True)


@pytest.mark.parametrize("path", ["dir/a", "./dir//a", "in/a", "near/a", "dir/back", "in/back", "dir/deep/../a"])
def test_links_within_are_followed_to_the_real_place(base: Path, path: str) -> None:
    root = root_of(str(base))
    assert reads(root, path) == "inside"
    assert root.place(path, follow=True).path == str(base / "dir/a")


def test_what_is_not_there_has_a_place(base: Path) -> None:
    place = root_of(str(base)).place("in/new/file")
    assert (place.path, place.relative, place.kind) == (str(base / "dir/new/file"), "dir/new/file", "missing")


def test_a_pipe_is_not_opened(base: Path) -> None:
    os.mkfifo(base / "pipe")
    with pytest.raises(InvalidRequest, match="no file"):
        reads(root_of(str(base)), "pipe")


GITS = (
    ".git", ".GIT", ".Git", ".g\u200cit", "\ufeff.git", ".git.", ".git ", ".git. .", "git~1", "GIT~1", "git~2", ".git::$INDEX_ALLOCATION",
    ".git:x", "\uff0egit", ".\u0261it".replace("\u0261", "g\u00ad"), ".gi\u2060t", ".g\u202eit",
)  # fmt: skip


@pytest.mark.covers("S2-20")
@pytest.mark.parametrize("name", GITS)
@pytest.mark.parametrize("form", ["{}", "{}/config", "sub/{}/hooks/pre-commit", "sub\\{}\\config", "vendor/lib/{}"])
def test_what_is_gits_is_nobodys(base: Path, name: str, form: str) -> None:
    path = form.format(name)
    assert protected(path)
    with pytest.raises(InvalidRequest, match=r"belongs to git|lead|there is no"):
        root_of(str(base)).place(path)


@pytest.mark.parametrize("path", ["store", "in/../.git"])
def test_a_link_to_what_is_gits_is_seen_through(base: Path, path: str) -> None:
    with pytest.raises(InvalidRequest, match="belongs to git"):
        root_of(str(base)).place(path, follow=True)


@pytest.mark.parametrize(
    "path", [".env", ".ENV", "config/.env.production", "deploy/id_rsa", "certs/server.key", "a.pem"]
)
def test_secrets_are_nobodys(base: Path, path: str) -> None:
    assert "secrets" in protected(path)


@each(
    "path",
    [".gitignore", ".github/workflows/ci.yml", "git", "digit", "src/.gitkeep", ".env.example", "etc/shadow", "legit~1"],
)
def test_what_only_looks_like_it_is_free(path: str) -> None:
    assert protected(path) == ""


@settings(max_examples=tries(300), deadline=None)
@given(
    st.lists(
        st.sampled_from(["..", ".", "dir", "deep", "up", "in", "near", "back", "out", "far", "over", "a", "", "new"]),
        max_size=8,
    )
)
def test_whatever_a_path_is_made_of_it_stays_inside(parts: list[str]) -> None:
    """The place is inside by what the system itself says of it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        top = Path(os.path.realpath(folder))
        base = top / "base"
        (base / "dir/deep").mkdir(parents=True)
        (base / "dir/a").write_text("inside")
        (top / "secret").write_text("outside")
        for name, target in {
            "up": "..",
            "out": "../secret",
            "far": "/etc",
            "in": "dir",
            "near": str(base / "dir"),
            "over": "in/../../secret",
        }.items():
            (base / name).symlink_to(target)
        (base / "dir/back").symlink_to("../dir/deep/../a")
        try:
            place = root_of(str(base)).place("/".join(parts), follow=True)
        except InvalidRequest:
            return
        assert os.path.realpath(place.path) == place.path
        assert place.path == str(base) or place.path.startswith(f"{base}/")


@pytest.mark.covers("S2-20")
def test_a_folder_that_is_swapped_again_and_again_leads_nowhere(tmp_path: Path) -> None:
    """One thread turns a folder into a link out and back, as quickly as it can; what is read is always from inside."""
    base = tmp_path / "base"
    (base / "dir").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (base / "dir/a").write_text("inside")
    (tmp_path / "elsewhere/a").write_text("outside")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            os.rename(base / "dir", tmp_path / "kept")
            os.rename(tmp_path / "link", base / "dir")
            os.rename(base / "dir", tmp_path / "link")
            os.rename(tmp_path / "kept", base / "dir")

    thread = threading.Thread(target=swap)
    thread.start()
    root, seen = root_of(str(base)), {"inside": 0, "refused": 0, "outside": 0}
    try:
        for _ in range(3000):
            try:
                seen[reads(root, "dir/a")] += 1
            except InvalidRequest:
                seen["refused"] += 1
    finally:
        over.set()
        thread.join()
    assert seen["outside"] == 0
    assert seen["inside"] and seen["refused"], "both happened, so that it was a race"
