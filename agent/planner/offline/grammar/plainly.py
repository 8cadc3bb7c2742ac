"""Ordinary words put into ours, before anything else is read: "spit out the first 3 lines real quick" is "show the first 3 lines".

Only verbs that begin an order, what stands before and behind the whole goal, and set words are touched; what is quoted is masked before. Guards
and confidence look at the goal as it was typed.
"""

from __future__ import annotations

import re
from functools import cache

_MARKS = ",.;:!?"
_STARTS = frozenset({"and", "then"})
# What is fetched from elsewhere, or collected somewhere, is not only shown.
_ELSEWHERE = re.compile(
    r"(?i)://|\b(?:into|out of|onto|from origin|origin|remote|upstream|branch|branches|commits?|stash|containers?|images? from|changes|package|packages|page|website|url|internet|server at)\b"
    r"|\b(?:to|in) (?:an? |the )?(?:new |separate |single )?(?:file|folder|directory|archive|zip|tarball)\b|\bto [\w./-]+/|\b(?:to|in|as) (?:a (?:new )?file (?:called|named) )?[\w/-]+\.\w{2,4}\s*\Z"
)
# No order begins with these, so what stands before is a part of it.
_NO_START_TEXT = "of in is are for at up into inside through on to by from with and or as"
_NO_START = frozenset(_NO_START_TEXT.split())
# "gather the lines of a in b" says where they go.
_GATHERS = frozenset({"collect", "gather", "round", "pull", "assemble"})
_GATHERED = re.compile(r"(?i)\b(?:from|of|with)\b.*\b(?:in|to|as)\b|\bcop(?:y|ies)\b|\blinks?\b")
# Questions, which only the whole goal is.
_ASKED = frozenset({"number of", "how many"})
_Table = dict[str, list[tuple[tuple[str, ...], str]]]


def plainly(text: str) -> str:
    """A goal with ordinary words in ours; the same text where there are none. What is quoted has to be masked."""
    words = text.split()
    lows = [word.lower().rstrip(_MARKS) for word in words]
    if len(words) > 3 and words[-1].endswith(")") and "(" in text:  # an aside in brackets
        opened = max(at for at, word in enumerate(words) if "(" in word)
        inside = tuple(word.strip("().").lower() for word in words[opened:])
        if words[opened].startswith("(") and inside in _closings():
            words[opened], lows[opened] = words[opened][1:], lows[opened][1:]
            words[-1], lows[-1] = words[-1].rstrip(")"), lows[-1].rstrip(")")
    begun = len(words)
    _drop_openings(words, lows)
    _drop_closings(words, lows)
    changed = len(words) != begun
    at = 0
    while at < len(words):
        found = _at(words, lows, at)
        if found is None:
            at += 1
            continue
        size, known = found
        mark = words[at + size - 1][len(words[at + size - 1].rstrip(_MARKS)) :]
        changed = True
        if known:
            words[at : at + size] = [known + mark]
            lows[at : at + size] = [known]
            at += 1
        else:
            del words[at : at + size], lows[at : at + size]
    return " ".join(words) if changed else text


def _at(words: list[str], lows: list[str], at: int) -> tuple[int, str] | None:
    """What stands at a word for something else: how many words, and what they mean."""
    begins = at == 0 or words[at - 1][-1] in ",;:" or lows[at - 1] in _STARTS
    if begins:
        found = _longest(_verbs(), lows, words, at)
        if found is None or found[1] == "sum":
            found = _before_noun(lows, words, at) or found
        makes = (
            found is not None and lows[at] in ("produce", "establish") and lows[at + found[0] :][:1] in (["a"], ["an"])
        )
        if (
            found is not None
            and not makes
            and (at == 0 or (_opens_noun(lows, at + found[0]) and found[1] not in _ASKED))
        ):
            return found
    found = _longest(_words(), lows, words, at)
    if found is None or (
        at and lows[at - 1] in _naming() and len(found[1].split()) < 3 and words[at - 1][-1] not in ","
    ):
        return None
    return found


def _before_noun(lows: list[str], words: list[str], at: int) -> tuple[int, str] | None:
    found = _longest(_verbs_before_nouns(), lows, words, at)
    if found is None or not _opens_noun(lows, at + found[0]):
        return None
    said = " ".join(words[at:])
    if found[1] == "show" and (_ELSEWHERE.search(said) or (lows[at] in _GATHERS and _GATHERED.search(said))):
        return None
    if found[1] == "delete" and lows[at + found[0]] not in ("the", "all", "every", "each", "those", "these", "my"):
        return None  # "trash files" may be what they are
    if found[1] == "count":
        from agent.planner.offline.grammar.plain_words import COUNTED

        rest = lows[at + found[0] :]
        if not (COUNTED - {"bytes", "columns", "fields"}) & set(rest[:4]) or {
            "each",
            "every",
            "per",
            "by",
            "different",
            "various",
        } & set(rest):
            return None
    return found


def _opens_noun(lows: list[str], at: int) -> bool:
    from agent.planner.offline.grammar.plain_words import COUNTED, DETERMINERS

    return at < len(lows) and (lows[at] in DETERMINERS or lows[at] in COUNTED or lows[at].isdigit())


def _drop_openings(words: list[str], lows: list[str]) -> None:
    """Take away what stands before the order, as long as something is left."""
    while (found := _longest(_openings(), lows, words, 0)) is not None and len(words) - found[0] > 1:
        size = found[0]
        if lows[size] in _NO_START or _longest(_verbs(), lows, words, 0) is not None:
            return
        del words[:size], lows[:size]


def _drop_closings(words: list[str], lows: list[str]) -> None:
    """The same behind it; not what is looked for, or a name."""
    table = _closings()
    found, ends = True, ""
    while found:
        found = False
        for size in range(min(6, len(words) - 2), 0, -1):
            known = table.get(tuple(lows[-size:]))
            if known is not None and lows[-size - 1] not in _naming():
                del words[-size:], lows[-size:]
                words[-1] = words[-1].rstrip(",;-") or words[-1]
                ends = known or ends
                found = True
                break
    if ends:
        words.append(ends)
        lows.append(ends)


def _longest(table: _Table, lows: list[str], words: list[str], at: int) -> tuple[int, str] | None:
    """The longest entry of a table that stands at a word; none goes past a mark."""
    for said, known in table.get(lows[at], ()):
        size = len(said)
        if tuple(lows[at : at + size]) == said and all(word[-1] not in _MARKS for word in words[at : at + size - 1]):
            return size, known
    return None


def _indexed(entries: dict[str, str]) -> _Table:
    table: _Table = {}
    for known, said in entries.items():
        for phrase in said.split(" / "):
            first, *rest = phrase.split()
            if phrase != known:
                table.setdefault(first, []).append(((first, *rest), known))
    for found in table.values():
        found.sort(key=lambda entry: -len(entry[0]))
    return table


@cache
def _verbs() -> _Table:
    from agent.planner.offline.grammar.plain_words import VERBS  # with the first goal

    return _indexed(VERBS)


@cache
def _verbs_before_nouns() -> _Table:
    from agent.planner.offline.grammar.plain_words import BEFORE_NOUNS

    return _indexed(BEFORE_NOUNS)


@cache
def _words() -> _Table:
    from agent.planner.offline.grammar.plain_words import ASIDES, WORDS

    return _indexed({**WORDS, "": ASIDES})


@cache
def _openings() -> _Table:
    from agent.planner.offline.grammar.plain_words import OPENINGS

    return _indexed({"": OPENINGS})


@cache
def _closings() -> dict[tuple[str, ...], str]:
    from agent.planner.offline.grammar.plain_words import CLOSINGS, ENDINGS

    said = [(CLOSINGS, ""), *((phrases, known) for known, phrases in ENDINGS.items())]
    return {tuple(phrase.split()): known for phrases, known in said for phrase in phrases.split(" / ")}


@cache
def _things() -> frozenset[str]:
    from agent.planner.offline.grammar.plain_words import COUNTED

    return COUNTED


@cache
def _naming() -> frozenset[str]:
    from agent.planner.offline.grammar.plain_words import NAMING

    return NAMING
