"""Which lines: by a number in a column, by a value of a column, by a level, by a text or a word that the file has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.said.sentence_rules import unquoted

if TYPE_CHECKING:
    from agent.planner.offline.grammar.asked.request import Peeling

_COMPARED = (
    (r"(?:at least|no less than|not less than|no fewer than|not under|not below|minimum(?: of)?|>=)", ">="),
    (r"(?:at most|no more than|not more than|up to|not over|not above|maximum(?: of)?|<=)", "<="),
    (r"(?:over|above|more than|greater than|larger than|bigger than|higher than|exceed(?:s|ing)?|beyond|older than|longer than|dearer than|more expensive than|heavier than|taller than|warmer than|hotter than|better than|after|later than|>)", ">"),
    (r"(?:under|below|less than|fewer than|smaller than|lower than|younger than|cheaper than|lighter than|shorter than|colder than|cooler than|worse than|before|earlier than|<)", "<"),
)  # fmt: skip
_OF_COLUMN = {
    "older": ("age",), "younger": ("age",), "more expensive": ("price", "cost"), "dearer": ("price",), "cheaper": ("price", "cost"), "heavier": ("weight",),
    "lighter": ("weight",), "taller": ("height",), "warmer": ("temperature", "temp"), "hotter": ("temperature", "temp"), "colder": ("temperature", "temp"), "cooler": ("temperature", "temp"),
}  # fmt: skip
_LEVEL = r"(?-i:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)"
_AMOUNT = r"(?P<v>-?\d+(?:\.\d+)?)(?: (?:euros?|dollars?|years?(?: old)?|points?|percent|degrees?|kg|pieces?|units?))?"


def take_conditions(peel: Peeling) -> None:
    """Take every condition out of what is left, and add it to the request."""
    _empty(peel)
    _code_only(peel)
    while _compared(peel) or _equal(peel):
        pass
    _answers(peel)
    _several(peel)
    _lengths(peel)
    _levels(peel)
    while _texts(peel):
        pass


def _empty(peel: Peeling) -> None:
    if peel.take(
        r"\b(?:that |which )?(?:start(?:s|ing)?|begin(?:s|ning)?) with (?:a |any )?(?:digit|number|figure|numeral)s?\b"
    ):
        peel.asked.texts.append(("regex", "^[0-9]"))
    elif peel.take(r"\b(?:that |which )?end(?:s|ing)? (?:with|in) (?:a |any )?(?:digit|number|figure|numeral)s?\b"):
        peel.asked.texts.append(("regex", "[0-9]$"))
    if peel.take(
        r"\b(?:that |which )?(?:start(?:s|ing)?|begin(?:s|ning)?) with (?:a |an )?(?:capital|upper[- ]?case)(?: letters?)?\b"
    ):
        peel.asked.texts.append(("regex", "^[[:upper:]]"))


def _answers(peel: Peeling) -> None:
    """What a web server answered."""
    column = peel.names.get("status")
    if column is None or column not in peel.columns.numeric:
        return
    found = peel.take(
        r"\b(?:that |which )?(?:(?:were|was|are|is|got|get|gets|have|had|ended|resulted|resulting|ending) )*(?:answered|returned|served|replied to|responded to|ended|in|returning|a|an|with|got)(?: with| in)?(?: a| an)?(?: (?:http )?(?:status|code|status code|answer|response))*(?: of)? (?P<v>[1-5]\d\d)(?: (?:status|code|error|answer|response)s?)*(?![\w.])"
    ) or peel.take(
        r"\b(?:(?:http )?(?:status|code|status code|error) )?(?P<v>[1-5]\d\d)(?: (?:status|code|error|answer|response)s?)?(?= (?:requests|hits|lines|answers|responses)\b)"
    )
    if found is None:
        found = peel.take(r"\b(?P<v>[1-5]\d\d)(?: (?:status|code|error|answer|response)s)\b")
        peel.asked.nouned = peel.asked.nouned or found is not None
    if found:
        peel.asked.conditions.append(f"{_awk(peel, column)} == {found['v']}")


def _awk(peel: Peeling, number: str) -> str:
    return f"${number}"


def _code_only(peel: Peeling) -> None:
    """Lines that are neither comments nor empty."""
    if peel.take(
        r"\b(?:that |which )?(?:are )?neither comments?(?: lines)? nor (?:blank|empty)(?: lines| ones)?\b"
    ) or re.search(
        r"(?i)\b(?:effective|active|actual|meaningful|uncommented|real|significant) (?:lines|settings|entries|rules|jobs)\b",
        peel.rest,
    ):
        peel.take(
            r"\b(?:effective|active|actual|meaningful|uncommented|real|significant)(?= (?:lines|settings|entries|rules|jobs)\b)"
        )
        peel.take(r"(?<=;) *(?:settings|rules|jobs)\b")
        peel.asked.texts += [("drop", "^[[:space:]]*#"), ("drop", "^[[:space:]]*$")]
        peel.asked.nouned = True


def _compared(peel: Peeling) -> bool:
    if not peel.names or not re.search(r"(?<![\w.])-?\d", peel.rest):
        return False
    for said, way_of in _COMPARED:
        sign = way_of
        found = peel.take(
            rf"\b(?:(?:where|whose|with|that|which|who|having|and|for which|in which) )*(?:the |a |an |their |its )?(?P<c>{peel.named}) (?:that |which |value |is |are |was |of |being )*{said} {_AMOUNT}(?![\w.])"
        ) or peel.take(
            rf"\b(?:(?:with|that|which|who|have|has|having|earn(?:s|ing)?|cost(?:s|ing)?|scored|got|and|are|is|reached|weigh(?:s|ing)?) )*(?:a |an )?{said} {_AMOUNT}(?: of| in| on| for| at)?(?: the)? (?P<c>{peel.named})\b"
        )
        column = peel.column(found["c"]) if found else ""
        if found is None:
            way = (
                peel.take(
                    rf"\b(?:(?:that|which|who|and) )*(?:is |are |was |were )?(?P<w>{'|'.join(_OF_COLUMN)}) than {_AMOUNT}(?![\w.])"
                )
                if sign == ">"
                else None
            )
            if way:
                column = next((peel.names[n] for n in _OF_COLUMN[way["w"].lower()] if n in peel.names), "")
                low = way["w"].lower() in ("younger", "cheaper", "lighter", "colder", "cooler")
                found, sign = way, "<" if low else ">"
        if found and column and column in peel.columns.numeric:
            peel.asked.conditions.append(f"{_awk(peel, column)} {sign} {found['v']}")
            return True
        if found:
            peel.rest += " unknown-column"
            return False
    between = peel.says("between", "from") and peel.take(
        rf"\b(?:(?:where|whose|with|and) )?(?P<c>{peel.named}) (?:is |are |of )?(?:between|from) (?P<a>\d+(?:\.\d+)?) (?:and|to) (?P<b>\d+(?:\.\d+)?)\b"
    )
    if between and peel.column(between["c"]) in peel.columns.numeric:
        column = _awk(peel, peel.column(between["c"]))
        peel.asked.conditions.append(f"{column} >= {between['a']} && {column} <= {between['b']}")
        return True
    if between:
        peel.rest += " unknown-column"
    return False


def _cell(peel: Peeling, said: str) -> tuple[str, str]:
    """The value that a word speaks of, with its column; ("", "") for none."""
    cells = peel.columns.table.cells
    if said in cells:
        return said, cells[said]
    same = [cell for cell in cells if cell.lower() == said.lower()]
    return (same[0], cells[same[0]]) if len(same) == 1 else ("", "")


def _equal(peel: Peeling) -> bool:
    """Values of a column: "whose city is Oslo", "in Oslo", "with status 404"."""
    found = peel.says("where", "whose", "with", "hav", " and ") and peel.take(
        rf"\b(?:(?:where|whose|with|that have|who have|which have|having|and) )+(?:a |an |the )?(?P<c>{peel.named}) (?:is |are |equals |= |of |being |set to |equal to )?(?P<not>not )?(?P<v>{w.QUOTED}|[\w./@-]+)(?![\w/])"
    )
    if found:
        column, value = peel.column(found["c"]), unquoted(found["v"])
        sign = "!=" if found["not"] else "=="
        cell, where = _cell(peel, value)
        fields = [line.split(peel.columns.table.separator or None) for line in peel.columns.lines]
        there = {row[int(column) - 1].strip() for row in fields if len(row) >= int(column)}
        if column in peel.columns.numeric and re.fullmatch(r"-?\d+(?:\.\d+)?", value):
            peel.asked.conditions.append(f"{_awk(peel, column)} {sign} {value}")
            return True
        if cell and where == column:
            value = cell
        ending = [one for one in there if one.endswith("/" + value)]
        if value in there:
            peel.asked.conditions.append(
                f'{_awk(peel, column)} {sign} "{value}"' if re.fullmatch(r"[\w .@/:+-]+", value) else ""
            )
        elif ending and all(re.fullmatch(r"[\w./-]+", one) for one in ending):
            peel.asked.conditions.append(
                " || ".join(f'{_awk(peel, column)} {sign} "{one}"' for one in sorted(set(ending)))
            )
        else:
            peel.rest += " unknown-value"
            return False
        if "" in peel.asked.conditions:
            peel.rest += " unknown-value"
            return False
        return True
    for found in re.finditer(
        r"\b(?:(?:in|from|at|of|for|by|with|called|named|coming from|based in|living in|working in) )(?:the )?(?P<v>'[^']+'|\"[^\"]+\"|[\w./@-]+)",
        peel.rest,
    ):
        cell, column = _cell(peel, unquoted(found["v"]))
        if cell and re.fullmatch(r"[\w .@/:+-]+", cell) and found["v"].lower() not in w.GLUE:
            peel.rest = f"{peel.rest[: found.start()]} ;{peel.rest[found.end() :]}"
            peel.asked.conditions.append(f'{_awk(peel, column)} == "{cell}"')
            return True
    return False


def _lengths(peel: Peeling) -> None:
    found = peel.take(
        rf"\b(?:that |which |are |is |of |with |have |has |having )*(?:(?P<more>longer than|more than|over|at least)|(?P<less>shorter than|fewer than|less than|under|at most)|(?P<same>exactly))? ?(?P<n>{w.NUM})[- ](?:letters?|characters?|chars?)(?: long| each| in length)?\b"
    )
    if found is None:
        return
    number = int(w.number(found["n"]))
    more, less = (found["more"] or "").lower(), (found["less"] or "").lower()
    sign = (">=" if more == "at least" else ">") if more else "" if not less else "<=" if less == "at most" else "<"
    peel.asked.texts.append(("length", sign or "==", str(number)))


def _levels(peel: Peeling) -> None:
    found = peel.take(
        rf"\b(?:(?:at|of|with|on) )?(?:(?:the )?(?:log )?levels? )?(?P<a>{_LEVEL})(?: (?:or|and) (?P<b>{_LEVEL}))?(?: level)?(?= |;|,|\Z)(?= ?(?:[;,\x02]|level|messages?|lines?|entries|events|or|\Z))"
    )
    if found:
        texts = tuple(text for text in (found["a"], found["b"]) if text)
        peel.asked.texts.append(("any", *texts))


def _seen(peel: Peeling, said: str) -> str:
    """A word as the file has it; "" where it has it not, or in several ways."""
    text = peel.subject.text
    if re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text):
        return said
    ways = set(re.findall(rf"(?i)(?<!\w){re.escape(said)}(?!\w)", text))
    return str(ways.pop()) if len(ways) == 1 else ""


_HOLDING = r"(?:that |which |who |and |in which |where )?(?:do |does )?(?P<no>not |never |don't |doesn't )?(?:contain(?:s|ing)?|mention(?:s|ing|ed)?|include(?:s|d)?|including|hold(?:s|ing)?|say(?:s|ing)?|match(?:es|ing)?|carry|carries|carrying)"


_ONE = rf"(?:{w.QUOTED}|[\w@/-][\w.@/-]*[\w/]|\w)"


def _several(peel: Peeling) -> bool:
    """Two texts, both or neither of which lines must have; or lines that are left out."""
    found = (
        peel.take(
            rf"\b(?:that |which )?(?:hav(?:e|ing)|has|with|contain(?:s|ing)?|mention(?:s|ing)?) both (?P<a>{_ONE}) and (?P<b>{_ONE})(?: in (?:it|them))?(?= |;|,|\Z)"
        )
        if peel.says(" both ")
        else peel.take(
            rf"\b(?:in which |where |that |which |with |contain(?:s|ing)? |hav(?:e|ing) |mention(?:s|ing)? )*neither (?P<a>{_ONE}) nor (?P<b>{_ONE})(?: (?:appears?|occurs?|is|are|stands?)(?: in them)?)?(?= |;|,|\Z)"
        )
        if peel.says("neither")
        else peel.take(
            rf"\b(?:but )?(?:without|except|minus|not|excluding|leaving out|but|but not) (?:the |those |any |all )*(?:lines|rows|ones|entries) (?:that |which )?(?:have|with|contain(?:ing)?|mention(?:ing)?|about|say(?:ing)?) (?:the word )?(?P<a>{_ONE})(?: in (?:it|them))?(?= |;|,|\Z)"
        )
        if peel.says("without", "except", "minus", "but", "not ", "excluding", "leaving out")
        else None
    )
    if found is None and peel.says("except", "but", "without", "minus"):
        found = peel.take(
            rf"\b(?:but(?: not)?|except(?: for)?|without|minus) (?:the |any |all )*(?P<a>{_LEVEL})(?: (?:lines|messages|entries|ones))?(?= |;|,|\Z)"
        )
    if found is None:
        return False
    parts = found.groupdict()
    kind = "any" if " both " in found[0].lower() else "not"
    for said in (parts["a"], parts.get("b")):
        if said:
            text = unquoted(said) if said != unquoted(said) else _seen(peel, said)
            if not text:
                peel.rest += " unknown-text"
                return False
            peel.asked.texts.append((kind, text))
    peel.asked.nouned = True
    return True


def _texts(peel: Peeling) -> bool:
    found = peel.take(rf"\b{_HOLDING} (?:the |a )?(?:word |text |string |term )?(?P<t>{w.QUOTED})") or peel.take(
        rf"\b{_HOLDING} (?:the |a )?(?:word |text |string |term )?(?P<t>[\w.@/-]+)(?= |;|,|\Z)"
    )
    if found:
        said = found["t"]
        text = unquoted(said)
        if said == text:
            text = _seen(peel, text)
            if not text or text.lower() in w.GLUE:
                peel.rest += " unknown-text"
                return False
        peel.asked.texts.append(("not" if found["no"] else "any", text))
        return True
    found = peel.take(
        rf"\b(?:with|for|about|saying|reading|marked|of|containing) (?:the )?(?:word |text |string |mark |marks )?(?P<t>{w.QUOTED})(?: (?:in|on) (?:it|them))?"
    )
    if found:
        peel.asked.texts.append(("any", unquoted(found["t"])))
        return True
    found = peel.take(
        r"\b(?:that |which )?(?:com(?:e|es|ing)|from|by|made by|sent by|done by|caused by)(?: from)? (?P<t>\d{1,3}(?:\.\d{1,3}){3})(?![\w.])"
    ) or peel.take(r"\bdid (?P<t>\d{1,3}(?:\.\d{1,3}){3}) (?:make|send|issue|cause|do)\b")
    if found:
        peel.asked.texts.append(("any", found["t"]))
        return True
    return not peel.columns.table.header and _about(peel)


def _about(peel: Peeling) -> bool:
    """A word of the text behind a preposition: "lines from worker-2 about the connection"."""
    pattern = r"\b(?:from|about|of|on|regarding|concerning|involving|with) (?:the )?(?P<t>[\w@-]{4,})(?= |;|,|\Z)"
    for found in w.compiled(pattern).finditer(peel.rest):
        said = found["t"]
        there = re.search(rf"(?<![\w-]){re.escape(said)}(?![\w-])", peel.subject.text)
        if (
            there
            and said.lower() not in w.GLUE
            and said.lower() not in peel.names
            and not re.fullmatch(w.LINE, said.lower())
        ):
            peel.rest = f"{peel.rest[: found.start()]} ;{peel.rest[found.end() :]}"
            peel.asked.texts.append(("any", said))
            return True
    return False
