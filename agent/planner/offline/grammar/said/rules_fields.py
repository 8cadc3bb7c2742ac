"""Facts of each file of a kind, one file a line: "mode and name of every file in x", in the order in which they are said."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.grammar.said.which_files import KIND, name_tests
from agent.planner.offline.values import quote_path

# What is said of a file, and find's directive for it.
_FACTS = (
    (r"octal (?:mode|permissions?|rights)|(?:mode|permissions?|rights) (?:as|in) (?:an? )?octal(?: number| form| digits)?", "%m"),
    (r"permissions?|mode|rights", "%M"),
    (r"owner(?: name)?|user", "%u"),
    (r"group(?: name)?", "%g"),
    (r"size(?: in bytes)?|number of bytes|bytes", "%s"),
    (r"(?:modification |change )?date(?:,? as YYYY-MM-DD)?|day of (?:the )?(?:last )?change", "%TY-%Tm-%Td"),
    (r"inode(?: number)?", "%i"),
    (r"number of (?:hard )?links|link count", "%n"),
    (r"(?:file ?)?name|base ?name", "%f"),
    (r"(?:full |relative )?path", "%p"),
)  # fmt: skip
_FACT = "(?:" + "|".join(said for said, _ in _FACTS) + ")"
_AND = r"(?:,? and (?:then )?|,? then |, | followed by |,? plus |,? as well as |,? with | before | in front of )"
_THE = r"(?:(?:the|its|their|his) )?"
_EACH = r"(?:of|for) (?:each|every|all|all of|all the|the|any)(?: of)?(?: the)?(?: single)?"
_FILES = rf"(?:(?P<kind>(?!files?\b){KIND})(?: files?)?|files?)"
_IN = r"(?: (?:in|under|below|inside|of|from) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?)?"
_MORE = rf"(?P<more>(?:{_AND}{_THE}{_FACT}s?)*)"
_ORDER = r"(?P<order>,? (?:sorted |ordered )?(?:by|in order of|in the order of) (?:the |their )?(?:size|date|time|age|name)|,? (?:oldest|newest|largest|smallest) first)?"
_KEYS = {"size": ("%s", "n"), "date": ("%T@", "n"), "time": ("%T@", "n"), "age": ("%T@", "nr"), "oldest": ("%T@", "n"), "newest": ("%T@", "nr"), "largest": ("%s", "nr"), "smallest": ("%s", "n")}  # fmt: skip


def _directives(said: str) -> list[str]:
    """The directives for what is said, in its order."""
    found: list[str] = []
    text = said.lower()
    at = 0
    while at < len(text):
        for pattern, directive in _FACTS:
            match = re.compile(rf"\b(?:{pattern})s?\b", re.IGNORECASE).match(text, at)
            if match and match.end() > at:
                found.append(directive)
                at = match.end()
                break
        else:
            at += 1
    return found


def _told(heard: Heard) -> str | None:
    root = heard.text("dir").rstrip("/") if heard.has("dir") else "."
    tests = name_tests(heard.text("kind"), heard.scene) if heard.has("kind") else ""
    if tests is None or (root != "." and (root.startswith("-") or not heard.scene.exists(root + "/."))):
        return None
    facts = _directives(" , ".join(heard.text(part) for part in ("first", "more", "more2") if heard.has(part)))
    if heard.has("octal"):
        facts = ["%m" if fact == "%M" else fact for fact in facts]
    if not facts or len(set(facts)) != len(facts):
        return None
    if not {"%f", "%p"} & set(facts):
        facts.append("%p")
    if facts in (["%f"], ["%p"]):
        return None
    find = f"find {quote_path(root)} -type f {tests + ' ' if tests else ''}-printf"
    said = re.search(r"[a-z]+(?= first\Z)|[a-z]+\Z", heard.low("order"))
    if said is None:
        return f"{find} '{' '.join(facts)}\\n'"
    if said[0] == "name":
        return f"{find} '{' '.join(facts)}\\n' | sort -k{len(facts)}"
    key, letters = _KEYS[said[0]]
    if key == facts[0] or (key == "%T@" and facts[0].startswith("%TY")):
        letters = letters.replace("n", "") if facts[0].startswith("%TY") else letters
        return f"{find} '{' '.join(facts)}\\n' | sort{' -' + letters if letters else ''}"
    return f"{find} '{key} {' '.join(facts)}\\n' | sort -{letters} | cut -d' ' -f2-"


RULES = [
    Said("each every all of for", rf"{{ASK}}(?P<first>{_FACT}s?){_MORE} {_EACH} {_FILES}{_IN}(?P<octal>,? (?:as|in) (?:an? )?octal(?: numbers?| form| digits| notation)?)?(?P<more2>(?:{_AND}{_THE}{_FACT}s?)*){_ORDER}", _told, "facts of each file"),
    Said("each every all", rf"(?:list |show |print |for )(?:each|every|all|all the) {_FILES}{_IN}(?:,? (?:print|show|list|give|with|by|along with|together with)| and)(?: me)? {_THE}(?P<first>{_FACT}s?){_MORE}{_ORDER}", lambda h: _told(h) if h.low("first") not in ("name", "names", "size", "sizes", "path", "paths") or h.low("more") else None, "facts of each file"),
]  # fmt: skip
