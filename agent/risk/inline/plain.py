"""Recognise code of languages without a reader that is nothing but values and their printing."""

from __future__ import annotations

import re

from agent.risk.inline.reading import Reading
from agent.risk.tables.names import names

_NAMES = names("plain.names")
_TEXT = re.compile(r'(?<![\w?])"(?:\\[nt"\\]|[^"\\$#\n])*"')
_SINGLE = re.compile(r"(?<![\w?])'(?:\\[nt'\\]|[^'\\\n])*'")
_SINGLE_QUOTED = frozenset(("R", "Rscript", "groovy", "octave"))
_SHELLS = frozenset(("nu", "xonsh", "elvish"))  # a word is a command
_NAME = re.compile(r"[A-Za-z_]\w*", re.A)
_OTHER = re.compile(r"#|//|\{-|\(\*|--|/\*|[`@$\\'\"]|[^\x00-\x7f]")


def read(code: str, language: str) -> Reading:
    """What is in `code` besides values and their printing."""
    reading = Reading()
    if language in _SHELLS:
        reading.doubt("a command")
    if "/" in code and ('"' in code or "'" in code):
        reading.doubt("what may be another kind of text")
    bare = _TEXT.sub(" 0 ", code)
    if language in _SINGLE_QUOTED:
        bare = _SINGLE.sub(" 0 ", bare) if '"' not in bare and "'" not in "".join(_TEXT.findall(code)) else bare
    odd = _OTHER.search(bare)
    if odd:
        reading.doubt(f"the sign {odd.group()}")
    for name in _NAME.findall(bare):
        if name not in _NAMES or (language, name) == ("octave", "print"):  # which saves a picture
            reading.doubt(name)
    return reading
