"""Rank short texts by the words that they share with a question (BM25)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

_B, _K = 0.4, 1.2


class Ranking:
    """The words of texts that are known by their place. `rarity`: how much each word tells."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        self._counts = [Counter(words) for words in texts]
        spread = Counter(word for count in self._counts for word in count)
        total = len(self._counts)
        self.rarity = {word: math.log(1 + (total - seen + 0.5) / (seen + 0.5)) for word, seen in spread.items()}
        self._usual = sum(sum(count.values()) for count in self._counts) / max(total, 1)

    def best(self, words: set[str], most: int) -> list[int]:
        """The places of the texts that say most of `words`, the best first."""
        scored: list[tuple[float, int]] = []
        for at, count in enumerate(self._counts):
            shared = words & count.keys()
            if shared:
                length = 1 - _B + _B * sum(count.values()) / self._usual
                score = sum(self.rarity[word] * count[word] * (_K + 1) / (count[word] + _K * length) for word in shared)
                scored.append((-score, at))
        return [at for _, at in sorted(scored)[:most]]
