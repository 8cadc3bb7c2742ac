"""Rules that come into the person's policy file at the prompt, and go again."""

from __future__ import annotations

import os
import stat
import threading
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.policy.store import add_rules, appended, forget_rule, removable, rule_names, without

OWN = """\
# my rules — keep
[[rule]]
name = "mine"
action = "deny"
program = "curl"   # never
"""
NEW = '[[rule]]\nname = "rm-build"\naction = "allow"\nprogram = "rm"\npaths = ["./build"]\n'


def new(name: str) -> str:
    return NEW.replace("rm-build", name)


def test_first_rule_makes_a_private_file_in_a_private_folder(tmp_path: Path) -> None:
    path = tmp_path / "config" / "agent-shell" / "policy.toml"
    assert add_rules(str(path), NEW, date="2026-11-22") == ""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.read_text() == ("# >>> added at the prompt, 2026-11-22\n" + NEW + "# <<< added at the prompt\n")
    assert os.listdir(path.parent) == ["policy.toml"]


@pytest.mark.parametrize("own", [OWN, OWN.rstrip("\n"), "", "\n", "# only a comment", 'title = "x"\n[other]\na = 1\n'])
def test_what_stands_there_is_kept_to_the_byte_and_comes_back(own: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(own)
    assert add_rules(str(path), NEW) == ""
    assert path.read_text().startswith(own)
    assert [rule["name"] for rule in tomllib.loads(path.read_text())["rule"]][-1] == "rm-build"
    assert forget_rule(str(path), "rm-build") == ""
    assert path.read_text().rstrip("\n") == own.rstrip("\n")


def test_others_of_the_same_block_stay(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(OWN)
    assert add_rules(str(path), new("a") + "[rule.options]\nnone = ['-f']\n" + new("b") + new("c")) == ""
    assert removable(path.read_text()) == ("a", "b", "c")
    assert forget_rule(str(path), "b") == ""
    assert rule_names(path.read_text(), "") == ["mine", "a", "c"]
    assert forget_rule(str(path), "a") == ""
    assert forget_rule(str(path), "c") == ""
    assert path.read_text() == OWN


@pytest.mark.parametrize(
    ("before", "text", "why"),
    [
        (OWN, "[[rule]", "the new rule cannot be read as TOML"),
        (OWN, "a = 1", "no [[rule]]"),
        (OWN, new("mine"), "already"),
        (OWN, NEW + NEW, "already"),
        (OWN, 'rule = "x"', "no [[rule]] table"),
        (OWN, NEW + "# <<< added at the prompt\n", "marker"),
        ("rule = [ {name = 'a'} ]\n", NEW, "cannot be read as TOML"),
        ("this is no toml", NEW, "the policy file cannot be read"),
        ("a = " + "[" * 5000, NEW, "the policy file cannot be read"),
    ],
)
def test_what_does_not_fit_is_not_written(before: str, text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(before)
    assert why in add_rules(str(path), text)
    assert path.read_text() == before


def test_only_rules_of_the_prompt_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(OWN)
    assert "by hand" in forget_rule(str(path), "mine")
    assert "no rule called" in forget_rule(str(path), "other")
    assert path.read_text() == OWN
    assert "no policy file" in forget_rule(str(tmp_path / "none"), "mine")


def test_markers_inside_a_string_of_the_person_are_not_ours() -> None:
    own = "note = '''\n# >>> added at the prompt\n[[rule]]\nname = 'x'\n# <<< added at the prompt\n'''\n[[rule]]\nname = 'x'\n"
    with pytest.raises(ValueError, match="by hand"):
        without(own, "x")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "policy.toml"
    real.parent.mkdir()
    real.write_text(OWN)
    link = tmp_path / "policy.toml"
    link.symlink_to(real)
    assert add_rules(str(link), NEW) == ""
    assert link.is_symlink()
    assert "rm-build" in real.read_text()


def test_no_file_that_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in add_rules(str(tmp_path / "pipe"), NEW)
    (tmp_path / "latin").write_bytes(b"# caf\xe9\n")
    assert "not UTF-8" in add_rules(str(tmp_path / "latin"), NEW)
    (tmp_path / "big").write_text("#" * (1 << 20))
    assert "larger" in add_rules(str(tmp_path / "big"), NEW)
    (tmp_path / "plain").write_text("")
    assert "could not be written" in add_rules(str(tmp_path / "plain" / "policy.toml"), NEW)


def test_sessions_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "policy.toml")
    said: list[str] = []
    threads = [threading.Thread(target=lambda n=n: said.append(add_rules(path, new(f"r{n}")))) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [""] * 12
    assert sorted(rule_names(Path(path).read_text(), "")) == sorted(f"r{n}" for n in range(12))


names = st.lists(st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True), min_size=1, max_size=5, unique=True)


@given(names=names, own=st.sampled_from([OWN, "", "# c\n", "[table]\nx = 1\n"]), data=st.data())
def test_adding_and_forgetting_in_any_order_leaves_the_own_part(
    names: list[str], own: str, data: st.DataObject
) -> None:
    own = own.replace('"mine"', '"Mine"')
    text = own
    for name in names:
        text = appended(text, new(name))
        assert text.startswith(own)
    for name in data.draw(st.permutations(names)):
        text = without(text, name)
    assert text.rstrip("\n") == own.rstrip("\n")
