"""Bring the index of a RAG up to date: only what changed is read and cut anew, and what is done stays done."""

from __future__ import annotations

import asyncio
import threading
from array import array
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.retrieval.chunking import Chunk, chunks
from agent.retrieval.documents import Document, digest, documents, text_of
from agent.retrieval.index import RagIndex

if TYPE_CHECKING:
    Embed = Callable[[Sequence[str]], Awaitable[list[array[float]]]]

_BATCH = 32  # texts of one call


@dataclass(frozen=True)
class Built:
    """The result of an update, in documents."""

    read: int = 0
    unchanged: int = 0
    removed: int = 0
    unreadable: tuple[str, ...] = ()


async def build(
    index: RagIndex,
    wanted: Sequence[str],
    folder: str,
    *,
    ask: Callable[[str], str],
    redact: Callable[[str], str],
    progress: Callable[[int, int], None] = lambda done, total: None,
    anew: bool = False,
) -> Built:
    """Read what `wanted` names. `anew`: also what seems unchanged. Secrets are replaced before anything is kept. `ask(path)`: what a
    program prints for `--help`.

    May be cancelled between two documents; the next build goes on from there. Raises InvalidRequest, IoError.
    """
    found = await _listed(wanted, folder, progress)
    known = await asyncio.to_thread(index.known)
    read, unchanged, unreadable = 0, 0, list[str]()
    for number, document in enumerate(found):
        progress(number, len(found))
        stamp, before = known.get(document.place, ("", ""))
        if document.stamp and document.stamp == stamp and not anew:
            unchanged += 1
            continue
        text = await asyncio.to_thread(text_of, document, ask)
        if text is None:
            unreadable.append(document.name)
            continue
        now = digest(text)
        if now == before and not anew:
            unchanged += 1
            await asyncio.to_thread(index.stamped, document.place, document.stamp)
            continue
        cut = await asyncio.to_thread(_cut, document, text, redact)
        await asyncio.to_thread(index.put, document.name, document.place, document.stamp, now, cut)
        read += 1
    gone = set(known) - {document.place for document in found}
    await asyncio.to_thread(index.remove, sorted(gone))
    progress(len(found), len(found))
    return Built(read, unchanged, len(gone), tuple(unreadable))


async def embed(index: RagIndex, model: str, ask: Embed, *, progress: Callable[[int, int], None]) -> int:
    """Get vectors of `model` for the chunks that have none; how many. May be cancelled, and loses one batch then. Raises CoreError."""
    missing = len(await asyncio.to_thread(index.lacking, model, -1))
    done = 0
    while chunks_left := await asyncio.to_thread(index.lacking, model, _BATCH):
        progress(done, missing)
        found = await ask([text for _, text in chunks_left])
        pairs = [(chunk, vector) for (chunk, _), vector in zip(chunks_left, found, strict=True)]
        await asyncio.to_thread(index.put_vectors, model, pairs)
        done += len(pairs)
    return done


def _cut(document: Document, text: str, redact: Callable[[str], str]) -> list[Chunk]:
    return list(chunks(redact(text), options=document.kind != "file"))


async def _listed(wanted: Sequence[str], folder: str, progress: Callable[[int, int], None]) -> list[Document]:
    """All documents; `progress` is told once a second how many are found, of 0."""
    found: list[Document] = []
    stopped = threading.Event()

    def walk() -> None:
        for document in documents(wanted, folder):
            if stopped.is_set():
                return
            found.append(document)

    walking = asyncio.ensure_future(asyncio.to_thread(walk))
    try:
        while not (await asyncio.wait({walking}, timeout=1))[0]:
            progress(len(found), 0)
    finally:
        stopped.set()
    await walking
    return found
