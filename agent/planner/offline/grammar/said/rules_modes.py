"""Permissions as numbers, of one file, of a kind of files, or of folders and files apart; and what nobody may write to any more."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.said.rules_rights import changed_who
from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.grammar.said.which_files import KIND, name_tests
from agent.planner.offline.values import quote_path

_PERSON = r"(?:the |my |its )?(?:owner|user|group|others?|other users|other people|world|everyone|everybody|everyone else|everybody else|anyone|all)"
_WHO = rf"(?P<who>{_PERSON}(?:(?:, | and | or |, and )(?:for |by )?{_PERSON})*)"
_DEEP = r"(?P<deep>,? (?:and|with|including) (?:everything|all|what is|what's|whatever is|all that is|all files|all the files|its contents?|all its contents?)(?: in(?:side)? (?:it|there)| below it| under it)?|,? recursively)?"
_THING = rf"(?:the )?(?:whole |entire )?(?:folder |directory |file )?<file:path>(?: folder| directory| file)?{_DEEP}"
_READ_ONLY = r"(?:read[- ]?only|unwritable|un-writable|write[- ]protected|not writable)"
_IN = r"(?: (?:in|under|below|inside|of|from) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?)?"
_OF_KIND = rf"(?:all |every |each |the |all the )?(?:(?P<noun>scripts?|files?) ending in \.?(?P<end>\w{{1,6}})|(?P<kind>(?!files?\b|the\b|all\b|every\b|each\b){KIND})(?: files?| scripts?)?|files){_IN}(?:,? (?:sub(?:folders|directories) (?:too|included|as well)|recursively|and (?:its |the )?sub(?:folders|directories)))?"
_MODE = r"(?P<mode>[0-7]{3,4})"
_GIVE = r"(?:give (?:it|them|those|these|each)|set (?:it|them|those) to|make (?:it|them|those)|(?:should|must|shall|have to|has to|are to|is to) (?:be|have|get)|gets?|becomes?|to)"


def _kind_tests(heard: Heard) -> str | None:
    if heard.has("end"):
        return f"-name '*.{heard.low('end')}'"
    return name_tests(heard.text("kind"), heard.scene) if heard.has("kind") else ""


def _each(heard: Heard, mode: str) -> str | None:
    """A change of all files of a kind below a folder."""
    root = heard.text("dir").rstrip("/") if heard.has("dir") else "."
    tests = _kind_tests(heard)
    if tests is None or (not tests and not heard.has("dir")) or root.startswith("-"):
        return None
    if root != "." and not heard.scene.exists(root + "/."):
        return None
    return f"find {quote_path(root)} -type f {tests + ' ' if tests else ''}-exec chmod {mode} {{}} +"


def _one(heard: Heard, mode: str) -> str | None:
    name = heard.text("file")
    if not heard.scene.exists(name) or name.startswith("-") or name.rstrip("/") in ("", ".", "..", "~"):
        return None
    deep = heard.has("deep") or (heard.has("all") and heard.scene.exists(name + "/."))
    return f"chmod {'-R ' if deep else ''}{mode} {quote_path(name)}"


def _no_writing(heard: Heard) -> str | None:
    who = changed_who(heard.text("who").replace("for ", "").replace("by ", "")) if heard.has("who") else "a"
    return _one(heard, f"{who}-w") if who else None


def _apart(heard: Heard) -> str | None:
    """Folders one mode, files another."""
    root = heard.text("dir").rstrip("/") if heard.has("dir") else "."
    if root.startswith("-") or (root != "." and not heard.scene.exists(root + "/.")):
        return None
    first, second = ("d", "f") if re.match("dir|folder|sub", heard.low("what")) else ("f", "d")
    if (heard.low("other")[:1] == "f" and heard.low("other") != "folders") == (first == "f"):
        return None
    place = quote_path(root)
    return (
        f"find {place} -type {first} -exec chmod {heard.text('mode')} {{}} + && "
        f"find {place} -type {second} -exec chmod {heard.text('mode2')} {{}} +"
    )


_SORTS = r"(?:folders|directories|files)"
RULES = [
    Said("read readonly unwritable write protected writable", rf"(?:make|set|mark|turn) {_THING} (?:to )?{_READ_ONLY}(?: (?:for|by) {_WHO})?", _no_writing, "nobody may write"),
    Said("read readonly unwritable write protected", rf"(?:write[- ]protect|lock) {_THING}", lambda h: _one(h, "a-w"), "nobody may write"),
    Said("must should set make give", rf"(?:set |make |give |chmod )?(?:all |the |all the )?(?P<what>{_SORTS}){_IN} (?:(?:must|should|shall|are to) (?:be|have|get)|to|get|permissions|mode)? ?(?:mode )?{_MODE},? (?:and|but|while) (?:all |the |all the )?(?P<other>{_SORTS})(?: in it| in there)? (?:(?:must |should |shall |are to )?(?:be|have|get)|to|get|mode)? ?(?:mode )?(?P<mode2>[0-7]{{3,4}})", _apart, "modes of folders and of files"),
    Said("executable execute execution run x", rf"(?:set |put |give |add |turn on |switch on )?(?:the |an )?(?:executable|execute|execution|x) (?:bit|flag|permission|right)s? (?:for|on|to|of) {_OF_KIND}", lambda h: _each(h, "+x"), "executable files"),
    Said("permissions permission mode rights", rf"(?:change|set|put|make) (?:the )?(?:permissions?|mode|rights) (?:of|on|for) (?:the )?(?:file |folder |directory )?<file:path>{_DEEP} (?:to|as) {_MODE}", lambda h: _one(h, h.text("mode")), "mode of a file"),
    Said("give set make should must gets get", rf"(?:{_OF_KIND})[:,]? {_GIVE} (?:mode |permissions? |rights )?{_MODE}", lambda h: _each(h, h.text("mode")), "mode of files"),
    Said("give set make", rf"(?:give|set) {_OF_KIND} (?:to )?(?:the )?(?:mode |permissions? |rights )?{_MODE}", lambda h: _each(h, h.text("mode")), "mode of files"),
    Said("give set make should must gets", rf"(?:give |set |make )?(?:the )?(?:file |folder |directory |script )?<file:path>{_DEEP}[:,]? (?:{_GIVE} )?(?:the )?(?:mode |permissions? |rights )?{_MODE}", lambda h: _one(h, h.text("mode")), "mode of a file"),
]  # fmt: skip
