"""Programs that run a command on a phone or board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.invocations.invocation import Invocation, Output
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def adb(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """adb shell text: what stands behind `shell` runs on the phone, with the phone's paths."""
    texts = [word.text for word in args.operands]
    if texts[:1] not in (["shell"], ["exec-out"]):
        return None
    words = invocation.words
    index = next(i for i, word in enumerate(words) if word.text == texts[0])
    walker.add("remote-shell", words[index + 1 : index + 2], invocation.place, rule="adb.shell")
    if words[index + 1 :]:
        text = " ".join(word.text for word in words[index + 1 :])
        inner = invocation.inner([], table.name)
        inner.remote = True
        walker.script(text, invocation.place, inner, invocation.stdin)
    return None, ""
