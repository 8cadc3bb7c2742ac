"""Take a goal of several steps apart at what says so: "first", "then", "after that", "finally", numbers and marks of a list.

Lines without them are no steps: they are more likely something that was pasted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent.lexicon.words import QUOTES

MOST_CLAUSES = 12
_OF_LIST = re.compile(r"(?:\A|\n)[ \t]*(?:(?:step[ \t]+)?\d{1,2}[.):]|[-*•])[ \t]+", re.IGNORECASE)
_NUMBERED = re.compile(r"(?<!\S)(?:step\s+)?([1-9])[.):]\s+", re.IGNORECASE)
_STRONG = re.compile(
    r"""\s*[,;.]?\s*(?:\band\s+)?\b(?:
            then | after\s+(?:that|this|which) | afterwards? | thereafter | subsequently | finally | lastly
          | (?:once|when)\s+(?:that|this|it)(?:\s+is|'s|\s+has\s+been)\s+(?:done|finished|ready)
        )\b\s*[,:]?\s*(?:\band\s+)?(?:\bthen\b\s*)?
      | \s*[,;.]\s*(?:and\s+)?next\b\s*,?\s*
      | \s*,?\s+and\s+(?=(?:tell\s+me|print|show(?:\s+me)?|say|report)\s+how\s+many\s+(?:there\s+are|they\s+are|lines\s+it\s+has)\s*\.?\Z)
      | \s*;\s+
      | (?<=[\w)\x01])(?<!\bi\.e)(?<!\be\.g)(?<!\betc)\.\s+(?=[A-Za-z])""",
    re.IGNORECASE | re.VERBOSE,
)
_WEAK = re.compile(r"\s*,\s+(?:and\s+)?|\s+and\s+", re.IGNORECASE)
# What comes after this says more of what was said, and is no step.
_EXPLAINS = re.compile(
    r"(?i)\s*(?:i\.?\s?e\.?[\s,]|e\.g|that\s+is\b|that\s+means|namely|meaning|in\s+other\s+words|which\s+(?:is|are|means)|"
    r"it\s+(?:is|has|stands|lives)\b|it's\b|they\s+(?:are|have|start|begin|end)\b|not\s|no[:,]\s|without\s|such\s+as|like\s|for\s+example)"
)
# Politeness is no step.
_THANKS = re.compile(
    r"(?i)(?:please|(?:many |so many )?thanks|thank you|thx|cheers|that(?:'s| is) (?:all|it))"
    r"(?: (?:in advance|a lot|so much|very much|a million|you|for now|for your help|i need))*[!. ]*"
)
_LEAD = re.compile(
    r"(?i)\A(?:and\s+)?(?:first(?:ly)?(?:\s+of\s+all)?|second(?:ly)?|third(?:ly)?|to\s+begin\s+with|(?:begin|start)\s+by|please)\b[,:]?\s+"
)

# What comes after this says why, and is no part of what is to be done.
_REASON = re.compile(
    r"(?i)(?<=[\w)\x01])[,\s]\s*((?:so(?:\s+that)?\s+(?:i|we|you)\b|in\s+order\s+to\b|because\s+(?:i|we|you|it|they|the|this|these|there|my|our)\b).+)\Z"
)
# Unless it says which ones, or what else is to be done.
_NARROWS = re.compile(
    r"(?i)\b(?:and|then|or|but|only|not|no|never|except|without|keep|each|every)\b|n['’]t\b|[\d/*,;\x01]|\w\.\w"
)


def without_reason(text: str) -> tuple[str, str]:
    """A goal without the clause at its end that says what it is for, and that clause, "" for none."""
    found = _REASON.search(_masked(text))
    if found is None or _NARROWS.search(found[1]) or len(text[: found.start()].split()) < 2:
        return text, ""
    return text[: found.start()], text[found.start(1) :].rstrip(" .!")


def clauses(text: str) -> tuple[str, ...]:
    """The steps that a goal names plainly, in order; one alone where it names none."""
    masked = _masked(text)
    numbered = list(_NUMBERED.finditer(masked))
    in_order = [int(match[1]) for match in numbered] == list(range(1, len(numbered) + 1))
    for items in (list(_OF_LIST.finditer(masked)), numbered if in_order else []):
        head = masked[: items[0].start()].strip() if items else ""
        if len(items) >= 2 and (not head or head.endswith(":")):
            ends = [*(match.start() for match in items[1:]), len(text)]
            return _clean(text[match.end() : end] for match, end in zip(items, ends, strict=True))
    parts = tuple(part for part in _clean(_cut(text, _STRONG.finditer(masked))) if not _THANKS.fullmatch(part))
    return _clean([text]) if any(_EXPLAINS.match(part) for part in parts[1:]) else parts


def halves(clause: str) -> Iterator[tuple[str, str]]:
    """A clause cut in two at each "and" or comma, from the first on."""
    masked = _masked(clause)
    for match in _WEAK.finditer(masked):
        if _EXPLAINS.match(clause[match.end() :]):
            return
        yield clause[: match.start()].strip(), clause[match.end() :].strip()


def without_lead(clause: str) -> str:
    """A clause without the word that only says where in the order it stands."""
    return _LEAD.sub("", clause, count=1)


def _cut(text: str, places: Iterator[re.Match[str]]) -> Iterator[str]:
    at = 0
    for match in places:
        yield text[at : match.start()]
        at = match.end()
    yield text[at:]


def _clean(parts: Iterable[str]) -> tuple[str, ...]:
    stripped = (part.strip().strip(",;").rstrip(".").strip() for part in parts)
    return tuple(part for part in stripped if part)


def _masked(text: str) -> str:
    """The text with what is quoted blotted out, as long as before."""
    out = list(text)
    at = 0
    while at < len(text):
        closer = QUOTES.get(text[at])
        if closer and (at == 0 or not text[at - 1].isalnum()):
            end = text.find(closer, at + 1)
            while end >= 0 and text[end + 1 : end + 2].isalnum():
                end = text.find(closer, end + 1)
            if end > 0:
                out[at : end + 1] = "\x01" * (end + 1 - at)
                at = end
        at += 1
    return "".join(out)
