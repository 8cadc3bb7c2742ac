"""What each type of slot accepts. A reader looks at one position and says how many tokens it takes and what they mean."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from msgspec import Struct

from agent.planner.offline.quantities import (
    Found,
    read_age,
    read_date,
    read_number,
    read_seconds,
    read_size,
)
from agent.planner.offline.values import Value, quote_regex, quote_replacement
from agent.planner.offline.words import Lexicon, Token


class Scene(Struct, frozen=True, kw_only=True):
    """What readers may know: the words, the day, and which names exist in the working directory."""

    lexicon: Lexicon
    today: datetime.date
    exists: Callable[[str], bool]


# Types that accept a plain unknown word, but only right after a word of the phrasing that announces it.
CUED_TYPES = frozenset(
    {"name", "user", "package", "branch", "program", "host", "text", "pattern", "rest", "word", "service", "variable"}
)
_FILE_EXTENSION = re.compile(r"[\w%+@~-][\w.%+@~-]*\.(?=[\w-]*[A-Za-z])[\w-]{1,10}~?\Z")
_URL = re.compile(r"(?:https?|ftp)://[^\s<>\"\\^`{|}]+\Z", re.IGNORECASE)
_HOST = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\Z")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}\Z")
_NAMES = {
    "name": re.compile(r"[^\x00/]+\Z"),
    "word": re.compile(r"[\w][\w.+@%:-]*\Z"),
    "user": re.compile(r"[A-Za-z_][\w.-]*\$?\Z"),
    "package": re.compile(r"[A-Za-z0-9@][\w.+@/~=<>!\[\]-]*\Z"),
    "branch": re.compile(r"[\w][\w./+-]*\Z"),
    "program": re.compile(r"[\w][\w.+-]*\Z"),
    "service": re.compile(r"[\w][\w.@:-]*\Z"),
    "variable": re.compile(r"\$?[A-Za-z_]\w*\Z"),
}
_MODE = re.compile(r"[0-7]{3,4}\Z|[ugoa]*[-+=][rwxXst]+(?:,[ugoa]*[-+=][rwxXst]+)*\Z")
_COMMIT = re.compile(r"[0-9a-f]{7,40}\Z|HEAD(?:[~^]\d*)*\Z")
_EXTENSION = re.compile(r"\.?[A-Za-z0-9_]{1,10}\Z")
_TAR = re.compile(r"(?i)\.(?:tar|tgz|tbz2?|txz|tar\.\w{1,5})\Z")
_ZIP = re.compile(r"(?i)\.(?:zip|jar|war|whl|epub|docx|xlsx)\Z")
_GZ = re.compile(r"(?i)(?<!\.tar)\.gz\Z")
# What makes a folder of a plain word that looks like none: "in src", but not "show src".
_PLACE_WORDS = frozenset(
    {
        "in",
        "into",
        "under",
        "inside",
        "within",
        "below",
        "beneath",
        "from",
        "to",
        "as",
        "at",
        "outside",
        "except",
        "excluding",
        "ignoring",
        "skipping",
        "folder",
        "directory",
        "subfolder",
        "called",
        "named",
        "of",
        "or",
        "and",
        "for",
        "without",
        "but",
        "exclude",
        "ignore",
        "skip",
    }
)
# What announces a text to look for.
_TEXT_WORDS = frozenset(
    {
        "containing",
        "contain",
        "contains",
        "word",
        "text",
        "string",
        "phrase",
        "pattern",
        "mention",
        "mentions",
        "mentioning",
        "matching",
        "including",
        "say",
        "says",
        "where",
        "around",
        "without",
    }
)
_CSV = re.compile(r"(?i)\.csv\Z")
_GENERIC_FOLDER = ("folder", "directory", "dir")
_GENERIC_FILE = ("file", "script", "archive", "tarball", "document", "image", "video")


def looks_like_path(token: Token, scene: Scene) -> bool:
    """Whether the token alone says that it is a path: folder words, slashes, extensions, names that exist here."""
    if token.is_path:
        return True
    raw = token.raw
    if not raw or "\0" in raw or _URL.match(raw):
        return False
    if token.quoted:
        return scene.exists(raw) or raw.startswith(("/", "~/", "./", "../")) or bool(_FILE_EXTENSION.match(raw))
    if raw.startswith(("/", "~/", "./", "../")) or raw in (".", "..", "~"):
        return True
    if "*" in raw or "?" in raw or raw.startswith("-"):
        return False
    if _FILE_EXTENSION.match(raw) and not _ADDRESS.match(raw):
        return True
    if "/" in raw:
        return bool(re.search(r"[A-Za-z0-9]", raw)) and not raw.startswith("//")
    if re.match(r"\.[A-Za-z_]", raw):
        return len(raw) > 5 or scene.exists(raw)
    return not token.filler and not token.weak and not scene.lexicon.knows(token.low) and scene.exists(raw)


def _path_value(token: Token) -> Value:
    stem, dot, extension = token.raw.rstrip("/").rpartition(".")
    plain = token.raw.rstrip("/")
    forms = {
        "stem": stem if dot and stem and "/" not in extension else plain,
        "base": plain.rsplit("/", 1)[-1] or "/",
        "text": token.raw,
        "bak": plain + ".bak",
        "targz": plain + ".tar.gz",
        "slash": plain + "/",
        "part": plain + ".part-",
        "parent": (plain.rsplit("/", 1)[0] if "/" in plain else ".") or "/",
    }
    for suffix in (".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst"):
        if plain.endswith(suffix):
            forms["stem"] = plain.removesuffix(suffix)
    return Value(text=token.raw, kind="path", forms=forms, origin=token.raw)


def _bare(token: Token) -> bool:
    """A word that could be a name if something announces it."""
    return bool(re.match(r"[\w.][\w.+@-]*\Z", token.raw)) and not token.filler and not token.weak and not token.is_path


def read_file(tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """A path, "the file NAME", or any quoted literal that something announces."""
    token = tokens[at]
    if looks_like_path(token, scene):
        trailing = at + 1 < len(tokens) and tokens[at + 1].low in (*_GENERIC_FILE, *_GENERIC_FOLDER)
        return (2 if trailing else 1), _path_value(token)
    if token.quoted and cued and token.raw and "\0" not in token.raw:
        return 1, _path_value(token)
    if token.low in (*_GENERIC_FILE, *_GENERIC_FOLDER) and not token.quoted:
        after = at + 1
        named = after < len(tokens) and tokens[after].low in ("called", "named")
        after += named
        if after < len(tokens):
            name = tokens[after]
            if (
                name.quoted
                or looks_like_path(name, scene)
                or (_bare(name) and (named or not scene.lexicon.knows(name.low)))
            ):
                return after - at + 1, _path_value(name)
    return None


def read_dir(tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """A folder: a path, "NAME folder", or a plain unknown word after "in" or "under"."""
    found = read_file(tokens, at, scene, cued)
    if found is not None:
        return found
    token = tokens[at]
    following = tokens[at + 1].low if at + 1 < len(tokens) else ""
    if (
        not _bare(token)
        or following in ("files", "scripts")
        or (token.raw.startswith(".") and following in ("and", "or"))
    ):
        return None
    known = scene.lexicon.knows(token.low)
    if following in _GENERIC_FOLDER and (cued or not known):
        return 2, _path_value(token)
    if cued not in _PLACE_WORDS:
        return None
    if cued in ("to", "into", "as", "called", "named", "folder", "directory"):
        return 1, _path_value(token)
    if cued and not scene.lexicon.knows(token.low) and token.low not in scene.lexicon.kinds:
        return 1, _path_value(token)
    if cued and scene.exists(token.raw):
        return 1, _path_value(token)
    return None


def _ending(pattern: re.Pattern[str], tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """A file whose name ends as `pattern` says."""
    found = read_file(tokens, at, scene, cued)
    return found if found and pattern.search(found[1].text) else None


def read_folder(tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """A folder that is no file as far as can be seen."""
    found = read_dir(tokens, at, scene, cued)
    if found is None or scene.exists(found[1].text.rstrip("/") + "/.") or found[1].text.endswith("/"):
        return found
    plain_file = scene.exists(found[1].text) or _FILE_EXTENSION.match(found[1].text.rsplit("/", 1)[-1])
    return None if plain_file else found


def read_pattern_files(tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """Files by glob (`*.txt`), or one path."""
    token = tokens[at]
    if not token.quoted and ("*" in token.raw or "?" in token.raw) and not _URL.match(token.raw):
        return 1, Value(text=token.raw, kind="pattern", origin=token.raw)
    return read_file(tokens, at, scene, cued)


def read_several(tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """One or more paths or globs, joined by "and", commas or nothing."""
    first = read_pattern_files(tokens, at, scene, cued)
    if first is None:
        return None
    used, parts = first[0], [first[1]]
    while at + used < len(tokens):
        skip = 1 if tokens[at + used].low in ("and", "&") and at + used + 1 < len(tokens) else 0
        more = read_pattern_files(tokens, at + used + skip, scene, cued)
        if more is None:
            break
        used += skip + more[0]
        parts.append(more[1])
    if len(parts) == 1:
        return used, parts[0]
    text = " ".join(part.text for part in parts)
    return used, Value(text=text, parts=tuple(parts), origin=", ".join(part.text for part in parts))


def read_text(tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """Words to look for: a quoted literal, something that looks like code, or one announced word."""
    token = tokens[at]
    code_like = re.search(r"[A-Z]{2}|[_(){}=$#@]|[a-z][A-Z]", token.raw) and not looks_like_path(token, scene)
    plain = cued and not token.filler and not token.weak
    if not (token.quoted or plain or code_like) or token.is_path or not token.raw or "\0" in token.raw:
        return None
    # Words that mean something to us, and paths, are taken for a text only when nothing better is found.
    doubtful = not token.quoted and not code_like and (scene.lexicon.knows(token.low) or looks_like_path(token, scene))
    text = token.raw
    if not token.quoted and re.fullmatch(r"[A-Z]{3,}s", text):
        text = text[:-1]  # "all TODOs"
    forms = {"regex": quote_regex(text), "replacement": quote_replacement(text)}
    return 1, Value(text=text, forms=forms, origin=token.raw, doubtful=doubtful)


def read_named(kind: str, tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """A name with the shape of its type. Nothing that starts with a dash, so that it cannot be an option."""
    token = tokens[at]
    if token.is_path or token.raw.startswith("-") or not _NAMES[kind].match(token.raw):
        return None
    if not (token.quoted or (cued and not token.filler and not token.weak)):
        return None
    doubtful = not token.quoted and scene.lexicon.knows(token.low)
    return 1, Value(
        text=token.raw.lstrip("$") if kind == "variable" else token.raw, origin=token.raw, doubtful=doubtful
    )


def read_extension(tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """An extension with or without its dot, or `*.ext`. The value has no dot."""
    token = tokens[at]
    raw = token.raw.removeprefix("*")
    dotted = raw.startswith(".")
    if token.is_path or not _EXTENSION.match(raw) or (not dotted and (not cued or token.filler)):
        return None
    return 1, Value(text=raw.lstrip("."), origin=token.raw)


def read_url(tokens: list[Token], at: int) -> Found:
    """An http, https or ftp address."""
    raw = tokens[at].raw
    if not _URL.match(raw):
        return None
    base = re.sub(r"[?#].*", "", raw.split("://", 1)[1]).rstrip("/").rpartition("/")
    return 1, Value(text=raw, forms={"base": base[2] if base[1] else "index.html"}, origin=raw)


def _is_domain(raw: str, scene: Scene) -> bool:
    """A dotted name whose end is not that of a file."""
    last = raw.rpartition(".")[2].lower()
    return (
        last.isalpha() and len(last) > 1 and not any(last in extensions for extensions in scene.lexicon.kinds.values())
    )


def read_host(tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """A host name or address, also taken out of a URL."""
    token = tokens[at]
    raw = re.sub(r"\A(?:https?|ftp)://([^/:]+).*", r"\1", token.raw)
    dotted = "." in raw and (_ADDRESS.match(raw) is not None or _is_domain(raw, scene))
    if token.is_path or token.filler or token.weak or not _HOST.match(raw) or not (cued or dotted):
        return None
    return 1, Value(text=raw, origin=token.raw)


def _bounded(tokens: list[Token], at: int, scene: Scene, low: int, high: int) -> Found:
    found = read_number(tokens, at, scene.lexicon)
    return found if found and low <= int(found[1].text) <= high else None


def _matched(pattern: re.Pattern[str], tokens: list[Token], at: int) -> Found:
    raw = tokens[at].raw
    return (1, Value(text=raw, origin=raw)) if pattern.match(raw) else None


def read_rest(goal: str, tokens: list[Token], at: int, cued: str) -> Found:
    """A quoted literal, or everything up to the end of the goal."""
    if tokens[at].quoted:
        return 1, Value(text=tokens[at].raw, origin=tokens[at].raw)
    text = goal[tokens[at].start :].strip()
    return (len(tokens) - at, Value(text=text, origin=text)) if cued and text else None


def read_slot(kind: str, goal: str, tokens: list[Token], at: int, scene: Scene, cued: str) -> Found:
    """Read one slot of type `kind` at position `at`. KeyError for an unknown type (the loader checks)."""
    reader = READERS[kind]
    return reader(goal, tokens, at, scene, cued)


Reader = Callable[[str, list[Token], int, Scene, str], Found]


def _named_reader(kind: str) -> Reader:
    return lambda goal, tokens, at, scene, cued: read_named(kind, tokens, at, scene, cued)


READERS: dict[str, Reader] = {
    "file": lambda g, t, i, s, c: read_file(t, i, s, c),
    "path": lambda g, t, i, s, c: read_file(t, i, s, c),
    "literal": lambda g, t, i, s, c: read_text(t, i, s, c if c in _TEXT_WORDS else ""),
    "dir": lambda g, t, i, s, c: read_dir(t, i, s, c),
    "tar": lambda g, t, i, s, c: _ending(_TAR, t, i, s, c),
    "zip": lambda g, t, i, s, c: _ending(_ZIP, t, i, s, c),
    "csv": lambda g, t, i, s, c: _ending(_CSV, t, i, s, c),
    "isdir": lambda g, t, i, s, c: (
        found if (found := read_file(t, i, s, c)) and s.exists(found[1].text.rstrip("/") + "/.") else None
    ),
    "gz": lambda g, t, i, s, c: _ending(_GZ, t, i, s, c),
    "quoted": lambda g, t, i, s, c: (1, Value(text=t[i].raw, origin=t[i].raw)) if t[i].quoted and t[i].raw else None,
    "folder": lambda g, t, i, s, c: read_folder(t, i, s, c),
    "files": lambda g, t, i, s, c: read_several(t, i, s, c),
    "glob": lambda g, t, i, s, c: (
        (1, Value(text=t[i].raw, origin=t[i].raw)) if re.search(r"[*?\[]", t[i].raw) and "/" not in t[i].raw else None
    ),
    "ext": lambda g, t, i, s, c: read_extension(t, i, s, c),
    "size": lambda g, t, i, s, c: read_size(t, i, s.lexicon),
    "age": lambda g, t, i, s, c: read_age(t, i, s.lexicon),
    "seconds": lambda g, t, i, s, c: read_seconds(t, i, s.lexicon),
    "date": lambda g, t, i, s, c: read_date(t, i, s.lexicon, s.today),
    "number": lambda g, t, i, s, c: _bounded(t, i, s, 0, 999_999_999),
    "count": lambda g, t, i, s, c: _bounded(t, i, s, 1, 1_000_000),
    "port": lambda g, t, i, s, c: _bounded(t, i, s, 1, 65535),
    "pid": lambda g, t, i, s, c: _bounded(t, i, s, 2, 4_194_304),
    "mode": lambda g, t, i, s, c: _matched(_MODE, t, i),
    "commit": lambda g, t, i, s, c: _matched(_COMMIT, t, i),
    "url": lambda g, t, i, s, c: read_url(t, i),
    "host": lambda g, t, i, s, c: read_host(t, i, s, c),
    "text": lambda g, t, i, s, c: read_text(t, i, s, c),
    "rest": lambda g, t, i, s, c: read_rest(g, t, i, c),
    **{kind: _named_reader(kind) for kind in _NAMES},
}
