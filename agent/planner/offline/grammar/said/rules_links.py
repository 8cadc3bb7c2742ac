"""Links: made in other words, pointed elsewhere, where they lead, and which names are the same file."""

from __future__ import annotations

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_SOFT = r"(?:(?:symbolic|soft|sym)[- ]?link|symlink|shortcut(?: \(symbolic(?: link)?\))?|link)"
_ANY = rf"(?:(?P<hard>hard[- ]?link)|{_SOFT})"
_MAKE = r"(?:(?:make|create|add|set up|put|give me|place) )?(?:a |an |the |another |new )*"
_THE = r"(?:the )?(?:file |folder |directory )?"
_LINK = r"(?:the )?(?:symbolic link |symlink |link |shortcut )?"
_CALLED = r"(?:called|named|as|under the name(?: of)?|with the name|by the name(?: of)?)"
_TO = r"(?:to|pointing to|pointing at|that points to|that points at|which points to|which points at|leading to|that leads to|for|onto|referring to|at)"
_FULL = r"(?P<full>in the end|finally|eventually|really|after all|absolute|full|real|final|canonical)"


def _linked(heard: Heard) -> str | None:
    target, name = heard.text("target"), heard.text("name").rstrip("/")
    if not heard.scene.exists(target) or target.startswith("-") or name.startswith("-") or not name:
        return None
    folder = heard.text("dir").rstrip("/") if heard.has("dir") else ""
    if folder:
        if not heard.scene.exists(folder + "/.") or "/" in name:
            return None
        name = f"{folder}/{name}"
    if heard.scene.exists(name):
        return None
    if heard.has("hard"):
        return None if heard.scene.exists(target + "/.") else f"ln {quote_path(target)} {quote_path(name)}"
    # A link that lies elsewhere needs a path as it is seen from there.
    far = "/" in name and not target.startswith(("/", "~"))
    return f"ln -s{'r' if far else ''} {quote_path(target)} {quote_path(name)}"


def _same_name(heard: Heard) -> str | None:
    """A link in another folder, by the name of what it leads to."""
    target, folder = heard.text("target").rstrip("/"), heard.text("dir").rstrip("/")
    name = f"{folder}/{target.rsplit('/', 1)[-1]}"
    if not heard.scene.exists(target) or not heard.scene.exists(folder + "/.") or heard.scene.exists(name):
        return None
    if heard.has("hard"):
        return None if heard.scene.exists(target + "/.") else f"ln {quote_path(target)} {quote_path(folder)}/"
    return f"ln -s{'' if target.startswith(('/', '~')) else 'r'} {quote_path(target)} {quote_path(folder)}/"


def _pointed(heard: Heard) -> str | None:
    """A link that is there leads elsewhere. What looks like a file of its own is not written over."""
    name, target = heard.text("name").rstrip("/"), heard.text("target")
    base = name.rsplit("/", 1)[-1]
    if not heard.scene.exists(target) or not name or name.startswith("-") or "." in base or target.startswith("-"):
        return None
    if "/" in name and not target.startswith(("/", "~")):
        return f"ln -sfnr {quote_path(target)} {quote_path(name)}"
    return f"ln -sfn {quote_path(target)} {quote_path(name)}"


def _led(heard: Heard) -> str | None:
    name = heard.text("name")
    if not heard.scene.exists(name) and "/" not in name and not heard.has("link"):
        return None
    full = heard.has("full") or heard.has("full2")
    return f"readlink {'-f ' if full else ''}{heard.path('name')}"


def _same_file(heard: Heard) -> str | None:
    name = heard.text("name")
    return f"find . -samefile {quote_path(name)}" if heard.scene.exists(name) and not name.startswith("-") else None


_ASKED_FULL = r"(?:[?;,]? (?:give me |show |print |tell me |as )?(?:the |its |an )?(?P<full2>absolute|full|real|canonical|final|complete)(?: path| target| name)?)?"


def _real(heard: Heard) -> str | None:
    """A link in whose place a copy of what it leads to comes."""
    name = heard.text("name").rstrip("/")
    if not heard.scene.exists(name) or heard.scene.exists(name + "/.") or name.startswith("-"):
        return None
    return f'cp --remove-destination "$(readlink -f {quote_path(name)})" {quote_path(name)}'


RULES = [
    Said("link symlink shortcut hardlink softlink", rf"{_MAKE}{_ANY} {_CALLED} <name:path>(?: in (?:the )?(?:folder |directory )?<dir:path>)?,? {_TO} {_THE}<target:path>", _linked, "make a link"),
    Said("link symlink shortcut hardlink softlink", rf"{_MAKE}{_ANY} {_TO} {_THE}<target:path>(?: in (?:the )?(?:folder |directory )?<dir:path>)?,? {_CALLED} <name:path>", _linked, "make a link"),
    Said("link symlink shortcut hardlink softlink", rf"(?:make|create|add|put|place) (?:a |an |the )?{_ANY} {_TO} {_THE}<target:path> (?:in|into|inside) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?", _same_name, "make a link"),
    Said("link symlink hardlink", rf"(?:(?P<hard>hard[- ]?link)|symlink|soft[- ]?link|link) {_THE}<target:path> (?:in)?to (?:the )?(?:folder |directory )?<dir:path>,? {_CALLED} <name:path>", _linked, "make a link"),
    Said("link symlink hardlink", rf"(?:(?P<hard>hard[- ]?link)|symlink|soft[- ]?link|link) {_THE}<target:path> (?:as|under the name(?: of)?) <name:path>", _linked, "make a link"),
    Said("point points pointing", rf"(?:let |make |have )?{_LINK}<name:path> points? (?:to|at) {_THE}<target:path>(?: instead| now| from now on)?", _pointed, "a link leads elsewhere"),
    Said("point redirect switch change repoint", rf"(?:point|repoint|re-point|redirect|switch|change|turn) {_LINK}<name:path> (?:so that it points |over |to point |around )?(?:to|at) {_THE}<target:path>(?: instead| now| from now on)?", lambda h: _pointed(h) if h.scene.exists(h.text("name")) else None, "a link leads elsewhere"),
    Said("lead leads point points go goes link links refer refers resolve resolves target", rf"(?:where|what|to what|to where|which file|which folder|which path|whereto|to which (?:file|folder|path)) (?:does|do|will) (?P<link>the (?:symbolic link|symlink|link|shortcut) )?<name:path> (?:{_FULL} )?(?:lead|point|go|link|refer|resolve)s?(?: (?:to|at))?(?: {_FULL.replace('<full>', '<full3>')})?{_ASKED_FULL}", lambda h: _led_to(h), "where a link leads"),
    Said("target destination", rf"{{ASK}}(?:(?P<full>absolute|full|real|final|canonical) )?(?:target|destination)(?: path)? of (?P<link>the (?:symbolic link|symlink|link|shortcut) )?<name:path>{_ASKED_FULL}", _led, "where a link leads"),
    Said("same names links link hardlinks", r"(?:{ASK}|find )?(?:other |all (?:the )?|all other )?(?:names|paths|hard[- ]?links|files|file names)(?: (?:of|for|to|that are|which are))?(?: hard[- ]?links)?(?: (?:of|to))?(?: the)? same file as <name:path>", _same_file, "other names of a file"),
    Said("hard hardlinks", r"(?:{ASK}|find )?(?:other |all (?:the )?|all other )?hard[- ]?links (?:of|to|for) (?:the )?(?:file )?<name:path>", _same_file, "other names of a file"),
    Said("inode same", r"(?:{ASK}|find |which )?(?:all (?:the )?|other )?(?:files|names) (?:that |which )?(?:share|sharing|have|with|having|are) (?:the |an |its |their )?(?:same )?(?:inode|i-node|file)(?: number)? (?:with|as|of) <name:path>", _same_file, "other names of a file"),
    Said("points leads target", rf"(?:turn|make|replace|convert|change) {_LINK}<name:path> (?:in)?(?:to|by|with) (?:a |the )?(?:real |true |proper |plain )*(?:copy|file) of (?:what it (?:points|leads|links|refers) to|its target|the target|the file it points to)", _real, "a copy in the place of a link"),
]  # fmt: skip


def _led_to(heard: Heard) -> str | None:
    if heard.has("full3") and not heard.has("full"):
        return f"readlink -f {heard.path('name')}" if heard.scene.exists(heard.text("name")) else None
    return _led(heard)
