"""Read a goal's filters ("python files larger than 1 MB changed today except in build") into one frame."""

from __future__ import annotations

import re
import shlex
from typing import Any

from msgspec import Struct

from agent.lexicon.words import Token
from agent.planner.offline.fitting import match_at
from agent.planner.offline.patterns import Literal, Phrasing
from agent.planner.offline.sentences import GoalContext, Sentence
from agent.planner.offline.values import Value

_KIND_NOUNS = frozenset({"file", "files", "script", "scripts", "documents", "document"})
_SINGULAR = frozenset({"file", "script", "folder"})
_MANY = frozenset({"all", "every", "each", "any", "folders", "directories", "dirs", "recursively", "anywhere"})
_STANDALONE_KINDS = frozenset({"images", "pictures", "photos", "videos", "movies", "logs"})
# A path after one of these is where something goes, not where to look.
_NOT_BEFORE_ROOT = frozenset(
    {"to", "into", "onto", "as", "than", "called", "named", "with", "and", "by", "of", "except", "but"}
)
_SLOT = re.compile(r"<([a-z_]+)(?:\.([a-z]+))?>")


class Filter(Struct, frozen=True, kw_only=True):
    """One entry of filters.toml, compiled."""

    group: str
    phrasings: tuple[Phrasing, ...]
    effect: dict[str, Any]


class Frame(Struct, kw_only=True):
    """All filters of a goal. `tests` are finished find tests by group; `used` the tokens that were understood."""

    root: Value | None = None
    type: str = ""
    names: list[str] = []
    tests: dict[str, list[str]] = {}
    excluded_folders: list[str] = []
    excluded_names: list[str] = []
    content: str = ""
    lacking: str = ""
    nocase: bool = False
    depth: str = ""
    used: set[int] = set()
    groups: set[str] = set()
    singular: bool = False
    many: bool = False

    @property
    def is_about_files(self) -> bool:
        """Tell whether anything said that files or folders are meant at all."""
        return bool(self.type or self.names or self.tests.get("type") or self.tests.get("name"))


def load_filters(entries: list[dict[str, Any]], compile_phrasing: Any) -> tuple[Filter, ...]:
    """Compile the entries of filters.toml. ValueError for a bad phrasing."""
    filters = []
    for entry in entries:
        effect = {key: value for key, value in entry.items() if key not in ("group", "phrasings")}
        phrasings = tuple(compile_phrasing(source) for source in entry["phrasings"])
        filters.append(Filter(group=entry["group"], phrasings=phrasings, effect=effect))
    return tuple(filters)


class FilterReader:
    """Finds filters in tokens; the longest one that starts at a word wins."""

    def __init__(self, filters: tuple[Filter, ...]) -> None:
        self._by_first: dict[str, list[tuple[Filter, Phrasing]]] = {}
        self._any_first: list[tuple[Filter, Phrasing]] = []
        for entry in filters:
            for phrasing in entry.phrasings:
                self._index(entry, phrasing)

    def _index(self, entry: Filter, phrasing: Phrasing) -> None:
        firsts: set[str] = set()
        for element in phrasing.elements:
            if not isinstance(element, Literal):
                if not element.optional:
                    self._any_first.append((entry, phrasing))
                    return
                continue
            firsts |= element.concepts
            if not element.optional:
                break
        for concept in firsts:
            self._by_first.setdefault(concept, []).append((entry, phrasing))

    def read(self, sentence: Sentence, ignored: tuple[str, ...] = ()) -> Frame:
        """The frame of a whole goal, without the filter groups in `ignored`; filters of one kind add up."""
        frame = Frame()
        tokens = sentence.tokens
        at = 0
        while at < len(tokens):
            after = self._read_one(frame, sentence, at, ignored)
            frame.used |= set(range(at, after))
            at = max(after, at + 1)
        lows = {tokens[at].low for at in frame.used}
        frame.singular = bool(lows & _SINGULAR) and not any(low + "s" in lows for low in _SINGULAR)
        frame.many = any(token.low in _MANY for token in tokens)
        return frame

    def _read_one(self, frame: Frame, sentence: Sentence, at: int, ignored: tuple[str, ...]) -> int:
        """Add the filter that starts at `at`, and return the position after it; `at` itself for none."""
        token = sentence.tokens[at]
        kinds = read_kinds(sentence.tokens, at, sentence.scene)
        end, best = self._longest(sentence, at, ignored)
        if kinds is not None and kinds[0] >= end:
            if frame.names:
                return at
            frame.names += kinds[1]
            frame.type = frame.type or "f"
            frame.groups.add("name")
            return kinds[0]
        if best is not None:
            return end if apply(frame, best[0], best[1]) else at
        previous = sentence.tokens[at - 1].low if at else ""
        if _is_scope(token) and previous not in _NOT_BEFORE_ROOT and frame.root is None:
            frame.root = Value(text=token.raw, kind="path", origin=token.raw)
            frame.groups.add("root")
            return at + 1
        return at

    def _longest(
        self, sentence: Sentence, at: int, ignored: tuple[str, ...]
    ) -> tuple[int, tuple[Filter, dict[str, Value]] | None]:
        token = sentence.tokens[at]
        end, best = at, None
        candidates = self._any_first if token.quoted else self._by_first.get(token.concept, []) + self._any_first
        for entry, phrasing in candidates:
            found = match_at(phrasing, sentence, at) if entry.group not in ignored else None
            if found is not None and found[0] > end:
                end, best = found[0], (entry, found[1])
        return end, best


def _is_scope(token: Token) -> bool:
    return token.is_path or (not token.quoted and token.raw.startswith(("/", "~/", "./", "../")))


def read_kinds(tokens: list[Token], at: int, scene: GoalContext) -> tuple[int, list[str]] | None:
    """ "python files", ".txt and .md files", "*.log files", "images": position after it and globs."""
    names: list[str] = []
    where = at
    while where < len(tokens) and not tokens[where].quoted and not tokens[where].is_path:
        low = tokens[where].low
        if names and low in ("and", "or", "&"):
            where += 1
            continue
        joined = where > at and tokens[where - 1].low in ("and", "or", "&")  # "png images", but "images and videos"
        if names and low in _KIND_NOUNS | (frozenset() if joined else _STANDALONE_KINDS):
            return where + 1, names
        if re.fullmatch(r"\*?\.[a-z0-9_+.]{1,12}", low):
            names.append("*" + tokens[where].raw.removeprefix("*"))
        elif scene.lexicon.is_plural_extension(low):
            names += [f"*.{extension}" for extension in scene.lexicon.kinds[low[:-1]]]
            if where + 1 == len(tokens) or tokens[where + 1].low not in ("and", "or", "&", *_KIND_NOUNS):
                return where + 1, names
        elif low in scene.lexicon.kinds:
            names += [f"*.{extension}" for extension in scene.lexicon.kinds[low]]
            if low in _STANDALONE_KINDS and (
                where + 1 == len(tokens) or tokens[where + 1].low not in ("and", "or", *_KIND_NOUNS)
            ):
                return where + 1, names
        elif re.fullmatch(r"[a-z0-9]{2,5}", low) and where + 1 < len(tokens) and _is_unknown_kind(tokens, where, scene):
            names.append(f"*.{tokens[where].raw}")
        else:
            return None
        where += 1
    return None


def _is_unknown_kind(tokens: list[Token], where: int, scene: GoalContext) -> bool:
    """ "the tfw files": a short unknown word right before "files" is an extension when it cannot be a plain adjective."""
    low = tokens[where].low
    following = tokens[where + 1].low
    return following == "files" and not scene.lexicon.knows(low) and low in scene.lexicon.extensions


def apply(frame: Frame, entry: Filter, values: dict[str, Value]) -> bool:
    """Add one filter to a frame; False where it says again, and differently, what can be said only once.

    A second folder or a second text must not silently replace the first.
    """
    effect = entry.effect
    once = {key: _said(effect[key], values) for key in ("type", "root", "depth", "content", "lacking") if key in effect}
    for key, said in once.items():
        before = getattr(frame, key)
        if before and (before.text if isinstance(before, Value) else before) != said:
            return False
    for key, said in once.items():
        setattr(frame, key, values[effect[key]] if key == "root" else said)
    if "test" in effect:
        test = _SLOT.sub(lambda match: values[match[1]].render(match[2] or ""), effect["test"])
        frame.tests.setdefault(entry.group, []).append(test)
    for slot in effect.get("exclude", ()):
        if slot in values:
            frame.excluded_folders.append(values[slot].text.rstrip("/"))
    if "without" in effect:
        frame.excluded_names.append(values[effect["without"]].text)
    if "name" in effect:
        slot = next(iter(values))
        glob = _name_glob(effect["name"], slot, values[slot].text)
        # Names narrow down what kinds ("python files") allow, so they are a test of their own.
        frame.tests.setdefault("name", []).append(f"-name {shlex.quote(glob)}")
    if "kind" in effect:
        frame.names.append(values[effect["kind"]].text)
    frame.nocase = frame.nocase or bool(effect.get("nocase"))
    frame.groups.add(entry.group)
    return True


def _said(name: str, values: dict[str, Value]) -> str:
    """The text of an effect: that of a slot, or a word of filters.toml itself."""
    return values[name].text if name in values else name


def _name_glob(shape: str, slot: str, text: str) -> str:
    """The glob for -name. Where the phrase adds its own stars, those of the text are taken literally."""
    if shape == slot:
        return text
    return shape.replace(slot, re.sub(r"([*?\[\]\\])", r"\\\1", text.removeprefix(".") if shape == "*.ext" else text))
