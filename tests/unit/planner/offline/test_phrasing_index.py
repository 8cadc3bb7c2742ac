"""The index leaves out no phrasing that fits, reads no recipe before its time, and agrees with the files read in full."""

from __future__ import annotations

import random

from agent.meanings.words import tokenize
from agent.planner.offline import recipes
from agent.planner.offline.patterns import PhrasingCompiler
from agent.planner.offline.phrasing_index import PhrasingIndex
from agent.planner.offline.questions import asked_about
from agent.planner.offline.recipes import Recipe, load_book, load_entries

BOOK = load_book()


def test_the_index_gives_what_a_look_at_all_phrasings_gives() -> None:
    every = list(BOOK.index.all())
    concepts = sorted({concept for _, _, required in every for group in required for concept in group})
    chosen = random.Random(7)
    goals = [set(chosen.sample(concepts, size)) for size in (0, 1, 3, 6, 12, 30) for _ in range(5)]
    goals.append({"show", "container", "log", "of"})
    for present in goals:
        fitting = [(id(r), p.source) for r, p, required in every if all(group & present for group in required)]
        near = [(id(r), p.source) for r, p, required in BOOK.index.near(present) if all(g & present for g in required)]
        assert near == fitting


def test_few_phrasings_come_near_a_goal() -> None:
    tokens = tokenize("show the logs of the container web", BOOK.lexicon)
    near = list(BOOK.index.near({token.concept for token in tokens}))
    assert 0 < len(near) < 0.2 * len(list(BOOK.index.all()))


def test_loading_reads_no_recipe() -> None:
    fresh = load_book()
    assert not any("entry" in vars(recipe) or "phrasings" in vars(recipe) for recipe in fresh.recipes)


def test_the_quick_look_agrees_with_the_files_read_in_full() -> None:
    entries = load_entries()
    assert [(recipe.area, recipe.entry) for recipe in BOOK.recipes] == entries
    for recipe in BOOK.recipes:
        assert recipe.sources == recipe.entry.phrasings
        assert tuple(phrasing.source for phrasing in recipe.phrasings) == recipe.sources


def test_phrasings_written_otherwise_are_read_as_toml() -> None:
    compiler = PhrasingCompiler(lambda word: word, frozenset())
    text = """
id = 'x.y'
title = 't'
phrasings = [
  "it's so",
  'b <c:word>',  # two
]
command = 'true'
needs = []
reason = 'r'
examples = []
"""
    recipe = Recipe("x", text, compiler)
    assert recipe.sources == ("it's so", "b <c:word>")
    assert [p.source for _, p, _ in PhrasingIndex([recipe], lambda word: word, frozenset()).near({"b"})] == [
        "b <c:word>"
    ]


def test_all_recipes_are_found_by_their_heading() -> None:
    assert len(BOOK.recipes) == len(load_entries()) > 400
    assert all(recipe.forms for recipe in BOOK.recipes)
    assert recipes.vocabulary_of(["a|b [c] <d:e> f!"]) == {"a", "b", "c", "f"}


def test_a_question_about_what_was_done_asks_for_nothing() -> None:
    def asked(goal: str) -> set[str]:
        return asked_about(tokenize(goal, BOOK.lexicon))

    assert asked("was the file a.txt deleted") == {"delete"}
    assert asked("is the service nginx stopped") == {"kill"}
    assert asked("delete the deleted files") == set()
    assert asked("is git installed") == set()
    assert asked("is there a way to delete deleted mails") == set()
