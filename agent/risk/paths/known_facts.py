"""Add facts of the file system to a rating: they may raise it and say why, and never lower it. Pure: facts are given.

Their words are described at `RiskContext`. Whether an effect takes all of a place (home, the root, a mounted volume, a disk) is a fact
on which a policy's floor stands, so nothing is said about a part of such a place, and nothing about what is not known.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent.protocol.decisions import Level
from agent.risk.paths.absolute import absolute
from agent.risk.paths.scopes import PSEUDO_HOME
from agent.risk.reader.words import UNKNOWN, Word
from agent.text.lazy_pattern import LazyPattern

_MAX_WORDS = 2_000
_DEEP = frozenset(("chmod", "chown", "permission-wide"))  # reach what is below only when recursive
_EMPTYING = frozenset(("delete", "move", "shred", "truncate", "discard"))
_WRITING = frozenset(
    "write append modify copy-to device-write format shred volume-destroy truncate delete move".split()
)
WHOLE_KINDS = _DEEP | _EMPTYING | _WRITING

_SYSTEM = LazyPattern(
    r"/(?:bin|boot|dev|etc|home|lib\w*|media|mnt|nix|opt|proc|root|run|sbin|srv|sys|usr|var|System|Library|Applications|Users|Volumes|private)"
    r"|/usr/(?:bin|sbin|lib\w*|share|local)|/var/(?:lib|log)|/boot/efi|/private/(?:etc|var)|/System/Library"
)
_HOMES = LazyPattern(r"/(?:home|Users)/[^/]+|/root|/var/root")
_VOLUME = LazyPattern(r"/mnt/[^/]+|/media/[^/]+(?:/[^/]+)?|/run/media/[^/]+(?:/[^/]+)?|/Volumes/[^/]+")
_NO_DISK = LazyPattern(
    r"/dev/(?:null|zero|full|u?random|tty.*|pts(?:/.*)?|ptmx|std(?:in|out|err)|fd(?:/.*)?|shm(?:/.*)?|console|tcp/.*|udp/.*|snd/.*"
    r"|dri/.*|input/.*|bus/.*|usb/.*|char/.*|video\d*|kvm|fuse|net/.*|mqueue.*|hidraw\d*|uinput|spidev.*|i2c-.*|gpio.*|rtc\d*|watchdog\d*"
    r"|lp\d+|serial/.*|cu\..*|log|kmsg|initctl|cpu.*|hugepages.*|cuse|vhost.*|vcs.*|rfkill|nvidia.*|hpet|loop-control)"
)

_FREE = frozenset(("unused", "missing"))


def whole_places(
    kind: str, words: list[Word], cwd: str, *, recursive: bool, home: str, facts: Facts
) -> tuple[str, ...]:
    """Name the places that `kind` does away with as a whole: "everything", "home", "system", "mount", "disk". At most one of each."""
    if kind not in WHOLE_KINDS:
        return ()
    found: dict[str, None] = {}
    for word in words[:_MAX_WORDS]:
        text = word.text
        if UNKNOWN in text or not text:
            continue
        if kind in _WRITING and text.startswith("/dev/") and is_disk(text, facts):
            found["disk"] = None
            continue
        path = _emptied(word, absolute(text, cwd) if UNKNOWN not in cwd else text)
        if not path.startswith("/") or not _takes_all(kind, word, text, path, recursive=recursive):
            continue
        place = place_of(path, home, facts)
        if place:
            found[place] = None
    return tuple(found)


def _takes_all(kind: str, word: Word, text: str, path: str, *, recursive: bool) -> bool:
    """Tell whether what is in the folder goes with it: a folder alone cannot be deleted by what does not go into it."""
    if kind == "move":
        return True
    if kind in _DEEP or kind == "discard":
        return recursive
    if kind in _EMPTYING:
        return recursive or "all" in word.taint.split() or _STARS.search(text) is not None
    return False


_STARS = LazyPattern(r"(?:^|/)(?:\*|\*\*|\*\*/\*|\.\*|\.\[!\.\]\*|\.\?\?\*|\?\*|\*\.\*)/?$")

"""Wildcards at the end of a path that match all that is there."""


def _emptied(word: Word, path: str) -> str:
    """The folder that a target stands for: `/srv/*` is all of /srv."""
    end = len(path)
    while word.glob and end > 0:
        behind = path.rfind("/", 0, end) + 1
        if behind < end and _STARS.fullmatch(path, max(behind - 1, 0), end) is None:
            break
        end = behind - 1
    return path[:end] if end > 0 else "/"


def place_of(path: str, home: str, facts: Facts) -> str:
    """Name what the folder at an absolute, normal path is as a whole; "" for any other."""
    if path == "/":
        return "everything"
    if path in (home, PSEUDO_HOME) or home.startswith(f"{path}/") or _HOMES.fullmatch(path):
        return "home"
    if _SYSTEM.fullmatch(path):
        return "system"
    if _VOLUME.fullmatch(path) or "mount" in facts.get(path, ()):
        return "mount"
    return ""


def is_disk(path: str, facts: Facts) -> bool:
    """Tell whether writing to a path below /dev overwrites a disk that may be in use, as any may be that is not known to be free."""
    path = absolute(path, "/")
    return _NO_DISK.fullmatch(path) is None and not _FREE.intersection(facts.get(path, ()))


Facts = Mapping[str, tuple[str, ...]]

# What is done through a link is done to what it leads to.
_FOLLOWS = frozenset(
    "read create write append modify copy-to extract chmod chown permission-wide truncate shred".split()
)
_LOSES = frozenset(("delete", "shred", "truncate"))
_REPLACES = frozenset(("write", "copy-to"))
_MOUNTED = frozenset(("delete", "move", "chmod", "chown", "permission-wide"))
_BELOW = frozenset(("delete", "shred", "truncate", "move", "modify", "chmod", "chown", "permission-wide"))
_WRITES_DISKS = frozenset(
    "device-write format write append modify copy-to shred truncate volume-destroy mount-change delete".split()
)
_RUNS = frozenset(("run", "run-unknown"))
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def also_at(kind: str, word: Word, cwd: str, facts: Facts) -> list[Word]:
    """Find the other places that an effect on `word` reaches: behind links in its path, or behind the link that it is."""
    if UNKNOWN in word.text or UNKNOWN in cwd:
        return []
    places = []
    for fact in facts.get(absolute(word.text, cwd), ()):
        name, _, path = fact.partition("=")
        if path and (name == "at" or (name == "to" and kind in _FOLLOWS)):
            places.append(word.part(path))
    return places


def read_at(word: Word, cwd: str, facts: Facts) -> list[Word]:
    """The places that are read where `word` is: itself, and what links lead to."""
    return [word, *also_at("read", word, cwd, facts)] if facts else [word]


def is_link(text: str, cwd: str, facts: Facts) -> bool:
    """Tell whether a path is known to be a link, or to stand behind one."""
    return any(fact.startswith(("to=", "at=")) for fact in facts.get(absolute(text, cwd), ()))


def weigh(kind: str, words: list[Word], cwd: str, facts: Facts, *, recursive: bool) -> tuple[Level, str]:
    """The level that facts demand at least, and what to add to the sentence ("1,204 entries, 3.1 GB; is a mount point")."""
    level = Level.LOW
    notes: dict[str, None] = {}
    entries = size = 0
    more = False
    for word in words:
        if kind in _BELOW and (note := _repository_below(kind, word, cwd, facts, recursive=recursive)):
            notes[note] = None
            level = Level.HIGH
        if UNKNOWN in word.text:
            continue
        known = facts.get(absolute(word.text, cwd), ()) if UNKNOWN not in cwd else ()
        if not known:
            continue
        values = dict(fact.partition("=")[::2] for fact in known)
        if kind in _LOSES and (recursive or "file" in values or "pattern" in values):
            entries += _number(values, "entries")
            size += _number(values, "bytes")
            more = more or "more" in values
        for note, raised in _notes(kind, values, word.text, recursive=recursive):
            if note:
                notes[note] = None
            level = max(level, raised, key=lambda one: one.rank)
    counted = [_amount(entries, size, more=more)] if entries > 1 or more else [_bytes(size)] if size else []
    return level, "; ".join([*counted, *notes])


def _repository_below(kind: str, word: Word, cwd: str, facts: Facts, *, recursive: bool) -> str:
    """The repository whose inside a change of all below a folder reaches, in words; "" for none, and where it is left out by name."""
    taints = word.taint.split()
    folder = word.text.removesuffix(f"/{UNKNOWN}") if "found" in taints else word.text
    if (
        UNKNOWN in folder
        or UNKNOWN in cwd
        or not ((recursive and kind != "move") or {"found", "all"}.intersection(taints))
    ):
        return ""
    for fact in facts.get(absolute(folder or "/", cwd), ()):
        name, _, path = fact.partition("=")
        above, _, store = path.rpartition("/")
        if name == "holds" and f"spares:{'*/' if above else ''}{store}" not in taints:
            return f"reaches the inside of the repository {folder.rstrip('/')}/{path}"
    return ""


def weigh_repository(verb: str, words: list[Word], cwd: str, facts: Facts) -> str:
    """Tell what a repository holds that `git VERB` is about to throw away, "" for nothing known. Untracked files are not counted."""
    if UNKNOWN in cwd or verb == "clean":
        return ""
    for path in [absolute(word.text, cwd) for word in words if UNKNOWN not in word.text] + [cwd]:
        values = dict(fact.partition("=")[::2] for fact in facts.get(path, ()))
        told = _work(values) if verb != "stash" else _stashes(values)
        if told:
            return told
    return ""


def _stashes(values: dict[str, str]) -> str:
    number = _number(values, "stashes")
    return _count(number, "stash", "stashes") if number else ""


def _notes(kind: str, values: dict[str, str], text: str, *, recursive: bool) -> list[tuple[str, Level]]:
    notes = []
    if kind in _MOUNTED and "mount" in values and (recursive or kind in ("delete", "move")):
        notes.append((f"{text} is a mount point", Level.HIGH))
    if kind in _MOUNTED and "mount-below" in values and recursive:
        notes.append((f"another file system is mounted below {text}", Level.HIGH))
    if kind == "mount" and "filled" in values and "mount" not in values:
        notes.append((f"{text} is not empty, and what is in it would be out of reach", Level.HIGH))
    if kind in _LOSES and "dirty" in values:
        notes.append((f"{text} has {_work(values)}", Level.HIGH if recursive else Level.MEDIUM))
    if kind in _LOSES and "many" in values:
        notes.append(("", Level.HIGH))  # the numbers speak
    if kind in _REPLACES and "file" in values and "bytes" in values:
        large = "many" in values or "important" in values
        size = _bytes(_number(values, "bytes")) if _number(values, "bytes") else "empty"
        notes.append((f"{text} is there already ({size})", Level.HIGH if large else Level.MEDIUM))
    if "to" in values and kind in _FOLLOWS:
        notes.append((f"{text} is a link to {values['to']}", Level.LOW))
    elif "at" in values:
        notes.append((f"{text} really is {values['at']}", Level.LOW))
    if kind in _RUNS and "open" in values:
        notes.append((f"everyone can change {text}", Level.MEDIUM))
    if "used" in values and kind in _WRITES_DISKS:
        notes.append((f"{text} is in use: {values['used']}", Level.HIGH))
    return notes


def _work(values: dict[str, str]) -> str:
    changed = _number(values, "changed")
    told = []
    if changed:
        told.append(f"uncommitted changes in {_count(changed, 'file', 'files')}")
    if "staged" in values:
        told.append("staged changes")
    if not told and "dirty" in values:
        told.append("uncommitted changes")
    return " and ".join(told)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _amount(entries: int, size: int, *, more: bool) -> str:
    """ "1,204 entries, 3.1 GB"."""
    least = "at least " if more else ""
    return f"{least}{entries:,} files and folders, {_bytes(size)}"


def _bytes(size: int) -> str:
    value = float(size)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            return _count(size, "byte", "bytes") if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return ""


def _number(values: dict[str, str], name: str) -> int:
    text = values.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else 0
