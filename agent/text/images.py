"""Tell by its first bytes whether a file is an image, and of which type."""

from __future__ import annotations

import re

TYPES = {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
"""Types that models take. `image_type` gives "" for an image of another type."""

_BEGINNING = re.compile(
    rb"(?s)(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpeg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)|RIFF.{4}(?P<webp>WEBP)"
    rb"|(?P<other>BM.{4}\0{4}|II\*\0|MM\0\*|.{4}ftyp(?:avi[fs]|hei[cfsx]|mif1))"
)


def image_type(data: bytes) -> str | None:
    """The media type of an image, "" for one that models do not take, None for whatever is no image."""
    found = _BEGINNING.match(data)
    return TYPES.get(str(found.lastgroup), "") if found else None
