"""Remarks about the build of a file: columns by their number, what a column is called, what parts columns, that there is a header."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.asked import words as w

# A column by its number is written so in a sentence.
BY_NUMBER = "col_"
LAST = BY_NUMBER + "NF"
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "6th": 6, "7th": 7, "8th": 8, "9th": 9, "10th": 10,
}  # fmt: skip
_COLUMN = r"(?:columns?|fields?|cols?)"
_BY_NUMBER = re.compile(rf"(?i)\b(?:the )?{_COLUMN} (?:number |no\.? |nr\.? |#)?(?P<n>{w.NUM})(?![\w.])")
_BY_ORDINAL = re.compile(
    rf"(?i)\b(?:the )?(?P<n>{'|'.join(_ORDINALS)}|last) (?:{_COLUMN}|(?:words?|values?|numbers?)(?= (?:of|on|in) (?:each|every|a|all)\b|\)|;|,| *\Z))(?: (?:of|on|in) (?:each|every|a) (?:line|row))?"
)
_SIGNS = {
    "semicolon": ";", "semicolons": ";", "comma": ",", "commas": ",", "colon": ":", "colons": ":", "tab": "\t", "tabs": "\t",
    "pipe": "|", "pipes": "|", "blank": " ", "blanks": " ", "space": " ", "spaces": " ", "whitespace": " ", "white space": " ",
    "equals sign": "=", "equal sign": "=", "dash": "-", "dashes": "-", "hyphen": "-",
}  # fmt: skip
_SIGN = r"(?P<s>[\"'`][;,:|=\t -][\"'`]|[;,:|=](?!\w)|" + "|".join(sorted(_SIGNS, key=len, reverse=True)) + ")"
_PARTED = re.compile(
    r"(?i)[(,;]*\s*(?:\b(?:the |its |with |using )?(?:(?:columns?|fields?|values?|they|cells?) (?:are |is )?)?(?:separated|divided|delimited|split|parted)(?: by| with| at| using)? (?:a |an )?(?:single )?"
    rf"{_SIGN}|\b(?:the |its |with |using )*(?:separators?|delimiters?|field separators?) (?:is |are |being |= ?)?(?:a |an )?{_SIGN.replace('<s>', '<s2>')}|\b{_SIGN.replace('<s>', '<s3>')} as (?:the )?(?:field )?(?:separators?|delimiters?)"
    rf"|\b{_SIGN.replace('<s>', '<s4>')}[- ](?:separated|delimited|divided))\s*\)?"
)
_TABLE = re.compile(
    r"(?i)\b(?:(?P<s>semicolon|comma|colon|tab|pipe|csv|tsv)(?:[- ](?:table|spreadsheet|sheet|list|separated|delimited))?|table|spreadsheet|sheet) (?:file )?(?=\x02)"
)
_HEADER = re.compile(
    r"(?i)[(,;]*\s*\b(?:(?:the |its )?(?:header|heading|title)(?: line| row)? (?:is )?(?:not included|excluded|left out|not counted|ignored|skipped)|(?:the )?first (?:line|row) (?:is|being|holds|has|contains) (?:a |the )?(?:header|headings?|titles?|column names|names)|"
    r"(?:it |the file |which |that )?(?:has|have|with) (?:a |one )?(?:header|heading)(?: line| row)?|(?:but )?(?:without|not|skip|skipping|except|ignoring|minus|leaving out|excluding|not counting) (?:the |its )?(?:header|heading|titles?)(?: line| row)?)\)?"
)
_CALLED = (
    # "size (column 3)", "address in column 1", "bytes is column 10", "column 2, the price"
    r"\b(?P<n>[a-z]+(?: (?!in\b|is\b|are\b|being\b|stands?\b)[a-z]+)?)(?P<in>,? (?:which|that)(?:'s| is| are)(?: in)?| (?:is|are|being|stands?|=)(?: in)?| in)?(?(in) +\(?| *\() *(?P<c>col_\w+) *\)?",
)
_NO_NAMES = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "in",
        "and",
        "or",
        "by",
        "per",
        "for",
        "sum",
        "average",
        "mean",
        "max",
        "min",
        "total",
        "maximum",
        "minimum",
        "highest",
        "lowest",
        "largest",
        "smallest",
        "sort",
        "sorted",
        "print",
        "show",
        "than",
        "as",
        "to",
        "with",
        "from",
        "product",
        "times",
        "plus",
        "minus",
        "is",
        "are",
        "then",
        "on",
        "value",
        "values",
        "difference",
        "ratio",
        "between",
        "divided",
        "column",
        "smallest",
        "biggest",
        "whose",
        "where",
        "each",
        "every",
        "that",
        "multiplied",
        "over",
        "dash",
        "hyphen",
        "row",
        "line",
        "rows",
        "lines",
        "which",
        "negative",
        "positive",
        "columns",
        "sum",
        "up",
        "add",
        "adding",
    ]
)


def numbered(said: str) -> str:
    """A sentence with "col_2" for "column 2", "the second field" and "2nd column", "col_NF" for the last."""

    def by_ordinal(found: re.Match[str]) -> str:
        low = found["n"].lower()
        return LAST if low == "last" else f"{BY_NUMBER}{_ORDINALS[low]}"

    said = re.sub(r"(?i)\b(columns?|fields?) (\d+) (and|to|from|,) (?=\d+\b)", r"\1 \2 \3 \1 ", said)
    return _BY_ORDINAL.sub(by_ordinal, _BY_NUMBER.sub(lambda found: f"{BY_NUMBER}{w.number(found['n'])}", said))


def parted(said: str) -> tuple[str, str]:
    """The sentence without what it says of separators, and the separator ("" for none said)."""
    found = _PARTED.search(said)
    sign = ""
    if found is not None:
        raw = next(value for value in found.groupdict().values() if value).strip("\"'`").lower()
        sign = _SIGNS.get(raw, raw)
        said = f"{said[: found.start()]} {said[found.end() :]}"
    named = _TABLE.search(said)
    if named is not None:
        kind = (named["s"] or "").lower()
        sign = sign or {"csv": ",", "tsv": "\t"}.get(kind, _SIGNS.get(kind, ""))
        said = said[: named.start()] + said[named.end() :]
    return said, sign


def headed(said: str) -> tuple[str, bool]:
    """The sentence without a remark about its header, and whether there was one."""
    found = _HEADER.search(said)
    return (f"{said[: found.start()]} {said[found.end() :]}", True) if found else (said, False)


def called(said: str, names: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The sentence with the names of columns that are told together with their number, and those names."""
    told: dict[str, str] = {}
    for pattern in _CALLED:
        for found in list(re.finditer(pattern, said, re.IGNORECASE)):
            number = found["c"].removeprefix(BY_NUMBER)
            words = list(found["n"].lower().split())
            while words and words[0] in _NO_NAMES:
                words.pop(0)
            name = " ".join(words)
            if not name or words[-1] in _NO_NAMES or names.get(name, number) != number:
                continue
            told[name] = number
    for name, number in told.items():
        beside = rf"(?P<in>,? (?:which|that)(?:'s| is| are)(?: in)?| (?:is|are|being|stands?|=)(?: in)?| in)?(?: *\( *{BY_NUMBER}{number} *\)|(?(in) +{BY_NUMBER}{number}\b|(?!)))"
        # ": address in field 1, bytes in field 10" only tells; elsewhere the name is needed
        said = re.sub(
            rf"(?i)(?:[:,(;]| and) *(?:the )?{re.escape(name)}{beside}(?<! )(?= *(?:[,;)]|and\b|\Z))",
            lambda f: " " if f["in"] else f[0],
            said,
        )
        said = re.sub(rf"(?i)\b({re.escape(name)}){beside}", r"\1 ", said)
    return said, told
