"""Every recipe does what its examples say, and is written so that nothing it catches can become syntax."""

from __future__ import annotations

import functools
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from agent.planner.offline import book_tables, recipe_files, recipes, rendering
from agent.planner.offline.patterns import Slot
from agent.planner.offline.spared_folders import without_spared_folders
from agent.protocol.replies import Chat
from tests.support.each import each
from tests.support.recipes_page import render_catalog
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item, ran

AREAS = sorted(name.removesuffix(".toml") for name in os.listdir(os.path.join(book_tables.HERE, "recipes")))


@functools.cache
def entries() -> list[tuple[str, recipes.RecipeEntry]]:
    """Area and recipe, of all."""
    return list(recipe_files.load_entries())


@functools.cache
def book() -> tuple[recipes.Recipe, ...]:
    """All recipes with their phrasings read."""
    return tuple(recipes.load_book().recipes)


# Slots whose values are digits, which may stand inside a quoted program.
NUMERIC = {"count", "number", "port", "pid", "seconds"}
BUILTINS = {
    "cd", "pwd", "echo", "export", "printf", "command", "kill", "time", ":", "for", "until", "sleep", "LC_ALL=C", ".", "alias",
    "deactivate", "jobs", "ulimit", "umask", "compgen",
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("area", AREAS)
def test_example_goals_give_their_commands(area: str, tmp_path: Path) -> None:
    examples = [(entry.id, example) for of, entry in entries() if of == area for example in entry.examples]

    @each(("recipe_id", "example"), examples, ids=lambda row: f"{row[0]}: {row[1].goal}")
    def gives_its_command(recipe_id: str, example: recipes.Example) -> None:
        place = ""
        if example.here:
            place = str(tmp_path / f"{recipe_id}-{example.here}")
            os.makedirs(place, exist_ok=True)
            Path(place, example.here).touch()
        assert command_for(example.goal, place) == without_spared_folders(example.command.strip())

    gives_its_command()


def test_there_are_enough_recipes_in_every_area() -> None:
    areas: dict[str, int] = {}
    for area, _ in entries():
        areas[area] = areas.get(area, 0) + 1
    expected = {
        "archives", "crypto", "databases", "dates", "disk", "docker", "files", "find", "git", "json", "kubernetes", "media",
        "network", "packages", "permissions", "processes", "projects", "remote", "services", "system", "tables", "terminal",
        "text",
    }  # fmt: skip
    assert set(areas) == expected == set(AREAS)
    assert sum(areas.values()) >= 520


def test_ids_are_unique_and_carry_their_area() -> None:
    ids = [entry.id for _, entry in entries()]
    assert len(ids) == len(set(ids))
    assert all(entry.id.startswith(area + ".") for area, entry in entries())


def test_every_slot_of_a_template_is_caught_or_has_a_default() -> None:
    @each("recipe", book(), ids=lambda recipe: recipe.entry.id)
    def look(recipe: recipes.Recipe) -> None:
        frame = {"find", "list", "lines", "root"} if recipe.entry.filters else set()
        defaults = set(recipe.entry.defaults)
        for form in recipe.forms:
            wanted = {name for name, _ in rendering.SLOT.findall(form.command)} - frame - defaults
            for phrasing in recipe.phrasings:
                caught = {e.name for e in phrasing.elements if isinstance(e, Slot) and not e.optional}
                assert wanted <= caught, (phrasing.source, wanted - caught)

    look()


def test_only_numbers_stand_inside_quotes() -> None:
    @each("recipe", book(), ids=lambda recipe: recipe.entry.id)
    def look(recipe: recipes.Recipe) -> None:
        kinds = rendering.slot_kinds(recipe)
        for form in recipe.forms:
            template = re.sub(r"«.*?»", "", form.command)
            for quoted in re.findall(r"'[^']*'|\"[^\"]*\"", template):
                for name, _ in rendering.SLOT.findall(quoted):
                    assert kinds[name] in NUMERIC, (form.command, name)

    look()


def test_a_form_needs_the_programs_it_starts_with() -> None:
    @each("recipe", book(), ids=lambda recipe: recipe.entry.id)
    def look(recipe: recipes.Recipe) -> None:
        for form in recipe.forms:
            bare = re.sub(r"'[^']*'|\"[^\"]*\"|\$\(\(.*\)\)", "''", form.command)
            for stage in re.split(r"\|\|?|&&|;", bare):
                words = [word for word in stage.split() if word != "sudo" and not re.match(r"\w+=", word)]
                if not words or words[0].startswith(("<", "$", "\\", "-", "''")):
                    continue
                if words[0] not in BUILTINS and words[0] not in ("do", "done"):
                    assert words[0] in {need.split()[0] for need in form.needs}, (form.command, words[0])

    look()


def test_a_form_needs_the_modules_it_imports() -> None:
    for recipe in book():
        for form in recipe.forms:
            named = re.findall(r"python3 -m (\w+)", form.command)
            for line in re.findall(r"python3 -c (.*)", form.command):
                named += [
                    name.strip() for names in re.findall(r"\bimport ([\w, ]+)", line) for name in names.split(",")
                ]
            for name in named:
                assert name in sys.stdlib_module_names | {"pip", "conda"} or f"python3 {name}" in form.needs, (
                    form.command
                )


def test_catalog_document_is_fresh() -> None:
    path = os.path.join(os.path.dirname(__file__), *[".."] * 4, "docs", "recipes.md")
    with open(path, encoding="utf-8") as file:
        assert file.read() == render_catalog()


def test_data_files_have_no_unknown_keys() -> None:
    for name in os.listdir(os.path.join(book_tables.HERE, "recipes")):
        with open(os.path.join(book_tables.HERE, "recipes", name), "rb") as file:
            assert set(tomllib.load(file)) == {"recipe"}


@each(
    ("goal", "command"),
    [
        ("switch back to main", "git switch main"),
        ("go back to the main branch", "git switch main"),
        ("switch back", "git switch -"),
        ("who else is logged in", "who"),
        ("am I running low on disk space", "df -h"),
        ("is anything listening on port 8080", "ss -ltnp 'sport = :8080'"),
        ("throw away my changes to thesis.md", "git restore thesis.md"),
        ("days until christmas", "date -u -d 2024-12-25"),
        ("how many days until new year's eve", "date -u -d 2024-12-31"),
    ],
)
def test_everyday_words(goal: str, command: str) -> None:
    assert command in command_for(goal)


def test_a_table_with_nothing_but_its_header_found_nothing() -> None:
    command = command_for("what is listening on port 8080")
    header = "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
    for stdout, said in (
        (header, "nothing listens there"),
        (header + "LISTEN 0 5 127.0.0.1:8080 *:*\n", "done: 2 lines"),
    ):
        reply = answer(goal_item("what is listening on port 8080"), ran(command, stdout=stdout))
        assert isinstance(reply, Chat) and reply.message.startswith(said)
