"""Check that a changing command leaves out no part of its goal that says where, which ones not, or how much."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.planner.offline.grammar.changes import operations, shell_words
from agent.text.lazy_pattern import LazyPattern

_DENIES = LazyPattern(
    r"n't\b|\bnot\b|\bwithout\b|\bexcept\b|\bexcluding\b|\bother than\b|\bbut (?:not|no)\b|\black(?:s|ing)?\b"
)
_DENIED = LazyPattern(
    r"-not\b|!|\s-L|\s-v|-prune|exclude|\[\^|\s-[a-z]*[xn]\b|--no|-empty|\s-k\b|chmod \S*-|\s-N|:\(|NR|NF|--cached|=|\\b"
)
_SHOWS_FIRST = LazyPattern(r"(?:please )?(?:show|print|display|list|cat|view|output|see)\b")
_VALUE_OF_KEY = LazyPattern(r"sed -i\S* (?:-e )?'?s(.)[A-Za-z_]\w*\1\d+\1")
_TARGET_AFTER = (
    r"(?:to|into|in|onto|over|as|called|named|under|at|inside|with|and|by|it|name|folder|directory|file|dir)"
)


def unsound(goal: str, said: str, command: str, exists: Callable[[str], bool]) -> str:
    """Say why a changing command does other than its goal; "" where nothing is seen. `said`: the goal, quotes and names masked."""
    does = operations(command)
    if does <= {"write", "append"}:
        return ""
    return (
        _denial_lost(said, command, does)
        or _place_lost(goal, command, exists)
        or _wrong_way(goal, command)
        or _wrong_text(said, command, does)
        or _too_much(command, exists)
    )


def _denial_lost(said: str, command: str, does: frozenset[str]) -> str:
    denies = _DENIES.search(re.sub(r"(?:does|do) not exist", "", said)) and not _DENIED.search(command)
    if denies and does & {"delete", "move", "copy", "mode", "owner"}:
        return "the command does not leave out what you excluded"
    if re.search(r"-not -path '?\*/[^/']+\.\w+/\*", command):
        return "a file is taken for a folder"
    inner = re.search(r"-not -name '?([\w-]+)'?(?:\s|\Z)", command)
    if inner and re.search(rf"\bin (?:the )?{re.escape(inner[1].lower())}\b", said):
        return "a folder is taken for a name"
    return ""


def _place_lost(goal: str, command: str, exists: Callable[[str], bool]) -> str:
    """A word of the goal that is a file or folder here, and that the command does not have as a word."""
    before = r"(?i:\b(?:in|inside|under|below|from|of|into|to) (?:the |my )?(?:folder |directory )?)"
    for word in re.findall(before + r"((?<![\w./'\"*-])[\w-]{2,}(?![\w/'\"*-]|\.\w))", goal):
        if word.lower() in ("all", "file", "files", "folder", "git", "test"):
            continue
        if exists(word) and not re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)", command):
            return f"{word} is here, and the command leaves it out"
    modes = re.findall(r"(?<!\S)[0-7]{3,4}(?!\S)", goal)
    if "chmod" in command and any(mode not in command for mode in modes):
        return "the command does not have all the modes"
    return ""


def _wrong_way(goal: str, command: str) -> str:
    """Tell whether what is copied or moved, and to where, have changed places; and names that were cut."""
    words = shell_words(command)
    if not words or words[0] not in ("mv", "cp", "rm", "mkdir", "touch"):
        return ""
    operands = [word.removeprefix("./").rstrip("/") for word in words[1:] if not word.startswith("-")]
    last = re.escape(operands[-1]) if operands else ""
    if words[0] in ("mkdir", "touch"):
        named = re.search(r"(?i)\b(?:called|named)\s+['\"]?([\w.-]+)", goal)
        if named and operands and all(named[1].rstrip(".") not in word for word in operands):
            return "that is not the name you gave"
        return ""
    if (
        re.search(r"(?i)\b(?:everything|all|contents) (?:\w+ ){0,3}(?:in|of|from|here)\b(?! it\b)", goal)
        and not {"-t", "*"} & {*words, *command}
        and not re.search(r"\w/\. |-mindepth 1 ", command)
    ):
        return "what is in a folder is not the folder"
    if (
        words[0] != "rm"
        and "-t" not in words
        and "--remove-destination" not in words
        and last
        and re.search(rf"(?<!\S){last}", goal)
    ):
        after = rf"(?i)\b{_TARGET_AFTER}\s+(?:the\s+|a\s+|new\s+|folder\s+|file\s+|directory\s+|called\s+|named\s+)*['\"./]*{last}"
        if not re.search(after, goal):
            return "it is not clear where it should go"
    return ""


def _wrong_text(said: str, command: str, does: frozenset[str]) -> str:
    shows = _SHOWS_FIRST.match(said) or re.search(r"\bin the output\b", said)
    then_changes = re.search(r"\b(?:and|then) (?:then )?(?:delete|remove|save|overwrite|erase)\b", said)
    if does & {"edit", "delete"} and shows and not then_changes:
        return "the goal asks to see something, not to change it"
    if _VALUE_OF_KEY.search(command) and not re.search(r"\b(?:replace|substitute)", said):
        return "the value is more likely meant than its name"
    if re.search(r"sed -i.*s(.)[^/]*\1contents?\1", command):
        return "contents are meant, not the word"
    if (
        re.search(r"\b(?:dos|windows|crlf)\b", said)
        and r"s/\r$//" in command
        and re.search(r"\bto (?:dos|windows|crlf)", said)
    ):
        return "that would be the other way round"
    return ""


def _too_much(command: str, exists: Callable[[str], bool]) -> str:
    words = shell_words(command)
    all_below = words[:1] == ["find"] and words[2:] == ["-mindepth", "1", "-delete"]
    if (words[:1] == ["rm"] or all_below) and any(
        word.rstrip("/") in ("", ".", "..", "~", "*", "/*") for word in words[1:]
    ):
        return "that is far more than one goal should delete"
    inner = re.search(r"find (\S+) -mindepth 1 -maxdepth 1 .* -t (\S+) ", command)
    if inner and (
        inner[2].startswith(inner[1] + "/") or (inner[1] == "." and "/" in inner[2][1:-1] and inner[2][0] not in "/~")
    ):
        return "a folder cannot go into itself"
    root = re.match(r"find (\d+) ", command)
    if root and not exists(root[1]):
        return f"{root[1]} is more likely a number than a folder"
    return ""
