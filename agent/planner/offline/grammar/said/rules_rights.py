"""Who may do what with a file: permissions said in words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_PERSON = r"(?:the )?(?:owner|user|group|others?|other users|other people|world|everyone|everybody|everyone else|everybody else|anyone|anyone else|all users|all|me|myself)"
_WHO = rf"(?P<who>{_PERSON}(?:(?:, | and | or |, and )(?:the )?{_PERSON})*)"
_DO = r"(?:readable|writable|executable|read|write|execute|run|reading|writing|execution|modify|change|edit|executing)"
_WHAT = rf"(?P<what>{_DO}(?:(?:, | and |, and |/){_DO})*)"
_ABLE = r"(?P<what>(?:readable|writable|writeable|executable|runnable)(?:(?:, | and |, and )(?:readable|writable|writeable|executable))*)"
_RIGHT = r"(?: (?:permissions?|access|rights?|permission bits?|bits?))?"
_TARGET = r"(?P<all>everything (?:in|under|inside|below) |all (?:the )?files (?:in|under|inside|below) |all (?:the )?(?:folders|directories) (?:in|under|inside|below) )?(?:the )?(?:files? |folders? |director(?:y|ies) |scripts? )?<file:paths>(?: folders?| director(?:y|ies)| files?)?(?P<deep>,? (?:and everything (?:in|inside|below|under) it|recursively|and all its contents?|with everything in it))?"
_LETTERS = {"read": "r", "reading": "r", "readable": "r", "write": "w", "writing": "w", "writable": "w", "writeable": "w", "modify": "w", "change": "w", "edit": "w", "execute": "x", "run": "x", "execution": "x", "executing": "x", "executable": "x", "runnable": "x"}  # fmt: skip
_WHOM = {"owner": "u", "user": "u", "me": "u", "myself": "u", "group": "g", "other": "o", "others": "o", "world": "o"}
_EVERYBODY = frozenset({"everyone", "everybody", "anyone", "all"})


@dataclass(frozen=True)
class _Change:
    who: str
    letters: str


def _letters(said: str) -> str:
    found = {_LETTERS[word] for word in re.findall(r"[a-z]+", said.lower()) if word in _LETTERS}
    return "".join(letter for letter in "rwx" if letter in found)


def changed_who(said: str) -> str:
    """The letters of chmod for people in words; "" where nobody was understood."""
    low = said.lower()
    if "else" in low or "other users" in low or "other people" in low:
        low = "group and others" if "else" in low else low
    words = re.findall(r"[a-z]+", low)
    if _EVERYBODY & set(words):
        return "a"
    found = {_WHOM[word] for word in words if word in _WHOM}
    return "".join(letter for letter in "ugo" if letter in found)


def _applied(heard: Heard, mode: str) -> str | None:
    """`chmod` for what is meant: one file, all below a folder, or only its files or folders."""
    names = heard.several("file")
    if not names or any(not heard.scene.exists(name) or name.startswith("-") for name in names):
        return None
    name = names[0]
    if len(names) > 1:
        more = " ".join(quote_path(each) for each in names)
        return None if heard.has("all") else f"chmod {'-R ' if heard.has('deep') else ''}{mode} {more}"
    folder = heard.scene.exists(name + "/.")
    every = heard.low("all")
    if every and not folder:
        return None
    if every.startswith("all"):
        letter = "d" if re.search("folders|directories", every) else "f"
        return f"find {quote_path(name)} -type {letter} -exec chmod {mode} {{}} +"
    return f"chmod {'-R ' if every or heard.has('deep') else ''}{mode} {quote_path(name)}"


def _changed(heard: Heard, sign: str) -> str | None:
    letters = _letters(heard.text("what"))
    who = changed_who(heard.text("who")) if heard.has("who") else ""
    if not letters or (heard.has("who") and not who):
        return None
    return _applied(heard, f"{who}{sign}{letters}")


def _only_owner(heard: Heard) -> str | None:
    """What nobody but the owner may do."""
    name = heard.text("file")
    runs = "x" in _letters(heard.text("what")) if heard.has("what") else False
    mode = "700" if runs or heard.scene.exists(name + "/.") else "600"
    return _applied(heard, mode)


def _like(heard: Heard) -> str | None:
    model, other = heard.text("model"), heard.text("other")
    if not heard.scene.exists(model) or not heard.scene.exists(other):
        return None
    return f"chmod --reference={quote_path(model)} {quote_path(other)}"


_ME = r"(?:me|myself|i|the owner|its owner)"
_MAY = (
    r"(?:should be able to|should be allowed to|may|can|is allowed to|must be able to|should|be able to|are allowed to)"
)
RULES = [
    Said("give grant add", rf"(?:give|grant|allow) {_WHO} {_WHAT}{_RIGHT} (?:to|on|for|of|in) {_TARGET}", lambda h: _changed(h, "+"), "allow something"),
    Said("give grant add", rf"(?:give|grant|add) {_WHAT}{_RIGHT} (?:to|for) {_WHO} (?:to|on|for|of|in) {_TARGET}", lambda h: _changed(h, "+"), "allow something"),
    Said("let allow permit enable", rf"(?:let|allow|permit|enable) {_WHO} (?:to )?{_WHAT}(?: to| from| in)? {_TARGET}(?: again)?", lambda h: _changed(h, "+"), "allow something"),
    Said("add", rf"add {_WHO} {_WHAT}{_RIGHT} (?:to|on|for|of|in) {_TARGET}", lambda h: _changed(h, "+"), "allow something"),
    Said("make", rf"make {_TARGET} {_ABLE} (?:by|for|to) {_WHO}", lambda h: _changed(h, "+"), "allow something"),
    Said("take remove revoke withdraw strip deny", rf"(?:take|remove|revoke|withdraw|strip)(?: away)? (?:the )?{_WHAT}{_RIGHT}(?: away)? (?:from|for|of) {_WHO},? (?:on|for|to|from|of|in) {_TARGET}", lambda h: _changed(h, "-"), "forbid something"),
    Said("deny forbid", rf"(?:deny|forbid) {_WHO} (?:to |from )?{_WHAT}{_RIGHT}(?: to| on| of| in)? {_TARGET}", lambda h: _changed(h, "-"), "forbid something"),
    Said("private", rf"make {_TARGET} (?:completely )?private", _only_owner, "for its owner only"),
    Said("nobody none no", rf"(?:nobody|no one|none) (?:but|except|other than) {_ME} {_MAY} {_WHAT}(?: to)? {_TARGET}", _only_owner, "for its owner only"),
    Said("only", rf"only {_ME} {_MAY} {_WHAT}(?: to)? {_TARGET}", _only_owner, "for its owner only"),
    Said("only", rf"(?:make|let) {_TARGET} (?:be )?{_ABLE} (?:by|for|to) (?:only |just ){_ME}(?: only| alone)?", _only_owner, "for its owner only"),
    Said("permissions permission mode rights", r"(?:copy|take over|transfer) (?:the )?(?:file )?(?:permissions?|mode|rights) (?:of|from) (?:the )?(?:file )?<model:path> (?:to|onto|over to) (?:the )?(?:file )?<other:path>", _like, "the same permissions"),
    Said("permissions permission mode rights", r"(?:give|set) (?:the )?(?:file )?<other:path> (?:to )?(?:the )?same (?:permissions?|mode|rights) (?:as|that) (?:the )?(?:file )?<model:path>(?: has)?", _like, "the same permissions"),
]  # fmt: skip
