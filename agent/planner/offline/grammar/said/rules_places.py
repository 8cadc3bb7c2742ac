"""Facts of single files and folders: times, sizes, and what is there twice."""

from __future__ import annotations

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_TIMES = {"modified": "y", "changed": "y", "edited": "y", "updated": "y", "written": "y", "accessed": "x", "read": "x", "opened": "x", "created": "w", "born": "w"}  # fmt: skip
_NAMED = r"(?:the )?(?:file |folder |directory )?"
_UNITS = {"kilobytes": "k", "kb": "k", "kib": "k", "megabytes": "m", "mb": "m", "mib": "m", "bytes": "b"}


def _there(heard: Heard, name: str = "path") -> bool:
    text = heard.text(name)
    return heard.scene.exists(text) or "/" in text or "." in text.strip(".")


def _time(heard: Heard) -> str | None:
    return f"stat -c %{_TIMES[heard.low('what')]} {heard.path('path')}" if _there(heard) else None


def _readable(heard: Heard) -> str | None:
    if not _there(heard):
        return None
    summed = "-sh" if heard.scene.exists(heard.text("path") + "/.") else "-h"
    return f"du {summed} {heard.path('path')}"


def _per_folder(heard: Heard) -> str | None:
    folder = heard.text("path").rstrip("/")
    if not heard.scene.exists(folder + "/."):
        return None
    unit = _UNITS.get(heard.low("unit"), "h") if heard.has("unit") else "h"
    return f"du -s{unit} {heard.path('path').rstrip('/')}/*"


def _twice(heard: Heard) -> str | None:
    folder = heard.path("path") if heard.has("path") else "."
    if heard.has("path") and not heard.scene.exists(heard.text("path") + "/.") and "/" not in heard.text("path"):
        return None
    return f"find {folder} -type f -exec md5sum {{}} + | sort | uniq -w32 -D"


def _into_folder(heard: Heard) -> str | None:
    """Files that go into a folder which the goal calls one; it is made where it is not there."""
    names = heard.several("members")
    if not all(_looks_like_file(heard, name) for name in names):
        return None
    target = heard.path("dir").rstrip("/") or "/"
    made = "" if heard.scene.exists(heard.text("dir") + "/.") else f"mkdir -p {target} && "
    folders = any(heard.scene.exists(name + "/.") for name in names)
    program = "mv" if heard.low("verb") in ("move", "put", "mv") else "cp -a" if folders else "cp"
    return f"{made}{program} {' '.join(quote_path(name) for name in names)} {target}/"


def _looks_like_file(heard: Heard, name: str) -> bool:
    return not name.startswith("-") and (heard.scene.exists(name) or "/" in name or "." in name.strip("."))


def _into_there(heard: Heard) -> str | None:
    """One file into a folder that is there."""
    name, folder = heard.text("file"), heard.text("dir")
    if not heard.scene.exists(name) or heard.scene.exists(name + "/.") or not heard.scene.exists(folder + "/."):
        return None
    return None if name.startswith("-") or folder.startswith("-") else f"cp {quote_path(name)} {quote_path(folder)}"


RULES = [
    Said("copy", r"copy <file:path> (?:in)?to <dir:path>", _into_there, "a file into a folder"),
    Said("copy move put mv cp", r"(?P<verb>copy|move|put|mv|cp) (?:the )?(?:files? )?(?P<members>[\w./~+@%][\w./~+@%-]*(?:(?:,? and |, ?)[\w./~+@%][\w./~+@%-]*)*) (?:to|into|in|inside) (?:the |a |my )?(?:folder|directory|dir) (?:called |named )?<dir:path>", _into_folder, "files into a folder"),
    Said("modified changed edited updated accessed created written", rf"(?:when (?:was|has|did) {_NAMED}<path:path> (?:been )?(?:last |most recently )?(?P<what>modified|changed|edited|updated|accessed|read|opened|created|written)(?: last| the last time)?)", _time, "time of a file"),
    Said("modified modification changed change accessed access created creation", rf"{{ASK}}(?:exact )?(?:date |time |time stamp |timestamp |date and time )?(?:of )?(?:the )?(?:last )?(?P<kind>modification|access|change|creation)(?: time| date| timestamp)? of {_NAMED}<path:path>", lambda h: f"stat -c %{ {'m': 'y', 'a': 'x', 'c': 'z'}[h.low('kind')[0]] if h.low('kind') != 'creation' else 'w' } {h.path('path')}" if _there(h) else None, "time of a file"),
    Said("size big large", rf"(?:{{ASK}}(?:disk )?(?:size|usage) of|how (?:big|large) is) {_NAMED}<path:path>,? (?:for humans|human[- ]readable|in (?:a )?human[- ]readable (?:form|format|units?|way)|in readable units|readable (?:for|by) humans)", _readable, "size of a file"),
    Said("size big large", rf"(?:{{ASK}}(?:exact )?size of|how (?:big|large) is|how many bytes (?:big |large )?is) {_NAMED}<path:path>,? in (?P<unit>bytes)(?: exactly| only)?", lambda h: f"stat -c %s {h.path('path')}" if _there(h) and not h.scene.exists(h.text("path") + "/.") else None, "size of a file in bytes"),
    Said("space usage size", r"(?:how much (?:disk )?space (?:do|does|is used by|are used by) |{ASK}(?:disk )?(?:usage|size|space used|space) (?:of|by) )(?:the )?<path:word> of (?:each|every) (?:\w+)(?: (?:take|takes|use|uses|occupy|need|take up))?(?: up)?,? (?:in (?P<unit>kilobytes|kb|kib|megabytes|mb|mib|bytes)|human[- ]readable)", _per_folder, "sizes of what is in a folder"),
    Said("space usage size", r"(?:how much (?:disk )?space (?:do|does|is used by|are used by) |{ASK}(?:disk )?(?:usage|sizes?|space used|space) (?:of|by) )(?:each|every|all|all the|the) (?:sub)?(?:folders?|director(?:y|ies)|entry|entries|item|items) (?:in|of|under|below) (?:the )?(?:folder |directory )?<path:word>(?: (?:take|takes|use|uses|occupy|need|take up))?(?: up)?,? in (?P<unit>kilobytes|kb|kib|megabytes|mb|mib)", lambda h: f"du -s{_UNITS[h.low('unit')]} {h.path('path').rstrip('/')}/*/" if h.scene.exists(h.text("path") + "/.") else None, "sizes of folders in a folder"),
    Said("duplicate duplicates identical", r"(?:find|list|show|print|identify|detect) (?:all )?(?:the )?(?:duplicate|identical|duplicated) files(?: (?:in|under|below|within) (?:the )?(?:folder |directory )?<path:path>)?,? (?:by|using|with|by comparing|based on|according to|with the help of)(?: the| their)? ?(?:md5 ?|content )?(?:checksums?|hash(?:es)?|md5sums?|md5|sums?|contents?)", _twice, "files that are there twice"),
    Said("duplicates", r"(?:find|list|show) duplicates (?:in|under|below) (?:the )?(?:folder |directory )?<path:path> (?:by|using|with|based on)(?: the| their)? ?(?:md5 ?|content )?(?:checksums?|hash(?:es)?|md5sums?|md5|contents?)", _twice, "files that are there twice"),
]  # fmt: skip
