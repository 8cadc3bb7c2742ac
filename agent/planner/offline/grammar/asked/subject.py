"""Which file a sentence is about, and what else it says, without the file: its place in the sentence says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from agent.planner.offline.grammar.said.sentence_rules import plain, unquoted
from agent.planner.offline.sentences import Scene

# Stands for the file in what is left of a sentence.
MARK = "\x02"
_WORD = re.compile(r"'[^'\0]*'|\"[^\"\0]*\"|`[^`\0]*`|[^\s,;:()'\"]+")
_BEFORE = (
    r"(?:\b(?:in|of|from|inside|within|for|to|on|out of|through|about|at|into) )?"
    r"(?:\b(?:the|my|our|this) )?(?:\b(?:file|table|list|text file|text|log|log file|csv|csv file|document) )?(?:\b(?:called|named) )?"
)
_DESTINATION = re.compile(
    r"(?i)[, ]*\b(?:and )?(?:(?:sav(?:e|ed)|writ(?:e|ten)|put|stor(?:e|ed)|output|redirect(?:ed)?|send|dump(?:ed)?)"
    r"(?: (?:it|them|that|the result|the results|the output|the list|everything|all))?(?: all)? (?:to|in|into|as)|into|as|to)"
    r" (?:a |the )?(?:new )?(?:file )?(?:called |named )?(?P<path>[\w./~+-]*\.\w{1,5}|'[^']+'|\"[^\"]+\")\Z"
)
_ON_SCREEN = re.compile(
    r"(?i)[,;]? ?\(?(?:(?:but |and )?(?:just |only )?(?:print|show|display|output)(?: only)?(?: (?:it|that|the result|the outcome))?"
    r"|(?:only )?(?:on|to) (?:the |my )?(?:screen|terminal|console)(?: only)?|output only|as output"
    r"|(?:and )?leav(?:e|ing) the (?:file|original)(?: itself)? (?:alone|as it is|unchanged|untouched))\)?\Z"
)
_MIDDLE = re.compile(r"(?i) (?:only )?(?:on|to) (?:the |my )?(?:screen|terminal|console)(?: only)?(?=[,;:. ]|\Z)")
_IN_PLACE = re.compile(
    r"(?i)[,;]? ?\(?(?:right |directly )?(?:in[- ]place|in the file(?: itself)?|in the file directly|and save (?:it|the file|the change)"
    r"|permanently|for good)\)?\Z"
)


class Subject(Struct, frozen=True, kw_only=True):
    """A file, its beginning, and the sentence with `MARK` where the file was. `sink` is a path that the result goes to ("" for none);
    `shown` and `inplace` are wishes about a change."""

    path: str
    text: str
    said: str
    scene: Scene
    sink: str = ""
    shown: bool = False
    inplace: bool = False


def subject_of(text: str, scene: Scene) -> Subject | None:
    """The one text file that a sentence names; None for none, several, or one that cannot be read."""
    said = re.sub(r"(?i),? ?\b(?:i\.e\.?|that is to say|in other words)[,:]? ?", ", ", plain(text))
    sink = ""
    shown = inplace = False
    on_screen = _MIDDLE.search(said)
    if on_screen:
        shown, said = True, said[: on_screen.start()] + said[on_screen.end() :]
    for _ in range(3):
        cut = _ON_SCREEN.search(said)
        if cut and cut.start():
            shown, said = True, said[: cut.start()]
            continue
        cut = _IN_PLACE.search(said)
        if cut and cut.start():
            inplace, said = True, said[: cut.start()]
            continue
        goes = _DESTINATION.search(said)
        if (
            goes
            and not sink
            and goes.start()
            and len(list(_files(said, scene))) + (not scene.exists(unquoted(goes["path"]))) > 1
        ):
            sink, said = unquoted(goes["path"]), said[: goes.start()]
            continue
        break
    found = list(_files(said, scene))
    if len({path for path, _, _ in found}) != 1:
        return None
    path = found[0][0]
    peeked = scene.peek(path)
    if not peeked:
        return None
    for _, start, end in reversed(found):
        before = re.search(rf"(?i){_BEFORE}\Z", said[:start])
        head = said[: before.start() if before else start]
        after = re.sub(r"\A(?:'s\b| file\b)", "", said[end:])
        said = f"{head} {MARK} {after}"
    return Subject(
        path=path, text=peeked, said=" ".join(said.split()), scene=scene, sink=sink, shown=shown, inplace=inplace
    )


def _files(said: str, scene: Scene) -> Iterator[tuple[str, int, int]]:
    """The files that are named, with where; a name with blanks in it may stand without quotes."""
    words = list(_WORD.finditer(said))
    for at, word in enumerate(words):
        raw = word[0].rstrip("?!.") if word[0][0] not in "'\"`" else word[0]
        name = unquoted(raw)
        if "." not in name and "/" not in name and not (raw == name and name.isupper()):
            continue
        if scene.peek(name):
            yield name, word.start(), word.start() + len(raw)
            continue
        for first in range(at - 1, max(-1, at - 4), -1):
            longer = said[words[first].start() : word.start() + len(raw)]
            if scene.peek(longer):
                yield longer, words[first].start(), word.start() + len(raw)
                break
