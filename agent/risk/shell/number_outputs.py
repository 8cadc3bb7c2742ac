"""Tell outputs that can only be numbers: a word of them holds no code, wherever bash reads it.

A program is here for the options with which it prints nothing but digits, blanks and signs between them, plain names that it was
given, and words of the kernel, whatever its input is.
"""

from __future__ import annotations

import re

from agent.risk.reader.words import NUMBER, UNKNOWN, Invocation, Output, Word

_DATE = r"(?:%[-_0^#]?\d*[CdeFgGHIjklmMNsSTuUVwWyY]|[\d ./:,-])+"
_DIGITS = r"(?:\[0-9\]|\[\[:digit:\]\]|\\d)"
_WRITTEN_OUT = r"(?:%\{(?:http_code|response_code|http_connect|(?:time|size|speed|num)_\w+)\}|\\n|[\d\s.:,-])+"
_NAME = r"[\w./][\w./-]*"
_KERNEL = r"(?!\S*\.\.)(?:/proc/(?:loadavg|uptime|meminfo|stat|sys/[\w./-]+)|/sys/[\w./:-]+)"
_PRINTS = {
    "wc": rf"(?:(?:-[lwcmL]+|--(?:lines|words|bytes|chars|max-line-length)|{_NAME})(?: |\Z))*",
    "du": rf"(?:-\w+ )*(?:-\w*s\w*|--summarize)(?: -\w+)*(?: {_NAME})*",
    "cat": rf"(?:{_KERNEL}(?: |\Z))+",
    "free": r"(?:-\w+ ?)*",
    "nproc": r"(?:--all|--ignore=\d+)?",
    "date": rf"(?:.* )?\+{_DATE}",
    "id": r"-[ugGr]+(?: .*)?",
    "stat": r"(?:-L )?(?:-c ?|--format[= ]|--printf[= ])(?:%[abBdghiosuWXYZ] ?)+(?: (?!-|.* -).*)?",
    "tput": r"cols|lines|colors",
    "getconf": r"_?NPROCESSORS_\w+|PAGE_?SIZE|LONG_BIT|CLK_TCK|[A-Z_]+_MAX(?: \S+)?",
    "git": r"(?:-C \S+ )?rev-list (?:.* )?--count(?: .*)?",
    "shuf": r"(?:-i ?\d+-\d+|-n ?\d+| )+",
    "stty": r"size",
    "pgrep": r"(?:-[fxno]+ )*-[fxno]*c[fxno]*(?: [^-].*)?",
    "sysctl": r"-n hw\.(?:\w*cpu\w*|memsize|pagesize)",
    "jq": r"(?:-[rcMS]+ )*(?:\.[\w.\[\]]* ?\| ?)?length(?: \S+)?",
    "tr": r"(?:-dc|-cd|-d -c|-c -d) (?:0-9|\[:digit:\])(?:\\n|\s)*",
    "sed": rf"(?:-[Er] )?s/{_DIGITS.replace('[', '[^', 1)}[*+]?//g",
    "grep": rf"(?:-\w*o\w* )(?:-\w+ )*{_DIGITS}\\?[+*](?: [^ -]\S*)?|(?!.*(?:^| )(?:-\w*[rRH]|--))-\w*c\w*(?: -\w+)*(?: [^-\0]\S*){{1,2}}",
    "awk": r"(?:-F ?\S )?(?:END)? *\{ *print (?:NR|NF) *;?\}|\{ *(\w+) *\+= *\$\w+ *;? *\} *;? *END *\{ *print \1 *;? *\}",
    "curl": rf"(?!.*(?: -\w*[viD]|--(?:include|verbose|dump|trace|next)))(?=.*-\w*o ?/dev/null)(?:.* )?-\w*w {_WRITTEN_OUT}(?: .*)?",
}
# What these print of numbers on their input are parts of those.
_KEEPS = {
    "cat": r"-?", "tac": r"", "xargs": r"", "rev": r"", "sort": r"(?:-\w+ ?)*", "uniq": r"(?:-\w+ ?)*", "tee": r"[^-\0]*",
    "head": r"(?:-[nc] ?[-+]?\d+|-\d+|-q|-z| )*", "tail": r"(?:-[nc] ?[-+]?\d+|-\d+|-q|-z| )*", "tr": r"-d .+|-s .",
    "cut": r"(?:-d ?\S|-[fcb] ?[\d,-]+| )*", "awk": r"(?:-F ?\S )?(?:/[\w :]+/|NR *== *\d+)? *\{ *print \$\d+ *;?\}", "sed": r"s/[^/]*//g?",
}  # fmt: skip
_LONGEST = 500  # characters of arguments; the patterns need more than linear time for what almost fits
_PROGRAMMED = frozenset(("awk", "sed", "jq", "tr", "cut"))
_SUMS = frozenset(("+", "-", "*", "/", "%"))
_ALSO = {"egrep": "grep", "fgrep": "grep", "gawk": "awk", "mawk": "awk", "gdate": "date", "gstat": "stat", "gwc": "wc"}


def as_numbers(name: str, invocation: Invocation, output: Output) -> Output:
    """The output of a program, called a number where it can be nothing else, and where it may be, not."""
    text, taint = output
    if text is not None and UNKNOWN not in text:
        return output
    name = _ALSO.get(name, name)
    if name != "expr" and name not in _PRINTS and (text is not None or (name not in _KEEPS and taint != NUMBER)):
        return output
    words = invocation.words[1:]
    glue = " " if name in _PROGRAMMED else "_"  # an argument of several words is not several arguments
    written = " ".join(re.sub(r"\s", glue, word.text) for word in words)
    short = len(written) <= _LONGEST
    if name == "expr":
        counted = len(words) > 2 and all(map(_adds_up, words, range(len(words))))
    elif not short or (name == "grep" and any(word.glob for word in words)):
        counted = False
    else:
        counted = re.fullmatch(_PRINTS.get(name, r"(?!)"), written, re.S) is not None
    came = invocation.stdin[1] if invocation.stdin is not None else ""
    kept = short and came == NUMBER and re.fullmatch(_KEEPS.get(name, r"(?!)"), written, re.S) is not None
    if counted or (kept and text is None):
        return None, NUMBER
    return (text, f"{NUMBER} cmd") if text is None and taint == NUMBER else output


def _adds_up(word: Word, index: int) -> bool:
    """Tell whether `expr` can only count with the word at this place: a word of several could hold a comparison of texts."""
    if index % 2:
        return word.text in _SUMS
    return word.known or word.taint == NUMBER
