"""Look up in the documents of a project what they say about what is known so far: the passages that are nearest, with file and line.

Only what lies below the folder of a project is read: documents alone, no hidden files, no links, none that would hold secrets; what looks
like a secret all the same is replaced. In a folder that is no project, as somebody's home, nothing is looked up.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from itertools import islice

from agent.conversation.background.project_files import files, is_project
from agent.planner.facts.regular_file import read_regular
from agent.protocol.errors import InvalidState
from agent.redaction.redactor import SecretRedactor
from agent.retrieval.chunking import chunks
from agent.retrieval.index import Hit, RagIndex
from agent.risk.paths.secret_paths import is_secret
from agent.text.lazy_pattern import lazily
from agent.text.shown import shown, shown_line

_ENDINGS = (".md", ".rst", ".txt", ".adoc")
_OF_SECRETS = lazily(
    r"(?i)(?:^|/)(?:secrets?|credentials?)/"
    r"|(?:^|[/ _.-])(?:passw(?:or)?ds?|passphrases?|credentials?|secrets?|logins?|tokens?|(?:api[ _-]?)?keys?)\.txt$"
)
"""Notes that somebody keeps in a project; `docs/secrets.md` tells of them."""
_MOST_DOCUMENTS, _MOST_BYTES = 300, 200_000
_MOST_PASSAGES = 6
_LONGEST = 1_200  # characters of a passage


def lookup(folder: str, asked: str) -> str:
    """Return the passages nearest to the words of `asked`; "" where there are none. Raises InvalidState, IoError."""
    if not is_project(folder):
        raise InvalidState(expected="the folder of a project", found="another one")
    redact = SecretRedactor().redact
    with tempfile.TemporaryDirectory(prefix="agent-shell-lookup-") as place:
        index = RagIndex(os.path.join(place, "index"))
        try:
            for name in islice(_documents(folder), _MOST_DOCUMENTS):
                data, _ = read_regular(os.path.join(folder, name), _MOST_BYTES, follow=False)
                text = (
                    data.rpartition(b"\n")[0] if len(data) >= _MOST_BYTES else data
                )  # half a secret would not be known for one
                if text and b"\0" not in text:
                    index.put(name, name, "", "", chunks(redact(text.decode("utf-8", "replace"))))
            found = index.search(asked, _MOST_PASSAGES)
        finally:
            index.close()
    return "\n\n".join(map(_passage, found))


def _documents(folder: str) -> Iterator[str]:
    for name in files(folder):
        if not name.lower().endswith(_ENDINGS) or _OF_SECRETS.search(name):
            continue
        if not is_secret(os.path.join(folder, name)):
            yield name


def _passage(hit: Hit) -> str:
    return f"{shown_line(hit.source, 200)}\n{shown(hit.text[:_LONGEST]).strip()}"
