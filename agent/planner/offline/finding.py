"""Write a frame of filters as find and grep commands."""

from __future__ import annotations

import shlex

from agent.planner.offline.filters import Frame
from agent.planner.offline.grammar.findwords import MEANING, folder_glob, name_tests
from agent.planner.offline.values import quote_path
from agent.text.lazy_pattern import LazyPattern

# What cameras, scanners, phones and office programs write is called .JPG here and .jpg there.
_WRITTEN_ANYHOW = LazyPattern(
    r"-name (?='\*\.(?:jpe?g|png|gif|bmp|tiff?|webp|heic|raw|mp[34]|mov|avi|mkv|webm|wav|m4a|pdf|docx?|xlsx?|pptx?|zip)')"
)


def in_any_case(command: str) -> str:
    """A search for such files that finds them however their names are written; none that cuts the ending off as it stands."""
    return command if "%" in command else _WRITTEN_ANYHOW.sub("-iname ", command)


def root_word(frame: Frame) -> str:
    """Where to look, as a shell word."""
    return quote_path(frame.root.text) if frame.root is not None else "."


def find_command(frame: Frame, *, with_content: bool = True) -> str:
    """`find` with all filters and no action, to which an action may be appended."""
    parts = ["find", root_word(frame)]
    if frame.depth:
        parts += ["-maxdepth", frame.depth]
    if frame.type == "d":
        parts += ["-mindepth", "1"]
    if frame.type in ("f", "d", "l"):
        parts += ["-type", frame.type]
    elif not frame.type and "type" not in frame.tests:
        parts += ["-type", "f"]
    parts += name_tests(frame.names, nocase=frame.nocase and not (frame.content or frame.lacking))
    for tests in frame.tests.values():
        parts += tests
    for folder in frame.excluded_folders:
        parts += ["-not", "-path", shlex.quote(folder_glob(folder))]
    for name in frame.excluded_names:
        parts += ["-not", "-name", shlex.quote(name)]
    if with_content and frame.content:
        parts.append(f"-exec grep -q{_matching(frame, frame.content)} {{}} \\;")
    if with_content and frame.lacking:
        parts.append(f"-not -exec grep -q{_matching(frame, frame.lacking)} {{}} \\;")
    return " ".join(parts)


def _matching(frame: Frame, text: str) -> str:
    """Flags and pattern of a grep for literal text."""
    flags = ("F" if MEANING.search(text) or "\n" in text else "") + ("i" if frame.nocase else "")
    option = " -e " if text.startswith("-") else " "
    return f"{flags}{option}{shlex.quote(text)}"


def _greppable(frame: Frame) -> bool:
    """Tell whether grep alone can do all of it, which is what people type."""
    simple_folders = all("/" not in folder for folder in frame.excluded_folders)
    return frame.type in ("", "f", "any") and not frame.tests and not frame.depth and simple_folders


def _grep_filters(frame: Frame) -> str:
    words = [f" --include={shlex.quote(name)}" for name in frame.names]
    words += [f" --exclude={shlex.quote(name)}" for name in frame.excluded_names]
    words += [f" --exclude-dir={shlex.quote(folder)}" for folder in frame.excluded_folders]
    return "".join(words)


def list_command(frame: Frame) -> str:
    """Names of the files: find, or `grep -rl` where only names and text matter."""
    if bool(frame.content) != bool(frame.lacking) and _greppable(frame):
        letter = "l" if frame.content else "L"
        flags, _, pattern = _matching(frame, frame.content or frame.lacking).partition(" ")
        return f"grep -r{letter}{flags}{_grep_filters(frame)} {pattern} {root_word(frame)}"
    return find_command(frame)


def lines_command(frame: Frame) -> str:
    """Matching lines with the file that each is in."""
    flags, _, pattern = _matching(frame, frame.content).partition(" ")
    if _greppable(frame) and not frame.lacking:
        return f"grep -r{flags}{_grep_filters(frame)} {pattern} {root_word(frame)}"
    return f"{find_command(frame, with_content=False)} -exec grep -H{flags} {pattern} {{}} +"
