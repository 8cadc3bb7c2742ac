"""New folders and files, copies, links and times: whole sentences about one thing that is made."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_NAMED = r"(?:called |named |with the names? |: )?"
_NEW = r"(?:(?:a|an|the|some|new|empty|nested|whole|full|two|three|four|five|\d|following) )*"
_WITH_ALL = r"(?:,? (?:with|including|and) (?:everything|all|all the files|its contents?|all its contents?|all files|everything that is)(?: in it| inside(?: it)?| in there| contained)?)?"
_ITS_PARENTS = r"(?:,? (?:with|including|and|creating) (?:all )?(?:its |the |any |missing )*(?:parents?|parent (?:folders|directories))(?: as needed| if needed| too)?)?"
_TO_BE = r"(?:called|named|as|to|into|in|under the name(?: of)?|and (?:call|name) it|with the name)"
_THE = r"(?:the |my )?(?:whole |entire |complete )?(?:file |folder |directory )?"
_KIND = r"(?: folder| directory| file)?"
_STRANGE = frozenset(
    {
        "for",
        "in",
        "with",
        "called",
        "named",
        "of",
        "from",
        "under",
        "and",
        "the",
        "a",
        "each",
        "every",
        "it",
        "them",
        "all",
        "new",
    }
)
_MOST_NUMBERS = 100


def _fine(names: list[str]) -> bool:
    strange = len(names) == 1 and names[0].lower() in _STRANGE
    return bool(names) and not strange and not any(name.startswith("-") for name in names)


def _words(names: list[str]) -> str:
    return " ".join(quote_path(name) for name in names)


def _folders(heard: Heard) -> str | None:
    names = heard.several("names")
    if heard.has("dir"):
        names = [f"{heard.text('dir').rstrip('/')}/{name}" for name in names]
    return f"mkdir -p {_words(names)}" if _fine(names) and not any(re.search(r"[*?]", name) for name in names) else None


def _files(heard: Heard) -> str | None:
    names = heard.several("names")
    if heard.has("dir"):
        if not heard.scene.exists(heard.text("dir") + "/."):
            return None
        names = [f"{heard.text('dir').rstrip('/')}/{name}" for name in names]
    return f"touch {_words(names)}" if len(names) > 1 and _fine(names) else None


def _numbered(heard: Heard) -> str | None:
    first, last = int(heard.number("first")), int(heard.number("last"))
    if not 0 <= last - first < _MOST_NUMBERS:
        return None
    return f"mkdir -p {' '.join(str(number) for number in range(first, last + 1))}"


def _copied(heard: Heard) -> str | None:
    """A copy under another name; of a folder with all that is in it."""
    old, new = heard.text("old").rstrip("/"), heard.text("new")
    if not heard.scene.exists(old) or new.startswith("-") or new.lower() in _STRANGE or old == new.rstrip("/"):
        return None
    folder = heard.scene.exists(old + "/.")
    return f"cp {'-r ' if folder else ''}{quote_path(old)} {quote_path(new)}"


def _linked(heard: Heard) -> str | None:
    """A link; a relative one is made so that it holds from where it stands."""
    old, new = heard.text("old"), heard.text("new")
    hard = heard.has("hard")
    if not heard.scene.exists(old) and (hard or not old.startswith("/")):
        return None
    into = heard.scene.exists(new + "/.")
    if (heard.scene.exists(new) and not into) or new.startswith("-") or old.startswith("-"):
        return None
    if hard:
        return f"ln {quote_path(old)} {quote_path(new)}" if not heard.scene.exists(old + "/.") else None
    far = not old.startswith(("/", "~")) and (into or "/" in new.strip("/"))
    return f"ln -s{'r' if far else ''} {quote_path(old)} {quote_path(new)}"


def _dated(heard: Heard) -> str | None:
    if not heard.scene.exists(heard.text("file")):
        return None
    when = heard.low("when")
    if when in ("now", "the current time", "the present", "today"):
        return f"touch {heard.path('file')}"
    clock = {"noon": "12:00", "midnight": "00:00"}
    when = re.sub(r"noon|midnight", lambda found: clock[found[0]], when.replace(" at ", " "))
    when = re.sub(r"(\d\d?:\d\d) (?:of |on )?(\d{4}-\d\d-\d\d|yesterday|today)", r"\2 \1", when)
    return f"touch -d {shlex.quote(when)} {heard.path('file')}"


def _removed(heard: Heard) -> str | None:
    """One file that is named with its folder behind it."""
    place = f"{heard.text('dir').rstrip('/')}/{heard.text('file')}"
    if not heard.scene.exists(place) or heard.scene.exists(place + "/.") or "*" in place:
        return None
    return f"rm {quote_path(place)}"


def _zeros(heard: Heard) -> str | None:
    name = heard.path("file2" if heard.has("file2") else "file")
    size = heard.number("n") + {"b": "", "k": "K", "m": "M", "g": "G"}[heard.low("unit")[0]]
    return f"head -c {size} /dev/zero > {name}"


def _spoken(heard: Heard) -> str | None:
    if heard.scene.exists(heard.text("file")) or heard.text("text").startswith("-"):
        return None
    return f"echo {shlex.quote(heard.text('text'))} > {heard.path('file')}"


_SOFT = r"(?:symbolic link|symlink|sym link|soft ?link|symbolic soft link)"
_LINK = rf"(?:(?P<hard>hard[- ]?link)|{_SOFT})"
_WHEN = r"(?P<when>now|today|the current time|yesterday|tomorrow|last (?:week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|(?:noon|midnight) (?:yesterday|today)|yesterday (?:noon|at noon|at \d\d?:\d\d|\d\d?:\d\d)|\d{1,4} (?:minutes?|hours?|days?|weeks?|months?|years?) ago|(?:noon|midnight|\d\d?:\d\d) (?:of|on) \d{4}-\d\d-\d\d|\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)"

RULES = [
    Said("folder folders directory directories dirs", rf"(?:make|create|add|set up) {_NEW}(?:sub)?(?:folders|directories|dirs) {_NAMED}<names:paths>(?: (?:in|inside|under) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?)?", _folders, "make folders"),
    Said("folder directory path", rf"(?:make|create|add|set up) {_NEW}(?:(?:sub)?(?:folder|directory)(?: tree| structure| path| hierarchy)?|path) {_NAMED}<names:paths>{_ITS_PARENTS}", lambda h: _folders(h) if len(h.several("names")) == 1 and "/" in h.text("names") else None, "make folders"),
    Said("folders directories", r"(?:make|create|add) (?:new |empty )?(?:folders|directories) (?:for |named |called |numbered )?(?:the )?(?:years? |numbers? )?(?:from )?<first:int> (?:up to|to|through|until|till) <last:int>", _numbered, "make folders"),
    Said("files", rf"(?:make|create|add|touch) {_NEW}files {_NAMED}<names:paths>(?: (?:in|inside|under) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?)?", _files, "make empty files"),
    Said("copy cp", rf"(?:copy|cp) (?:the |my )?(?:whole |entire |complete )(?:folder |directory )?<old:path>{_KIND}{_WITH_ALL} (?:to|into|as) {_THE}<new:path>{_KIND}", _copied, "copy a folder"),
    Said("copy cp", rf"(?:copy|cp) {_THE}<old:path>{_KIND} (?:to|into|as) {_THE}<new:path>{_KIND},? (?:with|including|and|together with) (?:everything|all|all the files|its contents?|all its contents?|all files)(?: in it| inside(?: it)?| in there| below it)?", _copied, "copy a folder"),
    Said("copy backup duplicate", rf"(?:make|create|take|save) (?:a )?(?:backup |second |new )?(?:copy|duplicate|backup) of {_THE}<old:path>{_KIND},? {_TO_BE} <new:path>", _copied, "a copy under another name"),
    Said("duplicate backup back clone", rf"(?:duplicate|back up|backup|clone) {_THE}<old:path>{_KIND} {_TO_BE} {_THE}<new:path>", _copied, "a copy under another name"),
    Said("link symlink hardlink softlink", rf"(?:make|create|add|set up|put) (?:a |an |the )?(?:new )?{_LINK} (?:called |named )?<new:path>(?: that| which)? (?:to|for|of|pointing to|points to|pointing at|leading to|->) {_THE}<old:path>{_KIND}", _linked, "make a link"),
    Said("link symlink hardlink softlink", rf"(?:make|create|add|set up) (?:a |an |the )?(?:new )?{_LINK} (?:to|for|of|pointing to) {_THE}<old:path>{_KIND} (?:called|named|as|with the name|under the name|at|in) <new:path>", _linked, "make a link"),
    Said("symlink hardlink link softlink", rf"(?:(?P<hard>hard[- ]?link)|symlink|soft-?link|symbolically link) {_THE}<old:path> (?:to|as|under the name(?: of)?|into) {_THE}<new:path>", _linked, "make a link"),
    Said("time date timestamp", rf"(?:set|change|update|put) (?:the )?(?:last )?(?:modification |access and modification |file |change )?(?:time ?stamp|date|time|date and time|mtime) (?:of|on|for) {_THE}<file:path> (?:to|as) {_WHEN}", _dated, "time of a file"),
    Said("delete remove erase rid", rf"(?:delete|remove|erase|get rid of) {_THE}<file:path> (?:in|from|inside|out of) {_THE}<dir:path>{_KIND}", _removed, "delete a file"),
    Said("zero zeros zeroes null", r"(?:make|create|write|generate) (?:a |the )?(?:new )?file (?:called |named )?(?:<file:path> )?(?:of|with|that has|containing|holding) (?:exactly )?<n:int> (?:zero|null|nul)?[- ]?(?P<unit>bytes|kb|kilobytes|k|mb|megabytes|m)(?: of zeros| of zeroes| of null bytes| of zero bytes)?(?: (?:called|named|as) <file2:path>)?", lambda h: _zeros(h) if h.has("file") != h.has("file2") else None, "a file of zeros"),
    Said("write put save", r"(?:write|put|save) (?:the )?(?:text|words?|string|line|sentence) <text:text> (?:in)?to (?:a )?new file (?:called |named )?<file:path>", _spoken, "a file with a text"),
    Said("timestamp epoch", r"(?:convert |turn |translate |show |print |what (?:date|time|date and time|day|moment) is |which date is )?(?:the )?(?:unix |epoch |posix )*(?:time ?stamp|time|epoch) (?P<stamp>\d{8,11})(?: (?:to|into|as|in) (?:a |an )?(?:human )?(?:readable )?(?:date|time|date and time|form|format))?(?P<utc>,? (?:in|as) utc)?", lambda h: f"date {'-u ' if h.has('utc') else ''}-d @{h.text('stamp')}", "a time stamp as a date"),
    Said("date touch", rf"(?:date|touch) {_THE}<file:path> (?:with|to|at|back to) (?:the )?(?:date |time )?{_WHEN}", _dated, "time of a file"),
    Said("set change put modification date time age", rf"(?:set|change|put|turn|move) (?:the )?(?:last )?(?:modification |modified |file |access )?(?:date|time|time ?stamp|date and time|mtime)s? (?:of|on|for) {_THE}<file:path> (?:back )?(?:to|at) {_WHEN}", _dated, "time of a file"),
    Said("backdate make", rf"(?:backdate {_THE}<file:path> to {_WHEN}|make {_THE}<file2:path> look (?:as if it was |as if |like it was )?(?:modified|changed|edited|written) (?:on |at )?{_WHEN.replace('<when>', '<when2>')})", lambda h: _dated(h) if h.has("file") else None, "time of a file"),
]  # fmt: skip
