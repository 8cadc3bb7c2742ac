"""Match the paths that a command names against the folders of a rule, by their letters and only where they are certain. Pure."""

from __future__ import annotations

import posixpath
import re

UNKNOWN_PART = "…"
"""The sign in a report for what is not known before a command runs."""

_GLOB = re.compile(r"[*?\[\]{}]")


def absolute(text: str, cwd: str) -> str:
    """`text` made absolute and normal by its letters alone; "" where `cwd` is needed and not known."""
    if not text.startswith("/"):
        if not cwd.startswith("/") or UNKNOWN_PART in cwd or "~" in cwd or "\0" in cwd:
            return ""
        text = f"{cwd}/{text}"
    path = posixpath.normpath(text)
    return "/" + path.lstrip("/")


def certain_path(text: str, cwd: str) -> str:
    """The path that `text` certainly is, or the folder that all it can match lies in; "" where that is not certain.

    A `..` behind a name is not: the name may be a link that leads elsewhere. Neither is a wildcard that may match `..`.
    """
    if UNKNOWN_PART in text or "\0" in text or ":" in text or text[:1] in ("~", "@") or text == "-":
        return ""  # not known, or an address, a pair of paths, a file or a stream that names others
    parts = text.split("/")
    named = False
    for index, part in enumerate(parts):
        if _GLOB.search(part):
            rest = parts[index:]
            if ".." in rest or any(piece.startswith(".") and _GLOB.search(piece) for piece in rest):
                return ""
            folder = "/".join(parts[:index])
            return absolute(folder or ("/" if text.startswith("/") else "."), cwd)
        if part == ".." and named:
            return ""
        named = named or part not in ("", ".", "..")
    return absolute(text, cwd)


def lies_in(path: str, folder: str) -> bool:
    """Tell whether the absolute `path` is `folder` or below it. `folder` may hold `*` and `?` within, and `**` across, its parts."""
    if not path or not folder:
        return False
    if not _GLOB.search(folder):
        return folder in (path, "/") or path.startswith(folder + "/")
    return _begins(path.strip("/").split("/"), folder.strip("/").split("/"))


def may_lie_in(pattern: str, folder: str, *, deep: bool) -> bool:
    """Tell whether something that `pattern`, an absolute path with wildcards, stands for may be `folder` or lie below it.

    `deep`: what lies below the matches counts too.
    """
    parts, pieces = pattern.strip("/").split("/"), folder.strip("/").split("/")
    for part, piece in zip(parts, pieces, strict=False):
        if "**" in (part, piece):
            return True
        if not _compatible(part, piece):
            return False
    return deep or len(parts) >= len(pieces)


def _compatible(part: str, piece: str) -> bool:
    from fnmatch import fnmatchcase

    both = bool(_GLOB.search(part) and _GLOB.search(piece))
    return both or "{" in part or fnmatchcase(piece, part.replace("[^", "[!")) or fnmatchcase(part, piece)


def _begins(parts: list[str], pattern: list[str]) -> bool:
    """Tell whether some beginning of `parts` matches all of `pattern`."""
    from fnmatch import fnmatchcase

    reached = {0}
    for piece in pattern:
        following: set[int] = set()
        for index in reached:
            if piece == "**":
                following.update(range(index, len(parts) + 1))
            elif index < len(parts) and fnmatchcase(parts[index], piece):
                following.add(index + 1)
        reached = following
    return bool(reached)
