"""Two files line by line: what they have in common by a column, and how single lines of them differ."""

from __future__ import annotations

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said

_BY = r"(?:(?:,? (?:by|on|using|over|along|via))(?: the| their| its| a)? ?(?:(?:first|common|shared|same|key|leading) )*(?:columns?|fields?|number|id|ids|key|word|name|names|numbers|student|user))"
_ALL = r"(?P<all>,? ?(?:and |but |with )?(?:(?:keep(?:ing)?|includ(?:e|ing)|also show|show(?:ing)?)? ?(?:also )?(?:all )?(?:\w+ ){0,2}(?:without|that have no|who have no|with no|lacking) (?:a |an |any )?\w+(?: (?:included|too|as well|also|kept|shown))?|(?:unmatched|unpaired) lines (?:included|too|as well|of the first)))?"


def _is_sorted(text: str) -> bool:
    keys = [line.split()[0] for line in text.split("\n") if line.strip()]
    return keys == sorted(keys)


def _joined(heard: Heard) -> str | None:
    first, second = heard.scene.peek(heard.text("a")), heard.scene.peek(heard.text("b"))
    if not first or not second or "," in first.split("\n")[0] or "," in second.split("\n")[0]:
        return None
    names = [
        heard.path(name) if _is_sorted(text) else f"<(sort {heard.path(name)})"
        for name, text in (("a", first), ("b", second))
    ]
    return f"join {'-a1 ' if heard.has('all') else ''}{names[0]} {names[1]}"


def _lines_compared(heard: Heard) -> str | None:
    if not heard.scene.peek(heard.text("a")) or not heard.scene.peek(heard.text("b")):
        return None
    number = heard.number("n") if heard.has("n") else "1"
    program = "head" if heard.low("end") in ("first", "top") else "tail"
    return f"diff <({program} -n {number} {heard.path('a')}) <({program} -n {number} {heard.path('b')})"


RULES = [
    Said("join match merge combine link joined matched merged combined linked", rf"(?:join|match|merge|combine|link)(?: up| together)?(?: the lines of)? <a:path> (?:with|and|to) <b:path>{_BY}{_ALL}", _joined, "lines of two files with the same key"),
    Said("joined matched merged combined linked", rf"{{ASK}}<a:path> (?:joined|matched|merged|combined|linked)(?: up)? (?:with|and|to) <b:path>{_BY}{_ALL}", _joined, "lines of two files with the same key"),
    Said("difference differences compare diff differ same equal", r"(?:{ASK}|compare |diff |do |does |are |is |how do |how does )?(?:differences? |compare )?(?:between |of )?(?:the )?(?P<end>first|last|top|bottom) (?:<n:int> )?lines? (?:of|in|from) <a:path> (?:and|with|to|from)(?: (?:the )?(?:first|last|one|that|those) of| that of)? <b:path>(?: differ| the same| equal| identical)?", _lines_compared, "single lines of two files"),
]  # fmt: skip
