"""The index leaves out no phrasing that fits, decodes no recipe before its time, and agrees with the files."""

from __future__ import annotations

import random

from agent.lexicon.words import tokenize
from agent.planner.offline.questions import asked_about
from agent.planner.offline.recipe_files import load_entries
from agent.planner.offline.recipes import load_book

BOOK = load_book()


def test_the_index_gives_what_a_look_at_all_phrasings_gives() -> None:
    every = [(recipe, phrasing, phrasing.required) for recipe, phrasing in BOOK.index.all()]
    concepts = sorted({concept for _, _, required in every for group in required for concept in group})
    chosen = random.Random(7)
    goals = [set(chosen.sample(concepts, size)) for size in (0, 1, 3, 6, 12, 30) for _ in range(5)]
    goals.append({"show", "container", "log", "of"})
    for present in goals:
        fitting = [(id(r), p.source) for r, p, required in every if all(group & present for group in required)]
        assert [(id(recipe), phrasing.source) for recipe, phrasing in BOOK.index.near(present)] == fitting


def test_few_phrasings_come_near_a_goal() -> None:
    tokens = tokenize("show the logs of the container web", BOOK.lexicon)
    near = list(BOOK.index.near({token.concept for token in tokens}))
    assert 0 < len(near) < 0.05 * len(list(BOOK.index.all()))


def test_loading_decodes_no_recipe() -> None:
    fresh = load_book()
    assert not any("entry" in vars(recipe) for recipe in fresh.recipes)


def test_the_book_is_what_the_files_say() -> None:
    entries = load_entries()
    assert [(recipe.area, recipe.entry) for recipe in BOOK.recipes] == entries
    for recipe in BOOK.recipes:
        assert tuple(phrasing.source for phrasing in recipe.phrasings) == recipe.entry.phrasings
    assert all(recipe.forms for recipe in BOOK.recipes)
    assert len(BOOK.recipes) > 400


def test_a_question_about_what_was_done_asks_for_nothing() -> None:
    def asked(goal: str) -> set[str]:
        return asked_about(tokenize(goal, BOOK.lexicon))

    assert asked("was the file a.txt deleted") == {"delete"}
    assert asked("is the service nginx stopped") == {"kill"}
    assert asked("delete the deleted files") == set()
    assert asked("is git installed") == set()
    assert asked("is there a way to delete deleted mails") == set()
