"""Score how sure a command can be: from how the goal was read, and from what of the goal is to be seen in the command.

The number is meant as a share: of commands with 0.9, nine in ten do what was asked. What lies below `OFFERED` is not offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from agent.lexicon.words import Token
from agent.planner.offline.evidence import missing, names_no_folder, names_nothing, unasked
from agent.planner.offline.grammar.changes import operations
from agent.planner.offline.grammar.saying import letters_of, literals, masked, undone

OFFERED = 0.6
LOST = 0.5  # what each thing leaves that the goal says and the command does not show
_TIED = 0.92
# Measured over 459 goals of people who did not know the planner: of commands without a pipe that were offered 9 in 10 were right, of those
# that the grammar composed of three or more programs less than half; goals of 14 words and more were read rightly in 6 of 10.
_PER_WORD = 0.988  # words that mean something
_LONG = 10
_PER_WORD_OF_LONG = 0.96
_COMPOSED_OF = (0.97, 0.92, 0.72, 0.68)  # by the number of pipes
_PER_FILLER = 0.98
_ASIDE = 0.8
# Written as several programs, but one idea: the first or last so many by a number that is left out again; how often each comes.
_ONE_IDEA = re.compile(r" \| sort \| uniq -c(?= \| sort)| \| cut -d' ' -f2-| \| (?:head|tail) -n \d+(?= \||\Z)")
# Fillers that often say something after all.
_SPEAKING = frozenset((
    "each", "every", "out", "over", "under", "below", "through", "than", "via", "them", "they", "their", "it", "within", "so",
))  # fmt: skip
_ASIDES = re.compile(r"[(;]|\bi\.e\.|\be\.g\.|\bthat is,|\bnamely\b|\bmeaning\b")
_NUMBER = re.compile(
    r"(?<![\w.$-])(\d{1,9}(?:\.\d+)?)(?:(?=[^\w.]|\Z)|(?=[kmgtKMGT]i?[bB]?\b|[smhdw]\b|%|\.(?:\s|\Z)|(?:st|nd|rd|th)\b))"
)
_PATH = re.compile(r"(?<![\S])['\"(]?([~./]?[\w*?+@%-]*[./][\w*?/.+@%-]*[\w*/])(?=['\")\s,;:!?.]|\Z)")
_PLACE = re.compile(
    r"(?i)\b(?:(?:in|inside|under|below|within)(?: the| my)?(?: folder| directory)?|of|from) "
    r"((?<![\w./'\"*-])[\w-]{2,})(?![\w/'\"*-]|\.\w)"
)
_CALLED_SO = re.compile(
    r"(?i)(?:\b(?:each|every|per|any|no|which) [\w-]+ (?:folder|directory)\b)"  # of a kind, with no name
    r"|(?<![\w./-])([\w-]{2,}) (?:folder|directory)\b|\b(?:folder|directory) ([\w-]{2,})(?![\w.])"
)
_SEARCHED = re.compile(r"\bgrep (?:-\S+ )*'?([A-Za-z]{4,})'?(?= |\Z)")
_NO_TEXT = frozenset((
    "everything", "anything", "something", "whatever", "others", "unique", "distinct", "several", "contents",
    "columns",
))  # fmt: skip
_TEXT_CUES = (
    r"contain\w*|with|words?|text|string|mention\w*|phrase|say\w*|match\w*|for|of|pattern|named|called|is|are|have|has|having|in"
    r"|grep|status"
)
_ASKS_A_HOST = re.compile(r"(?:ping|ssh|dig|host|nslookup|traceroute|nmap|whois|mtr|telnet)\b")


class Read(Struct, frozen=True, kw_only=True):
    """A goal as it was read: the score of the words alone, its tokens, whether another command fits as well, whether the grammar put the
    command together, and the plain words that were taken for names, or for names of files and folders."""

    goal: str
    score: float
    tokens: list[Token]
    tied: bool = False
    composed: bool = False
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def confidence(read: Read, command: str, exists: Callable[[str], bool]) -> float:
    """0..1 for a command. `exists` tells whether a path is there, as the goal's folder sees it."""
    sure = read.score * (_TIED if read.tied else 1.0)
    sure *= LOST ** len(unseen(read, command, exists))
    meant = sum(not token.filler and not token.weak for token in read.tokens)
    sure *= _PER_WORD**meant * _PER_WORD_OF_LONG ** max(0, meant - _LONG)
    if read.composed:
        pipes = _ONE_IDEA.sub("", command).count(" | ")
        sure *= _COMPOSED_OF[min(pipes, len(_COMPOSED_OF) - 1)]
    sure *= _PER_FILLER ** sum(token.low in _SPEAKING and token.filler for token in read.tokens)
    if _ASIDES.search(masked(read.goal)):
        sure *= _ASIDE
    return sure


def unseen(read: Read, command: str, exists: Callable[[str], bool]) -> list[str]:
    """Name what of a goal the command does not show: wishes, orders, numbers, quoted texts, paths, places, and words that were taken
    for names though they name nothing."""
    goal = read.goal
    said = masked(goal)
    lost = missing(said, command) + [f"that it would {what}" for what in unasked(said, command)]
    order = undone(said, command)
    if order and order.upper() not in goal and not operations(command):  # of changing commands `guards` speaks
        lost.append(f"to {order}")
    plain = letters_of(command)
    lost += [f"{text!r}" for text in literals(goal) if letters_of(text) and letters_of(text) not in plain]
    lost += [number for number in _NUMBER.findall(goal) if not _has_number(number, command)]
    lost += [path for path in _PATH.findall(goal) if path not in ("i.e", "e.g") and not _has_path(path, command)]
    lost += [place for place in _places(goal, exists) if not _has_word(place, command)]
    lost += [repr(word) for word in _SEARCHED.findall(command) if _only_says_which(word, said)]
    denied = re.findall(r"\b(?:not|isn't|aren't) (?:being )?([a-z]{4,})\b", said)
    lost += [f"not {word}" for word in denied if re.search(rf"\bgrep (?:-[a-uw-z]+ )*'?{word}\b", command)]
    lost += [word for word in _hosts(command) if "." in word and exists(word)]  # a file is no machine
    lost += [repr(name) for name in read.names if names_nothing(name)]
    lost += [repr(name) for name in read.paths if names_nothing(name, path=True) and not exists(name)]
    return lost


def _only_says_which(word: str, said: str) -> bool:
    """Tell whether a text that is searched for is a word like "coldest", and nothing in the masked goal announces it as a text."""
    low = word.lower()
    if not (low in _NO_TEXT or (low.endswith("est") and len(low) > 5)) or not re.search(rf"\b{low}\b", said):
        return False
    return not re.search(rf"\b(?:{_TEXT_CUES}) (?:the )?(?:word |text |string )?{low}\b", said)


def _hosts(command: str) -> list[str]:
    """List what a command takes for machines."""
    if not _ASKS_A_HOST.match(command):
        return []
    return [word for word in command.split()[1:] if not word.startswith("-")]


def _has_number(number: str, command: str) -> bool:
    """Tell whether a number is in a command, also in another unit, or as the one before or behind it."""
    there = {float(found) for found in re.findall(r"\d+(?:\.\d+)?", command)}
    value = float(number)
    factors = (
        1, 2, 7, 24, 30, 31, 60, 365, 366, 512, 1000, 1024, 1440, 3600, 86_400, 1_000_000, 1_048_576, 1_000_000_000,
        1_073_741_824,
    )  # fmt: skip
    same = {value * factor + step for factor in factors for step in (-1, 0, 1)} | {
        value / factor + step for factor in factors for step in (-1, 0, 1)
    }
    of_a_date = "date" in command and (value < 13 or 1900 <= value <= 2100)
    return bool(there & same) or of_a_date or (value < 13 and "$(" in command) or value in (0, 1)


def _has_path(path: str, command: str) -> bool:
    """Tell whether a path of the goal is in a command, by its name, its ending or its host."""
    bare = path.rstrip("/").removeprefix("./")
    name = bare.rsplit("/", 1)[-1]
    stem = name.split(".")[0] if not name.startswith(".") else name[1:]
    wanted = (bare, name.replace("*", ""), stem or name, bare.partition("://")[2].split("/")[0] or bare)
    low = command.lower().replace("\\", "")
    return not re.search(r"[A-Za-z]", path) or any(part.lower() in low for part in wanted if part)


def _places(goal: str, exists: Callable[[str], bool]) -> list[str]:
    """Plain words that are folders or files here, said as places; and what is called a folder."""
    found = [word for word in _PLACE.findall(goal) if not names_no_folder(word) and exists(word)]
    named = [a or b for a, b in _CALLED_SO.findall(goal) if a or b]
    return found + [word for word in named if not names_no_folder(word) and not word.endswith(("s", "est"))]


def _has_word(word: str, command: str) -> bool:
    return bool(re.search(rf"(?i)(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", command))
