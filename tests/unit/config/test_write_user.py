"""Single settings are changed, and nothing else of the person's file is."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.load import trouble_in
from agent.config.write_user import begin_file, write_settings
from agent.protocol.errors import ConfigError


def test_a_new_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    assert write_settings(str(path), {"planner": "local", "model": "/m/a.gguf"}) == (
        "planner: (not set) → local",
        "model: (not set) → /m/a.gguf",
    )
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert write_settings(str(path), {"planner": "local"}) == ()
    assert write_settings(str(path), {"planner": "offline", "model": None}) == (
        "planner: local → offline",
        "model: /m/a.gguf → (not set)",
    )
    assert tomllib.loads(path.read_text()) == {"planner": "offline"}


def test_comments_order_and_tables_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nmodel = "a"  # old\napprove = "low"\n# planner = "x"\n\n[other]\nmodel = "stays"')
    write_settings(str(path), {"planner": "local", "model": "b"})
    text = path.read_text()
    assert text == (
        '# mine\nmodel = "b"  # old\napprove = "low"\n# planner = "x"\nplanner = "local"\n\n[other]\nmodel = "stays"'
    )
    write_settings(str(path), {"planner": None})
    assert path.read_text() == (
        '# mine\nmodel = "b"  # old\napprove = "low"\n# planner = "x"\n\n[other]\nmodel = "stays"'
    )
    assert os.listdir(tmp_path) == ["config.toml"]


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text('approve = "ask"')
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    write_settings(str(link), {"planner": "local"})
    assert link.is_symlink()
    assert tomllib.loads(real.read_text()) == {"approve": "ask", "planner": "local"}


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('planner = """\nx\n""" # c\n', 'planner = "local" # c\n'),
        ('"planner" = "x"\n', '"planner" = "local"\n'),
        ('text = """\nplanner = 1\n"""\n', 'text = """\nplanner = 1\n"""\nplanner = "local"\n'),
        ("a = [1, # one\n  2]\r\n", 'a = [1, # one\n  2]\r\nplanner = "local"\n'),
        ("# only a comment", '# only a comment\nplanner = "local"\n'),
        ("planner = 'local' # mine", "planner = 'local' # mine"),
    ],
)
def test_settings_over_several_lines_and_quoted_names(tmp_path: Path, text: str, after: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode())
    write_settings(str(path), {"planner": "local"})
    assert path.read_bytes().decode() == after


@pytest.mark.parametrize(
    "text",
    [
        "broken = \n",
        "a = " + "[" * 5_000,
        '[[rule]]\nname="a"\n[other]\nx=1\n[[rule]]\nname="b"\n',
        "planner = 1\nplanner = 2\n",
        "[planner]\nx = 1\n",
    ],
)
def test_what_it_cannot_change_it_leaves(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        write_settings(str(path), {"planner": "local"})
    assert path.read_text() == text


LINES = (
    "",
    "# c",
    "approve = 'low'  # d",
    "'model' = \"m\"",
    'planner="x"#e',
    "n = [ 1,\n # in\n 2 ]",
    "t = {a = 1}",
    "deep.a = 1\ndeep.b = 2",
)
TABLES = ("", "\n[one]\nplanner = 1 # f\n", "[[many]]\n\n\n[[many]]\nx=1", "  [one.two]\n\n# end")


@given(
    st.permutations(LINES).flatmap(lambda lines: st.integers(0, len(lines)).map(lambda count: lines[:count])),
    st.sampled_from(TABLES), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["planner", "model", "fresh"]),
)  # fmt: skip
def test_what_is_set_and_taken_out_again_leaves_every_other_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], table: str, newline: str, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.toml"
    before = newline.join([*lines, table]).replace("\n", newline).replace("\r\r", "\r")
    path.write_bytes(before.encode())
    write_settings(str(path), {name: "new"})
    written = path.read_bytes().decode()
    assert tomllib.loads(written) == {**tomllib.loads(before), name: "new"}
    rest = [line for line in before.splitlines() if line.strip() and name not in line]
    kept = written.splitlines()
    assert [line for line in rest if line not in kept] == []
    write_settings(str(path), {name: None})
    without = {key: value for key, value in tomllib.loads(before).items() if key != name}
    assert tomllib.loads(path.read_bytes().decode()) == without


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a settings file"):
        write_settings(str(tmp_path), {"planner": "local"})
    with pytest.raises(ConfigError):
        write_settings(str(tmp_path / "c.toml"), {"model": "\udcff"})
    assert not (tmp_path / "c.toml").exists()


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
def test_any_name_comes_back(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    write_settings(str(path), {"model": name})
    assert tomllib.loads(path.read_bytes().decode())["model"] == name


def test_a_new_file_holds_a_commented_template_and_an_old_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    begin_file(str(path))
    assert '# approve = "ask"' in path.read_text() and path.stat().st_mode & 0o777 == 0o600
    assert trouble_in(str(path)) == ""
    path.write_text("aprove = 1\n")
    begin_file(str(path))
    assert path.read_text() == "aprove = 1\n"
    assert "unknown setting 'aprove'" in trouble_in(str(path)) and "approve" in trouble_in(str(path))
    path.write_text('approve = "always"\n')
    assert trouble_in(str(path)).startswith("it cannot be used: ")
    path.write_text("approve =\n")
    assert trouble_in(str(path)).startswith("it cannot be used: ")
