"""Write out what curl puts together itself: `--variable` keeps a value, `--expand-NAME` is `--NAME` with `{{…}}` replaced."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING

from agent.risk.invocations.leaks import is_kept
from agent.risk.reader.words import UNKNOWN, Invocation, Word, join_taint, origin
from agent.risk.tables.options import Args

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_EXPANDED = re.compile(r"\{\{(\w+)(?:[^\w{}][^{}]*)?\}\}")


def written_out(walker: Walker, invocation: Invocation, args: Args) -> Invocation:
    """The same with `--expand-NAME` as `--NAME`, and in its value what `--variable` keeps: of the environment, a file, the line."""
    held = dict(filter(None, (_variable(walker, invocation, word) for word in args.values("--variable"))))
    words, expands = [], False
    for word in invocation.words:
        option, equals, value = word.text.partition("=")
        if expands or (option.startswith("--expand-") and equals):
            text = word.text if expands else value
            named = [held.get(name, Word(UNKNOWN, *invocation.place, taint="var")) for name in _EXPANDED.findall(text)]
            pieces = _EXPANDED.split(text)[::2]  # between them stand the names
            text = "".join((pieces[0], *(one.text + behind for one, behind in zip(named, pieces[1:], strict=True))))
            if not expands:
                text = f"--{option.removeprefix('--expand-')}={text}"
            taint = reduce(join_taint, (one.taint for one in named), word.taint)
            words.append(Word(text, word.start, word.end, taint=taint, quoted=True))
            expands = False
        elif option.startswith("--expand-"):
            words.append(word.part(f"--{option.removeprefix('--expand-')}"))
            expands = True
        else:
            words.append(word)
    return invocation.inner(words, "curl --variable")


def _variable(walker: Walker, invocation: Invocation, word: Word) -> tuple[str, Word] | None:
    """Read what curl is told to keep by a name: `%NAME` of the environment, `NAME@FILE` (with bytes behind it), `NAME=TEXT`."""
    found = re.match(r"(%?)(\w+)(?:\[[\d-]*\])?([@=]?)(.*)", word.text, re.S)
    if found is None:
        return None
    environment, name, sign, rest = found.groups()
    if sign == "=" and not environment:
        return name, word.part(rest)
    taint = "secret" if sign == "@" and is_kept(walker, invocation, word.part(rest)) else "file"
    if environment:
        known = walker.state.variables.get(name)
        taint = join_taint(origin(name) if known is None else known.taint, taint if sign == "@" else "")
    return name, Word(UNKNOWN, *invocation.place, taint=join_taint(word.taint, taint))
