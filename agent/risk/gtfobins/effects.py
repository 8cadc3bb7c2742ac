"""Ways out that are an effect by themselves: host rights, tunnels, miners, boot loaders, secrets that are shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.gtfobins.general import Kind
from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import Word

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def privileged(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text.strip() not in ("false", "0"):
        walker.add("container-host", [], invocation.place, rule="container.privileged")


def mounted(walker: Walker, invocation: Invocation, word: Word) -> None:
    from agent.risk.programs.containers import gives_host

    if gives_host(word.text):
        walker.add("container-host", [word], invocation.place, rule="container.mount")


def pod(walker: Walker, invocation: Invocation, word: Word) -> None:
    if re.search(
        r'"(?:privileged|hostPID|hostNetwork|hostIPC|allowPrivilegeEscalation)"\s*:\s*true|"hostPath"', word.text
    ):
        walker.add("container-host", [], invocation.place, rule="container.privileged")


def confine(walker: Walker, invocation: Invocation, word: Word) -> None:
    if re.search(r"unconfined|label[:=]disable|systempaths", word.text):
        walker.add(
            "container-host",
            [word],
            invocation.place,
            reason="takes the confinement from a container",
            rule="container.confinement",
        )


def payload(walker: Walker, invocation: Invocation, word: Word) -> None:
    if re.search(r"reverse|bind|meterpreter|shell", word.text):
        reason = "makes a program that gives a shell to the network"
        walker.add("reverse-shell", [word], invocation.place, reason=reason, rule="reverse-shell.made")


def tunnel(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("tunnel", [], invocation.place)


def serve(walker: Walker, invocation: Invocation, word: Word) -> None:
    if any("httpd" in other.text for other in invocation.words):
        walker.add("serve", [], invocation.place)


def mine(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("miner", [], invocation.place)


def connects(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("send", invocation.words[1:], invocation.place, rule="network.device")


def told(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("secret", [], invocation.place, rule="secret.shown")


def unprotect(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("security-off", [word], invocation.place)


def boot(walker: Walker, invocation: Invocation, word: Word) -> None:
    if not any(other.text in ("--version", "--help", "-V") for other in invocation.words):
        walker.add(
            "device-write",
            invocation.words[1:],
            invocation.place,
            reason="writes the boot loader",
            rule="device-write.boot",
        )


def account(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("account", invocation.words[1:], invocation.place)


def removes(walker: Walker, invocation: Invocation, word: Word) -> None:
    operands = [other for other in invocation.words[2:] if not other.text.startswith("-")]
    walker.add("delete", operands[1:], invocation.place, recursive=True, invocation=invocation)


EFFECTS: dict[str, Kind] = {
    "privileged": privileged,
    "mounted": mounted,
    "pod": pod,
    "confine": confine,
    "connects": connects,
    "told": told,
    "unprotect": unprotect,
    "boot": boot,
    "account": account,
    "removes": removes,
    "payload": payload,
    "tunnel": tunnel,
    "serve": serve,
    "mine": mine,
}
