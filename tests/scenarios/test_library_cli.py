"""`agent-shell roles|agents|macros|rag` in a script: what there is, its text, keeping one, removing one; faults by file and line."""

from __future__ import annotations

import json
import stat

import pytest

from tests.scenarios.program import World
from tests.support.terminal import Terminal

TEXTS = {
    "roles": ("You are mine.\n", "", ""),
    "agents": ("Look after the disk.\n", "---\nnothing: 5\n---\nText.\n", ":2"),
    "macros": ('steps: ["!true"]\n', "description: x\nsteps: 5\n", ":2"),
    "rag": ("documents: [notes]\n", "documents: [notes]\npassages: 99\n", ""),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", TEXTS)
def test_keep_list_show_delete(world: World, kind: str) -> None:
    good, bad, line = TEXTS[kind]
    saved = world.run(kind, "save", "mine", stdin=good.encode())
    path = saved.stdout.strip()
    assert saved.code == 0 and path.startswith(str(world.config))
    assert stat.S_IMODE((world.config / path).stat().st_mode) == 0o600
    rows = {row["name"]: row for row in map(json.loads, world.run(kind, "--json").stdout.splitlines())}
    assert rows["mine"]["own"] and rows["mine"]["path"] == path and rows["mine"]["error"] == ""
    assert "mine" in world.run(kind).stdout
    assert world.run(kind, "show", "mine").stdout == good
    assert json.loads(world.run(kind, "show", "mine", "--json").stdout) == {"name": "mine", "path": path, "text": good}
    if bad:
        refused = world.run(kind, "save", "mine", stdin=bad.encode())
        assert refused.code == 3 and f"{path}{line}" in refused.stderr
        assert world.run(kind, "show", "mine").stdout == good, "what cannot be used replaces nothing"
        (world.config / path).write_text(bad)
        shown = world.run(kind, "show", "mine")
        assert (shown.code, shown.stdout) == (3, bad) and f"{path}{line}" in shown.stderr
        assert path in world.run(kind, "list").stdout
    asked = world.run(kind, "delete", "mine")
    assert asked.code == 6 and "--yes" in asked.stderr
    assert world.run(kind, "delete", "mine", "--yes").stdout.strip() == path
    gone = world.run(kind, "show", "mine")
    assert gone.code == 2 and "called 'mine'" in gone.stderr


def test_what_ships_is_shown_and_stays(world: World) -> None:
    assert world.run("roles", "show", "terse").stdout.startswith("---\n")
    refused = world.run("roles", "delete", "terse", "--yes")
    assert refused.code == 2 and "comes with agent-shell" in refused.stderr
    refused = world.run("roles", "edit", "terse")
    assert refused.code == 3 and "needs a terminal" in refused.stderr
    assert not (world.config / "roles").exists()


@pytest.mark.parametrize(
    "words", (("roles", "show"), ("macros", "save"), ("roles", "show", "../../x"), ("rag", "forget", "x"))
)
def test_what_is_no_line_of_them(world: World, words: tuple[str, ...]) -> None:
    assert world.run(*words).code == 2


def test_an_empty_list_says_where_yours_go(world: World) -> None:
    ended = world.run("rag")
    assert (ended.code, ended.stdout) == (0, "") and f"yours go to {world.config}/rags" in ended.stderr
    assert world.run("rag", "--json").stdout == ""


@pytest.mark.thorough
def test_at_a_terminal_it_is_edited_and_asked_about(world: World) -> None:
    with Terminal("roles", "edit", "terse", home=world.home, cwd=world.work, EDITOR="cat") as person:
        person.see("(?m)^description:")
        assert person.leaves() == 0
    own = world.config / "roles/terse.md"
    assert own.exists()
    for answer, code in (("n", 6), ("y", 0)):
        with Terminal("roles", "delete", "terse", home=world.home, cwd=world.work) as person:
            person.see(r"delete the role terse .*\[y/N\]")
            person.type(f"{answer}\r")
            assert person.leaves() == code
    assert not own.exists()


def test_what_acts_on_a_terminal_is_made_visible_there(world: World) -> None:
    text = "Be kind.\x1b[31mred\x1b]0;title\x07\n"
    assert world.run("roles", "save", "odd", stdin=text.encode()).code == 0
    assert world.run("roles", "show", "odd").stdout == text, "a pipe gets what there is"
    with Terminal("roles", "show", "odd", home=world.home, cwd=world.work, TERM="dumb") as person:
        person.see(r"Be kind\.␛\[31mred␛\]0;title␇")
        assert person.leaves() == 0
