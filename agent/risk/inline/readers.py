"""The reader of each language, imported when code of that language is first met."""

from __future__ import annotations

import importlib
import re

from agent.risk.inline.reading import Reading, words

_READERS = {
    "python": "python", "perl": "perl", "ruby": "ruby", "node": "javascript", "php": "php", "lua": "lua", "expect": "tcl", "tclsh": "tcl",
    "wish": "tcl", "jimsh": "tcl",
}  # fmt: skip
_WITHOUT = words(
    """
    Rscript R julia ghci runghc elixir iex scala groovy swift guile sbcl clojure racket raku osascript nu xonsh elvish swipl ocaml kotlin
    jbang octave gnuplot erl jshell
    """
)
_ODD_LINE_END = re.compile("[\r\0\x1a\x85\u2028\u2029]")
_OTHER_NAMES = {"irb": "ruby", "ptpython": "python", "luajit": "lua", "jjs": "node", "psysh": "php"}


def read(code: str, language: str) -> Reading | None:
    """`code` read by the reader of its language; None where there is no reader, and others look after the code."""
    name = language.rstrip("0123456789.").removesuffix("-")
    name = _OTHER_NAMES.get(name, name)
    if name in _WITHOUT:
        from agent.risk.inline.plain import read as read_plain

        return read_plain(code, name)
    module = _READERS.get(name)
    if module is None:
        return None
    reading: Reading = importlib.import_module(f"agent.risk.inline.{module}").read(code)
    if module != "python" and _ODD_LINE_END.search(code):
        reading.doubt("an unusual end of a line")  # where some languages end a comment, and others do not
    return reading
