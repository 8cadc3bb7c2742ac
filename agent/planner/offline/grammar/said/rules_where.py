"""Where something is, its full path, and what is in a folder that is named without saying that it is one."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_FILE = r"(?:the |a |any )?(?:file |files |document )?(?:called |named )?"
_HERE = r"(?: (?:is|are|is located|lives|can be found))?(?: (?:somewhere |anywhere )?(?:here|below here|in here|in this (?:folder|directory|tree|project)|in the current (?:folder|directory)|below this (?:folder|directory)|in the tree))?"
_BARE = re.compile(r"[\w+@-][\w.+@ -]*\.[A-Za-z]\w{0,7}\Z")


def _found(heard: Heard) -> str | None:
    name = heard.text("name")
    return f"find . -name {quote_path(name).removeprefix('./')}" if _BARE.match(name) else None


def _full_path(heard: Heard) -> str | None:
    name = heard.text("name").rstrip("/")
    if heard.scene.exists(name):
        return f"realpath {quote_path(name)}"
    return f'find "$PWD" -name {quote_path(name)}' if _BARE.match(name) else None


def _listed(heard: Heard) -> str | None:
    name = heard.text("dir").rstrip("/")
    if not heard.scene.exists(name + "/.") or "." in name or "*" in name:
        return None
    return f"ls {quote_path(name)}"


def _measured(heard: Heard) -> str | None:
    name = next(heard.text(hole) for hole in ("dir", "dir2", "dir3") if heard.has(hole)).rstrip("/")
    return f"du -sh {quote_path(name)}" if name and heard.scene.exists(name + "/.") else None


_FOLDER = r"(?:the |my )?(?:folder |directory )?<dir:path>(?: folder| directory)?"
_HUMAN = (
    r"(?:,? (?:for humans|in (?:a )?human[- ]readable (?:form|format|units?|way)|human[- ]readable|in readable units))?"
)
RULES = [
    Said("how big large size space usage", rf"(?:how (?:big|large|heavy) is {_FOLDER}(?: in total| altogether)?|how much (?:disk )?space (?:does|is used by|do) {_FOLDER.replace('<dir', '<dir2')}(?: (?:take|use|occupy|need|take up|used))?(?: up)?|{{ASK}}(?:total |whole |overall |disk )?(?:size|space|usage|space usage) (?:of|used by|taken by|taken up by) {_FOLDER.replace('<dir', '<dir3')}){_HUMAN}", _measured, "how big a folder is"),
    Said("locate where", rf"(?:locate|where is|where are|where's|where can i find|find out where|search where|show me where|tell me where) {_FILE}<name:path>{_HERE}", _found, "where a file is"),
    Said("path", r"{ASK}(?:full|absolute|complete|whole|entire)(?: file)? path (?:of|to|for) (?:the )?(?:file |folder |directory )?(?:called |named )?<name:path>(?: folder| directory)?", _full_path, "the full path"),
    Said("list show ls", r"(?:list|ls|show|display|show me|list the contents? of|show the contents? of) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?", _listed, "what is in a folder"),
]  # fmt: skip
