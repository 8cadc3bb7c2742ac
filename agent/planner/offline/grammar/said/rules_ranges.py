"""Several new folders or files whose names go from one to another: "week1 to week9", a folder for each month."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_WHAT = r"(?P<what>(?:sub)?(?:folders?|director(?:y|ies)|files?))"
_MAKE = r"(?:(?:make|create|add|set up|touch|i need|i want|give me) )?(?:(?:new|empty|the|some|a|an|one|separate|own|\d+|four|twelve|seven) )*"
_MOST = 400
_COUNT = {"month": 12, "quarter": 4, "day": 31}
_LINK = r"(?:up to|to|through|till|until|and so on (?:up )?to|thru|\.\.\.?|-)"


def _ranged(heard: Heard) -> str | None:
    """From one name to another that differ in one number, which keeps its leading noughts."""
    first, last = heard.text("first").rstrip("/"), heard.text("last").rstrip("/")
    parts = re.fullmatch(r"(.*?)(\d+)(\D*)", first)
    others = re.fullmatch(r"(.*?)(\d+)(\D*)", last)
    if parts is None or others is None or parts[3] != others[3] or parts[1] != others[1]:
        return None
    low, high = int(parts[2]), int(others[2])
    if not low < high or high - low >= _MOST or first.startswith("-"):
        return None
    if not re.fullmatch(r"[\w./+-]*", parts[1] + parts[3]):
        return None
    names = f"{parts[1]}{{{parts[2]}..{others[2]}}}{parts[3]}"
    folder = heard.text("dir").rstrip("/") if heard.has("dir") else ""
    if folder and not heard.scene.exists(folder + "/."):
        return None
    names = f"{quote_path(folder)}/{names}" if folder else names
    if high - low < 12:  # few names are read more easily than what makes them
        width = len(parts[2]) if parts[2].startswith("0") else 0
        start = f"{folder}/" if folder else ""
        names = " ".join(
            quote_path(f"{start}{parts[1]}{number:0{width}d}{parts[3]}") for number in range(low, high + 1)
        )
    if heard.low("what").startswith("file"):
        return f"touch {names}"
    return f"mkdir -p {names}"


def _calendar(heard: Heard) -> str | None:
    """A folder for each month of a year, named so that their order is that of time."""
    year = heard.text("year")
    if heard.has("this"):
        year = str(heard.scene.today.year + (1 if heard.low("this") == "next" else 0))
    unit = heard.low("unit")
    if not year or unit not in _COUNT:
        return None
    if unit == "month":
        return f"mkdir -p {year}-{{01..12}}"
    return f"mkdir -p {year}-q{{1..4}}" if unit == "quarter" else None


def _filled(heard: Heard) -> str | None:
    """A new folder with a new file in it."""
    folder, name = heard.text("dir").rstrip("/"), heard.text("file")
    if "/" in name or folder.startswith("-") or heard.scene.exists(folder) or "." in folder.rsplit("/", 1)[-1]:
        return None
    return f"mkdir -p {quote_path(folder)} && touch {quote_path(f'{folder}/{name}')}"


def _within(heard: Heard) -> str | None:
    """One new file or folder in a folder that is there."""
    folder, name = heard.text("dir").rstrip("/"), heard.text("name").rstrip("/")
    if not name or name.startswith(("-", "/", "~")) or folder.startswith("-") or not heard.scene.exists(folder + "/."):
        return None
    path = f"{folder}/{name}"
    if heard.scene.exists(path) or name.lower() in ("in", "for", "with", "each", "every", "all", "called", "named"):
        return None
    return f"{'touch' if heard.low('what') == 'file' else 'mkdir -p'} {quote_path(path)}"


RULES = [
    Said("folder folders directory directories file files", rf"{_MAKE}{_WHAT}(?: (?:for each|for every|for|per) (?:[a-z]+)(?: of \d{{4}})?)?(?:,? please)?(?: (?:in|inside|under) (?:the )?(?:folder |directory )?<dir:path>)?(?: called| named|:| numbered|,)* (?:from )?<first:path> {_LINK} <last:path>", _ranged, "numbered names"),
    Said("folder directory folders directories", rf"{_MAKE}(?:folders?|director(?:y|ies)) (?:for|per) (?:each |every |all |the )*(?P<unit>month|quarter)s? (?:of|in) (?:the year )?(?:(?P<this>this|next|the current) year|(?P<year>(?:19|20)\d\d))", _calendar, "a folder for each month"),
    Said("empty new file", r"(?:(?:make|create|add|i'd like|i would like|i want|i need|give me) )?(?:a |the )?(?:new )?(?:folder |directory )?(?:called |named )?<dir:path> with (?:a |an |the )?(?:new )?(?:empty )?(?:file )?(?:called |named )?<file:path> in(?:side)? (?:it|there)", _filled, "a folder with a file"),
    Said("file folder directory", r"(?:make|create|add|touch|put) (?:a |an |the )?(?:new |empty )*(?P<what>file|folder|directory|sub-?folder|subdirectory) (?:called |named )?<name:path> (?:in|inside|into|under|within|below) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?", _within, "a new file or folder in a folder"),
]  # fmt: skip
