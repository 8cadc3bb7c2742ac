"""Find the files of a project, and look up in its documents what they say about what is known so far: the nearest passages.

Those of the upper levels come first, within bounds, without links, hidden ones, and what tools put there. Of documents none is read that
would hold secrets; what looks like a secret all the same is replaced. In a folder that is no project, as somebody's home, nothing is
looked up.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from agent.planner.facts.regular_file import read_regular
from agent.protocol.errors import InvalidState
from agent.redaction.redactor import SecretRedactor
from agent.risk.paths.secret_paths import is_secret
from agent.text.lazy_pattern import lazily
from agent.text.shown import shown, shown_line

if TYPE_CHECKING:
    from agent.retrieval.index import Hit

_ENDINGS = (".md", ".rst", ".txt", ".adoc")
_OF_SECRETS = lazily(
    r"(?i)(?:^|/)(?:secrets?|credentials?)/"
    r"|(?:^|[/ _.-])(?:passw(?:or)?ds?|passphrases?|credentials?|secrets?|logins?|tokens?|(?:api[ _-]?)?keys?)\.txt$"
)
"""Notes that somebody keeps in a project; `docs/secrets.md` tells of them."""
_MOST_DOCUMENTS, _MOST_BYTES = 300, 200_000
_MOST_PASSAGES = 6
_LONGEST = 1_200  # characters of a passage
MOST_FILES = 5_000
MANIFESTS = frozenset(
    "pyproject.toml package.json cargo.toml go.mod pom.xml build.gradle gemfile composer.json makefile".split()
)
_MOST_FOLDERS, _DEEPEST = 1_000, 6
_SKIPPED = ("node_modules", "__pycache__", "vendor", "target", "dist", "build")
_REPOSITORY = (".git", ".hg", ".svn")


def is_project(folder: str) -> bool:
    """Tell a repository, or a folder with a manifest, from any other one, as somebody's home."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(each in _REPOSITORY or each.lower() in MANIFESTS for each in names)


def files(folder: str) -> Iterator[str]:
    """Yield the names of files below a folder, relative to it, those of the upper levels first."""
    left, looked, seen = deque([("", 0)]), 0, 0
    while left and looked < _MOST_FOLDERS:
        below, depth = left.popleft()
        looked += 1
        try:
            with os.scandir(os.path.join(folder, below)) as entries:
                found = sorted(islice(entries, MOST_FILES), key=lambda each: each.name)
        except OSError:
            continue
        for each in found:
            name = f"{below}{each.name}"
            if each.name.startswith(".") or each.is_symlink():
                continue
            if each.is_dir():
                left.extend([(f"{name}/", depth + 1)] * (depth < _DEEPEST and each.name not in _SKIPPED))
            elif seen < MOST_FILES:
                seen += 1
                yield name


def lookup(folder: str, asked: str) -> str:
    """Return the passages nearest to the words of `asked`; "" where there are none. Raises InvalidState, IoError."""
    from agent.retrieval.chunking import chunks  # with the index it takes 25 ms
    from agent.retrieval.index import RagIndex

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
