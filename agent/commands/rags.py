"""`:rag`, `:rebuild`, `:sources`: have a person's own documents looked up beside each goal."""

from __future__ import annotations

import asyncio
import time
from functools import partial

from agent.commands.context import Change, CommandContext, DispatchOutcome, needs_active
from agent.commands.definition import Definition, only
from agent.protocol.commands import RagSources, RebuildRag, UseRag
from agent.protocol.errors import NotFound
from agent.protocol.events.session import LibraryChanged, Notice
from agent.protocol.outcomes import FrontendRequest
from agent.text.shown import shown_line
from agent.text.sizes import counted

_TOLD_EVERY = 3.0  # seconds


async def use(context: CommandContext, arguments: UseRag) -> DispatchOutcome:
    """Look documents up from now on; what changed is read first. Without a name: list them. Raises CoreError."""
    if arguments.name is None:
        from agent.library.library import overview

        await context.person.show(await asyncio.to_thread(overview, context.services.library().rags))
        return DispatchOutcome()
    return await take_rag(context, arguments.name)


async def rebuild(context: CommandContext, arguments: RebuildRag) -> DispatchOutcome:
    """Read all documents of the active RAG anew. Raises CoreError."""
    return await take_rag(context, context.session.rag_name, anew=True)


async def take_rag(context: CommandContext, name: str, *, anew: bool = False) -> DispatchOutcome:
    """Look `name` up from now on, brought up to date, or read anew. Raises CoreError."""
    rags = context.services.rags()
    if name not in await asyncio.to_thread(context.services.library().rags.names):
        raise NotFound("rag", name, hint=f"`:edit rag-docs {name}` makes one")
    told = time.monotonic()
    if asked := await asyncio.to_thread(rags.asked, name):
        await context.record(Notice(text=asked))

    def progress(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _TOLD_EVERY:
            told = time.monotonic()
            context.tell(f"reading: {done:,} of {total:,}" if total else f"looking for documents: {done:,} so far")

    try:
        built = await rags.build(name, context.session.redactor, progress=progress, anew=anew)
    except asyncio.CancelledError:
        context.tell(f"stopped; what is read stays, and `:rag {name}` goes on from there")
        raise
    opened = await asyncio.to_thread(rags.open, name)
    documents, chunks = await asyncio.to_thread(opened.counts)
    text = f"rag: {name}, {counted(documents, 'document')} in {counted(chunks, 'passage')}"
    counts = [f"{count:,} {what}" for count, what in ((built.read, "read"), (built.removed, "removed")) if count]
    if counts:
        text += f" ({', '.join(counts)})"
    if built.unreadable:
        names = ", ".join(shown_line(each, 60) for each in built.unreadable[:3])
        await context.record(
            Notice(text=f"not there or without text, left out: {counted(len(built.unreadable), 'document')} ({names})")
        )
    if context.session.planner.name == "offline":
        text += "; the offline planner does not use it, `:sources WORDS` searches it"
    data = {"rag": name, "documents": documents, "passages": chunks, "read": built.read, "removed": built.removed}
    return DispatchOutcome(text, data, changes=(to_rag(name, opened),))


def to_rag(name: str, opened: object | None) -> Change:
    return Change("rag", name, {"rag_name": name, "retriever": opened})


def leave_rag(context: CommandContext) -> DispatchOutcome:
    left = context.session.rag_name
    return DispatchOutcome(f"left the rag {left}", {"rag": left}, changes=(to_rag("", None),))


async def sources(context: CommandContext, arguments: RagSources | str) -> DispatchOutcome:
    """List what went with the last goal; or, with words, what would go with them. Raises CoreError."""
    if isinstance(arguments, str):
        assert context.session.retriever is not None, "`_usable` has seen to it"
        blocks = await context.session.retriever.passages(context.session.redactor.redact(arguments))
        text = "\n\n".join(f"{block.label}\n{block.text}" for block in blocks)
        await context.person.show(text or "nothing is near these words")
        return DispatchOutcome("", {"sources": [block.label for block in blocks]})
    labels = context.session.last_sources
    return DispatchOutcome("\n".join(labels) or "no passage went with the last goal", {"sources": list(labels)})


async def edit_documents(context: CommandContext, name: str) -> DispatchOutcome:
    """The file that lists the documents of a RAG, begun where there is none. Raises CoreError."""
    rags = context.services.library().rags
    path = rags.path(name)
    if name not in await asyncio.to_thread(rags.own):
        await context.record(LibraryChanged(kind="rag", name=name, path=path))
        await asyncio.to_thread(rags.save, name, _BEGUN)
    return DispatchOutcome(frontend_request=FrontendRequest(action="edit", argument=path))


_BEGUN = """# What is looked up beside goals while this rag is used. Paths begin at your home folder.
description: ""
documents:
  - notes/**/*.md
  - man:rsync
passages: 5
"""


def _words(rest: str) -> RagSources | str:
    return rest if rest and rest != "rag" else RagSources()


COMMANDS = (
    Definition(
        names=("rag",),
        arguments="[NAME]",
        help="look up your own documents beside each goal; without a name: list them",
        examples=(":rag", ":rag notes"),
        read=lambda rest: UseRag(rest or None),
        core=(UseRag,),
        handle=use,
        complete=lambda services: services.library().rags.names(),
        line=(":rag, :rebuild, :sources", "look up your documents; :file shows one"),
    ),
    Definition(
        names=("rebuild",),
        arguments="[rag]",
        help="read all documents of the active rag anew",
        examples=(":rebuild rag",),
        read=only(
            "rag", make=RebuildRag, message="`:rebuild` reads the documents of the active rag anew, and takes no name"
        ),
        core=(RebuildRag,),
        handle=rebuild,
        usable=partial(needs_active, "rag"),
        choices=("rag",),
    ),
    Definition(
        names=("sources",),
        arguments="[WORDS]",
        help="which passages went with the last goal, or are nearest to WORDS",
        examples=(":sources", ":sources how is a tag signed"),
        read=_words,
        core=(RagSources,),
        handle=sources,
        usable=partial(needs_active, "rag"),
    ),
)
