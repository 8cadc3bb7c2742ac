"""Build the tables that goals are matched with from `recipes/*.toml`, `filters.toml` and the lexicon.

Not imported where the file that it writes is fresh. `python -m agent.planner.offline.book_build` writes it ahead.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable

import msgspec

from agent.lexicon.words import Lexicon, read_lexicon
from agent.planner.offline.book_tables import COMPILED, FORMAT, Tables, kept, packed, read_source, sources
from agent.planner.offline.recipe_files import load_entries, read_toml

# Optional parts and slots.
_NOT_REQUIRED = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")


def build() -> Tables:
    """The tables, from the files. ValueError, TOMLDecodeError or ValidationError for one that cannot be read."""
    data = read_lexicon()
    filters = read_toml("filters.toml")["filter"]
    entries = load_entries()
    fillers = frozenset(data["fillers"])
    phrasings = [source for _, entry in entries for source in entry.phrasings]
    lexicon = Lexicon(data, vocabulary_of(phrasings + [s for one in filters for s in one["phrasings"]]) - fillers)
    groups, required, filed, always = file_phrasings(phrasings, lexicon.concept, fillers)
    encoder = msgspec.msgpack.Encoder()
    return Tables(
        format=FORMAT,
        made_from={name: read_source(path) for name, path in sources()},
        lexicon={key: value for key, value in data.items() if key != "synonyms"},
        concepts=lexicon.concepts,
        filters=filters,
        areas=[area for area, _ in entries],
        entries=[encoder.encode(entry) for _, entry in entries],
        counts=[len(entry.phrasings) for _, entry in entries],
        groups=groups,
        required=required,
        filed=filed,
        always=always,
    )


def vocabulary_of(phrasings: list[str]) -> set[str]:
    """Every literal word of the phrasings."""
    return set(re.sub(r"<[^<>]*>|[\[\]|!]", " ", " ".join(phrasings)).split())


def file_phrasings(
    phrasings: list[str], concept: Callable[[str], str], fillers: frozenset[str]
) -> tuple[list[list[str]], list[list[int]], dict[str, list[int]], list[int]]:
    """`groups`, `required`, `filed` and `always` of the tables."""
    rows = [_NOT_REQUIRED.sub("", source).split() for source in phrasings]
    pieces = Counter(piece for row in rows for piece in row)
    concepts = {piece: _concepts(piece, concept, fillers) for piece in pieces}
    numbers: dict[tuple[str, ...], int] = {}
    for group in concepts.values():
        if group:
            numbers.setdefault(group, len(numbers))
    required: list[list[int]] = []
    filed: dict[str, list[int]] = {}
    always: list[int] = []
    for number, row in enumerate(rows):
        needed = [piece for piece in row if concepts[piece]]
        required.append([numbers[concepts[piece]] for piece in needed])
        if not needed:
            always.append(number)
            continue
        for one in concepts[min(needed, key=pieces.__getitem__)]:
            filed.setdefault(one, []).append(number)
    return [list(group) for group in numbers], required, filed, always


def _concepts(piece: str, concept: Callable[[str], str], fillers: frozenset[str]) -> tuple[str, ...]:
    """The concepts of which a goal must have one; none for prepositions, which only announce."""
    words = piece.removesuffix("!").split("|")
    if not piece.endswith("!") and fillers.issuperset(words):
        return ()
    return tuple(sorted(set(map(concept, words))))


def keep(tables: Tables, started: int) -> None:
    """Put the tables where the next start finds them, whole or not at all; `started` is when the files began to be read (ns).

    Where that cannot be, every start builds them.
    """
    with contextlib.suppress(OSError):
        number, beside = tempfile.mkstemp(prefix=".book-", dir=os.path.dirname(COMPILED))
        try:
            with open(number, "wb") as file:
                file.write(packed(tables))
                os.fchmod(number, 0o644)
            os.utime(beside, ns=(started, started))  # a file that changed while it was read is younger
            os.replace(beside, COMPILED)
        except BaseException:
            os.unlink(beside)
            raise


def main() -> None:
    """Compile where it is not compiled yet, for those who cannot write there later."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        if kept() is not None:
            return
    started = time.time_ns()
    keep(build(), started)


if __name__ == "__main__":
    main()
