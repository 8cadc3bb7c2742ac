"""What is to become of the lines of one file: the families of words for each change, and the step that makes it.

A sentence is "remove the blank lines from notes.txt" or "notes.txt without blank lines": with an order in it the file is changed, with a
description of what is wanted the result is shown.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from msgspec import Struct

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.columns import Columns, columns_of
from agent.planner.offline.grammar.asked.subject import MARK, Subject
from agent.planner.offline.grammar.said.sentence_rules import unquoted
from agent.planner.offline.values import quote_path, quote_regex, quote_replacement


class Step(Struct, frozen=True):
    """A sed script (`-E` where `extended`), or another command that reads its input."""

    script: str = ""
    command: str = ""
    extended: bool = False
    feeds: bool = False


class Heard(Struct, frozen=True):
    """A change that fits: what was said of it, and the file."""

    match: re.Match[str]
    subject: Subject
    columns: Columns

    def text(self, name: str) -> str:
        """A part without quotes."""
        return unquoted((self.match.groupdict().get(name) or "").strip())

    def number(self, name: str, default: str = "") -> str:
        return w.number(self.match.groupdict().get(name) or default)


Made = Callable[[Heard], Step | None]
_BLANKS = r"(?:blanks?|spaces?|white ?space(?: characters?)?)"
_GONE = r"(?:removed|stripped(?: off| away)?|deleted|gone|away|cut(?: off| away)?|left out|dropped|trimmed(?: off| away)?|taken (?:out|off|away)|thrown (?:out|away)|chopped off|filtered out|erased)"
_DROP = r"(?:remove|delete|drop|strip(?: off| away| out)?|throw (?:out|away)|get rid of|take (?:out|off|away)|cut(?: off| out| away)?|kick out|erase|eliminate|trim(?: off| away)?|filter out|discard|clear(?: out| away)?|purge|clean(?: out| away)?|weed out|chop off)"
_TEXT = rf"(?:{w.QUOTED}|[\w.@/+-]*[\w/+]|[#;!?*>|%$&~+-]{{1,3}})"
_EACH = r"(?:each|every|all|any|all the|each of the|every single|all of the)"
_LINE = r"(?:lines?|rows?|entry|entries|names?|items?|records?|words?|one)"
_ONE = r"(?:a |an |only |just )?(?:one|a single one|single|single one|a single)(?: {b})?".replace("{b}", _BLANKS)


def _gone(what: str) -> str:
    """ "remove X", "without X", "X removed"."""
    return rf"(?:(?P<do>{_DROP}) (?:all |any |the |all the |its |every |all of the )*{what}|(?:without|minus|with no|free of|but without|no) (?:all |any |the |its |the |their )*{what}|(?:with |and )?(?:all |any |the |its |all the )*{what} (?:is |are |was |were |all )*{_GONE}(?: from it| of it)?)"


def _sed(script: str, *, extended: bool = False) -> Made:
    return lambda heard: Step(script=script, extended=extended)


def _runs(command: str, *, feeds: bool = False) -> Made:
    return lambda heard: Step(command=command, feeds=feeds)


def _without_comments(heard: Heard) -> Step | None:
    sign = (
        "//"
        if heard.subject.path.endswith((".c", ".h", ".cpp", ".js", ".ts", ".java", ".go", ".rs", ".php", ".css"))
        else "#"
    )
    if heard.subject.path.endswith((".sql", ".lua")):
        sign = "--"
    if not re.search(rf"(?m)^\s*{sign}", heard.subject.text):
        return None
    return Step(script=rf"/^[[:space:]]*{quote_regex(sign)}/d")


def _affixes(heard: Heard) -> Step | None:
    """Texts that are cut off at the beginning, or the end, of lines."""
    texts = [unquoted(text) for text in re.findall(w.QUOTED, heard.text("list") or heard.match["list"])]
    if not texts:
        return None
    parts = [re.sub(r"([.^$*+?()\[\]{}|\\/])", r"\\\1", text) for text in texts]
    inner = parts[0] if len(parts) == 1 else "(" + "|".join(parts) + ")"
    end = heard.text("side") in ("end", "ends")
    if len(parts) == 1:
        inner = quote_regex(texts[0])
    return Step(script=f"s/{inner}$//" if end else f"s/^{inner}//", extended=len(parts) > 1)


def _before_each(heard: Heard) -> Step | None:
    return Step(script=f"s/^/{quote_replacement(heard.text('t'))}/")


def _after_each(heard: Heard) -> Step | None:
    return Step(script=f"s/$/{quote_replacement(heard.text('t'))}/")


def _replaced(heard: Heard) -> Step | None:
    old, new = heard.text("old"), heard.text("new")
    if not old or old not in heard.subject.text or old.lower() in w.GLUE or new.lower() in w.GLUE or old == new:
        return None
    if heard.match.groupdict().get("first"):
        return Step(script=f"0,/{quote_regex(old)}/s//{quote_replacement(new)}/")
    return Step(script=f"s/{quote_regex(old)}/{quote_replacement(new)}/g")


def _backwards(heard: Heard) -> Step | None:
    if heard.match["w"].lower().startswith("word") and not heard.columns.list_like:
        return None
    return Step(command="rev")


def _wrapped(heard: Heard) -> Step | None:
    option = "-s " if heard.match.groupdict().get("soft") else ""
    return Step(command=f"fold {option}-w {heard.number('n')}")


def _rows_of(heard: Heard) -> Step | None:
    number = int(heard.number("n"))
    if not 2 <= number <= 20:
        return None
    sep = (heard.match.groupdict().get("sep") or heard.match.groupdict().get("s2") or "tab").lower()
    option = (
        " -d," if "comma" in sep else " -d' '" if re.match("blank|space", sep) else " -d';'" if "semi" in sep else ""
    )
    return Step(command=f"paste{option} {' '.join('-' * number)}", feeds=True)


def _swapped_words(heard: Heard) -> Step | None:
    if not all(len(line.split()) == 2 for line in heard.columns.lines) or heard.columns.table.separator:
        return None
    return Step(command="awk '{ print $2, $1 }'")


def _numbers(heard: Heard) -> str:
    """The field with the numbers that are spoken of; "" where there are none, or several."""
    if heard.columns.table.numbers_only:
        return "$1"
    return ""


def _times(heard: Heard) -> Step | None:
    sign = {"t": "*", "m": "*", "d": "/", "p": "+", "i": "+", "l": "-", "s": "-", "a": "+", "r": "-"}
    said = (heard.match.groupdict().get("op") or "times").lower()
    how = "-" if said.startswith("minus") else sign[said[0]]
    number = (
        heard.number("n", "2")
        if heard.match.groupdict().get("n")
        else {"doubled": "2", "halved": "2", "tripled": "3", "squared": ""}.get(heard.text("how").lower(), "2")
    )
    field = _numbers(heard)
    if not field or (how == "/" and number == "0"):
        return None
    if heard.text("how").lower() == "squared":
        return Step(command=f"awk '{{ print {field} * {field} }}'")
    how = "/" if heard.text("how").lower() == "halved" else how
    return Step(command=f"awk '{{ print {field} {how} {number} }}'")


def _running(heard: Heard) -> Step | None:
    field = _numbers(heard)
    return Step(command=f"awk '{{ s += {field}; print s }}'") if field else None


def _spread(heard: Heard) -> Step | None:
    field = _numbers(heard)
    return (
        Step(command=f"sort -n | awk 'NR == 1 {{ a = {field} }} {{ b = {field} }} END {{ print b - a }}'")
        if field
        else None
    )


def _inserted(heard: Heard) -> Step | None:
    where, text = heard.text("y"), heard.text("t")
    if "\n" in text or not text:
        return None
    letter = "i" if heard.text("side").lower() in ("above", "before", "over") else "a"
    anchor = "^" if re.match(r"(?i)start|begin", heard.text("how")) else ""
    if not re.search(rf"(?m){anchor}{re.escape(where)}", heard.subject.text):
        return None
    escaped = text.replace("\\", "\\\\")
    return Step(script=f"/{anchor}{quote_regex(where)}/{letter}\\{escaped}")


def _without_entry(heard: Heard) -> Step | None:
    """A line that is one entry of a list."""
    name = heard.text("t")
    if name not in heard.columns.lines or not heard.columns.list_like:
        return None
    return Step(script=f"/^{quote_regex(name)}$/d")


def _recased(heard: Heard) -> Step | None:
    """One column in other letters."""
    names = {**heard.columns.names}
    said = heard.text("c").lower()
    number = (
        names.get(said) or names.get(said.rstrip("s")) or names.get(said[:-3] + "y" if said.endswith("ies") else said)
    )
    separator = heard.columns.table.separator
    if number is None or separator in ("", " "):
        return None
    function = "toupper" if re.match(r"(?i)upper|capital|caps|big", heard.text("case")) else "tolower"
    shell = "'\\t'" if separator == "\t" else shlex.quote(separator)
    only = "NR > 1 " if heard.columns.table.header else ""
    return Step(command=f"awk -F{shell} -v OFS={shell} '{only}{{ ${number} = {function}(${number}) }} 1'")


def _tabs(heard: Heard) -> Step | None:
    return Step(command=f"expand -t {heard.number('n')}")


def _beyond(heard: Heard) -> Step | None:
    """What comes after a line, or before it."""
    number = int(heard.number("n"))
    if heard.text("side").lower() in ("before", "above", "preceding"):
        return Step(command=f"head -n {number - 1}") if number > 1 else None
    return Step(command=f"tail -n +{number + 1}")


def _columns_as_rows(heard: Heard) -> Step | None:
    separator = heard.columns.table.separator
    start = (
        "awk" if separator in ("", " ") else "awk -F'\\t'" if separator == "\t" else f"awk -F{shlex.quote(separator)}"
    )
    out = '" "' if separator in ("", " ") else '"\\t"' if separator == "\t" else f'"{separator}"'
    loop = f'{{ for (i = 1; i <= NF; i++) a[i] = a[i] (NR > 1 ? {out} : "") $i }} END {{ for (i = 1; i <= NF; i++) print a[i] }}'
    return Step(command=f"{start} {shlex.quote(loop)}")


_CASE = r"(?:in|to|into|as|with)? ?(?:all )?(?P<case>upper[- ]?case|lower[- ]?case|capitals|capital letters|caps|small letters|big letters)(?: letters)?"
_FIRST = r"(?:the )?(?:first|initial) (?:letter|character)s?"
# Beginnings of words of which one has to be said, what is said, and what makes the step.
RULES: tuple[tuple[str, str, Made], ...] = (
    ("capital", rf"(?P<do>(?!))?(?:capitali[sz]e )?{_FIRST} of {_EACH} lines? ?(?:is |be |being )?(?:made|in|to|as|into|turned (?:in)?to|changed to|set in|should be)? ?(?:a |an )?(?:capitals?(?: letters?)?|upper[- ]?case|big|capitali[sz]ed)?|{_EACH} lines? (?:capitali[sz]ed|(?:starting|beginning|begun) with a capital(?: letter)?)|capitali[sz]e {_EACH} lines?", _sed(r"s/^./\U&/")),
    ("number", r"(?:number(?:ed)?(?: the lines| all lines)?|with line numbers|lines numbered),? ?(?:but |and |with )?(?:(?:the )?(?:empty|blank)(?: lines| ones) (?:left |are |stay |remain |being |without |not )*(?:numbered|a number|numbers?|counted|out|skipped)|(?:skipping|except|not counting|ignoring|leaving out|without numbering) (?:the )?(?:empty|blank)(?: lines| ones))", _runs("nl")),
    ("wrap fold break broken flow cut limit", rf"(?:wrap(?:ped)?|fold(?:ed)?|break|broken|re-?flow(?:ed)?|cut|limit(?:ed)?)(?: up)?(?: (?:the |all |its |long |every )*lines?)? (?:at|to|after|into|down to|so that no line (?:is|gets) longer than)(?: lines of| a width of| width| column| at most| a maximum of)? ?(?P<n>{w.NUM})(?: characters?| columns?| letters?| chars?)?(?: a line| per line| each| wide| at most)?(?P<soft>,? ?(?:and |but )?(?:(?:only )?break(?:ing)? (?:only )?(?:at|between) (?:{_BLANKS}|words|word boundaries)(?: only)?|without (?:breaking|splitting|cutting|tearing)(?: up| apart)? words|at (?:{_BLANKS}|word boundaries)|keeping words (?:whole|together|intact)|between words))?", _wrapped),
    ("empty blank", _gone(r"(?:empty|blank)(?: lines?| rows?| ones)"), _sed("/^$/d")),
    ("comment", _gone(r"(?:comments?(?: lines?)?|commented(?:[- ]out)? lines?|lines that are comments|lines with comments)"), _without_comments),
    ("start beginning front end", rf"(?:(?P<do>{_DROP}) |without |minus |with )?(?:the |any )?(?:text |prefix(?:es)? |word |words |label |labels )?(?P<list>{w.QUOTED}(?:(?:,| and| or|, and) {w.QUOTED})*) (?:at|from|in|on) the (?P<side>start|beginning|front|end|ends)s? of (?:the |its |each |every |all |any |the single )*{_LINE}(?: {_GONE})?", _affixes),
    ("backward reverse mirror right", rf"{_EACH} (?P<w>words?|lines?) (?:(?:is |are )?(?:spelled|spelt|written|read|shown|printed) )?(?:backwards?|in reverse|reversed|mirrored|from right to left|right to left)|(?:spell|write|print|show|reverse) {_EACH} (?P<w2>word|line)s? (?:backwards?|in reverse)", lambda h: _backwards(h) if h.match["w"] else (Step(command="rev") if h.columns.list_like or h.match["w2"].lower() == "line" else None)),
    ("backward upside bottom end reverse last", r"(?:in )?(?:backwards?|upside down|bottom up|from (?:the )?bottom (?:up|to (?:the )?top)|from (?:the )?end to (?:the )?(?:start|beginning)|in reverse(?: line)? order|(?:in )?reversed? order|reversed)(?:,? ?(?:with |starting with |and )?(?:the )?(?:last|bottom) (?:line|one|entry|\w+) (?:first|on top|at the top|comes first))?|(?:with |starting with )?(?:the )?(?:last|bottom)(?: line| one| entry| row| item) (?:first|on top|at the top|comes first)", _runs("tac")),
    ("word", rf"(?:split(?: up)?|broken up|break(?: up)?|cut up|with|as)? ?(?:(?:at|on|by) {_BLANKS}|into (?:single |separate |its )?words)?,? ?(?:one word (?:per|a|to a|on each|on every) line|(?:each|every) word on (?:a line of its own|its own line|a separate line|a new line|a line))(?:,? ?(?:split(?: up)?|broken)(?: up)? (?:at|on|by) (?:any )?{_BLANKS})?", _runs(r"tr -s '[:space:]' '\n'", feeds=True)),
    ("before front ahead start beginning prepend to ", rf"(?P<do>put|add|insert|prepend|write|place|set|stick) (?:the |a )?(?:text |word |prefix |string )?(?P<t>{_TEXT}) (?:in front of|before|ahead of|at (?:the )?(?:start|beginning|front) of|to (?:the )?(?:start|beginning|front) of|to|onto the front of) (?:the (?:start|beginning|front) of )?{_EACH} {_LINE}", lambda h: _before_each(h) if not re.search(r"(?i)(?<!start of)(?<!beginning of)(?<!front of) to (?:each|every|all)", h.match[0]) or re.match(r"(?i)prepend", h.match[0]) else None),
    ("prefix preced start begin before front", rf"(?:{_EACH} {_LINE} )?(?:prefixed|preceded|starting|beginning) (?:by|with) (?:the |a )?(?:text |word |string )?(?P<t>{w.QUOTED})|(?:with )?(?P<u>{w.QUOTED}) (?:in front of|before) {_EACH} {_LINE}", lambda h: Step(script=f"s/^/{quote_replacement(h.text('t') or h.text('u'))}/")),
    ("end behind after append attach to ", rf"(?P<do>put|add|append|attach|write|place|insert|stick) (?:the |a )?(?:text |word |suffix |string )?(?P<t>{_TEXT}) (?:(?:at|to|on|onto) (?:the )?ends? of|behind|after|to) {_EACH} {_LINE}", _after_each),
    ("suffix follow end behind after", rf"(?:{_EACH} {_LINE} )?(?:suffixed|followed|ending) (?:by|with) (?:the |a )?(?:text |word )?(?P<t>{w.QUOTED})|(?:with )?(?P<u>{w.QUOTED}) (?:behind|after|at the end of) {_EACH} {_LINE}", lambda h: Step(script=f"s/$/{quote_replacement(h.text('t') or h.text('u'))}/")),
    ("row transpose column", r"(?:turn|make|convert|change|swap|exchange|transform)?(?: the| its)? ?(?:rows (?:of it )?(?:in)?to columns|columns (?:in)?to rows|rows and columns (?:exchanged|swapped|interchanged)|rows as columns|columns as rows|rows (?:become|becoming) columns|columns (?:become|becoming) rows)|transposed?(?: the (?:table|matrix))?|(?:swap|exchange) (?:the )?rows and (?:the )?columns", _columns_as_rows),
    ("run repeated multiple several consecutive double many more", rf"(?P<do>(?!))?(?:with |squeeze |collapse |reduce |replace |shrink |compress )?(?:all |the |any |every |each )*(?:runs? of|repeated|multiple|several|consecutive|double|many|more than one) {_BLANKS}(?: (?:in a row|characters?))?,? ?(?:is |are |being )?(?:squeezed|reduced|collapsed|replaced|shrunk|compressed|shortened|merged|cut down|made)? ?(?:in|to|into|by|with|as|down to)? ?{_ONE}", _runs("tr -s ' '", feeds=True)),
    ("leading indent start beginning front flush", rf"(?:{_gone(rf'(?:leading {_BLANKS}|indentation|indent(?:ing)?|{_BLANKS} at the (?:start|beginning|front) of (?:the |its |each |every )*lines?)')}|indentation (?:away|gone|removed)|un-?indented|not indented|flush left)(?:,? ?(?:with )?leading {_BLANKS} {_GONE})?", _sed("s/^[[:space:]]*//")),
    ("trailing end right", _gone(rf"(?:trailing {_BLANKS}|{_BLANKS} at (?:the )?(?:(?:line|right|end) ?ends?|ends? of (?:the |its |each |every )*lines?|end|right))"), _sed("s/[[:space:]]*$//")),
    ("doubl line", rf"(?:a )?double[- ]?spac(?:ed?|ing)(?: it| copy| version)?(?: of)?(?:,? ?(?:with )?(?:an|one) (?:empty|blank) line (?:after|between|below|behind) (?:{_EACH} ?)+(?:{_LINE})?)?|(?:with )?(?:put |insert |add )?(?:an|one|a) (?:empty |blank )line (?:after|between|below|behind) (?:{_EACH} ?)+(?:{_LINE})?(?: and the next)?", _sed("G")),
    ("tag mark html", _gone(r"(?:html |xml )?(?:tags|mark-?up|html)") + r"|(?:the )?(?:plain |bare |pure )?text (?:of it )?without (?:the |its |any )?(?:html )?(?:tags|mark-?up)(?:,? ?(?:strip|remove)(?: all)? (?:the )?(?:tags|mark-?up)(?: from)?)?", _sed("s/<[^>]*>//g")),
    ("unix linux dos carriage windows \\r", rf"(?P<do>make|turn|convert|change|transform) (?:it )?(?:in)?(?:to )?(?:a |an )?(?:unix|linux) (?:file|format|text file|line ends|line endings)(?:,? ?\(?(?:get rid of|remove|without|no) (?:the )?carriage returns\)?)?|(?:make|turn|convert|change)? ?from (?:dos|windows) to (?:unix|linux)(?: format| line endings)?|(?:(?P<do2>{_DROP}) )?(?:all |the |any )*(?:carriage returns|windows line (?:ends|endings)|\\r)(?: {_GONE})?", _sed(r"s/\r$//")),
    ("tab", rf"(?:with |show |print |replace |expand |convert |turn |change )?(?:{_EACH} |the )*tabs? (?:stops )?(?:shown |replaced |expanded |turned |converted |changed |made |printed )?(?:as|by|with|to|into) (?P<n>{w.NUM})(?: |-)(?:blanks?|spaces?|columns?(?: tab stops(?: of blanks)?)?)(?: each)?", _tabs),
    ("per each row line side next group", rf"(?:with |in rows of |in groups of |in lines of |put |show |print |arranged |arrange )*(?P<n>{w.NUM}) ?(?:entries |items |words |lines |names |values |at a time |of them )*(?:(?:per|to a|on each|in each|on a|in a|a|on every|to the|to each) (?:row|line)|next to each other|side by side)?(?:,? ?(?:and |with )?(?:(?P<sep>tabs?|commas?|blanks?|spaces?|semicolons?) (?:in )?between(?: them)?|(?:separated|parted|divided|joined) (?:by|with) (?:a )?(?P<s2>tabs?|commas?|blanks?|spaces?)))?", lambda h: _rows_of(h) if re.search(r"(?i)per|to a |on e|in e|on a|in a|rows of|groups of|lines of|next to|side by|to each| a (?:row|line)", h.match[0]) else None),
    ("exchang swap switch interchang round last second reverse", r"(?:as (?:\"?first last\"?|'first last')[:,]? ?)?(?:with |swap |exchange |put )?(?:the |its |both )*(?:two |first and second |second and first |first and last )?(?:words?|names?|columns?|parts)(?: of| in| on)?(?: each| every| all)?(?: lines?)? ?(?:exchanged|swapped|interchanged|switched|the other way (?:round|around)|in reverse order)|(?:with )?(?:the )?(?:second|last) (?:word|name|column) (?:first|before the first|in front)|(?:swap|exchange|interchange|switch) the two (?:words|columns|names)(?: (?:in|of|on) (?:each|every) line)?", _swapped_words),
    ("doubl halv tripl squar times multipl divid plus minus increas lower reduc add", rf"(?:{_EACH} |the )*(?:numbers?|values?|lines?|entry|entries) (?:is |are )?(?P<how>doubled|halved|tripled|squared)(?:,? ?\(?(?:times (?:two|2)|divided by (?:two|2))\)?)?|(?:{_EACH} |the )*(?:numbers?|values?|lines?|entry|entries) (?:is |are )?(?P<op>times|multiplied by|divided by|plus|minus|increased by|lowered by|reduced by|added to) (?P<n>-?\d+(?:\.\d+)?|{w.NUM})", _times),
    ("running cumul accum growing rolling", r"(?:the |a )?(?:running|cumulative|cumulated|accumulated|growing|rolling) (?:total|sum|totals|sums)s?(?:,? ?(?:one|a) (?:line|number|value|total) (?:per|for each|for every|after each) (?:entry|line|number|value|row))?", _running),
    ("case capital caps letter", rf"(?:with )?(?:everything|all|all of it|all letters|all the text|the whole text|all the letters|the text|it)?(?: is| are)? ?{_CASE}", lambda h: Step(command="tr '[:lower:]' '[:upper:]'" if re.match(r"(?i)upper|capital|caps|big", h.text("case")) else "tr '[:upper:]' '[:lower:]'", feeds=True)),
    ("paragraph", r"(?:how many|(?:the )?number of|count(?: the| all)*) paragraphs(?: (?:are there|there are|are|does it have|has it|it has))*(?:,? ?\(?(?:that are )?(?:separated|parted|divided) by (?:empty|blank) lines\)?)?", _runs("awk 'BEGIN { RS = \"\" } END { print NR }'")),
    ("number", r"(?:with )?(?:its |the |all )?(?:lines )?numbered|with (?:its |the )?line numbers(?: in front)?", _runs("cat -n")),
    ("after below behind past following before above preceding", rf"(?:everything|all|all that|the rest|the lines?|lines?|whatever|the part|what)(?: that| which)?(?: comes| stands| is| follows)? ?(?P<side>after|below|behind|past|following|before|above|preceding) (?:the )?line (?:number )?(?P<n>{w.NUM})", _beyond),
    ("difference distance span gap spread range", r"(?:the )?(?:difference|distance|span|gap|spread) (?:between|from) (?:the )?(?:largest|biggest|highest|maximum|max|greatest|top|smallest|lowest|minimum|min|least)(?: number| value| one)? (?:and|to) (?:the )?(?:largest|biggest|highest|maximum|max|greatest|top|smallest|lowest|minimum|min|least)(?: number| value| one| of the numbers)?|(?:the )?(?:range|spread) of (?:the )?(?:numbers|values)", _spread),
    ("insert add put place write", rf"(?P<do>insert|add|put|place|write) (?:a |the )?(?:new )?(?:line |text |setting )?(?P<t>{w.QUOTED})(?: as a (?:new )?line)? (?:right |directly |just )?(?P<side>below|after|under|behind|above|before|over) (?:the )?(?:line|one|entry|row)? ?(?P<how>starting with|beginning with|containing|with|that (?:says|contains|has|starts with|begins with)|which (?:says|contains|has|starts with|begins with)|saying|reading|mentioning) (?P<y>{_TEXT}=?)", _inserted),
    ("remove delete drop take strike cross kick throw erase", rf"(?P<do>remove|delete|drop|take|strike|cross|kick|throw|erase) (?:the )?(?:(?:line|entry|row|name) (?:of |for |with )?)?(?P<t>{_TEXT})(?:'s (?:line|entry|row|name))?(?: out| off| from)?(?: of)?", _without_entry),
    ("case capital caps letter", rf"(?P<do>(?!))?(?:make|put|turn|convert|change|set|write|print|show|with)? ?(?:all |the |every |each |all the |its )*(?P<c>[a-z][\w ]{{1,25}}?)(?: names?| column| field| values?)? (?:is |are )?{_CASE}", _recased),
    ("replace change turn substitut swap exchang correct rename rewrite convert switch", rf"(?:(?P<do>replace|change|turn|substitute|swap|exchange|correct|rename|rewrite|convert|switch) )(?P<first>only the first |just the first |the first )?(?:occurrence of |appearance of |{_EACH} |the )*(?:word |text |string |spelling |address |occurrences? of )*(?P<old>{_TEXT}) (?:with|by|to|into|for) (?:the |a )?(?:word |text |string )?(?P<new>{_TEXT})(?: everywhere| throughout| instead)?", _replaced),
    ("should became becom is now was changed must has ought", rf"(?:the |every |each )?(?:word |text |name |spelling |address )?(?P<old>{_TEXT}) (?P<do>should (?:now )?(?:be|become|read)|became|becomes|has become|is now|was renamed to|changed to|must be|has to be|ought to be)(?: spelled| spelt| written| called| named| replaced (?:by|with)| changed to| turned into)? (?P<new>{_TEXT})(?: everywhere| throughout| instead)?(?:[;,.]? ?(?:and |please )?(?:adapt|adjust|update|change|correct|fix)(?: it| that| them)?)?", _replaced),
    ("write spell use put say", rf"(?P<do>write|spell|use|put|say) (?P<new>{_TEXT}) (?:instead of|in place of|rather than|wherever it says|for) (?P<old>{_TEXT})", _replaced),
)  # fmt: skip
_compiled: dict[int, re.Pattern[str]] = {}
_ORDER_OF_DOING = re.compile(r"(?i)(?:show|print|display|give me|output|list)\b")


def edited(subject: Subject) -> str:
    """The command for a change of the lines of a file; "" where none is asked for."""
    core = re.sub(rf" *{MARK} *", f" {MARK} ", subject.said)
    leading = core.lstrip().startswith(MARK)
    core = re.sub(rf"\s*{MARK}\s*", " ", core).strip(" ,:;.")
    core = re.sub(r"\s+([,;])", r"\1", _outside_quotes(core))
    shown = subject.shown or _ORDER_OF_DOING.match(core) is not None
    core = re.sub(rf"(?i)\A(?:{w.ASK}) (?=\S)", "", core) if shown else core
    core = re.sub(r"(?i)\A(?:but |with (?=each |every |all |the ))", "", core).strip(" ,:;.")
    columns = columns_of(subject.text, subject.path)
    steps = _steps(core, subject, columns)
    if not steps:
        return ""
    ordered = any(done for _, done in steps) and not leading
    return _command([step for step, _ in steps], subject, inplace=subject.inplace or (ordered and not shown))


def _outside_quotes(text: str) -> str:
    """A sentence with commas for its colons; what is quoted stays as it is."""
    return re.sub(rf"({w.QUOTED})|: ", lambda found: found[1] or ", ", text)


def _steps(core: str, subject: Subject, columns: Columns) -> list[tuple[Step, bool]]:
    """One change, or two that are joined by "and"."""
    one = _step(core, subject, columns)
    if one is not None:
        return [one]
    for joint in re.finditer(r",? and (?:also |then )?|, (?:then |with )?", core):
        first, second = _step(core[: joint.start()], subject, columns), _step(core[joint.end() :], subject, columns)
        if first is not None and second is not None:
            return [first, second]
    return []


def _step(said: str, subject: Subject, columns: Columns) -> tuple[Step, bool] | None:
    low = said.lower()
    for number, (beginnings, source, make) in enumerate(RULES):
        if not any(beginning in low for beginning in beginnings.split()):
            continue
        if number not in _compiled:
            _compiled[number] = re.compile(source, re.IGNORECASE)
        match = _compiled[number].fullmatch(said.strip(" ,:;()"))
        if match is not None and match[0]:
            step = make(Heard(match, subject, columns))
            if step is not None:
                groups = match.groupdict()
                return step, bool(groups.get("do") or groups.get("do2"))
    return None


def _command(steps: list[Step], subject: Subject, *, inplace: bool) -> str:
    path = quote_path(subject.path)
    if all(step.script for step in steps):
        script = ";".join(step.script for step in steps)
        extended = "-E " if any(step.extended for step in steps) else ""
        if inplace and not subject.sink:
            return f"sed -i {extended}{shlex.quote(script)} {path}"
        return _sent(f"sed {extended}{shlex.quote(script)} {path}", subject)
    if inplace:
        return ""  # what sed cannot do is not done in the file
    parts = []
    for at, step in enumerate(steps):
        command = step.command or f"sed {'-E ' if step.extended else ''}{shlex.quote(step.script)}"
        if at:
            parts.append(command)
        elif step.feeds:
            parts.append(f"{command} < {path}")
        elif " | " in command:
            head, _, tail = command.partition(" | ")
            parts.append(f"{head} {path} | {tail}")
        else:
            parts.append(f"{command} {path}")
    return _sent(" | ".join(parts), subject)


def _sent(command: str, subject: Subject) -> str:
    return f"{command} > {quote_path(subject.sink)}" if subject.sink else command
