"""Read RAGs: which documents a person wants to be looked up beside a goal."""

from __future__ import annotations

from msgspec import Struct

from agent.library.entries import Entries
from agent.library.front_matter import place_of, typed
from agent.protocol.errors import ConfigError

MOST_PASSAGES = 20


class _Written(Struct, frozen=True, forbid_unknown_fields=True):
    documents: tuple[str, ...]
    description: str = ""
    passages: int = 5
    embeddings: str = ""


class Rag(Struct, frozen=True):
    """`documents`: paths, patterns, `man:NAME`, `help:NAME`. `passages`: how many at most go with a goal.
    `embeddings`: the provider and its model that are asked for them ("ollama:nomic-embed-text"), "" for none.
    """

    name: str
    documents: tuple[str, ...]
    description: str = ""
    passages: int = 5
    embeddings: str = ""


def read_rag(name: str, text: str, path: str) -> Rag:
    """Raises ConfigError."""
    written = typed(text, _Written, path)
    if not written.documents or not all(each.strip() for each in written.documents):
        raise ConfigError(
            f"{place_of('documents', text, path)}: documents must name at least one file, folder, pattern, man:NAME or help:NAME"
        )
    if not 1 <= written.passages <= MOST_PASSAGES:
        raise ConfigError(f"{place_of('passages', text, path)}: passages must be from 1 to {MOST_PASSAGES}")
    if written.embeddings and not all(written.embeddings.partition(":")):
        raise ConfigError(
            f"{place_of('embeddings', text, path)}: embeddings must name a provider and a model, as in ollama:nomic-embed-text"
        )
    return Rag(
        name,
        tuple(each.strip() for each in written.documents),
        written.description,
        written.passages,
        written.embeddings,
    )


def rags_in(folder: str) -> Entries[Rag]:
    """The person's RAGs in `folder`."""
    return Entries("rag", folder, ".yaml", read_rag)
