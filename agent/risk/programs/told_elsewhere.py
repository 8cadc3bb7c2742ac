"""Judge what clouds, clusters and containers are told: commands for other machines, and descriptions that give a container the host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.paths.absolute import absolute
from agent.risk.programs.containers import gives_host
from agent.risk.programs.sent_code import fields, judge_code_text
from agent.risk.reader.words import Invocation
from agent.risk.tables.names import names
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_TELLS = LazyPattern(
    r"-{1,2}[\w-]*(?:command|cmd|script|exec|user-?data|content|startup|settings|parameters|metadata)[\w-]*", re.I
)
_FIELD = LazyPattern(r"[\w.-]*(?:command|cmd|script|exec|startup|user-?data)\w*|text", re.I)
_SPEC_READERS = names("containers.specs")
_RIGHTS = LazyPattern(
    r"privileged[\"']?\s{0,40}[:=\s]\s{0,40}[\"']?true|\bhost(?:PID|IPC|Network|Users)[\"']?\s{0,40}[:=]\s{0,40}[\"']?true|cluster-admin|"
    r"\b(?:pid|ipc|userns_mode|network_mode)[\"']?\s{0,40}:\s{0,40}[\"']?host\b|\b(?:SYS_ADMIN|SYS_PTRACE|SYS_MODULE)\b|seccomp[:=]unconfined|--privileged(?!=false)"
)
_MOUNTS = LazyPattern(
    r"hostPath[\"']?\s{0,40}:\s{0,40}\{?\s{0,40}[\"']?path[\"']?\s{0,40}:\s{0,40}[\"']?(?P<host>/[^\s\"',}]*)|[\"'\s\[-](?P<bind>/[\w./-]*):/"
    r"|\bsource[\"']?\s{0,40}[:=]\s{0,40}[\"']?(?P<source>/[^\s\"',}]*)"
)
_MOST = 40
_LONGEST = 20_000
_LONGEST_NAME = 60


def judge_told_elsewhere(walker: Walker, name: str, invocation: Invocation, found: list[Finding]) -> None:
    """High findings for what a program hands on to other machines and containers; `found` is what was found about it so far."""
    if any(finding.level is Level.HIGH for finding in found):
        return
    kinds = {finding.effect.kind for finding in found if finding.effect is not None}
    far = invocation.inner(invocation.words, "", remote=True)
    far.stdin = None
    for text in _commands(invocation, shells="remote-shell" in kinds):
        judge_code_text(walker, far, text)
    behind = [at for at, word in enumerate(invocation.words[:_MOST], 1) if word.text == "--"]
    if behind and invocation.words[behind[0] :]:
        walker.suspect(invocation.words[behind[0] :], far)
    if name in _SPEC_READERS:
        _judge_specs(walker, invocation)


def _commands(invocation: Invocation, *, shells: bool) -> Iterator[str]:
    """Texts that are commands for another machine: by the option or field they are the value of; of a remote shell any."""
    before = ""
    for word in invocation.words[1:_MOST]:
        option, equals, text = word.text.partition("=")
        if option[:1] != "-" or not equals:
            option, text = before, word.text
        told = len(option) < _LONGEST_NAME and _TELLS.fullmatch(option) is not None
        if told and text == "-" and invocation.stdin is not None:
            text = invocation.stdin[0] or ""
        if len(text) < _LONGEST and (" " in text or "\n" in text or "[" in text):
            if told or (shells and (before[:1] != "-" or before in ("-c", "-C", "-e"))):
                yield text
            yield from (
                one for field, one in fields(text) if 0 < len(field) < _LONGEST_NAME and _FIELD.fullmatch(field)
            )
        before = word.text


def _judge_specs(walker: Walker, invocation: Invocation) -> None:
    """Descriptions of containers on the line, on standard input, and in files that the line writes."""
    given = {absolute(word.text.rpartition("=")[2], invocation.cwd) for word in invocation.words[1:] if word.known}
    compose = invocation.words[0].text.endswith("compose")
    texts = [" ".join(word.text for word in invocation.words[1:_MOST]), (invocation.stdin or ("", ""))[0] or ""]
    for path, (text, _) in walker.files.written().items():
        if path in given or (compose and path.endswith((".yml", ".yaml"))):
            texts.append(text or "")
    for text in (text[:_LONGEST] for text in texts):
        mounts = (mount["host"] or mount["bind"] or mount["source"] for mount in _MOUNTS.finditer(text))
        if _RIGHTS.search(text) or any(gives_host(path) for path in mounts):
            reason = "describes a container that gets rights over the machine it runs on, or its files"
            walker.add(
                "container-host", [], invocation.place, level=Level.HIGH, reason=reason, rule="container-host.described"
            )
            return
