"""Slots that hold paths: what looks like a file, a folder, several of them, a glob."""

from __future__ import annotations

import re

from agent.lexicon.words import Token
from agent.planner.offline.evidence import names_no_folder
from agent.planner.offline.quantities import Found
from agent.planner.offline.sentences import GoalContext, Sentence
from agent.planner.offline.values import Value

# For a character class: letters of every script with the marks that are put together with them, and pictures; no blanks and no punctuation.
LETTERS = r"\w\xc0-\u167f\u1681-\u1fff\u200d\u2070-\u2dff\u2e80-\u2fef\u3040-\ud7ff\uf900-\ufaff\ufe00-\ufe0f\U00010000-\U000e01ef"
FILE_EXTENSION = re.compile(rf"[{LETTERS}%+@~-][{LETTERS}.%+@~-]*\.(?=[\w-]*[A-Za-z])[\w-]{{1,10}}~?\Z")
URL = re.compile(r"(?:https?|ftp)://[^\s<>\"\\^`{|}]+\Z", re.IGNORECASE)
LOGIN = re.compile(r"[\w][\w.-]*@[A-Za-z0-9][A-Za-z0-9.-]*\Z")
REMOTE = re.compile(r"(?:[\w][\w.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!//)[\w./~][\w./~+-]*\Z")
ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}\Z")
ENDINGS = {
    "tar": re.compile(r"(?i)\.(?:tar|tgz|tbz2?|txz|tar\.\w{1,5})\Z"),
    "zip": re.compile(r"(?i)\.(?:zip|jar|war|whl|epub|docx|xlsx)\Z"),
    "gz": re.compile(r"(?i)(?<!\.tar)\.gz\Z"),
    "sevenz": re.compile(r"(?i)\.(?:7z|rar)\Z"),
    "xz": re.compile(r"(?i)(?<!\.tar)\.xz\Z"),
    "zst": re.compile(r"(?i)(?<!\.tar)\.zst\Z"),
    "bztwo": re.compile(r"(?i)(?<!\.tar)\.bz2\Z"),
    "csv": re.compile(r"(?i)\.csv\Z"),
    "yaml": re.compile(r"(?i)\.ya?ml\Z"),
    "cert": re.compile(r"(?i)\.(?:crt|cer|der|pem)\Z"),
    "pdf": re.compile(r"(?i)\.pdf\Z"),
    "picture": re.compile(r"(?i)\.(?:jpe?g|png|gif|webp|bmp|tiff?|heic|avif|svg|ico)\Z"),
    "media": re.compile(r"(?i)\.(?:mp4|mkv|avi|mov|webm|m4v|mpe?g|wmv|flv|mp3|m4a|wav|flac|ogg|opus|aac|wma)\Z"),
}
_DESTINATION_WORDS = frozenset({"to", "into", "as", "called", "named", "folder", "directory"})
_GENERIC_FOLDER = ("folder", "directory", "dir")
_GENERIC_FILE = ("file", "script", "archive", "tarball", "document", "image", "video")


def looks_like_path(token: Token, scene: GoalContext) -> bool:
    """Tell whether the token alone says that it is a path: folder words, slashes, extensions, names that exist here."""
    if token.is_path:
        return True
    raw = token.raw
    if not raw or "\0" in raw or URL.match(raw) or is_elsewhere(token, scene):
        return False
    if token.quoted:
        return scene.exists(raw) or raw.startswith(("/", "~/", "./", "../")) or bool(FILE_EXTENSION.match(raw))
    if raw.startswith(("/", "~/", "./", "../")) or raw in (".", "..", "~"):
        return True
    if "*" in raw or "?" in raw or raw.startswith("-"):
        return False
    if FILE_EXTENSION.match(raw) and not ADDRESS.match(raw):
        return True
    if "/" in raw:
        return bool(re.search(r"[A-Za-z0-9]", raw)) and not raw.startswith("//")
    if re.match(r"\.[A-Za-z_]", raw):
        return len(raw) > 5 or scene.exists(raw)
    return not token.filler and not token.weak and not scene.lexicon.knows(token.low) and scene.exists(raw)


def is_elsewhere(token: Token, scene: GoalContext) -> bool:
    """Tell whether a word names another machine or something on it: "me@host", "host:folder"; not where there is such a file."""
    if token.quoted or token.is_path or not (LOGIN.match(token.raw) or REMOTE.match(token.raw)):
        return False
    ending = token.raw.rpartition(".")[2].lower()
    is_file = ":" not in token.raw and any(ending in extensions for extensions in scene.lexicon.kinds.values())
    return not is_file and not scene.exists(token.raw)


def _path_value(token: Token) -> Value:
    if token.raw.rstrip("/") in ("", ".", ".."):
        # No name that another one could be made of: `..zip` and `/.bak` are nobody's wish.
        forms = {"text": token.raw, "slash": token.raw.rstrip("/") + "/"}
        return Value(text=token.raw, kind="path", forms=forms, origin=token.raw)
    if token.raw.rstrip("/") == "~":
        packed = {"text": token.raw, "zip": "home.zip", "targz": "home.tar.gz", "slash": "~/"}
        return Value(text=token.raw, kind="path", forms=packed, origin=token.raw)
    stem, dot, extension = token.raw.rstrip("/").rpartition(".")
    plain = token.raw.rstrip("/")
    forms = {
        "stem": stem if dot and stem and "/" not in extension else plain,
        "base": plain.rsplit("/", 1)[-1] or "/",
        "text": token.raw,
        "bak": plain + ".bak",
        "zip": plain + ".zip",
        "targz": plain + ".tar.gz",
        "slash": plain + "/",
        "part": plain + ".part-",
        "parent": (plain.rsplit("/", 1)[0] if "/" in plain else ".") or "/",
    }
    for suffix in (".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst"):
        if plain.endswith(suffix):
            forms["stem"] = plain.removesuffix(suffix)
    return Value(text=token.raw, kind="path", forms=forms, origin=token.raw)


def is_folder(value: Value, scene: GoalContext) -> bool:
    """Tell whether a path, or one of several, is a folder: by its looks, or because there is one."""
    if value.parts:
        return any(is_folder(part, scene) for part in value.parts)
    text = value.text
    if value.kind != "path":
        return False
    return text in (".", "..", "~") or text.endswith("/") or scene.exists(text + "/.")


def _bare(token: Token) -> bool:
    """A word that could be a name if something announces it."""
    return (
        bool(re.match(rf"[{LETTERS}.][{LETTERS}.+@-]*\Z", token.raw))
        and not token.filler
        and not token.weak
        and not token.is_path
    )


def _may_be_name(token: Token, scene: GoalContext, named: bool) -> bool:
    return (
        token.quoted
        or looks_like_path(token, scene)
        or (_bare(token) and (named or not scene.lexicon.knows(token.low)))
    )


def read_file(sentence: Sentence, at: int, cued: str) -> Found:
    """A path, "the file NAME", or any quoted literal that something announces."""
    tokens, scene = sentence.tokens, sentence.scene
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
        if after < len(tokens) and _may_be_name(tokens[after], scene, named):
            return after - at + 1, _path_value(tokens[after])
    return None


def read_dir(sentence: Sentence, at: int, cued: str) -> Found:
    """A folder: a path, "NAME folder", or a plain unknown word after "in" or "under"."""
    tokens, scene = sentence.tokens, sentence.scene
    found = read_file(sentence, at, cued)
    if found is not None:
        return found
    token = tokens[at]
    if is_elsewhere(token, scene):
        return None
    following = tokens[at + 1].low if at + 1 < len(tokens) else ""
    of_files = following in ("files", "scripts") or (token.raw.startswith(".") and following in ("and", "or"))
    if (
        of_files or not _bare(token) or token.low in ("called", "named", *_GENERIC_FOLDER)
    ):  # the name of the folder comes behind it
        return None
    if following in _GENERIC_FOLDER and names_no_folder(token.low) and not scene.exists(token.raw):
        return None
    known = scene.lexicon.knows(token.low)
    if following in _GENERIC_FOLDER and (cued or not known or scene.exists(token.raw + "/.")):
        return 2, _path_value(token)
    if cued not in scene.lexicon.place_words:
        return None
    unknown = (not known or token.low in scene.lexicon.folder_names) and token.low not in scene.lexicon.kinds
    taken = cued in _DESTINATION_WORDS or unknown or scene.exists(token.raw)
    return (1, _path_value(token)) if taken else None


def read_ending(ending: str, sentence: Sentence, at: int, cued: str) -> Found:
    """A file whose name ends as that of a kind: an archive, a certificate, a picture and the like."""
    found = read_file(sentence, at, cued)
    return found if found and ENDINGS[ending].search(found[1].text) else None


def read_existing_dir(sentence: Sentence, at: int, cued: str) -> Found:
    """A path that is a folder here and now."""
    found = read_file(sentence, at, cued)
    return found if found and sentence.scene.exists(found[1].text.rstrip("/") + "/.") else None


def read_existing(sentence: Sentence, at: int, cued: str) -> Found:
    """A path that is here and now."""
    found = read_file(sentence, at, cued)
    return found if found and sentence.scene.exists(found[1].text) else None


def read_folder(sentence: Sentence, at: int, cued: str) -> Found:
    """A folder that is no file as far as can be seen."""
    scene = sentence.scene
    found = read_dir(sentence, at, cued)
    if found is None or scene.exists(found[1].text.rstrip("/") + "/.") or found[1].text.endswith("/"):
        return found
    plain_file = scene.exists(found[1].text) or FILE_EXTENSION.match(found[1].text.rsplit("/", 1)[-1])
    return None if plain_file else found


def read_pattern_files(sentence: Sentence, at: int, cued: str) -> Found:
    """Files by glob (`*.txt`), or one path."""
    tokens = sentence.tokens
    token = tokens[at]
    if not token.quoted and ("*" in token.raw or "?" in token.raw) and not URL.match(token.raw):
        return 1, Value(text=token.raw, kind="pattern", origin=token.raw)
    return read_file(sentence, at, cued)


def read_several(sentence: Sentence, at: int, cued: str) -> Found:
    """One or more paths or globs, joined by "and", commas or nothing."""
    tokens = sentence.tokens
    first = read_pattern_files(sentence, at, cued)
    if first is None:
        return None
    used, parts = first[0], [first[1]]
    while at + used < len(tokens):
        skip = 1 if tokens[at + used].low in ("and", "&") and at + used + 1 < len(tokens) else 0
        more = read_pattern_files(sentence, at + used + skip, cued)
        if more is None:
            break
        used += skip + more[0]
        parts.append(more[1])
    if len(parts) == 1:
        return used, parts[0]
    text = " ".join(part.text for part in parts)
    return used, Value(text=text, parts=tuple(parts), origin=", ".join(part.text for part in parts))


def read_folders(sentence: Sentence, at: int, cued: str) -> Found:
    """Several paths, one of which is a folder here and now."""
    found = read_several(sentence, at, cued)
    return found if found and found[1].parts and is_folder(found[1], sentence.scene) else None
