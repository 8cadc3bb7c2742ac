"""A request as one pipeline."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.asked.peel import Request
from agent.planner.offline.values import quote_path, quote_regex


def command_of(asked: Request) -> str:
    """The command; "" where the wishes do not go together."""
    if asked.header == "keep":
        return _with_header_kept(asked)
    if not _sensible(asked):
        return ""
    steps = [*_which(asked), *_what(asked), *_long_enough(asked)]
    ordered = _put_in_order(asked)
    if ordered is None:
        return ""
    steps += ordered
    if not steps:
        return ""
    return _sent(_joined(steps, quote_path(asked.subject.path)), asked)


def beyond_us(asked: Request) -> bool:
    """Whether a request is understood, but nothing is known that does all of it: "how many different users per team"."""
    if asked.grouped and (asked.unique or asked.repeated or asked.single):
        return True
    return asked.head == "column" and len(asked.cols) > 1 and asked.order == "any" and asked.columns.table.header


def _sensible(asked: Request) -> bool:
    """Whether the wishes are about the same: "how many units" asks for a sum, and two columns have no order of their own."""
    if asked.grouped and (asked.unique or asked.repeated or asked.single):
        return False  # "how many different users per team"
    if asked.head == "column" and not asked.grouped:
        if asked.mode == "count" and not (asked.unique or asked.repeated or asked.single):
            return False
        if len(asked.cols) > 1 and (asked.order or asked.mode == "freq"):
            return False
        if asked.order == "column" and asked.order_cols != asked.cols:
            return False  # the order is lost with the column
    if asked.numbered and (
        asked.mode != "list" or asked.head != "lines" or not asked.texts or asked.order or asked.limit
    ):
        return False
    if asked.order == "any" and asked.head == "lines" and asked.mode == "list" and not _ordered_by_itself(asked):
        return False
    if asked.columns.table.settings and asked.head not in ("lines", "shape"):
        return False
    if asked.head == "fields" and (
        asked.mode != "count" or asked.order or asked.unique or asked.texts or asked.conditions
    ):
        return False
    return not (asked.grouped and asked.order == "column")


def _ordered_by_itself(asked: Request) -> bool:
    """Whether lines are to be sorted, rather than shown from the last to the first, or by something that was not understood."""
    said = asked.subject.said
    if re.search(r"(?i)\b(?:reversed?|backwards)\b", said):
        return (
            re.search(
                r"(?i)\b(?:sort|rank|arrange)(?:ed|s|d)?\b|\border(?:ed)? (?!\W*\Z)",
                re.sub(r"(?i)in (?:the )?reversed? order", "", said),
            )
            is not None
        )
    directed = re.search(r"(?i)\b(?:first|descending|ascending|from|top|decreasing|increasing)\b", said)
    return not (asked.columns.table.header and directed)


def _sent(command: str, asked: Request) -> str:
    return f"{command} > {quote_path(asked.subject.sink)}" if asked.subject.sink else command


def _with_header_kept(asked: Request) -> str:
    ordered = _put_in_order(asked)
    if (
        not ordered
        or asked.mode != "list"
        or asked.head != "lines"
        or not asked.columns.table.header
        or asked.texts
        or asked.conditions
    ):
        return ""
    path = quote_path(asked.subject.path)
    command = f"head -n 1 {path}; tail -n +2 {path} | {' | '.join(ordered)}"
    return f"{{ {command}; }} > {quote_path(asked.subject.sink)}" if asked.subject.sink else command


def _skips_header(asked: Request) -> bool:
    if asked.header == "skip":
        return True
    if not asked.columns.table.header or asked.header:
        return False
    rows = asked.mode == "count" and asked.head == "lines" and asked.rows_meant
    plain = asked.head == "lines" and asked.mode == "list" and not asked.limit
    limited = asked.limit and asked.order
    return bool(
        rows
        or limited
        or asked.head in ("column", "moment")
        or asked.mode == "freq"
        or (asked.rows_meant and not plain)
    )


def _which(asked: Request) -> list[str]:
    """Steps that choose lines."""
    steps = []
    skip = _skips_header(asked)
    conditions = " && ".join(
        f"({one})" if "||" in one and len(asked.conditions) > 1 else one for one in asked.conditions
    )
    if conditions:
        start = _awk(asked)
        more = "NR > 1 && " if asked.columns.table.header or skip else ""
        inner = f"({conditions})" if more and "||" in conditions else conditions
        steps.append(f"{start} {shlex.quote(more + inner)}")
    elif skip and not (asked.texts and asked.header != "skip"):
        steps.append("tail -n +2")
    steps += [
        _matching(asked, kind, texts) for kind, *texts in asked.texts if kind != "length" or asked.head == "lines"
    ]
    if asked.skip_empty:
        steps.append("grep -v '^$'")
    return steps


def _long_enough(asked: Request) -> list[str]:
    """What a length says of words and values, and not of lines."""
    if asked.head == "lines":
        return []
    return [_matching(asked, kind, texts) for kind, *texts in asked.texts if kind == "length"]


def _matching(asked: Request, kind: str, texts: list[str]) -> str:
    letters = ("i" if asked.fold else "") + ("v" if kind == "not" else "") + ("n" if asked.numbered else "")
    option = f"-{letters} " if letters else ""
    if kind == "length":
        sign, number = texts
        return f"awk 'length {sign} {number}'"
    if kind == "drop":
        return f"grep -v {shlex.quote(texts[0])}"
    if kind == "regex":
        return f"grep {shlex.quote(texts[0])}"
    if len(texts) > 1:
        return f"grep {option}-E {shlex.quote('|'.join(re.escape(text) for text in texts))}"
    text = texts[0]
    pattern = quote_regex(text).replace("\\/", "/")
    dash = "-e " if pattern.startswith("-") else ""
    return f"grep {option}{dash}{shlex.quote(pattern)}"


def _awk(asked: Request) -> str:
    separator = asked.columns.table.separator
    if separator in ("", " "):
        return "awk"
    return "awk -F'\\t'" if separator == "\t" else f"awk -F{shlex.quote(separator)}"


def _what(asked: Request) -> list[str]:
    """The step that takes out what is asked for."""
    separator = asked.columns.table.separator
    fold = ["tr '[:upper:]' '[:lower:]'"] if asked.fold and asked.mode == "freq" else []
    if asked.head == "column":
        numbers = asked.cols
        if separator and separator != " " and numbers == sorted(numbers, key=int):
            option = "" if separator == "\t" else f" -d{shlex.quote(separator)}"
            return [f"cut{option} -f{','.join(numbers)}", *fold]
        out = f" -v OFS={shlex.quote(separator)}" if separator and separator != " " and len(numbers) > 1 else ""
        return [f"{_awk(asked)}{out} {shlex.quote('{print ' + ', '.join('$' + n for n in numbers) + '}')}", *fold]
    if asked.head == "moment":
        return [asked.moment]
    if asked.head == "shape" and asked.shape is not None:
        return [
            f"grep -E {shlex.quote(asked.shape.looks)}"
            if asked.shape.lines
            else f"grep -oE {shlex.quote(asked.shape.looks)}"
        ]
    if asked.head == "fields":
        return [f"{_awk(asked)} 'NR == 1 {{ print NF }}'"]
    if asked.head == "words":
        if asked.no_signs or fold:
            return ["tr -cs '[:alpha:]' '\\n'", *fold, "grep ."]
        if asked.mode == "count" and not (asked.unique or asked.repeated or asked.single):
            return []
        return ["tr -s '[:space:]' '\\n'"]
    return fold


def _sorting(asked: Request, letters: str = "") -> str | None:
    """The `sort` of an order; None for an order that is not known here."""
    reverse = "r" if asked.reverse else ""
    fold = "f" if asked.fold and asked.mode != "freq" else ""
    table = asked.columns.table
    if asked.order == "column":
        separator = table.separator
        keys = []
        for number in asked.order_cols:
            numeric = "n" if number in asked.columns.numeric else ""
            keys.append(f"-k {number},{number}{numeric}{reverse}{fold}")
        option = (
            f"-t{shlex.quote(separator)} "
            if separator not in ("", " ", "\t")
            else "-t$'\\t' "
            if separator == "\t"
            else ""
        )
        return f"sort {option}{' '.join(keys)}{' -u' if letters else ''}"
    values = [line for line in asked.columns.lines if line.strip()]
    numeric = ""
    if asked.head == "column" and len(asked.cols) == 1:
        numeric = "n" if asked.cols[0] in asked.columns.numeric else ""
    elif asked.head == "lines" and asked.order != "text" and values:
        if asked.columns.sized:
            numeric = "h"
        elif all(re.match(r"\s*-?\d+(?:\.\d+)?\b", v) for v in values) or asked.order == "number":
            numeric = "n" if table.numbers_only or asked.order == "number" else ""
    options = "".join(sorted(set(numeric + reverse + fold + letters)))
    return f"sort{' -' + options if options else ''}"


def _put_in_order(asked: Request) -> list[str] | None:
    """Once, how often, in which order, and how many of them."""
    if asked.head == "fields":
        return []
    limit = []
    if asked.nth:
        limit = [f"sed -n {asked.nth}p"]
    elif asked.limit:
        limit = [f"{'head' if asked.end in ('first', 'top') else 'tail'} -n {asked.limit}"]
    if asked.order == "length":
        if asked.mode != "list":
            return None
        once = ["sort -u"] if asked.unique else []
        by = f"sort -k1,1n{'r' if asked.reverse else ''}" + (" -k2" if asked.ties else "")
        return [*once, "awk '{ print length, $0 }'", by, "cut -d' ' -f2-", *limit]
    if asked.repeated or asked.single:
        letter = "d" if asked.repeated else "u"
        fold = "i" if asked.fold else ""
        first = f"sort{' -f' if fold else ''}"
        if asked.mode == "count":
            return [first, f"uniq -{letter}{fold}", "wc -l"]
        if asked.counted or asked.mode == "freq":
            return [first, f"uniq -c{letter}{fold}" if fold or letter else "", *_by_count(asked), *limit]
        return [first, f"uniq -{letter}{fold}", *([_sorting(asked) or ""] if asked.reverse else []), *limit]
    if asked.mode == "freq":
        return ["sort", "uniq -c", *_by_count(asked, bool(limit)), *limit]
    if asked.unique:
        sorting = _sorting(asked, "u") if asked.order != "count" else None
        if sorting is None:
            return None
        return [sorting, *limit, *(["wc -l"] if asked.mode == "count" else [])]
    if asked.mode == "count":
        if asked.order:
            return None
        return [*limit, "wc -w" if asked.head == "words" else "wc -l"]
    if asked.order:
        sorting = _sorting(asked)
        return [sorting, *limit] if sorting else None
    return limit


def _by_count(asked: Request, limited: bool = False) -> list[str]:
    if asked.order not in ("count",) and not limited:
        return []
    rare = asked.order == "count" and not asked.reverse
    if asked.ties:
        return [f"sort -k1,1n{'' if rare else 'r'} -k2,2"]
    return ["sort -n" if rare else "sort -rn"]


def _joined(steps: list[str], path: str) -> str:
    """The steps as a pipeline that begins at the file."""
    steps = [step for step in steps if step]
    if (
        len(steps) > 1
        and steps[-1] == "wc -l"
        and steps[-2].startswith("grep ")
        and "-o" not in steps[-2].split("'")[0]
    ):
        last = steps[-2].removeprefix("grep ")
        last = f"-c{last[1:]}" if re.match(r"-[ivE]+ ", last) else f"-c {last}"
        steps = [*steps[:-2], f"grep {last}"]
    first = steps[0]
    if first.startswith("tr "):
        first = f"{first} < {path}"
    elif " | " in first:
        head, _, tail = first.partition(" | ")
        first = f"{head} {path} | {tail}"
    elif first == "wc -l" and len(steps) == 1:
        first = f"wc -l {path}"
    else:
        first = f"{first} {path}"
    return " | ".join([first, *steps[1:]])
