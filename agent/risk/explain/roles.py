"""Describe what happens to an operand, where it lies, and what a redirection does."""

from __future__ import annotations

from collections.abc import Mapping

from agent.risk.explain.layout import one_line
from agent.risk.paths.absolute import absolute
from agent.risk.paths.scopes import PSEUDO_CWD, PSEUDO_HOME, Scopes
from agent.risk.reader.tree import Redirect
from agent.risk.reader.words import UNKNOWN, Word
from agent.risk.tables.store import level_rows

_STREAMS = {"": "its output", "1": "its output", "2": "its error messages"}
_WRITES = {
    ">": "writes {what} to {target}, replacing what is there",
    ">|": "writes {what} to {target}, replacing what is there in any case",
    ">>": "adds {what} at the end of {target}",
    "<>": "opens {target} for reading and writing",
}
_BOTH = "its output and its error messages"


def redirect_meaning(redirect: Redirect, target: str) -> str:
    """Explain a redirection, with `target` as it should be shown, "" for a command."""
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


_NO_FACTS: Mapping[str, tuple[str, ...]] = {}
UNKNOWN_SHOWN = "…"  # how reports write what is not known before a command runs

_SYNCED = "gets what the source has, and loses the rest"
_PATH_ROLES = frozenset(
    "read secret create write append modify copy-to move link extract delete delete-empty shred truncate chmod chown "
    "permission-wide setuid device-write format erase-log run".split()
)
_PLACES = {
    "temp": "in a folder for temporary files",
    "temp-all": "all temporary files",
    "home": "in your home folder",
    "home-all": "your whole home folder",
    "workspace-all": "the whole folder",
    "outside-all": "everything in a folder above",
    "config": "settings of yours",
    "secrets": "usually secret",
    "account": "decides who may log in",
    "account-secret": "holds passwords",
    "history": "a history of commands",
    "schedule": "runs by itself",
    "vcs": "the repository's own records",
    "users": "belongs to another user",
    "system": "a part of the system",
    "device": "a device",
    "remote": "on another machine",
    "outside": "outside the workspace",
    "everything": "the whole system",
    "null": "a device that holds no data",
}


def role_phrase(role: str) -> str:
    """Say what happens to an operand of this role; "" where there is nothing to say."""
    row = level_rows().get(role)
    return row.role if row is not None else _SYNCED if role == "sync" else ""


def place_phrase(
    word: Word, role: str, scopes: Scopes, cwd: str, facts: Mapping[str, tuple[str, ...]] = _NO_FACTS
) -> str:
    """Say where the path lies, what it resolves to and what is known of it; "" for what is no path or lies where one would think."""
    text = word.text
    if role not in _PATH_ROLES or text.startswith("/dev/fd/"):
        return ""
    if not text.strip(UNKNOWN_SHOWN):
        return "known only when it runs"
    if text == "~" or text.startswith("~/"):
        text = scopes.home + text[1:]
    word = Word(text.replace(UNKNOWN_SHOWN, UNKNOWN), word.start, word.end, glob=word.glob)
    scope = scopes.of(word, cwd or scopes.cwd)
    told = [_PLACES.get(scope, "") if word.known or not scope.endswith("-all") else ""]
    if word.glob and word.known:
        told.insert(0, "all names that match")
    full = absolute(text, cwd or scopes.cwd)
    moved = cwd not in ("", scopes.cwd) or text.startswith("..") or "/../" in text
    if (
        moved
        and text != full
        and UNKNOWN not in full
        and not word.glob
        and PSEUDO_HOME not in full
        and PSEUDO_CWD not in full
    ):
        told.insert(0, one_line(full))
    told += _known(facts.get(full, ()))
    return ", ".join(phrase for phrase in told if phrase)


def _known(facts: tuple[str, ...]) -> list[str]:
    """Tell what is at the path right now."""
    told = ["does not exist now"] if "missing" in facts else []
    return told + [f"a link to {one_line(fact[3:])}" for fact in facts if fact.startswith("to=")]
