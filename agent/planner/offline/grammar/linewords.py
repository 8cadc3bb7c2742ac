"""Each step on lines as one command of a pipeline."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from agent.planner.offline.grammar.findwords import dashed, grep_words
from agent.planner.offline.grammar.intent import Containing, Order, Stage
from agent.planner.offline.values import quote_regex, quote_replacement

# Text that awk takes as it is between double quotes.
_PLAIN = re.compile(r"[\w .,@:+-]+\Z")
_SED_CLASS = "[[:space:]]"
_TR_NAMES = {"\t": "\\t", "\n": "\\n", "\\": "\\\\"}
# Commands that read files given after them; all others get their input by `<` or a pipe.
_READS_FILES = ("grep", "sed", "awk", "sort", "head", "tail", "wc", "cut", "tac", "rev", "nl", "cat", "fold", "expand", "shuf",
                "base64", "xxd", "unexpand", "paste", "od", "uniq", "column")  # fmt: skip


def reads_files(command: str) -> bool:
    """Tell whether a command takes names of files after its options."""
    return command.split(" ", 1)[0] in _READS_FILES


def sed_script(stage: Stage) -> str:
    """The sed expression of a step that changes or drops lines one by one; "" for a step that sed does not do."""
    make = _SED.get(stage.op)
    return make(*stage.args) if make else ""


def line_command(stage: Stage) -> str:
    """The command of one step. KeyError for a step that is unknown."""
    script = sed_script(stage)
    if script:
        letters = "-n " if stage.op in _QUIET else "-E " if stage.op in _EXTENDED else ""
        return f"sed {letters}{shlex.quote(script)}"
    if stage.op == "sort" and stage.order is not None and stage.order.key == "length":
        return _COMMANDS["lengthsort"]("r" if stage.order.reverse else "")
    if stage.op == "sort":
        return sort_command(stage.order or Order())
    return _COMMANDS[stage.op](*stage.args)


def sort_command(order: Order) -> str:
    """`sort` with its options."""
    if order.key == "random":
        return "shuf"
    letters = ""
    if order.key == "version":
        letters += "V"
    if order.key == "month":
        letters += "M"
    if order.reverse:
        letters += "r"
    if order.numeric:
        letters += "n"
    if order.human or order.key == "human":
        letters += "h"
    if order.nocase:
        letters += "f"
    words = ["sort"]
    if order.then == "unique":
        letters += "u"
    separator = order.column.partition(":")[2]
    if order.key == "col":
        column = order.column.partition(":")[0]
        if separator:
            words.append(f"-t{shlex.quote(separator)}" if separator != "\t" else "-t$'\\t'")
        words.append(
            f"-k {column},{column}{letters}"
            if "u" not in letters
            else f"-u -k {column},{column}{letters.replace('u', '')}"
        )
    elif letters:
        words.append("-" + letters)
    return " ".join(words)


def _dollar(column: str) -> str:
    return "$NF" if column == "NF" else f"${int(column)}"


def awk_start(separator: str) -> str:
    """`awk`, with the separator of columns unless that is any white space."""
    if separator in ("", " "):
        return "awk"
    return "awk -F'\\t'" if separator == "\t" else f"awk -F{shlex.quote(separator)}"


def _columns(separator: str, *columns: str) -> str:
    if separator and separator != " " and "NF" not in columns and list(columns) == sorted(columns, key=int):
        option = "" if separator == "\t" else f" -d{shlex.quote(separator)}"
        return f"cut{option} -f{','.join(columns)}"
    joined = ", ".join(map(_dollar, columns)) if len(columns) > 1 else _dollar(columns[0])
    out = f" -v OFS={shlex.quote(separator)}" if separator and separator != " " and len(columns) > 1 else ""
    return f"{awk_start(separator)}{out} '{{print {joined}}}'"


def _column_range(separator: str, first: str, last: str) -> str:
    option = " -d' '" if not separator else "" if separator == "\t" else f" -d{shlex.quote(separator)}"
    return f"cut{option} -f{first}-{last}"


def _column_except(separator: str, column: str) -> str:
    if separator and column != "NF":
        option = "" if separator == "\t" else f" -d{shlex.quote(separator)}"
        return f"cut{option} --complement -f{column}"
    out = f" -v OFS={shlex.quote(separator)}" if separator and separator != " " else ""
    if column == "NF":
        return f"{awk_start(separator)}{out} '{{NF--; print}}'"
    return f"cut -d' ' --complement -f{column}"


def _swap(separator: str, first: str, second: str) -> str:
    out = f" -v OFS={shlex.quote(separator)}" if separator and separator != " " else ""
    return f"{awk_start(separator)}{out} '{{t = {_dollar(first)}; {_dollar(first)} = {_dollar(second)}; {_dollar(second)} = t; print}}'"


def _tr_set(text: str) -> str:
    return shlex.quote("".join(_TR_NAMES.get(char, char) for char in text))


def _aggregate(kind: str, separator: str, column: str) -> str:
    value = _dollar(column)
    programs = {
        "sum": f"{{s += {value}}} END {{print s + 0}}",
        "average": f"{{s += {value}; n++}} END {{if (n) print s / n}}",
        "max": f"NR == 1 || {value} + 0 > m {{m = {value} + 0}} END {{print m}}",
        "min": f"NR == 1 || {value} + 0 < m {{m = {value} + 0}} END {{print m}}",
    }
    return f"{awk_start(separator)} '{programs[kind]}'"


def _where(separator: str, column: str, sign: str, text: str) -> str:
    if sign in (">", "<", ">=", "<="):
        return f"{awk_start(separator)} '{_dollar(column)} {sign} {text}'"
    if sign == "start":
        return f"{awk_start(separator)} -v s={shlex.quote(_awk_text(text))} 'index({_dollar(column)}, s) == 1'"
    if _PLAIN.match(text):
        return f"{awk_start(separator)} '{_dollar(column)} {sign} \"{text}\"'"
    return f"{awk_start(separator)} -v s={shlex.quote(_awk_text(text))} '{_dollar(column)} {sign} s'"


def _group(kind: str, separator: str, column: str, value: str) -> str:
    """The sum or average of one column for each value of another."""
    key, number = _dollar(column), _dollar(value)
    shown = "s[k]" if kind == "sum" else "s[k] / n[k]"
    more = "" if kind == "sum" else f"; n[{key}]++"
    return f"{awk_start(separator)} '{{s[{key}] += {number}{more}}} END {{for (k in s) print k, {shown}}}'"


def _awk_text(text: str) -> str:
    return text.replace("\\", "\\\\")


def sorted_letters(letters: str) -> str:
    """Option letters of grep in the order in which people write them."""
    return "".join(sorted(set(letters), key="rcliLHhonwxvE".find))


def with_letters(letters: str, more: str) -> str:
    """grep's letters with more of them, before an option that has a value."""
    first, space, context = letters.partition(" ")
    return first + more + space + context


def _match(letters: str, kind: str, *texts: str) -> str:
    condition = Containing(texts=texts, regex=kind == "regex")
    letters, _, context = letters.partition(" ")
    return _grep(dashed(grep_words(condition, False, False, sorted_letters(letters))), context)


def _grep(words: str, context: str) -> str:
    """grep with how many lines around a match are shown, after its other letters."""
    if not context:
        return "grep " + words
    letters, _, pattern = words.partition(" ")
    return (
        f"grep {letters} {context} {pattern}"
        if words.startswith("-") and pattern[:2] != "-e"
        else f"grep {context} {words}"
    )


def _anchored(letters: str, before: str, text: str, after: str) -> str:
    letters, _, context = letters.partition(" ")
    return f"grep {'-' + letters + ' ' if letters else ''}{context + ' ' if context else ''}" + shlex.quote(
        before + quote_regex(text).replace("\\/", "/").replace("\\&", "&") + after
    )


def _regex(letters: str, pattern: str) -> str:
    letters, _, context = letters.partition(" ")
    letters += "E" if any(char in pattern for char in "+|{") else ""
    return f"grep {'-' + letters + ' ' if letters else ''}{context + ' ' if context else ''}" + shlex.quote(pattern)


_COMMANDS: dict[str, Callable[..., str]] = {
    "match": _match,
    "anchored": _anchored,
    "regex": _regex,
    "where": _where,
    "longer": lambda n: f"awk 'length > {n}'",
    "shorter": lambda n: f"awk 'length < {n}'",
    "length_is": lambda n: f"awk 'length == {n}'",
    "words_over": lambda n: f"awk 'NF > {n}'",
    "words_are": lambda n: f"awk 'NF == {n}'",
    "head": lambda n: f"head -n {n}",
    "tail": lambda n: f"tail -n {n}",
    "skip": lambda n: f"tail -n +{int(n) + 1}",
    "from": lambda n: f"tail -n +{n}",
    "drop": lambda n: f"head -n -{n}",
    "every": lambda n, start: f"awk 'NR % {n} == {start}'",
    "cols": _columns,
    "colrange": _column_range,
    "colexcept": _column_except,
    "colfrom": lambda sep, n: _column_range(sep, n, ""),
    "swap": _swap,
    "colreverse": lambda sep: f"""{awk_start(sep)} '{{for (i = NF; i > 0; i--) printf "%s%s", $i, (i > 1 ? {_awk_out(sep)} : "\\n")}}'""",
    "before": lambda sep: _columns(sep, "1") if len(sep) == 1 and sep != " " else "cut -d' ' -f1",
    "after": lambda sep: f"cut -d{shlex.quote(sep)} -f2-" if sep != "\t" else "cut -f2-",
    "chars": lambda span: f"cut -c{span}",
    "numbers": lambda: "grep -oE '[0-9]+'",
    "upper": lambda: "tr '[:lower:]' '[:upper:]'",
    "lower": lambda: "tr '[:upper:]' '[:lower:]'",
    "swapcase": lambda: "tr 'a-zA-Z' 'A-Za-z'",
    "rev": lambda: "rev",
    "tac": lambda: "tac",
    "number": lambda: "cat -n",
    "squeezelines": lambda: "cat -s",
    "nospace": lambda: "tr -d '[:blank:]'",
    "nonewline": lambda: "tr -d '\\n'",
    "nodigit": lambda: "tr -d '[:digit:]'",
    "nopunct": lambda: "tr -d '[:punct:]'",
    "novowel": lambda: "tr -d 'aeiouAEIOU'",
    "delchar": lambda text: f"tr -d {_tr_set(text)}",
    "squeeze": lambda: "tr -s ' '",
    "expand": lambda: "expand",
    "unexpand": lambda: "unexpand -a",
    "shuffle": lambda: "shuf",
    "sample": lambda n: f"shuf -n {n}",
    "words": lambda: "tr -s '[:space:]' '\\n'",
    "wordsplain": lambda: "grep -oE '[[:alnum:]]+'",
    "singlechars": lambda: "grep -o .",
    "trsep": lambda a, b: f"tr {_tr_set(a)} {_tr_set(b)}",
    "join": lambda sep: "paste -s" + ("" if sep == "\t" else f" -d{shlex.quote(sep)}"),
    "pair": lambda n: "paste -d' ' " + " ".join(["-"] * int(n)),
    "softwrap": lambda n: f"fold -s -w {n}",
    "wrap": lambda n: f"fold -w {n}",
    "hexdump": lambda: "xxd",
    "base64": lambda: "base64",
    "unbase64": lambda: "base64 -d",
    "uniq": lambda: "uniq",
    "uniq_keep": lambda: "awk '!seen[$0]++'",
    "uniq_d": lambda: "uniq -d",
    "uniq_u": lambda: "uniq -u",
    "uniq_c": lambda: "uniq -c",
    "count": lambda what: "wc" if what in ("lwm", "lwc") else f"wc -{what}",
    "agg": _aggregate,
    "product": lambda separator, one, two: f"{awk_start(separator)} '{{print {_dollar(one)} * {_dollar(two)}}}'",
    "align": lambda separator: "column" + (f" -s{shlex.quote(separator)}" if separator != "\t" else " -s$'\\t'") * bool(separator) + " -t",
    "nl": lambda: "nl",
    "bytes_head": lambda n: f"head -c {n}",
    "bytes_tail": lambda n: f"tail -c {n}",
    "groupsum": lambda separator, column, value: _group("sum", separator, column, value),
    "groupaverage": lambda separator, column, value: _group("average", separator, column, value),
    "occurrences": lambda letters, text: _match("o" + letters, "plain", text),
    "longest": lambda: "awk 'length > max {max = length; line = $0} END {print line}'",
    "longest_length": lambda: "wc -L",
    "ends": lambda: "sed -n '1p;$p'",
    "shortest": lambda: "awk 'NR == 1 || length < min {min = length; line = $0} END {print line}'",
    "length": lambda: "awk '{print length}'",
    "lengthsort": lambda reverse: f"awk '{{print length, $0}}' | sort -n{reverse} | cut -d' ' -f2-",
    "nwords": lambda: "awk '{print NF}'",
    "ncols": lambda sep: f"{awk_start(sep)} 'NR == 1 {{print NF}}'",
    "title": lambda: "sed 's/\\b./\\u&/g'",
    "basename": lambda: "sed 's|.*/||'",
}  # fmt: skip


def _address(text: str) -> str:
    return f"/{quote_regex(text)}/" if text else ""


def _sed_text(text: str) -> str:
    """Text for sed's i and a: a newline in it must not begin a command of its own."""
    return text.replace("\\", "\\\\").replace("\n", "\\\n")


def _awk_out(separator: str) -> str:
    return (
        '" "'
        if separator in ("", " ")
        else '"\\t"'
        if separator == "\t"
        else f'"{separator}"'
        if separator not in ('"', "\\", "'")
        else '" "'
    )


_QUIET = frozenset({"between", "range", "line", "lines"})
_EXTENDED = frozenset({"cutchars_head", "cutchars_tail"})
_SED: dict[str, Callable[..., str]] = {
    "range": lambda a, b: f"{a},{b}p",
    "line": lambda n: f"{n}p",
    "lines": lambda a, b: f"{a}p;{b}p",
    "between": lambda a, b: f"{_address(a) or '1'},{_address(b) or '$'}p",
    "double": lambda: "G",
    "keep_skip": lambda n: "1!d" if n == "1" else f"1,{n}!d",
    "keep_drop": lambda n: "$!d" if n == "1" else "",
    "delblank": lambda: f"/^{_SED_CLASS}*$/d",
    "nocomment": lambda: "/^#/d",
    "plainlines": lambda: "/^#/d;/^$/d",
    "delline": lambda n: f"{n}d",
    "delrange": lambda a, b: f"{a},{b}d",
    "trim": lambda: f"s/^{_SED_CLASS}*//;s/{_SED_CLASS}*$//",
    "ltrim": lambda: f"s/^{_SED_CLASS}*//",
    "rtrim": lambda: f"s/{_SED_CLASS}*$//",
    "nocr": lambda: "s/\\r$//",
    "crlf": lambda: "s/$/\\r/",
    "replace": lambda old, new, flags: f"s/{quote_regex(old)}/{quote_replacement(new)}/{flags}",
    "replaceword": lambda old, new, flags: f"s/\\b{quote_regex(old)}\\b/{quote_replacement(new)}/{flags}",
    "addstart": lambda text: f"s/^/{quote_replacement(text)}/",
    "addend": lambda text: f"s/$/{quote_replacement(text)}/",
    "insert": lambda n, text: f"{n}i\\{_sed_text(text)}",
    "addafter": lambda n, text: f"{n}a\\{_sed_text(text)}",
    "cutchars_head": lambda n: f"s/^.{{1,{n}}}//",
    "cutchars_tail": lambda n: f"s/.{{1,{n}}}$//",
    "cuthead": lambda: "s/^.//",
    "cuttail": lambda: "s/.$//",
    "noext": lambda: "s/\\.[^./]*$//",
    "extonly": lambda: "s/.*\\.//",
}  # fmt: skip
