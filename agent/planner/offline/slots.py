"""Read slots by type. A reader looks at one position and says how many tokens it takes and what they mean.

`cued` is the word that announces the slot there, "" for none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.planner.offline.evidence import names_no_program
from agent.planner.offline.paths import (
    ADDRESS,
    ENDINGS,
    FILE_EXTENSION,
    LETTERS,
    LOGIN,
    REMOTE,
    URL,
    looks_like_path,
    read_dir,
    read_ending,
    read_existing,
    read_existing_dir,
    read_file,
    read_folder,
    read_folders,
    read_several,
)
from agent.planner.offline.quantities import Found, read_age, read_date, read_number, read_seconds, read_size
from agent.planner.offline.sentences import GoalContext, Sentence
from agent.planner.offline.values import Value, quote_regex, quote_replacement

# Types that accept a plain unknown word, but only right after a word of the phrasing that announces it.
CUED_TYPES = frozenset(
    {
        "name", "user", "package", "branch", "program", "host", "text", "rest", "word", "service", "variable",
        "image", "remote",
    })  # fmt: skip
_STATES = frozenset(
    ("running", "active", "enabled", "installed", "alive", "up", "down", "listening", "open", "working")
)
_HOST = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\Z")
_NAMES = {
    "name": re.compile(r"[^\x00/]+\Z"),
    "word": re.compile(rf"[{LETTERS}][{LETTERS}.+@%:-]*\Z"),
    "user": re.compile(r"[A-Za-z_][\w.-]*\$?\Z"),
    "package": re.compile(r"[A-Za-z0-9@][\w.+@/~=<>!\[\]-]*\Z"),
    "branch": re.compile(r"[\w][\w./+-]*\Z"),
    "image": re.compile(r"[a-z0-9][\w./:@-]*\Z"),
    "program": re.compile(r"[\w][\w.+-]*\Z"),
    "service": re.compile(r"[\w][\w.@:-]*\Z"),
    "variable": re.compile(r"\$?[A-Za-z_]\w*\Z"),
}
# Folders that tools make, and make again; nobody calls anything else so.
_ARTIFACT = re.compile(
    r"(?:node_modules|bower_components|__pycache__|\.(?:pytest_cache|mypy_cache|ruff_cache|tox|nox|parcel-cache|next|nuxt))\Z"
)
_MODE = re.compile(r"[0-7]{3,4}\Z|[ugoa]*[-+=][rwxXst]+(?:,[ugoa]*[-+=][rwxXst]+)*\Z")
_COMMIT = re.compile(r"[0-9a-f]{7,40}\Z|HEAD(?:[~^]\d*)*\Z")
_EXTENSION = re.compile(r"\.?[A-Za-z0-9_]{1,10}\Z")
_GLOB = re.compile(r"[^/]*[*?\[][^/]*\Z")


def read_text(sentence: Sentence, at: int, cued: str) -> Found:
    """Words to look for: a quoted literal, something that looks like code, or one announced word."""
    tokens, scene = sentence.tokens, sentence.scene
    token = tokens[at]
    code_like = re.search(r"[A-Z]{2}|[_(){}=$#@]|[a-z][A-Z]", token.raw) and not looks_like_path(token, scene)
    code_like = code_like and not scene.lexicon.is_plural_extension(token.low)  # "PDFs" are files
    plain = cued and not token.filler and not token.weak
    if not (token.quoted or plain or code_like) or token.is_path or not token.raw or "\0" in token.raw:
        return None
    # Words that mean something to us, and paths, are taken for a text only when nothing better is found.
    lexicon = scene.lexicon
    meant = lexicon.knows(token.low) or lexicon.is_plural_extension(token.low) or looks_like_path(token, scene)
    doubtful = not token.quoted and not code_like and meant
    text = token.raw
    if not token.quoted and re.fullmatch(r"[A-Z]{3,}s", text):
        text = text[:-1]  # "all TODOs"
    forms = {"regex": quote_regex(text), "replacement": quote_replacement(text)}
    return 1, Value(text=text, forms=forms, origin=token.raw, doubtful=doubtful)


def read_named(kind: str, sentence: Sentence, at: int, cued: str) -> Found:
    """A name with the shape of its type. Nothing that starts with a dash, so that it cannot be an option."""
    tokens, scene = sentence.tokens, sentence.scene
    token = tokens[at]
    if token.is_path or token.raw.startswith("-") or not _NAMES[kind].match(token.raw):
        return None
    if not (token.quoted or (cued and not token.filler and not token.weak)):
        return None
    if kind in ("package", "program") and FILE_EXTENSION.match(token.raw):
        return None
    called = token.quoted or (at and tokens[at - 1].low in ("called", "named"))
    if kind in ("package", "program", "service") and not called and names_no_program(token.low):
        return None
    doubtful = not token.quoted and scene.lexicon.knows(token.low) and cued not in ("called", "named", "titled")
    return 1, Value(
        text=token.raw.lstrip("$") if kind == "variable" else token.raw, origin=token.raw, doubtful=doubtful
    )


def read_extension(sentence: Sentence, at: int, cued: str) -> Found:
    """An extension with or without its dot, or `*.ext`. The value has no dot."""
    tokens = sentence.tokens
    token = tokens[at]
    raw = token.raw.removeprefix("*")
    dotted = raw.startswith(".")
    if token.is_path or not _EXTENSION.match(raw) or (not dotted and (not cued or token.filler)):
        return None
    return 1, Value(text=raw.lstrip("."), origin=token.raw)


def read_url(sentence: Sentence, at: int, cued: str) -> Found:
    """An http, https or ftp address."""
    tokens = sentence.tokens
    raw = tokens[at].raw
    if not URL.match(raw):
        return None
    base = re.sub(r"[?#].*", "", raw.split("://", 1)[1]).rstrip("/").rpartition("/")
    return 1, Value(text=raw, forms={"base": base[2] if base[1] else "index.html"}, origin=raw)


def _is_domain(raw: str, scene: GoalContext) -> bool:
    """A dotted name whose end is not that of a file."""
    last = raw.rpartition(".")[2].lower()
    return (
        last.isalpha() and len(last) > 1 and not any(last in extensions for extensions in scene.lexicon.kinds.values())
    )


def read_host(sentence: Sentence, at: int, cued: str) -> Found:
    """A host name or address, also taken out of a URL."""
    tokens, scene = sentence.tokens, sentence.scene
    token = tokens[at]
    raw = re.sub(r"\A(?:https?|ftp)://([^/:]+).*", r"\1", token.raw)
    dotted = "." in raw and (ADDRESS.match(raw) is not None or _is_domain(raw, scene))
    if token.is_path or token.filler or token.weak or not _HOST.match(raw) or not (cued or dotted):
        return None
    if token.low in _STATES and not token.quoted:  # "is ssh running" asks after a program, and names no host
        return None
    return 1, Value(text=raw, origin=token.raw, doubtful=not dotted and scene.lexicon.knows(token.low))


def read_literal(sentence: Sentence, at: int, cued: str) -> Found:
    """Words to look for that cannot be mistaken: quoted, code, or announced as a text."""
    return read_text(sentence, at, cued if cued in sentence.scene.lexicon.text_words else "")


def read_quoted(sentence: Sentence, at: int, cued: str) -> Found:
    """A quoted literal only."""
    token = sentence.tokens[at]
    return (1, Value(text=token.raw, origin=token.raw)) if token.quoted and token.raw else None


def read_rest(sentence: Sentence, at: int, cued: str) -> Found:
    """A quoted literal, or everything up to the end of the goal."""
    token = sentence.tokens[at]
    if token.quoted:
        return 1, Value(text=token.raw, origin=token.raw)
    left = [each for each in sentence.tokens[at:] if not each.filler]
    if len(left) == 1 and left[0].quoted:  # "to" before a text that is quoted is no part of it
        return len(sentence.tokens) - at, Value(text=left[0].raw, origin=left[0].raw)
    text = sentence.text[token.start :].strip()
    return (len(sentence.tokens) - at, Value(text=text, origin=text)) if cued and text else None


def read_zone(sentence: Sentence, at: int, cued: str) -> Found:
    """A city or country of the lexicon as a name of the time-zone database, the longest name first."""
    tokens, cities = sentence.tokens, sentence.scene.lexicon.cities
    for end in range(min(at + 3, len(tokens)), at, -1):
        said = sentence.text[tokens[at].start : tokens[end - 1].end]
        zone = cities.get(" ".join(said.lower().split()))
        if zone:
            return end - at, Value(text=zone, origin=said)
    return None


def read_running(sentence: Sentence, at: int, cued: str) -> Found:
    """The name of a process that runs now, as the last word of a goal. Any other word would make "stop worrying" a command."""
    token = sentence.tokens[at]
    if not cued or token.quoted or at + 1 != len(sentence.tokens) or not _NAMES["program"].match(token.raw):
        return None
    name = sentence.scene.running(token.raw)
    return (1, Value(text=name, origin=token.raw)) if name and not name.startswith("-") else None


Reader = Callable[[Sentence, int, str], Found]


def _named_reader(kind: str) -> Reader:
    return lambda sentence, at, cued: read_named(kind, sentence, at, cued)


def _ending_reader(ending: str) -> Reader:
    return lambda sentence, at, cued: read_ending(ending, sentence, at, cued)


def _bounded_reader(low: int, high: int) -> Reader:
    """A whole number within bounds."""

    def read(sentence: Sentence, at: int, cued: str) -> Found:
        found = read_number(sentence.tokens, at, sentence.scene.lexicon)
        return found if found and low <= int(found[1].text) <= high else None

    return read


def _shaped_reader(pattern: re.Pattern[str]) -> Reader:
    """A word that has a certain shape."""

    def read(sentence: Sentence, at: int, cued: str) -> Found:
        raw = sentence.tokens[at].raw
        return (1, Value(text=raw, origin=raw)) if pattern.match(raw) else None

    return read


_read_remote = _shaped_reader(REMOTE)  # what lies on another machine: "host:path"

READERS: dict[str, Reader] = {
    "file": read_file, "path": read_file, "dir": read_dir, "folder": read_folder, "isdir": read_existing_dir,
    "existing": read_existing, "files": read_several, "dirs": read_folders, "text": read_text, "literal": read_literal,
    "quoted": read_quoted, "rest": read_rest, "ext": read_extension, "url": read_url, "host": read_host,
    "size": lambda sentence, at, cued: read_size(sentence.tokens, at, sentence.scene.lexicon),
    "age": lambda sentence, at, cued: read_age(sentence.tokens, at, sentence.scene.lexicon),
    "seconds": lambda sentence, at, cued: read_seconds(sentence.tokens, at, sentence.scene.lexicon),
    "date": lambda sentence, at, cued: read_date(sentence.tokens, at, sentence.scene.today),
    "day": lambda sentence, at, cued: read_date(sentence.tokens, at, sentence.scene.today, ahead=True),
    "number": _bounded_reader(0, 999_999_999), "count": _bounded_reader(1, 1_000_000),
    "port": _bounded_reader(1, 65535), "pid": _bounded_reader(2, 4_194_304), "glob": _shaped_reader(_GLOB),
    "artifact": _shaped_reader(_ARTIFACT), "mode": _shaped_reader(_MODE), "zone": read_zone, "running": read_running,
    "commit": _shaped_reader(_COMMIT), "login": _shaped_reader(LOGIN),
    "remote": lambda sentence, at, cued: _read_remote(sentence, at, cued) if cued else None,
    "repository": _read_remote, **{kind: _named_reader(kind) for kind in _NAMES},
    **{ending: _ending_reader(ending) for ending in ENDINGS},
}  # fmt: skip


def read_slot(kind: str, sentence: Sentence, at: int, cued: str) -> Found:
    """Read one slot of type `kind` at position `at`. KeyError for an unknown type (the loader checks)."""
    return READERS[kind](sentence, at, cued)
