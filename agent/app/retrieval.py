"""Wire RAGs, and what is known of installed programs' options: part of the composition root, loaded when first needed.

An index lies in the state folder, what it is made of in the person's library.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agent.config.paths import cache_dir, make_folder, state_dir
from agent.protocol.errors import CoreError, IoError
from agent.protocol.messages import ContextBlock

if TYPE_CHECKING:
    from array import array

    from agent.app.planners import PlannerChoice
    from agent.library.library import Library, Rag
    from agent.protocol.decisions import RiskReport
    from agent.protocol.ports import Redactor
    from agent.retrieval.building import Built, Embed
    from agent.retrieval.index import RagIndex
    from agent.retrieval.manuals import Manuals

_SECONDS = 0.004
"""Seconds that a confirmation waits for it: a text that was read before is at hand in less."""
_HELP_SECONDS = 5.0


def ask_help(path: str) -> str:
    """Return what a program prints for `--help`. Its caller has seen to it that it may be asked."""
    from agent.execution.confine.entering import held_output

    return held_output((path, "--help"), _HELP_SECONDS)


class ProcessManuals:
    """The manuals of this machine. `environ` says where the cache folder is; without `keeps`, nothing is kept there."""

    def __init__(self, environ: Mapping[str, str], *, keeps: bool) -> None:
        self._environ = dict(environ)
        self._keeps = keeps
        self._building = threading.Lock()
        self._built: list[Manuals] = []

    def manuals(self) -> Manuals:
        """All of them, made when first asked for."""
        from agent.retrieval.manuals import Manuals

        with self._building:
            if not self._built:
                folder = os.path.join(cache_dir(self._environ), "manuals") if self._keeps else ""
                self._built.append(Manuals(folder, ask_help))
            return self._built[0]

    def lacking(self, report: RiskReport) -> str:
        """Say what programs of a rated command do not have here, in words; "" for nothing, and for what cannot be known soon enough.

        The rest is read all the same, for the next time.
        """
        if not any(word[:1] == "-" for run in report.programs for word in run.words[1:]):
            return ""
        if self._built and (last := self._built[0].found)[0] == report.command:  # a planner has asked before
            return "; ".join(each.text for each in last[1])
        from agent.waiting import beside  # a loop, which what only reads the logs has no use for

        found: list[str] = []
        done = threading.Event()

        def look() -> None:
            with contextlib.suppress(Exception):  # it only helps; whatever is wrong with a page, nothing is said of it
                found.extend(each.text for each in self.manuals().missing(report))
            done.set()

        beside(look)
        return "; ".join(found) if done.wait(_SECONDS) else ""


_MOST_CHARS = 12_000


class ProcessRags:
    """The RAGs of the person. `environ` says where the state folder is."""

    def __init__(self, library: Callable[[], Library], environ: Mapping[str, str], planners: PlannerChoice) -> None:
        self._library = library
        self._environ = dict(environ)
        self._planners = planners

    def open(self, name: str) -> OpenRag:
        """A RAG as it was built last. Raises NotFound, ConfigError, IoError."""
        rag = self._library().rags.load(name)
        embed = self._planners.embedder(rag.embeddings) if rag.embeddings else None
        return OpenRag(name, rag, self._index(name), embed)

    async def build(
        self, name: str, redactor: Redactor, *, progress: Callable[[int, int], None], anew: bool = False
    ) -> Built:
        """Bring its index up to date, with its vectors where it wants some. Paths in it begin at home. Raises
        CoreError; may be cancelled, and loses nothing then.
        """
        import asyncio  # what only reads the logs has no use for it

        from agent.retrieval.building import build, embed

        rag = await asyncio.to_thread(self._library().rags.load, name)
        index = await asyncio.to_thread(self._index, name)
        try:
            home = os.path.expanduser("~")
            built = await build(
                index, rag.documents, home, ask=ask_help, redact=redactor.redact, progress=progress, anew=anew
            )
            if rag.embeddings:
                await embed(index, rag.embeddings, self._told(rag.embeddings, redactor), progress=progress)
            return built
        finally:
            index.close()

    def _told(self, embeddings: str, redactor: Redactor) -> Embed:
        """A server that is told no secret that became known after the index was built."""
        ask = self._planners.embedder(embeddings)
        return lambda texts: ask([redactor.redact(text) for text in texts])

    def asked(self, name: str) -> str:
        """Say who is asked for embeddings of its passages and of each goal; "" for nobody. Raises CoreError."""
        wanted = self._library().rags.load(name).embeddings
        if not wanted:
            return ""
        leaves = "leave" if self._planners.leaves(wanted.partition(":")[0]) else "do not leave"
        return f"asks {wanted} for embeddings: its passages and your goals {leaves} this machine"

    def forget(self, name: str) -> None:
        """Remove the index. Raises IoError."""
        from agent.recording.private_database import remove_database

        path = self._path(name)
        try:
            remove_database(path)
        except OSError as error:
            raise IoError(f"cannot remove {path}: {error.strerror}") from None

    def _index(self, name: str) -> RagIndex:
        from agent.retrieval.index import RagIndex

        path = self._path(name)
        try:
            make_folder(os.path.dirname(path))
        except OSError as error:
            raise IoError(f"cannot make the folder of {path}: {error.strerror}") from None
        return RagIndex(path)

    def _path(self, name: str) -> str:
        self._library().rags.path(name)  # a name that is one
        return os.path.join(state_dir(self._environ), "rag", f"{name}.sqlite3")


class OpenRag:
    """protocol.ports.Retriever: passages from one index."""

    def __init__(self, name: str, rag: Rag, index: RagIndex, embed: Embed | None = None) -> None:
        self.name = name
        self.documents = rag.documents
        self._rag = rag
        self._index = index
        self._embed = embed
        self.trouble = ""

    async def passages(self, text: str) -> tuple[ContextBlock, ...]:
        import asyncio

        vector = await self._vector(text)
        hits = await asyncio.to_thread(
            self._index.search, text, self._rag.passages, model=self._rag.embeddings, vector=vector
        )
        blocks, room = [], _MOST_CHARS
        for hit in hits:
            room -= len(hit.text)
            if room < 0:
                break
            heading = f" ({hit.heading})" if hit.heading else ""
            blocks.append(ContextBlock(label=f"{hit.source}{heading}", text=hit.text))
        return tuple(blocks)

    async def _vector(self, text: str) -> array[float] | None:
        """The direction of a text. Without an answer its words alone count, and `trouble` says so."""
        self.trouble = ""
        if self._embed is None:
            return None
        try:
            return (await self._embed([text]))[0]
        except CoreError as error:
            self.trouble = f"passages were found by their words alone: {error.message}"
            return None

    def counts(self) -> tuple[int, int]:
        """Count its documents and chunks."""
        return self._index.counts()
