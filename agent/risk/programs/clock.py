"""date: what it is given either describes a time or sets the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.invocations.invocation import Invocation, Output
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def date(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """date +FORMAT shows; date MMDDhhmm sets, and so does -s. With -j the BSD one only converts."""
    args.operands = [] if args.has("-j") else [word for word in args.operands if not word.text.startswith("+")]
    return None
