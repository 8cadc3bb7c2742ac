"""Check whether an effect takes all of a place: home, the root, a folder of the system, a mounted volume, a disk. Pure.

A policy's floor stands on this, so it says nothing about a part of such a place, and nothing about what is not known.
"""

from __future__ import annotations

from agent.risk.paths.absolute import absolute
from agent.risk.paths.known_facts import Facts
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
