"""Compare names by their letters, for slips of the hand, and rank short texts by the words that they share with a question. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable


def within_slips(name: str, names: Iterable[str], most: int) -> dict[str, int]:
    """The names that are at most so many slips away, and how many: a letter left out, added, replaced or swapped with its neighbour."""
    letters = set(name)
    places = {letter: sum(1 << at for at, each in enumerate(name) if each == letter) for letter in letters}
    found: dict[str, int] = {}
    for other in names:
        # Cheap: each slip brings at most one new letter and takes at most one away.
        if abs(len(other) - len(name)) <= most and len(letters ^ set(other)) <= 2 * most:
            cost = _slips(places, len(name), other)
            if cost <= most:
                found[other] = cost
    return found


def most_alike(name: str, names: Iterable[str], *, count: int = 1, least: float = 0.6) -> list[str]:
    """Up to `count` names that share most letters in order with `name`, the most alike first; `least` is the share that counts."""
    from difflib import get_close_matches  # costs start-up time

    return get_close_matches(name, list(names), count, least)


def _slips(places: dict[str, int], length: int, other: str) -> int:
    """The smallest number of slips between a name, given as the places of each of its letters in bits, and `other`.

    A column of the table of distances is held as the differences between its rows, a bit each (Hyyrö 2003), so that it takes a few
    operations on whole numbers: alike names by the thousand are no trouble.
    """
    whole = (1 << length) - 1
    last = 1 << length >> 1
    more, less, same, before = whole, 0, 0, 0
    cost = length
    for letter in other:
        here = places.get(letter, 0)
        swapped = ((~same & here) << 1) & before
        same = ((((here & more) + more) ^ more) | here | less | swapped) & whole
        rise, fall = less | (whole & ~(same | more)), same & more
        cost += bool(rise & last) - bool(fall & last)
        rise, fall = rise << 1 | 1, fall << 1
        more, less = (fall | ~(same | rise)) & whole, rise & same
        before = here
    return cost if length else len(other)


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
