"""Read requests for what they have a server do: methods, addresses that carry commands, quoted commands, httpie's items."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent.protocol.decisions import Level
from agent.risk.reader.invocation import Invocation, Output
from agent.risk.reader.words import UNKNOWN, Word
from agent.risk.tables.names import names, pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_ASKS = names("requests.asks") | {""}
_DELETES = names("requests.deletes")
_QUOTED_ASKS = names("requests.quoted_asks")
_COMMANDS = re.compile(r"(gopher|gophers|dict|telnet|redis|memcached|tcp)://[^/]*/?(.*)", re.I | re.S)
_DEFINES = re.compile(r"(?:d|define|m|match|find|lookup|show)(?::.*)?|", re.I | re.S)
_WIRE_DESTROYS = pattern("requests.wire_destroys", re.I)
_ITEM = re.compile(r"(?:[^=:@\\]|\\.)+(?::=@?|=@|=(?!=)|@)", re.S)
_METHOD = re.compile(r"[A-Za-z]+")
_HTTPIE = frozenset(("http", "https", "httpie", "xh", "xhs", "curlie"))


def method_effect(method: str) -> str:
    """What a method that the caller chose does to the server: "remote-destroy", "send", or "" where it only asks."""
    verb = method.strip().upper().partition(" ")[0]
    if verb in _DELETES:
        return "remote-destroy"
    return "" if verb in _ASKS else "send"


def quoted_effect(command: str) -> str:
    """The same of a command for an FTP or SFTP server; signs in front say when it is sent."""
    verb = command.lstrip("-+*= ").upper().partition(" ")[0]
    return "" if verb in _QUOTED_ASKS else method_effect(verb)


def address_effect(address: str) -> str:
    """The same of an address whose path is sent as it is: each line of it is a command for whatever listens there."""
    found = _COMMANDS.match(address)
    if found is None:
        return ""
    sent = unquote(found[2])
    raw = sent[1:] if found[1].lower().startswith("gopher") else sent  # the first character is a type
    if _WIRE_DESTROYS.search(raw):
        return "remote-destroy"
    if found[1].lower().startswith("gopher"):
        return "send" if sent[:1] == "_" or re.search(r"[\r\n]", sent) or UNKNOWN in sent else ""
    return "" if found[1].lower() == "dict" and _DEFINES.fullmatch(sent) else "send" if sent else ""


def judge_requests(walker: Walker, invocation: Invocation, urls: list[Word], effects: list[str]) -> None:
    """The worst of what `effects` and the addresses themselves do."""
    effects = [*effects, *(address_effect(url.text) for url in urls)]
    kind = "remote-destroy" if "remote-destroy" in effects else "send" if "send" in effects else ""
    if kind:
        walker.add(kind, urls[:1], invocation.place)


def httpie(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """httpie and its like: `name=value` behind the address makes it a POST, as does what comes on standard input."""
    name = invocation.words[0].text.rpartition("/")[2]
    if name not in _HTTPIE or not args.names.isdisjoint(table.dry) or not args.operands:
        return None
    operands = args.operands
    first = operands[0].text
    method = first if len(operands) > 1 and _METHOD.fullmatch(first) and not _ITEM.match(operands[1].text) else ""
    behind = operands[2:] if method else operands[1:]
    text, _ = invocation.stdin or ("", "")
    fed = text != "" and not args.has("--ignore-stdin", "-I")
    sends = fed or args.has("--raw") or any(_ITEM.match(word.text) for word in behind)
    if name != "httpie" and (effect := method_effect(method) or ("send" if sends and not method else "")):
        level = Level.MEDIUM if effect == "send" else None
        walker.add(effect, operands[1:2] if method else operands[:1], invocation.place, level=level)
    return None
