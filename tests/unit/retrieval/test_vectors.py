"""Vectors find what words do not, and both rankings count."""

from __future__ import annotations

import random
from array import array
from math import hypot
from pathlib import Path

import pytest

from agent.retrieval.chunking import Chunk
from agent.retrieval.index import RagIndex
from agent.retrieval.vectors import fused


def unit(*numbers: float) -> array[float]:
    return array("f", (number / hypot(*numbers) for number in numbers))


def filled(path: Path) -> RagIndex:
    index = RagIndex(str(path / "i.sqlite3"))
    texts = ("the dog barks", "a puppy sleeps", "tax forms of the year")
    index.put(
        "a.md", "/a.md", "1", "x", [Chunk(line, "H" if line == 1 else "", text) for line, text in enumerate(texts, 1)]
    )
    vectors = (unit(1, 0.1, -0.2), unit(1, 0.2, -0.1), unit(-0.3, 1, 0.4))
    index.put_vectors("m", zip((chunk for chunk, _ in index.lacking("m", 9)), vectors, strict=True))
    return index


@pytest.mark.covers("S1-65")
def test_what_shares_no_word_is_found_by_where_it_points(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert [hit.line for hit in index.search("dog", 5)] == [1]
    assert [hit.line for hit in index.search("dog", 2, model="m", vector=unit(1, 0.15, -0.15))] == [1, 2]
    assert [hit.line for hit in index.search("zebra", 1, model="m", vector=unit(-0.2, 1, 0.5))] == [3]
    assert index.search("zebra", 5, model="other", vector=unit(1, 0, 0)) == []


def test_only_chunks_without_a_vector_of_that_model_are_lacking(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert index.lacking("m", 9) == []
    assert [text for _, text in index.lacking("n", 1)] == ["H\nthe dog barks"]
    index.put("a.md", "/a.md", "2", "y", [Chunk(1, "", "a cat")])
    assert [text for _, text in index.lacking("m", 9)] == ["a cat"]
    assert index.search("zebra", 5, model="m", vector=unit(1, 0, 0)) == [], "vectors go with their chunks"


def test_the_nearest_by_signs_then_exactly_are_the_nearest_of_all(tmp_path: Path) -> None:
    rng = random.Random(1)
    vectors = [unit(*(rng.gauss(0, 1) for _ in range(64))) for _ in range(400)]
    index = RagIndex(str(tmp_path / "i.sqlite3"))
    index.put("a", "/a", "", "", [Chunk(number, "", f"word{number}") for number in range(400)])
    index.put_vectors("m", zip((chunk for chunk, _ in index.lacking("m", 999)), vectors, strict=True))
    kept = 0
    for number in range(0, 400, 20):
        query = unit(*(value + rng.gauss(0, 0.08) for value in vectors[number]))
        exact = sorted(range(400), key=lambda at: -sum(a * b for a, b in zip(vectors[at], query, strict=True)))
        found = [hit.line for hit in index.search("nothing", 5, model="m", vector=query)]
        assert found[0] == exact[0] == number
        kept += len(set(found) & set(exact[:5]))
    assert kept >= 75, "of 100"


def test_rankings_are_fused_by_rank() -> None:
    assert [each for each, _ in fused([1, 2, 3], [3, 4, 1])] == [1, 3, 2, 4]
    assert fused([], []) == []
