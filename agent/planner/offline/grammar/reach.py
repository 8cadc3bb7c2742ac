"""Check that a changing command reaches what its goal speaks of: all that is in a folder, the right end of a link, a whole folder."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable

from agent.planner.offline.grammar.changes import operations, shell_words

_ALL_INSIDE = re.compile(
    r"\b(?:everything|all|anything|contents?|(?:all |every |each |the )?(?:files?|folders?|scripts?|director(?:y|ies))|\w+s)"
    r" (?:\w+ ){0,3}?(?:in|inside|under|below|within) (?:the |my )?"
)
_GOES_DEEP = re.compile(r"\s-\w*[Rr]|find |\*|--recursive|\bfor \w")
# Programs that do one file at a time, and what a folder makes of them.
_ONE_FILE = frozenset(
    ("gzip", "bzip2", "xz", "zstd", "gunzip", "unxz", "bunzip2", "shred", "split", "dos2unix", "truncate")
)
_OF_DOCKER = re.compile(r"\b(?:docker|podman|dangling|unused|untagged|container|registry)\b")
_OF_PICTURES = re.compile(
    r"\b(?:pictures?|photos?|image files?|files|jpe?gs?|pngs?|folders?|director(?:y|ies)|here)\b|\x02"
)


def out_of_reach(goal: str, said: str, command: str, exists: Callable[[str], bool]) -> str:
    """Say why a command does less, more or other than its goal; "" where nothing is seen. `said`: the goal, quotes and names masked."""
    words = shell_words(command)
    if not words:
        return ""
    return (
        _only_the_folder(goal, command, exists)
        or _whole_folder(words, exists)
        or _wrong_link(words, command, exists)
        or _no_commit(words, goal, exists)
        or _wrong_side(words, said)
        or _other_images(command, said)
    )


def _only_the_folder(goal: str, command: str, exists: Callable[[str], bool]) -> str:
    """ "make everything in src executable" is not about the folder itself."""
    if not operations(command) & {"mode", "owner"} or _GOES_DEEP.search(command):
        return ""
    for word in shell_words(command)[2:]:
        inside = re.search(rf"{_ALL_INSIDE.pattern}['\"]?(?:\./)?{re.escape(word.rstrip('/'))}(?![\w-])", goal.lower())
        if inside and (exists(word.rstrip("/") + "/.") or "everything" in inside[0]):
            return f"that would change {word} and nothing in it"
    return ""


def _whole_folder(words: list[str], exists: Callable[[str], bool]) -> str:
    """A folder where the program takes files only."""
    needs_option = words[0] in ("cp", "scp") and not any(
        re.match(r"-\w*[raR]|--recursive|--archive", word) for word in words
    )
    if words[0] not in _ONE_FILE and not needs_option:
        return ""
    operands = [word for word in words[1:] if not word.startswith("-")]
    for word in operands[:-1] if needs_option else operands:
        if exists(word.rstrip("/") + "/."):
            return f"{word} is a folder"
    return ""


def _wrong_link(words: list[str], command: str, exists: Callable[[str], bool]) -> str:
    """A link that would point to nothing, or whose name is taken."""
    if words[0] != "ln" or len(words) < 4 or "&&" in command:
        return ""
    target, link = [word for word in words[1:] if not word.startswith("-")][-2:]
    is_folder = exists(link.rstrip("/") + "/.")
    if exists(link) and not is_folder and not re.match(r"-\w*f|-\w*n", words[1]):
        return f"{link} is there already"
    soft = any(re.match(r"-\w*s", word) for word in words)
    relative = (
        not target.startswith(("/", "~", "$"))
        and soft
        and not any(re.match(r"-\w*r|--relative", word) for word in words)
    )
    seen_from = link if is_folder and not re.match(r"-\w*n", words[1]) else posixpath.dirname(link)
    where = os.path.normpath(os.path.join(seen_from, target)) if relative and seen_from else target
    if exists(target) and not exists(where):
        return f"{target} is not where the link would point"
    return ""


def _no_commit(words: list[str], goal: str, exists: Callable[[str], bool]) -> str:
    """`git restore NAME` for what is more likely a commit: "reset to origin/main"."""
    if words[:2] != ["git", "restore"] or not re.search(r"(?i)\breset\b.*\bto\b|\bgo back\b", goal):
        return ""
    names = [word for word in words[2:] if not word.startswith((":", "-"))]
    return next((f"{name} is no file here" for name in names if not exists(name)), "")


def _wrong_side(words: list[str], said: str) -> str:
    """Into a container, or out of it."""
    if words[:2] not in (["docker", "cp"], ["podman", "cp"]) or len(words) < 4:
        return ""
    into = ":" in words[-1]
    if re.search(r"\b(?:in)?to (?:the |my )?(?:\w+ )?container\b", said) and not into:
        return "the goal says into the container"
    if re.search(r"\b(?:from|out of) (?:the |my )?(?:\w+ )?container\b", said) and into:
        return "the goal says out of the container"
    return ""


def _other_images(command: str, said: str) -> str:
    """ "delete all images" may mean those of docker as well as pictures."""
    if "-delete" not in command and not re.search(r"\brm\b", command):
        return ""
    says_images = re.search(r"\bimages\b", said) and re.search(r"\.(?:jpe?g|png)\b", command)
    if says_images and (_OF_DOCKER.search(said) or not _OF_PICTURES.search(said)):
        return "images may be those of docker, or pictures"
    return ""


_INTO_FOLDER = re.compile(r"\b(?:in|into|to|onto) (?:[\w-]+ ){0,2}(?:folder|directory|dir|subfolder)\b")
_GOES_TO = re.compile(r"\b(?:cp|mv) (?:-\S+ )*-t ([^\s;{}+]+)|(?:cp|mv) (?:-\S+ )*(\S+) ([^\s;{}+-][^\s;{}+]*)\Z")


def with_folder_made(command: str, said: str, exists: Callable[[str], bool]) -> str:
    """A command that copies or moves to what its goal calls a folder, with what makes that where it is missing: else it would be a name."""
    target = _GOES_TO.search(command) if _INTO_FOLDER.search(said) and "mkdir" not in command else None
    name = (target[1] or target[3]).strip("'\"") if target else ""
    # One folder that goes "to" another may get its name.
    renames = (
        target is not None and bool(target[2]) and exists(target[2] + "/.") and not re.search(r"\bin(?:to)?\b", said)
    )
    if target is None or exists(name) or renames or ":" in name:
        return command
    return f"mkdir -p {target[1] or target[3]} && {command}"
