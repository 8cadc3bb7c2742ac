"""Bound what the tools of the repo agent may touch to the worktree, without what belongs to git and without secrets; read its files."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass

from agent.protocol.actions import Encoding
from agent.protocol.errors import InvalidRequest
from agent.risk.paths.secret_paths import is_secret
from agent.text.sizes import size_words
from agent.text.visible import BIDI, INVISIBLE
from agent.tools.root import Place, Root

MOST_TEXT = 1_000_000
"""Bytes of a text that a tool changes, and characters of one that it writes."""

_MOST_READ = 1 << 20
_IGNORED = re.compile(f"[{BIDI}{INVISIBLE}]")
_SHORT_NAME = re.compile(r"git~\d+")
_LFS = "version https://git-lfs.github.com/spec/"
_BOMS: tuple[tuple[bytes, Encoding], ...] = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def root_of(worktree: str) -> Root:
    """Return the folder that the tools work in."""
    return Root(worktree, protected)


def protected(path: str) -> str:
    """Say why no tool touches a relative path, "" where one may."""
    if any(is_git(name) for name in re.split(r"[/\\]", path)):
        return "belongs to git, which no tool changes or reads by itself"
    if any(is_secret(f"./{each}") for each in (path, path.casefold())):
        return "is a place of secrets, which no tool changes or reads"
    return ""


def is_git(name: str) -> bool:
    """Tell whether some file system takes the name for `.git`: in any case, with characters that it ignores, or by its short name."""
    bare = _IGNORED.sub("", unicodedata.normalize("NFKC", _IGNORED.sub("", name))).casefold()
    bare = bare.split(":")[0].rstrip(". ")
    return bare == ".git" or _SHORT_NAME.fullmatch(bare) is not None


@dataclass(frozen=True)
class Text:
    """A text, and the way in which its file holds it: `mark` is its byte order mark, `newline` ends most of its lines, "" for none."""

    text: str
    encoding: Encoding = "utf-8"
    mark: str = ""
    newline: str = ""

    def dressed(self, text: str) -> str:
        """Another text as this file would hold it."""
        plain = text.removeprefix("\ufeff") if self.mark else text
        if self.newline:
            plain = plain.replace("\r\n", "\n").replace("\n", self.newline)
        return self.mark + plain


def decoded(data: bytes) -> Text:
    """Read the bytes of a file as a text. Raises InvalidRequest where they are none."""
    encoding, mark = next(((name, bom) for bom, name in _BOMS if data.startswith(bom)), (_BOMS[0][1], b""))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        raise InvalidRequest("is text neither in UTF-8 nor in UTF-16, or no text") from None
    if "\0" in text:
        raise InvalidRequest("is no text")
    if text.startswith(_LFS):
        raise InvalidRequest("is a pointer of Git LFS; the contents are not here")
    windows = text.count("\r\n")
    lines = text.count("\n")
    newline = "" if not lines else "\r\n" if windows * 2 > lines else "\n"
    return Text(text, encoding, "\ufeff" if mark else "", newline)


def read_text(root: Root, path: str) -> tuple[Place, Text]:
    """Read a file that is to be changed. Raises InvalidRequest, for what is no text or too long as well."""
    with root.opened(path) as (fd, place):
        data = read_up_to(fd, MOST_TEXT + 1)
    if len(data) > MOST_TEXT:
        raise InvalidRequest(f"{place.relative} is longer than {size_words(MOST_TEXT)}")
    try:
        return place, decoded(data)
    except InvalidRequest as error:
        raise InvalidRequest(f"{place.relative} {error.message}") from None


def read_up_to(fd: int, most: int, start: int = 0) -> bytes:
    """Read so many bytes, fewer at the end of the file."""
    pieces: list[bytes] = []
    while most > 0 and (piece := os.pread(fd, most, start)):
        pieces.append(piece)
        start, most = start + len(piece), most - len(piece)
    return b"".join(pieces)


def text_in(root: Root, name: str) -> str | None:
    """Read a file that says how work is done there, at most 1 MiB of it; None for what is no regular file inside."""
    try:
        with root.opened(name) as (fd, _):
            return read_up_to(fd, _MOST_READ).decode("utf-8", "replace")
    except InvalidRequest:
        return None
