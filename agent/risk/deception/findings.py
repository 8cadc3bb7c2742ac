"""Find text that hides, reorders or disguises what it says, long blanks and far-right programs included, and tell data from code.

What is odd only where the shell would act on it (blanks, signs and glyphs that it does not treat as what they look like) is
left alone where the text is data. What can change what a person sees is a finding anywhere.
"""

from __future__ import annotations

import functools
import re

from agent.protocol.decisions import Effect, Finding, Level, ProgramRun
from agent.text.lazy_pattern import lazily
from agent.text.visible import BIDI, BLANK, INVISIBLE, MARKS, PRIVATE, SIGNS, hidden_positions

_MAX_HEREDOCS = 120
_TOKEN = lazily(
    r"""\\.                                     # an escaped character is no quote
    |\$?'(?P<single>[^']*)'
    |\$?"(?P<double>(?:[^"\\]|\\.)*)"
    |(?:(?<=[\s;&|()])|\A)\#(?P<comment>[^\n]*)
    |<<-?[ \t]*(?P<quote>['"]?)(?P<name>\w+)(?P=quote)""",
    re.X | re.S,
)


def data_spans(text: str) -> list[tuple[int, int]]:
    """Spans of `text` that are data, in order and apart. Time is linear in the text."""
    spans: list[tuple[int, int]] = []
    pending: list[str] = []
    position = heredocs = 0
    while True:
        found = _TOKEN.search(text, position)
        end = len(text) if found is None else found.start()
        if pending:  # the bodies begin behind the end of this line
            newline = text.find("\n", position, end)
            if newline >= 0:
                position = _bodies(text, newline + 1, pending, spans)
                pending = []
                continue
        if found is None:
            return spans
        position = max(found.end(), position + 1)
        kind = found.lastgroup
        if kind == "name":
            heredocs += 1
            if heredocs <= _MAX_HEREDOCS:  # each is searched for its end: without a bound, time would not be linear
                pending.append(found["name"])
        elif kind is not None and not (kind == "double" and _substitutes(found["double"])):
            spans.append(found.span(kind))


def _substitutes(quoted: str) -> bool:
    return "`" in quoted or "$(" in quoted


def _bodies(text: str, start: int, names: list[str], spans: list[tuple[int, int]]) -> int:
    """Add the bodies of here-documents that begin at `start`; the position behind them."""
    for name in names:
        end = re.compile(rf"^\t*{name}$", re.M).search(text, start)
        if end is None:
            return start
        spans.append((start, end.start()))
        start = end.end()
    return start


def inside(spans: list[tuple[int, int]], position: int) -> bool:
    """Tell whether `position` lies in one of the ordered `spans`."""
    from bisect import bisect_right

    index = bisect_right(spans, (position, 1 << 60)) - 1
    return index >= 0 and spans[index][0] <= position < spans[index][1]


_GAP, _SCREEN = 40, 80  # columns of blanks that may, or will, push a tail out of sight
_EMPTY_LINES, _SCREENFUL = 8, 24
_FAR_RIGHT = 500
_MAX_EXAMINED = 2_000
_CLASSES = lazily(
    f"(?P<bidi>[{BIDI}])|(?P<invisible>[{INVISIBLE}])|(?P<blank>[{BLANK}])|(?P<private>[{PRIVATE}])"
    f"|(?P<marks>[{MARKS}])|(?P<sign>[{re.escape(SIGNS)}])|(?P<wide>[\uff10-\uff5a\U0001d400-\U0001d7ff])"
)
_RIGHT_TO_LEFT = lazily("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SAFER = {
    "url": "look where the address leads, and type it by hand",
    "host": "look where the address leads, and type it by hand",
    "tail": "read the command to its end",
    "crlf": "save it with the line ends of Unix",
    "dash": "type plain hyphens",
    "quotes": "type plain quotes",
    "blank": "type plain spaces",
    "sign": "type the plain characters",
    "newline": "",
}

# Programs whose operands may be host names.
DIALLERS = frozenset(
    ("curl", "wget", "wget2", "http", "https", "xh", "aria2c", "axel", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "socat",
     "telnet", "ftp", "lftp", "ping", "dig", "host", "nslookup", "git", "mosh", "lynx", "w3m",
     "docker", "podman", "nerdctl", "skopeo", "crane", "helm", "openssl")
)  # fmt: skip

_KINDS: dict[str, tuple[Level, str]] = {
    "escape": (Level.HIGH, "contains terminal escape sequences, which can change what is shown"),
    "return": (Level.HIGH, "contains a carriage return, which can overwrite what is shown"),
    "crlf": (Level.MEDIUM, "has Windows line ends, which become part of the last word"),
    "erase": (Level.HIGH, "contains a character that erases what is shown before it"),
    "nul": (Level.HIGH, "contains a NUL character, which the shell drops"),
    "control": (Level.MEDIUM, "contains control characters"),
    "surrogate": (Level.MEDIUM, "contains bytes that are not text"),
    "bidi": (Level.HIGH, "contains characters that reorder what is shown"),
    "invisible": (Level.HIGH, "contains invisible characters"),
    "blank": (Level.MEDIUM, "contains unusual spaces, which the shell does not treat as spaces"),
    "private": (Level.MEDIUM, "contains private-use characters, which every font draws differently"),
    "marks": (Level.MEDIUM, "stacks so many accents that they cover the text around them"),
    "sign": (Level.MEDIUM, "contains characters that look like shell operators, but are not"),
    "lookalike": (Level.HIGH, "contains letters of another alphabet that look like Latin ones"),
}
_ONLY_IN_CODE = frozenset(("blank", "private", "marks", "sign", "wide"))


def deceptions(text: str) -> tuple[Finding, ...]:
    """One finding for each kind of hiding found in `text`."""
    if text.isascii() and text.isprintable() and " " * _GAP not in text:
        return ()
    positions = hidden_positions(text)[:_MAX_EXAMINED]
    gaps = [] if len(text) < _EMPTY_LINES else list(_gap().finditer(text))
    found: dict[str, Finding] = {}
    spans = data_spans(text) if positions or gaps else []
    for position in positions:
        name = _kind(text, position)
        if name and name not in found and not (name in _ONLY_IN_CODE and inside(spans, position)):
            level, reason = _KINDS[name]
            found[name] = finding(name, level, reason, (position, position + 1))
    for gap in gaps[:_MAX_EXAMINED]:
        tail = _tail(text, gap)
        if tail is not None and not inside(spans, gap.start()) and ("tail" not in found or tail.level is Level.HIGH):
            found["tail"] = tail
    if text.endswith("\n") and text.strip():
        reason = "ends with a line break: pasted into a terminal, it would run at once"
        found["newline"] = finding("newline", Level.LOW, reason, (len(text.rstrip("\n")), len(text)))
    return tuple(found.values())


def finding(name: str, level: Level, reason: str, span: tuple[int, int], program: int = -1) -> Finding:
    """A finding `deception.NAME`."""
    return Finding(
        rule=f"deception.{name}",
        level=level,
        reason=reason,
        span=span,
        effect=Effect(kind="deception", scope="unknown", reversible=True),
        safer=_SAFER.get(name, "type the command by hand"),
        program=program,
    )


def _kind(text: str, position: int) -> str:
    """The kind of hiding at `position`, "" where it is none."""
    char = text[position]
    code = ord(char)
    if char == "\r":
        return "crlf" if text.startswith("\n", position + 1) else "return"
    if code < 0x20 or 0x7F <= code <= 0x9F:
        if char in "\x1b" or (code > 0x7F and code != 0x85):
            return "escape"
        if char in "\x08\x7f":
            return "erase"
        return "nul" if char == "\0" else "blank" if code == 0x85 else "control"
    if 0xD800 <= code < 0xE000:
        return "surrogate"
    match = _CLASSES.match(char)
    name = (match.lastgroup or "") if match is not None else "lookalike"
    if name == "bidi" and char in "\u061c\u200e\u200f":
        before, after = text[position - 1 : position], text[position + 1 : position + 2]
        if _RIGHT_TO_LEFT.match(before or after or " ") and not (after.isascii() and after.isalnum()):
            return ""  # a mark of right-to-left writing among its letters
    if name == "wide":
        return "lookalike" if _beside_latin(text, position) else ""
    return name


def _beside_latin(text: str, position: int) -> bool:
    beside = text[max(position - 1, 0) : position] + text[position + 1 : position + 2]
    return any(char.isascii() and char.isalnum() for char in beside)


# --- tails out of sight ---


@functools.lru_cache(maxsize=1)
def _gap() -> re.Pattern[str]:
    """Wide gaps inside a line, and runs of empty lines."""
    blank = f"[ \t{BLANK}]"
    return re.compile(f"(?P<lines>\n(?:{blank}{{0,300}}\n){{{_EMPTY_LINES},}})|(?P<wide>{blank}{{5,}})")


def _tail(text: str, gap: re.Match[str]) -> Finding | None:
    """The finding for one gap, None where nothing is hidden behind it."""
    if gap.lastgroup == "lines":
        if not text[gap.end() :].strip():
            return None
        count = gap.group().count("\n") - 1
        level = Level.HIGH if count >= _SCREENFUL else Level.MEDIUM
        return finding("tail", level, f"goes on after {count} empty lines", gap.span())
    width = sum(8 if char == "\t" else 1 for char in gap.group())
    at_start = gap.start() == 0 or text[gap.start() - 1] == "\n"
    if width < (_SCREEN if at_start else _GAP):
        return None
    end = text.find("\n", gap.end())
    rest = text[gap.end() : end if end >= 0 else len(text)]
    if rest.startswith("#") or not rest.strip("\\|&; \t"):
        return None
    level = Level.HIGH if width >= _SCREEN else Level.MEDIUM
    return finding("tail", level, f"goes on behind {width} blanks", gap.span())


def far_right(text: str, programs: tuple[ProgramRun, ...]) -> tuple[Finding, ...]:
    """The first program that does worse than all before it, and begins so far to the right that nobody looks there."""
    if len(text) <= _FAR_RIGHT:
        return ()
    in_sight = Level.LOW
    for index, run in enumerate(programs):
        column = run.span[0] - text.rfind("\n", 0, run.span[0]) - 1
        if column <= _FAR_RIGHT:
            in_sight = max(in_sight, run.level, key=lambda level: level.rank)
        elif run.level.rank > in_sight.rank:
            reason = f"runs {run.words[0][:40] if run.words else 'something'} from column {column:,} of a long line"
            return (finding("tail", Level.MEDIUM, reason, run.span, index),)
    return ()


def names_hosts(text: str, programs: tuple[ProgramRun, ...]) -> bool:
    """Tell whether there is an address to look at: a URL, or a program that is given host names."""
    return "://" in text or not DIALLERS.isdisjoint([run.words[0].rpartition("/")[2] for run in programs if run.words])
