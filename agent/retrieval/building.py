"""Bring the index of a RAG up to date: only what changed is read and cut anew, and what is done stays done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.retrieval.chunking import Chunk, chunks
from agent.retrieval.documents import Document, digest, documents, text_of
from agent.retrieval.index import RagIndex


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
    found: list[Document] = await asyncio.to_thread(lambda: list(documents(wanted, folder)))
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


def _cut(document: Document, text: str, redact: Callable[[str], str]) -> list[Chunk]:
    return list(chunks(redact(text), options=document.kind != "file"))
