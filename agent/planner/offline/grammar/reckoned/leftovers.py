"""Whether all words of a sentence had a part in what is reckoned."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.reckoned.chosen import take_value_alone

if TYPE_CHECKING:
    from agent.planner.offline.grammar.reckoned.reading import Reckoning

_EVERYBODY = frozenset(
    [
        "everyone",
        "everybody",
        "anyone",
        "anybody",
        "those",
        "one",
        "ones",
        "somebody",
        "someone",
        "did",
        "lives",
        "live",
        "living",
        "does",
    ]
)
_VERBS = r"\b(?:that )?(?:(?:were|was|are|is|have been|has been|we have|we|they|did|do|does) )?(?:sold|sent|earned|paid|spent|measured|made|ordered|bought|served|transferred|delivered|shipped|used|scored|reached|kept|produced|achieved|consumed|recorded|obtained|placed|opened|created|done|spend|cause|caused|order|earn|pay|make|get|use)\b(?: (?:there|so far))?"
_SORTED = re.compile(r"(?i)\b(?:sort(?:ed)?|order(?:ed)?|ranked|arranged|reverse)\b")
_TITLE = r"\A[ ;]*(?:the )?[a-z]+(?: of (?:the |an? )?[a-z]+)?[ ;]*(?=:)"


def nothing_left(read: Reckoning) -> bool:
    """Whether only words are left that say nothing."""
    wish = read.wish
    read.take(rf"(?:\A|(?<=[;,\x02])) *(?:{w.ASK})\b(?=[ ;,]|\Z)")
    if wish.way == "list" and _SORTED.search(read.rest):
        return False
    read.take(_VERBS)
    if wish.way == "row":
        read.take(_TITLE)
    words = re.findall(r"[^\s,;:.!?()\x02\x04]+", read.rest)
    left = [word for word in words if word.lower() not in w.GLUE | _EVERYBODY]
    if read.asked_how_much and wish.way in ("sum", "average"):
        left = [word for word in left if word.lower() not in ("how", "much")]
    if left and wish.way not in ("width", "height") and not wish.conditions and take_value_alone(read, left[0]):
        left.pop(0)  # "how much did amy spend"
    if len(left) != 1:
        return not left
    chosen = wish.way in ("list", "most") or bool(wish.conditions) or read.by_total
    return chosen and (read.stands_for_lines(left[0]) or _some_lines(read, left[0].lower()))


def _some_lines(read: Reckoning, noun: str) -> bool:
    """ "the accounts", "services": the lines, however they are called."""
    if not noun.endswith("s") or not (read.columns.table.header or read.wish.shown or read.wish.conditions):
        return False
    stem = noun.rstrip("s")
    return stem not in read.subject.text.lower() or stem in read.subject.path.lower()
