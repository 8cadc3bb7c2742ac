"""Judge code that is sent to a server to be run there: commands and statements in fields, bodies and addresses of a request."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from agent.protocol.decisions import Level
from agent.risk.reader.words import UNKNOWN, Invocation
from agent.risk.tables.names import names, pattern
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CODE_FIELDS = names("requests.code_fields")
_CODE_PATH = LazyPattern(
    r"/(?:exec|execute|eval|run|shell|console|cmd|commands?|scripts?(?:Text)?|cgi-bin/.*)(?:/|$)", re.I
)
_ASKED = LazyPattern(r"/(?:query|sql|statement)s?(?:/|$)", re.I)
_CMDLET = LazyPattern(r"[A-Z][a-z]+-[A-Z]\w+\s")
_FORM = LazyPattern(r"[\w.\[\]-]{1,60}=")
_LONGEST = 5_000
_MOST = 40
_DEEPEST = 200  # what nests deeper is no request
Field = tuple[str, str]  # its name, "" for a body without names; its value


def judge_sent_code(walker: Walker, invocation: Invocation, urls: list[str], bodies: list[str]) -> None:
    """Findings for what is sent as code, by the field or the path that it goes to: only high counts, as in any text that may be code."""
    addresses = [url.partition("#")[0].partition("?") for url in urls]
    runs = any(_CODE_PATH.search(path) for path, _, _ in addresses)
    asks = any(_ASKED.search(path) for path, _, _ in addresses)
    given = [field for _, _, query in addresses for field in parse_qsl(query)]
    given += [field for body in bodies if len(body) < _LONGEST for field in fields(body)]
    far = invocation.inner(invocation.words, "", remote=True)
    far.stdin = None
    for name, value in given[:_MOST]:
        code = name.lower() in _CODE_FIELDS or (runs and name in ("", "text"))
        if code or not name or name.lower() == "query" or (asks and name.lower() == "q"):  # `q` is a search, mostly
            _judge_value(walker, far, value, commands=code)


def _judge_value(walker: Walker, invocation: Invocation, value: str, *, commands: bool) -> None:
    from agent.risk.programs.databases import judge_sql

    before = len(walker.findings)
    if pattern("requests.statements", re.I).match(value):
        judge_sql(walker, invocation, value, "")
    walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH]
    if commands:
        judge_code_text(walker, invocation, value)


def judge_code_text(walker: Walker, invocation: Invocation, text: str) -> None:
    """High findings for a text that another machine runs, in a shell or in a language of its own."""
    from agent.risk.inline.powershell import judge_cmdlets  # readers of languages, rarely needed
    from agent.risk.inline.programs import is_like_command, judge_suspects, suspect_text

    if " " in text and len(text) < _LONGEST:
        judge_suspects(walker, invocation, text)
        if text.startswith("#!") or is_like_command(text):
            suspect_text(walker, invocation, text)
        if _CMDLET.search(text):
            before = len(walker.findings)
            judge_cmdlets(walker, invocation, text)
            walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH]


def fields(body: str) -> Iterator[Field]:
    """The fields of a body: of JSON, of a form, or the whole as one without a name."""
    text = body.strip()
    if text[:1] in ("{", "[") and UNKNOWN not in text and text.count("[") + text.count("{") < _DEEPEST:
        import json  # rarely needed

        try:
            yield from _members("", json.loads(text))
        except ValueError:
            yield "", text
    elif _FORM.match(text):
        if "%" in text:
            yield from parse_qsl(text.replace("+", "%2B"))
        else:
            yield from (field for part in text.split("&") for field in _split(part))
    else:
        yield "", text


def _split(part: str) -> Iterator[Field]:
    """A field of a form, whose value may be JSON."""
    name, _, value = part.partition("=")
    if value[:1] not in ("{", "["):
        yield name, value
    else:
        yield from ((inner or name, text) for inner, text in fields(value))


def _members(name: str, value: object) -> Iterator[Field]:
    """The texts in a value of JSON, each with the name of the member that it stands in; a list of texts as one command too."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _members(key, inner)
    elif isinstance(value, list):
        if name and len(value) > 1 and all(isinstance(item, str) for item in value):
            yield name, shlex.join(value)
        for item in value:
            yield from _members(name, item)
