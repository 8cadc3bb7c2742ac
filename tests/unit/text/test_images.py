"""Images are known by how they begin."""

from __future__ import annotations

from agent.text.images import image_type
from tests.support.each import each


@each(
    ("data", "told"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"GIF89a\x01\0", "image/gif"),
        (b"GIF87a\x01\0", "image/gif"),
        (b"RIFF\x10\n\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\n\0\0WAVEfmt ", None),
        (b"\0\0\0\x20ftypheic\0", ""),
        (b"\0\0\0\x20ftypisom\0", None),
        (b"II*\0", ""),
        (b"BMW makes cars and motorcycles", None),
        (b"see \x89PNG\r\n\x1a\n", None),
        (b"", None),
    ],
)
def test_the_type_is_that_of_the_content(data: bytes, told: str | None) -> None:
    assert image_type(data) == told
