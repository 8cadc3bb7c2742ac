"""Rank short texts by the words that they share with a question (BM25)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable

_B, _K = 0.4, 1.2


class Ranking:
    """The words of texts that are known by their place. `rarity`: how much each word tells."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        counts = [Counter(words) for words in texts]
        usual = sum(sum(count.values()) for count in counts) / max(len(counts), 1)
        self.rarity: dict[str, float] = {}
        # The places of the texts that say a word, and how much each says of it.
        self._saying: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for at, count in enumerate(counts):
            length = 1 - _B + _B * sum(count.values()) / usual
            for word, times in count.items():
                self._saying[word].append((at, times * (_K + 1) / (times + _K * length)))
        for word, places in self._saying.items():
            self.rarity[word] = math.log(1 + (len(counts) - len(places) + 0.5) / (len(places) + 0.5))

    def best(self, words: set[str], most: int) -> list[int]:
        """The places of the texts that say most of `words`, the best first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in sorted(words & self._saying.keys()):
            for at, share in self._saying[word]:
                scores[at] += self.rarity[word] * share
        return sorted(scores, key=lambda at: (-scores[at], at))[:most]
