"""Redirections in words."""

from __future__ import annotations

from agent.risk.reader.tree import Redirect

_STREAMS = {"": "its output", "1": "its output", "2": "its error messages"}
_WRITES = {
    ">": "writes {what} to {target}, replacing what is there",
    ">|": "writes {what} to {target}, replacing what is there in any case",
    ">>": "adds {what} at the end of {target}",
    "<>": "opens {target} for reading and writing",
}
_BOTH = "its output and its error messages"


def redirect_meaning(redirect: Redirect, target: str) -> str:
    """What a redirection does, with `target` as it should be shown, "" for a command."""
    operator, fd = redirect.operator, redirect.fd
    if operator == "<<":
        return f"takes the lines up to {target or 'the end mark'} as its input"
    if operator == "<<<":
        return "takes this text as its input"
    if operator in (">&", "<&"):
        return _duplicate(operator, fd, target)
    what = _STREAMS.get(fd, f"descriptor {fd}")
    if not target:  # a process substitution, told below
        return "reads its input from:" if operator == "<" else f"sends {what} to:"
    if operator in ("&>", "&>>"):
        what, operator = _BOTH, operator[1:]
    if operator == "<":
        return _source(fd, target)
    if target == "/dev/null":
        return f"throws {what} away"
    if target.startswith(("/dev/tcp/", "/dev/udp/")):
        return f"sends {what} over the network to {target[9:].replace('/', ' port ', 1)}"
    return _WRITES.get(operator, "writes {what} to {target}").format(what=what, target=target)


def _source(fd: str, target: str) -> str:
    if target == "/dev/null":
        return "gives it no input"
    where = target
    if target.startswith(("/dev/tcp/", "/dev/udp/")):
        where = f"the network, {target[9:].replace('/', ' port ', 1)}"
    return f"reads its input from {where}" if fd in ("", "0") else f"reads descriptor {fd} from {where}"


def _duplicate(operator: str, fd: str, target: str) -> str:
    what = _STREAMS.get(fd, f"descriptor {fd}")
    if operator == "<&" and not fd:
        what = "its input"
    if target == "-":
        return f"closes {what}"
    if target.rstrip("-").isdigit():
        to = {"1": "where its output goes", "2": "where its error messages go", "0": "its input"}
        number = target.rstrip("-")
        return f"sends {what} to {to.get(number, f'descriptor {number}')}".replace("to where", "where")
    return f"writes {what if fd else _BOTH} to {target}, replacing what is there"
