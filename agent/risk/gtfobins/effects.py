"""Give the effect of options that mean one whatever their value is, or where it holds what a pattern says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from agent.protocol.decisions import Level

if TYPE_CHECKING:
    from agent.risk.reader.words import Invocation, Word
    from agent.risk.shell.walk import Walker


class Effect(Struct, frozen=True):
    """`targets`: the option's value, all words behind the program, or none. `where`: a pattern that the value has to hold."""

    kind: str
    targets: Literal["value", "words", "none"] = "none"
    rule: str = ""
    reason: str = ""
    level: Level | None = None
    where: str = ""


_POD = r'"(?:privileged|hostPID|hostNetwork|hostIPC|allowPrivilegeEscalation)"\s*:\s*true|"hostPath"'
EFFECTS: dict[str, Effect] = {
    "account": Effect("account", "words"),
    "confine": Effect("container-host", "value", "container.confinement", "takes away a container's confinement",
                      where=r"unconfined|label[:=]disable|systempaths"),
    "connects": Effect("send", "words", "network.device"),
    "elsewhere": Effect("remote-shell", "value", reason="runs on another machine: {targets}"),
    "host": Effect("container-host", "none", "container.host-namespace", "enters the namespaces of the host's first process",
                   where=r"\A1\Z|\Ans/|/proc/1/"),
    "listen": Effect("reverse-shell", "value", "reverse-shell.program", "gives a shell or program on this machine to the network"),
    "listens": Effect("serve", "none", "escape.listen", "takes commands from whoever reaches it"),
    "mine": Effect("miner"),
    "opened": Effect("run", "none", "run.shell", "opens a shell of its own"),
    "payload": Effect("reverse-shell", "value", "reverse-shell.made", "makes a program that gives a shell to the network",
                      where=r"reverse|bind|meterpreter|shell"),
    "pod": Effect("container-host", "none", "container.privileged", where=_POD),
    "reports": Effect("create", reason="writes more files than its result", level=Level.MEDIUM),
    "settings": Effect("run", "value", "escape.options", "takes options from {targets} that are not shown here"),
    "shell": Effect("shell-escape"),
    "splits": Effect("create", reason="writes files that its expression names", level=Level.MEDIUM),
    "told": Effect("secret", "none", "secret.shown"),
    "tunnel": Effect("tunnel"),
    "unprotect": Effect("security-off", "value"),
}  # fmt: skip


def add_effect(walker: Walker, invocation: Invocation, word: Word, name: str) -> None:
    """The finding of `EFFECTS[name]` for an option whose value is `word`."""
    effect = EFFECTS[name]
    if effect.where and not re.search(effect.where, word.text):
        return
    targets = {"value": [word], "words": invocation.words[1:], "none": []}[effect.targets]
    walker.add(effect.kind, targets, invocation.place, level=effect.level, reason=effect.reason, rule=effect.rule)
