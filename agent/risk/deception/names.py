"""Find names in a command that look like other names: programs, options, folders of the system, and quotes that do not quote."""

from __future__ import annotations

import re

from agent.protocol.decisions import Finding, Level, ProgramRun
from agent.risk.deception.findings import data_spans, finding, inside
from agent.risk.tables.store import program
from agent.text.visible import DASHES, QUOTES, skeleton, spelled, without_accents

_SPEAKERS = frozenset(
    ("echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "ack", "figlet", "say", "espeak", "notify-send")
)
_SYSTEM = frozenset("bin boot dev etc home lib lib64 mnt opt proc root run sbin srv sys tmp usr var".split())
_MAX_PROGRAMS, _MAX_WORDS = 100, 100


def name_findings(text: str, programs: tuple[ProgramRun, ...]) -> list[Finding]:
    """One finding for each rule and program, for a text beyond ASCII."""
    found: list[Finding] = []
    for index, run in enumerate(programs[:_MAX_PROGRAMS]):
        for name, level, reason in _of_program(run):
            found.append(finding(name, level, reason, run.span, index))
    found.extend(_quotes(text))
    return found


def _of_program(run: ProgramRun) -> list[tuple[str, Level, str]]:
    if not run.words or all(word.isascii() for word in run.words):
        return []
    found: dict[str, tuple[str, Level, str]] = {}
    name = run.words[0].replace("…", "").rpartition("/")[2]
    plain = _resembles(name)
    if plain:
        found["lookalike"] = ("lookalike", Level.HIGH, f"the program {spelled(name)} only looks like {plain}")
    if name in _SPEAKERS:
        return list(found.values())
    for word in run.words[1:_MAX_WORDS]:
        if word.isascii():
            continue
        if _DASHED.fullmatch(word):
            found["dash"] = (
                "dash",
                Level.MEDIUM,
                f"{spelled(word)} begins with a typographic dash: it is not an option",
            )
        folder = _FOLDER.match(word)
        if folder and not folder[1].isascii() and skeleton(folder[1]) in _SYSTEM:
            reason = f"the folder /{spelled(folder[1])} only looks like /{skeleton(folder[1])}"
            found.setdefault("lookalike", ("lookalike", Level.HIGH, reason))
    return list(found.values())


_DASHED = re.compile(f"(?:-?[{DASHES}]-?|[{DASHES}]{{1,2}})[A-Za-z][A-Za-z0-9-]*(?:=.*)?", re.S)
_FOLDER = re.compile(r"/([^/]+)")


def _resembles(name: str) -> str:
    """The ASCII name that a name beyond ASCII would be read as, "" for none."""
    if name.isascii() or not name:
        return ""
    plain = skeleton(name)
    if plain.isascii():
        return plain
    plain = without_accents(plain)
    return plain if plain.isascii() and program(plain) is not None else ""


def _quotes(text: str) -> list[Finding]:
    """Typographic quotes around words that are not quoted otherwise: the shell splits what they seem to hold together."""
    spans = data_spans(text)
    for found in re.finditer(
        f"(?:(?<=[\\s=])|\\A)([{QUOTES}])[^\\s{QUOTES}]+[ \t]+[^\n{QUOTES}]*[{QUOTES}]", text[:20_000]
    ):
        if not inside(spans, found.start()) and not _spoken(text, found.start()):
            reason = "typographic quotes do not quote: the shell splits what is between them"
            return [finding("quotes", Level.MEDIUM, reason, found.span())]
    return []


def _spoken(text: str, position: int) -> bool:
    """Tell whether the command around `position` only says its words."""
    begin = max(text.rfind(char, 0, position) for char in ";|&\n(`") + 1
    words = text[begin:position].split()
    return bool(words) and words[0] in _SPEAKERS
