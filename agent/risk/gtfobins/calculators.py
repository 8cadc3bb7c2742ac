"""calc and genius: expressions of their own language, which can start programs and write files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.gtfobins.general import runs
from agent.risk.reader.words import Invocation, Output
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_CALCULATES = frozenset(
    "abs acos acosh asin asinh atan atan2 atanh avg bit ceil comb conj cos cosh cot csc epsilon exp fact fib floor frac gcd im int isprime "
    "lcm ln log log2 max min mod nextprime perm pi power prevprime quo quomod re root round sec sgn sin sinh sqrt sum tan tanh".split()
)
_NAME = LazyPattern(r"[A-Za-z_]\w*")


def calculator(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """calc, genius: expressions of numbers and functions of mathematics only calculate; others may run, read and write."""
    for word in args.operands:
        bare = re.sub(r"\b\d[\w.]*", "", word.text)
        if not word.known or not _CALCULATES.issuperset(_NAME.findall(bare)) or any(sign in bare for sign in "'\"!$@"):
            runs(walker, invocation, word)
    return None
