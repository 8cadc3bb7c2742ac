"""Data model of a goal's intent: which files or text, what happens to the lines, and where the result goes."""

from __future__ import annotations

from msgspec import Struct

from agent.planner.offline.values import Value


class Containing(Struct, frozen=True, kw_only=True):
    """A condition on content: any (`either`) of the texts must, or with `negated` must not, be in it."""

    texts: tuple[str, ...]
    negated: bool = False
    regex: bool = False


class Files(Struct, frozen=True, kw_only=True):
    """Files or folders. `type` is find's letter, "any" for all, "" where nothing was said; `names` are globs, one of which fits.

    `tests` are finished find tests; `narrow` says whether anything but the type and the place was said.
    """

    roots: tuple[Value, ...] = ()
    type: str = ""
    names: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    content: tuple[Containing, ...] = ()
    nocase: bool = False
    word: bool = False
    min_depth: str = ""
    max_depth: str = ""
    subfolders: bool = False

    @property
    def narrow(self) -> bool:
        return bool(self.names or self.tests or self.content)


class Order(Struct, frozen=True, kw_only=True):
    """The order of lines or files. `key`: size, name, time, length, count, col, whole ...; `column` for "col". `rising`: that was said."""

    key: str = "name"
    column: str = ""
    then: str = ""
    numeric: bool = False
    reverse: bool = False
    rising: bool = False
    human: bool = False
    nocase: bool = False


class Stage(Struct, frozen=True, kw_only=True):
    """One step on lines: what (`op`) with what (`args`)."""

    op: str
    args: tuple[str, ...] = ()
    order: Order | None = None


class Sink(Struct, frozen=True, kw_only=True):
    """The place a result goes to: printed ("show"), written ("file"), appended ("append"), or back into its file ("inplace")."""

    kind: str = "show"
    path: Value | None = None


class Intent(Struct, frozen=True, kw_only=True):
    """A goal that was understood. `source` is "files" (names), "content" (what is in files that a search finds) or "text" (given files).

    `action` is what happens to files themselves ("" for none, the result is printed); `args` are its values; `form` are wishes
    about how things are shown.
    """

    source: str
    files: Files = Files()
    texts: tuple[Value, ...] = ()
    literal: str | None = None
    action: str = ""
    args: tuple[Value, ...] = ()
    stages: tuple[Stage, ...] = ()
    sink: Sink = Sink()
    form: frozenset[str] = frozenset()
    shown: tuple[str, ...] = ()
    separator: str = ""
    group: str = ""
