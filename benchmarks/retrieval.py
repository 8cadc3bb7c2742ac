"""What looking up documents costs: cutting and indexing 10,000 passages, and a search among 100,000 of them.

The texts are made: words by Zipf's law, as in prose, in documents of 20 passages. A search has ten words drawn by the same law,
which is harder than a question: nearly all of them are common. Beside it stands a `grep` for one word through these texts,
in the same run.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from itertools import accumulate
from pathlib import Path

from agent.retrieval.chunking import chunks
from agent.retrieval.index import RagIndex
from benchmarks.figures import Figure

PASSAGES, MANY = 10_000, 100_000
_PER_DOCUMENT, _WORDS = 20, 150
_VOCABULARY = [f"word{number}" for number in range(30_000)]
_WEIGHTS = list(accumulate(1 / (number + 1) for number in range(30_000)))


def document(rng: random.Random) -> str:
    """Markdown with a heading for each passage."""
    parts = []
    for number in range(_PER_DOCUMENT):
        words = rng.choices(_VOCABULARY, cum_weights=_WEIGHTS, k=_WORDS)
        parts.append(f"# heading {number} {words[0]}\n\n{' '.join(words)}\n")
    return "\n".join(parts)


def add(index: RagIndex, first: int, texts: list[str]) -> None:
    for number, text in enumerate(texts, first):
        index.put(f"{number}.md", f"/{number}.md", "1", "x", chunks(text))


def measure() -> tuple[float, float, float, float]:
    """Seconds for 10,000 passages; milliseconds of a search at 100,000: median, 95 of 100; of a `grep` through these texts."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        index = RagIndex(str(Path(folder, "index.sqlite3")))
        texts = [document(rng) for _ in range(PASSAGES // _PER_DOCUMENT)]
        begin = time.perf_counter()
        add(index, 0, texts)
        built = time.perf_counter() - begin
        plain = Path(folder, "all.md")
        with plain.open("w") as file:
            for first in range(len(texts), MANY // _PER_DOCUMENT, len(texts)):
                file.writelines(texts)
                texts = [document(rng) for _ in texts]
                add(index, first, texts)
        times = []
        for _ in range(200):
            words = " ".join(rng.choices(_VOCABULARY, cum_weights=_WEIGHTS, k=10))
            begin = time.perf_counter()
            index.search(words, 5)
            times.append((time.perf_counter() - begin) * 1e3)
        index.close()
        begin = time.perf_counter()
        subprocess.run(["grep", "-c", "word29999", str(plain)], check=False, stdout=subprocess.DEVNULL)
        scan = (time.perf_counter() - begin) * 1e3
    times.sort()
    return built, times[100], times[190], scan


def main() -> list[Figure]:
    built, median, slow, scan = measure()
    return [
        Figure("rag: index 10,000 passages", built, 0, "s", "<= 10", built <= 10),
        Figure("rag: search among 100,000, median", median, scan, "ms", "no bound", True, "grep"),
        Figure("rag: search among 100,000, p95", slow, scan, "ms", "<= 20", slow <= 20, "grep"),
    ]
