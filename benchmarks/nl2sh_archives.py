"""What archives hold, whatever order and time they were packed in.

They come out of a sandbox: nothing is extracted, and reading is bounded.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile

from benchmarks.nl2sh_world import digest

MOST = 32 << 20  # bytes of content that are looked at


def described(name: str, data: bytes) -> str:
    """The members or the content of the archive `name`, as one line to compare; its bytes where it is none."""
    lower = name.lower()
    try:
        if lower.endswith((".zip", ".jar")):
            return "archive " + digest("\n".join(sorted(_zip_members(data))).encode())
        if ".tar" in lower or lower.endswith((".tgz", ".tbz2", ".txz")):
            return "archive " + digest("\n".join(sorted(_tar_members(data))).encode())
        return "packed " + digest(_unpacked(lower, data))
    except Exception:  # it is called an archive and is none, or a hostile one
        return "bytes " + digest(data)


def _zip_members(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if sum(info.file_size for info in infos) > MOST:
            raise ValueError("too large")
        return [f"{_plain(info.filename)} {digest(archive.read(info))}" for info in infos]


def _tar_members(data: bytes) -> list[str]:
    lines, left = [], MOST
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            left -= member.size
            if left < 0:
                raise ValueError("too large")
            file = archive.extractfile(member) if member.isreg() else None
            lines.append(f"{_plain(member.name)} {member.mode:o} {digest(file.read()) if file else member.linkname}")
    return lines


def _plain(name: str) -> str:
    """A member's name without the ways it can begin and end; "." for the folder that was packed from inside."""
    return os.path.normpath(name.lstrip("/") or ".")


def _unpacked(name: str, data: bytes) -> bytes:
    opener = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}[os.path.splitext(name)[1]]
    with opener(io.BytesIO(data), "rb") as file:  # type: ignore[operator]
        return bytes(file.read(MOST))
