"""Each step on lines as one command of a pipeline."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from agent.planner.offline.grammar.columnwords import COLUMN_COMMANDS
from agent.planner.offline.grammar.findwords import dashed, grep_words
from agent.planner.offline.grammar.intent import Containing, Order, Stage
from agent.planner.offline.grammar.sedwords import sed_command, sed_script
from agent.planner.offline.values import quote_regex

_TR_NAMES = {"\t": "\\t", "\n": "\\n", "\\": "\\\\"}
# Commands that read files given after them; all others get their input by `<` or a pipe.
_READS_FILES = ("grep", "sed", "awk", "sort", "head", "tail", "wc", "cut", "tac", "rev", "nl", "cat", "fold", "expand", "shuf",
                "base64", "xxd", "unexpand", "paste", "od", "uniq", "column")  # fmt: skip


def reads_files(command: str) -> bool:
    """Tell whether a command takes names of files after its options."""
    return command.split(" ", 1)[0] in _READS_FILES


def line_command(stage: Stage) -> str:
    """The command of one step. KeyError for a step that is unknown."""
    if sed_script(stage):
        return sed_command(stage)
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


def _tr_set(text: str) -> str:
    return shlex.quote("".join(_TR_NAMES.get(char, char) for char in text))


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
    **COLUMN_COMMANDS,
    "match": _match,
    "anchored": _anchored,
    "regex": _regex,
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
    "align": lambda separator: "column" + (f" -s{shlex.quote(separator)}" if separator != "\t" else " -s$'\\t'") * bool(separator) + " -t",
    "nl": lambda: "nl",
    "bytes_head": lambda n: f"head -c {n}",
    "bytes_tail": lambda n: f"tail -c {n}",
    "occurrences": lambda letters, text: _match("o" + letters, "plain", text),
    "longest": lambda: "awk 'length > max {max = length; line = $0} END {print line}'",
    "longest_length": lambda: "wc -L",
    "ends": lambda: "sed -n '1p;$p'",
    "shortest": lambda: "awk 'NR == 1 || length < min {min = length; line = $0} END {print line}'",
    "length": lambda: "awk '{print length}'",
    "lengthsort": lambda reverse: f"awk '{{print length, $0}}' | sort -n{reverse} | cut -d' ' -f2-",
    "title": lambda: "sed 's/\\b./\\u&/g'",
    "basename": lambda: "sed 's|.*/||'",
}  # fmt: skip
