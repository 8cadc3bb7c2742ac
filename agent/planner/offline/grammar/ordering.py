"""Find the order that a part of a goal starts with: "delete" of "please delete the folder src", nothing of "the folder src"."""

from __future__ import annotations

import re

from agent.planner.offline.recipe_files import read_toml

_LEAD = re.compile(
    r"(?i)\A(?:(?:and|then|also|please|just|now|finally|lastly|next|first(?:ly)?|second(?:ly)?|third(?:ly)?|afterwards?|"
    r"can you|could you|would you|will you"
    r"|i(?:'d| would)? (?:want|need|like) (?:you )?to|i want|i need|let's|to"
    r"|only|simply|quickly|recursively|interactively|forcefully|safely|in the end|at the end|help me(?: to)?)\b[\s,:]*)+"
)
_QUESTION_WORDS = "how what what's which who whose where when why is are was were do does did has have can could should will would am any"
# What "delete a.py and the folder src" can leave out the second time.
_ORDERS = frozenset(read_toml("orders.toml")["orders"].split())
_QUESTIONS = frozenset(_QUESTION_WORDS.split())


def starts_with_order(part: str) -> bool:
    """Tell whether a part of a goal starts with an order or a question, so that it can stand alone."""
    word = _first(part)
    return word in _ORDERS or word in _QUESTIONS


def order_of(part: str) -> str:
    """The order that a part starts with, "" for none."""
    word = _first(part)
    return word if word in _ORDERS else ""


def _first(part: str) -> str:
    rest = _LEAD.sub("", part.strip(), count=1)
    found = re.match(r"[A-Za-z'0-9-]+", rest)
    return found[0].lower() if found else ""
