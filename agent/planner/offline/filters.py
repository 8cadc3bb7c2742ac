"""Reading a goal's filters ("python files larger than 1 MB changed today except in build") into one frame."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from agent.planner.offline.patterns import Literal, Phrasing, match_at
from agent.planner.offline.slots import Scene
from agent.planner.offline.values import Value
from agent.planner.offline.words import Token

_KIND_NOUNS = frozenset({"file", "files", "script", "scripts", "documents", "document"})
_SINGULAR = frozenset({"file", "script", "folder"})
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

    @property
    def is_about_files(self) -> bool:
        """Whether anything said that files or folders are meant at all."""
        return bool(self.type or self.names or self.tests.get("type"))


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

    def read(self, goal: str, tokens: list[Token], scene: Scene, ignored: tuple[str, ...] = ()) -> Frame:
        """The frame of a whole goal, without the filter groups in `ignored`; filters of one kind add up."""
        frame = Frame()
        at = 0
        while at < len(tokens):
            after = self._read_one(frame, goal, tokens, at, scene, ignored)
            frame.used |= set(range(at, after))
            at = max(after, at + 1)
        lows = {tokens[at].low for at in frame.used}
        frame.singular = bool(lows & _SINGULAR) and not any(low + "s" in lows for low in _SINGULAR)
        return frame

    def _read_one(
        self, frame: Frame, goal: str, tokens: list[Token], at: int, scene: Scene, ignored: tuple[str, ...]
    ) -> int:
        kinds = _read_kinds(tokens, at, scene)
        best_end, best = at, None
        candidates = (
            self._any_first if tokens[at].quoted else self._by_first.get(tokens[at].concept, []) + self._any_first
        )
        for entry, phrasing in candidates:
            if entry.group in ignored:
                continue
            found = match_at(phrasing, goal, tokens, at, scene)
            if found is not None and found[0] > best_end:
                best_end, best = found[0], (entry, found[1])
        if kinds is not None and kinds[0] >= best_end:
            frame.names += [name for name in kinds[1] if name not in frame.names]
            frame.type = frame.type or "f"
            frame.groups.add("name")
            return kinds[0]
        if best is not None:
            apply(frame, best[0], best[1])
            return best_end
        previous = tokens[at - 1].low if at else ""
        if _is_scope(tokens[at]) and previous not in _NOT_BEFORE_ROOT and frame.root is None:
            frame.root = Value(text=tokens[at].raw, kind="path", origin=tokens[at].raw)
            frame.groups.add("root")
            return at + 1
        return at


def _is_scope(token: Token) -> bool:
    return token.is_path or (not token.quoted and token.raw.startswith(("/", "~/", "./", "../")))


def _read_kinds(tokens: list[Token], at: int, scene: Scene) -> tuple[int, list[str]] | None:
    """ "python files", ".txt and .md files", "*.log files", "images": position after it and globs."""
    names: list[str] = []
    where = at
    while where < len(tokens) and not tokens[where].quoted and not tokens[where].is_path:
        low = tokens[where].low
        if names and low in ("and", "or", "&"):
            where += 1
            continue
        if names and low in _KIND_NOUNS | _STANDALONE_KINDS:
            return where + 1, names
        if re.fullmatch(r"\*?\.[a-z0-9_+.]{1,12}", low):
            names.append("*" + tokens[where].raw.removeprefix("*"))
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


def _is_unknown_kind(tokens: list[Token], where: int, scene: Scene) -> bool:
    """ "the tfw files": a short unknown word right before "files" is an extension when it cannot be a plain adjective."""
    low = tokens[where].low
    following = tokens[where + 1].low
    return following == "files" and not scene.lexicon.knows(low) and low in _EXTENSIONS


# Extensions that are no English words, so that "the old files" never means `*.old`.
_EXTENSIONS = frozenset(
    "mkv wav flac ogg webp svg bmp tiff exe dll so jar war whl egg deb rpm dmg gz bz2 xz tgz tar rar 7z docx xlsx pptx odt ods tex "
    "bib rtf ipynb lua kt scala hs ml ex exs erl clj vue jsx tsx scss sass less ps1 bat cmd awk sed diff patch cfg env pem crt key "
    "csr db sqlite parquet avro proto wasm asm hpp cxx swp pyi rst srt vtt ttf otf woff psd eps ai heic avi mov mp4 webm m4a".split()
)


def apply(frame: Frame, entry: Filter, values: dict[str, Value]) -> None:
    """Add one filter to a frame."""
    effect = entry.effect
    frame.groups.add(entry.group)
    if "type" in effect:
        frame.type = effect["type"]
    if "test" in effect:
        test = _SLOT.sub(lambda match: values[match[1]].render(match[2] or ""), effect["test"])
        frame.tests.setdefault(entry.group, []).append(test)
    if "root" in effect:
        frame.root = values[effect["root"]]
    if "depth" in effect:
        frame.depth = values[effect["depth"]].text if effect["depth"] in values else effect["depth"]
    for slot in effect.get("exclude", ()):
        if slot in values:
            frame.excluded_folders.append(values[slot].text.rstrip("/"))
    if "without" in effect:
        frame.excluded_names.append(values[effect["without"]].text)
    if "name" in effect:
        slot = next(iter(values))
        frame.names.append(_name_glob(effect["name"], slot, values[slot].text))
    frame.content = values[effect["content"]].text if "content" in effect else frame.content
    frame.lacking = values[effect["lacking"]].text if "lacking" in effect else frame.lacking
    frame.nocase = frame.nocase or bool(effect.get("nocase"))


def _name_glob(shape: str, slot: str, text: str) -> str:
    """The glob for -name. Where the phrase adds its own stars, those of the text are taken literally."""
    if shape == slot:
        return text
    return shape.replace(slot, re.sub(r"([*?\[\]\\])", r"\\\1", text.removeprefix(".") if shape == "*.ext" else text))
