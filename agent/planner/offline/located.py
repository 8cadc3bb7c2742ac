"""Names of a goal as the paths that they are: of several words, said with their folder behind them, or found below.

"shopping list.txt" is one name where there is such a file, "a.out in homework" is `homework/a.out`, and "hw1.c" is the only file of
that name below this folder. What is to be made, searched for or destroyed stays as it was said.
"""

from __future__ import annotations

import os
import re

from agent.planner.offline.sentences import Scene

_MOST = 4000  # entries that are looked at
_DEEPEST = 6
# Folders may be called anything; what stands in a goal is read as words of the person's.
_PLAIN = re.compile(r"[\w.+/-]+")
_FILE = r"[\w+-][\w.+-]*\.[A-Za-z]\w{0,7}"
_SPACED = re.compile(r"(?<![\w./'\"`-])((?:[\w&+-]+ ){1,4}[\w+-]+\.[A-Za-z]\w{0,7})(?![\w/'\"`-])")
_CALLED = re.compile(r"\b(named|called) ((?:[\w&+-]+ ){1,3}[\w+-]+)(?=\s*(?:[,;?!]|\.?\Z))")
_IN_FOLDER = re.compile(
    rf"(?<![\w./'\"`*-])(?P<a>{_FILE}) (?:in|inside|under|of|from|below|out of|within) (?:the |my )?(?:folder |directory )?"
    r"(?P<dir>[\w.-]+(?:/[\w.-]+)*)/?(?: folder| directory)?(?=\s*(?:[,;?!]|\.?\Z|\.\s| and | to | with | by | into ))"
)
_NAME = re.compile(rf"(?<![\w./'\"`*:@\\-])(?P<a>{_FILE})(?![\w./'\"`*:@-])")
_PLACE = re.compile(r"\b(?:in|of|under|below|inside|from|within) (?:the )?(?P<a>[a-z][\w-]{2,})(?![\w./'\"*-])", re.I)
_SEARCHES = re.compile(r"\b(?:find|search for|locate|where|look for|called|named|name)\b", re.I)
# A program of that name elsewhere is not what somebody wants to run.
_KEEPS_AS_SAID = re.compile(
    r"\b(?:run|execut|start|launch|install|compil|edit|open|delet|remov|eras|rm\b|wip|throw|empt|clear|overwrit|truncat"
    r"|get rid|trash|shred|destroy|purg)",
    re.I,
)
# What is made, or a text that is looked for.
_NEW = re.compile(
    r"(?:\b(?:to|into|as|called|named|name|becomes?|create|make|touch|writes?|save|new file|file|new|at|by"
    r"|contain(?:s|ing)?|mention(?:s|ing)?|includ(?:e|es|ing)|imports?|importing|uses?|using|says?|word|text|string)|>)\s*\Z",
    re.I,
)
_MADE = re.compile(r"\b(?:create|make|touch|write|save|new|download|generate|output)\b", re.I)


def with_paths(goal: str, scene: Scene) -> str:
    """A goal whose names are paths, as it is where there is nothing of that sort. What is quoted is left alone."""
    if len(goal) > 400 or re.search(r"['\"`“‘«]", goal):
        return goal
    goal = _SPACED.sub(lambda found: _longest(found[1], scene), goal)
    goal = _CALLED.sub(lambda found: f"{found[1]} '{found[2]}'" if scene.exists(found[2]) else found[0], goal)
    if "'" in goal:
        return goal
    if not _SEARCHES.search(goal):
        goal = _IN_FOLDER.sub(lambda found: _joined(found, scene), goal)
        if not _KEEPS_AS_SAID.search(goal):
            goal = _found_below(goal, scene)
    return goal


def _longest(said: str, scene: Scene) -> str:
    """The last words of a row that are one name here, in quotes; that is none where its last word is one by itself."""
    words = said.split(" ")
    if scene.exists(words[-1]):
        return said
    for start in range(len(words) - 1):
        name = " ".join(words[start:])
        if scene.exists(name):
            return " ".join([*words[:start], f"'{name}'"])
    return said


def _joined(found: re.Match[str], scene: Scene) -> str:
    path = f"{found['dir'].rstrip('/')}/{found['a']}"
    return path if scene.exists(path) and not scene.exists(found["a"]) else found[0]


def _found_below(goal: str, scene: Scene) -> str:
    """A goal with each name that is not here as the path of the only file, or folder, of that name below."""
    makes = _MADE.search(goal) is not None

    def file(found: re.Match[str]) -> str:
        name = found["a"]
        if makes or _NEW.search(goal[: found.start()]) or scene.exists(name):
            return found[0]
        return scene.below(name) or found[0]

    def place(found: re.Match[str]) -> str:
        name = found["a"]
        low = name.lower()
        if scene.lexicon.knows(low) or low in scene.lexicon.kinds or scene.exists(name):
            return found[0]
        path = scene.below(name)
        return found[0][: -len(name)] + path if path and scene.exists(path + "/.") else found[0]

    return _PLACE.sub(place, _NAME.sub(file, goal))


class Below:
    """What lies below a folder, looked at when it is first asked for, and no further than `_MOST` entries."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._paths: dict[str, list[str]] | None = None

    def only(self, name: str) -> str:
        """The path of the only entry of a name below the folder, but not directly in it.

        "" where there is none, or several, or where a folder on the way has a name that could be read as more than a path.
        """
        if self._paths is None:
            self._paths = self._look()
        found = self._paths.get(name, [])
        return found[0] if len(found) == 1 and _PLAIN.fullmatch(found[0]) and not found[0].startswith("-") else ""

    def _look(self) -> dict[str, list[str]]:
        paths: dict[str, list[str]] = {}
        waiting, seen = [("", 0)], 0
        while waiting:
            place, depth = waiting.pop()
            try:
                with os.scandir(os.path.join(self._folder, place)) as entries:
                    for entry in entries:
                        seen += 1
                        if seen > _MOST:
                            return {}  # a name that is unique so far may not be
                        path = f"{place}/{entry.name}" if place else entry.name
                        if place:
                            paths.setdefault(entry.name, []).append(path)
                        if depth < _DEEPEST and not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                            waiting.append((path, depth + 1))
            except (OSError, ValueError):
                continue
        return paths
