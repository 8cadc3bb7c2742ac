"""Compare names by their letters, for slips of the hand. Pure."""

from __future__ import annotations

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
