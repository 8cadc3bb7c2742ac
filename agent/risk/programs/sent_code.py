"""Judge what is sent elsewhere to be run: code in requests, commands for machines of a cloud, descriptions of containers with rights."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from agent.protocol.decisions import Finding, Level
from agent.risk.inline.powershell import judge_cmdlets
from agent.risk.inline.programs import is_like_command, judge_suspects, suspect_text
from agent.risk.paths.absolute import absolute
from agent.risk.programs.containers import gives_host
from agent.risk.programs.databases import judge_sql
from agent.risk.reader.words import Invocation, Word
from agent.risk.tables.names import names, pattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CODE_FIELD = pattern("requests.code_fields", re.I)
_CODE_PATH = pattern("requests.code_paths", re.I)
_CODE_OPTION = pattern("requests.code_options", re.I)
_STATEMENTS = pattern("requests.statements", re.I)
_CMDLET = re.compile(r"[A-Z][a-z]+-[A-Z]\w+\s")
_MEMBER = re.compile(r'"([^"\\]{0,60})"\s{0,9}:\s{0,9}(?:("(?:\\.|[^"\\])*")|(\[(?:[^\[\]{}"]|"(?:\\.|[^"\\])*")*\]))')
_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')
_FORM = re.compile(r"[\w.\[\]-]{1,60}=")
_DATA = re.compile(r"(?:-e|--env|--build-arg|-l|--label|--annotation|--from-literal|--tag)(?:=|$)")
_RIGHTS, _MOUNTS = pattern("containers.rights"), pattern("containers.mounts")
_LONGEST = 5_000
_MOST = 40


def judge_sent_code(walker: Walker, invocation: Invocation, urls: list[str], bodies: list[str]) -> None:
    """Findings for what is sent as code, by the field or the path that it goes to: only high counts, as in any text that may be code."""
    addresses = [url.partition("#")[0].partition("?") for url in urls]
    runs = any(_CODE_PATH.search(path) for path, _, _ in addresses)
    asks = any(re.search(r"/(?:query|sql|statement)s?(?:/|$)", path) for path, _, _ in addresses)
    given = [field for _, _, query in addresses for field in parse_qsl(query)]
    given += [field for body in bodies for field in _fields(body)]
    before = len(walker.findings)
    for name, value in given[:_MOST]:
        code = _CODE_FIELD.fullmatch(name) is not None or (runs and name in ("", "text"))
        statement = not name or name == "query" or (asks and name == "q")  # elsewhere `q` is a search
        if (code or statement) and _STATEMENTS.match(value):
            judge_sql(walker, invocation, value, "")
        if code:
            _judge_text(walker, invocation, value, shell=False)
    walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH]
    if any(path.endswith("/containers/create") for path, _, _ in addresses):
        _judge_specs(walker, invocation, " ".join(bodies))


def judge_told_elsewhere(walker: Walker, name: str, invocation: Invocation, found: list[Finding]) -> None:
    """Judge what a program hands on to other machines and containers; `found` is what was found about it so far."""
    if any(finding.level is Level.HIGH for finding in found):
        return
    words, before = _not_data(invocation.words[:_MOST]), ""
    shells = any(finding.effect is not None and finding.effect.kind == "remote-shell" for finding in found)
    for word in words:
        option, equals, text = word.text.partition("=")
        if option[:1] != "-" or not equals:
            option, text = before, word.text
        told = len(option) < _MOST and _CODE_OPTION.fullmatch(option) is not None
        text = (invocation.stdin or ("", ""))[0] or "" if told and text == "-" else text
        if told or (shells and (before[:1] != "-" or before in ("-c", "-C", "-e"))):
            _judge_text(walker, invocation, text)
        for field, value in _fields(text):
            if field and (field == "text" or _CODE_FIELD.fullmatch(field)):
                _judge_text(walker, invocation, value)
        before = word.text
    if "--" in (texts := [word.text for word in words[:-1]]):
        walker.suspect(words[texts.index("--") + 1 :], invocation)
    if name in names("containers.specs"):
        _judge_specs(walker, invocation, " ".join(word.text for word in words))


def _not_data(words: list[Word]) -> list[Word]:
    """The words behind the program, but for variables, labels and literal values that it is given."""
    return [word for before, word in pairwise(words) if not (_DATA.match(before.text) or _DATA.match(word.text))]


def _judge_specs(walker: Walker, invocation: Invocation, line: str) -> None:
    """Descriptions of containers on the line, on standard input, and in files that the line writes."""
    given = {absolute(word.text.rpartition("=")[2], invocation.cwd) for word in invocation.words[1:] if word.known}
    composes = invocation.words[0].text.endswith("compose")
    texts = [line, (invocation.stdin or ("", ""))[0]]
    for path, (text, _) in walker.files.written().items():
        if path in given or (composes and path.endswith((".yml", ".yaml"))):
            texts.append(text)
    for text in ((text or "")[: 4 * _LONGEST] for text in texts):
        mounted = any(gives_host(next(filter(None, mount.groups()), "")) for mount in _MOUNTS.finditer(text))
        if mounted or _RIGHTS.search(text):
            reason = "describes a container that gets rights over the machine it runs on, or its files"
            walker.add("container-host", [], invocation.place, reason=reason, rule="container-host.described")
            return


def _judge_text(walker: Walker, invocation: Invocation, text: str, *, shell: bool = True) -> None:
    """High findings for a text that another machine runs, in a shell (which knows texts from commands) or in a language of its own."""
    if " " not in text or len(text) > _LONGEST:
        return
    far = invocation.inner(invocation.words, "", remote=True)
    far.stdin = None
    if like := text.startswith("#!") or is_like_command(text):
        suspect_text(walker, far, text)
    if not (like and shell):
        judge_suspects(walker, far, text)
    if _CMDLET.search(text):
        before = len(walker.findings)
        judge_cmdlets(walker, far, text)
        walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH]


def _fields(body: str, name: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts in a body: of JSON at any depth (a list is one command too), of a form, or the whole without a name."""
    text = body.strip()
    if len(text) > _LONGEST:
        return
    if text[:1] in ("{", "["):
        for member, one, several in _MEMBER.findall(f'"{name}":{text}'):
            texts = [re.sub(r"\\(.)", r"\1", item.replace("\\n", "\n")) for item in _TEXT.findall(one or several)]
            yield from ((member, item) for item in (*texts, shlex.join(texts))[: len(texts) + (len(texts) > 1)])
    elif _FORM.match(text):
        pairs = parse_qsl(text.replace("+", "%2B")) if "%" in text else (part.split("=", 1) for part in text.split("&"))
        for field, *value in pairs:
            inner = value[0] if value else ""
            yield from _fields(inner, field) if inner[:1] in ("{", "[") else [(field, inner)]
    else:
        yield "", text
