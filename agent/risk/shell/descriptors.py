"""Follow what is written to descriptors: to a socket, or to the input of a command that reads what comes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.programs.network import judge_wire
from agent.risk.reader.words import Invocation, Output, Target, Word

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_OPENS = frozenset((">", ">>", ">|", "<>", "&>", "&>>", ">&"))
_FOLDERS = ("/dev/fd/", "/proc/self/fd/")
_SOCKETS = ("/dev/tcp/", "/dev/udp/")
_NAMED = "10"  # the number that `{name}>` is taken to give


def open_descriptor(walker: Walker, target: Target) -> None:
    """Remember where a descriptor leads, until whoever opened it for one command alone has it as it was."""
    if target.operator not in _OPENS:
        return
    number = _NAMED if target.fd.endswith("}") else target.fd or ("0" if target.operator == "<>" else "1")
    if target.word.text.startswith(_SOCKETS) or target.sinks:
        walker.outgoing = {**walker.outgoing, number: target}
    elif (other := _number(target)) in walker.outgoing:
        walker.outgoing = {**walker.outgoing, number: walker.outgoing[other]}


def _number(target: Target) -> str:
    """The descriptor that a redirection names, as `&3` or by its path; empty for a file."""
    text = target.word.text
    if target.operator == ">&":
        return text.rstrip("-")
    return next((text.removeprefix(folder) for folder in _FOLDERS if text.startswith(folder)), "")


def judge_written(walker: Walker, targets: list[Target], output: Output) -> None:
    """Judge what a command prints to a socket, or to what an open descriptor leads to."""
    for target in targets:
        if target.fd not in ("", "1"):
            continue
        if target.word.text.startswith(_SOCKETS) and target.operator in _OPENS:
            _send(walker, target, output)
        elif not target.sinks:
            _send(walker, walker.outgoing.get(_number(target)), output)


def written_to(walker: Walker, words: list[Word], output: Output) -> None:
    """Judge what a program writes to files that are open descriptors: `tee /dev/fd/3`."""
    judge_written(walker, [Target(">", "", word) for word in words], output)


def judge_left_over(walker: Walker, output: Output) -> None:
    """Judge what a whole script prints, where it has made its own output a socket: `exec >&3`."""
    _send(walker, walker.outgoing.get("1"), output)


def _send(walker: Walker, opened: Target | None, output: Output) -> None:
    if opened is None or not any(output):
        return
    for body in opened.sinks:
        walker.isolated(body, (output[0] or None, output[1]))
    if not opened.sinks:
        word = opened.word
        invocation = Invocation([word], word.start, word.end, cwd=walker.state.cwd)
        judge_wire(walker, invocation, [word], output)
