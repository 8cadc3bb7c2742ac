"""Resolve "it", "there" and "them" in a step to what the steps before it made, named or found."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from dataclasses import dataclass, field, replace

_SELECTS = re.compile(r"(?i)\A(?:please\s+)?(?:find|list|show|search\s+for|look\s+for|get|select)\s+(?:me\s+)?(?=\S)")
_FOLDER = r"(?:that|this|the|the\s+new|the\s+same)\s+(?:folder|directory|dir)"
_PLACE = re.compile(
    rf"(?i)\b(in|into|to|inside|under|from|of)\s+(?:it|there|{_FOLDER})(?=\s|[,.;]|\Z)(?!\s+['\"\w./~])"
)
_THERE = re.compile(r"(?i)(?<!is )(?<!are )(?<!in )(?<!was )(?<!were )\b(?:in\s+)?there(?=\s*[,.;]|\s*\Z)")
_MOVES = re.compile(r"(?i)(?:please\s+)?(?:move|copy|put|save|extract|unpack|unzip|download|clone|store|write)\b")
_PUTS = re.compile(r"(?i)\A(?:put|store)\b")
_PUTS_NEW = re.compile(
    r"(?i)\Aput\s+(?=an?\s+(?:new\s+|empty\s+)*(?:file|folder|directory)\b)"
)  # "a file": not one that is there
_THE_FOLDER = re.compile(rf"(?i)\b{_FOLDER}(?=\s*[,.;]|\s*\Z)")
_IT = re.compile(
    r"(?i)\b(?:it|that\s+file|the\s+(?:new\s+)?(?:archive|tarball|zip|zip\s+file|copy|backup|result|output|file))(?=\s|[,.;]|\Z)(?!\s+(?:called|named|['\"./~]))"
)
_THEM = re.compile(
    r"(?i)\b(?:all\s+of\s+)?(?:them|these|those|the\s+results?|the\s+matches|these\s+files|those\s+files)(?=\s|[,.;]|\Z)"
)
_ITS = re.compile(
    r"(?i)\b(?:its|the\s+file's)\s+((?:new\s+|current\s+)?(?:permissions|size|contents?|owner|first|last|name|lines?|checksum|type))\b"
)
_HOW_MANY = re.compile(
    r"(?i)\A(?:please\s+)?(?:tell\s+me\s+|print\s+|show\s+(?:me\s+)?|say\s+|report\s+)?how\s+many\s+(?:there\s+are|they\s+are|of\s+them\s+there\s+are|it\s+has|lines\s+(?:it|that)\s+has|are\s+there)\Z"
)
_LEFT_OVER = re.compile(r"(?i)\b(?:it|them|there|that|these|those|its|their)\b")
_EXISTS_ONLY = re.compile(
    r"(?i)\b(?:is|are|was|were)\s+there\b|\bthat\s+(?:are|is|were|was|have|has|contain|match|end|start|begin)\w*\b"
)


@dataclass(frozen=True)
class Told:
    """Things that the steps so far have left to refer to. Paths as in their commands; `cwd` where the next one runs.

    `folders` and `files`: absolute paths that will exist by then.
    """

    cwd: str
    folder: str = ""
    thing: str = ""
    phrase: str = ""
    written: str = ""  # the file that the last step wrote its result to
    folders: frozenset[str] = field(default_factory=frozenset)
    files: frozenset[str] = field(default_factory=frozenset)

    def exists(self, path: str) -> bool:
        """Tell whether a step before makes `path` (which is absolute)."""
        plain = os.path.normpath(path)
        return plain in self.folders or (plain in self.files and not path.endswith(("/", "/.")))


def resolved(clause: str, told: Told) -> str | None:
    """The clause with what it refers to in full; None where it refers to something that nobody said."""
    text = clause
    if told.written and _HOW_MANY.match(text.strip()):
        return f"print only the number of lines in {_word(told.written)}"
    if told.thing:
        text = _ITS.sub(lambda match: f"the {match[1]} of {_word(told.thing)}", text)
    if told.folder:
        text = _PUTS_NEW.sub("create ", text)
        to = "to" if _MOVES.match(text) else ""
        text = _PLACE.sub(lambda match: f"{to or match[1]} {_word(told.folder)}", text)
        text = _THE_FOLDER.sub(lambda match: _word(told.folder), text)
        text = _THERE.sub(lambda match: f"{to or 'in'} {_word(told.folder)}", text)
        text = _PUTS.sub("move", text) if to and _word(told.folder) in text else text
    if told.phrase:
        text = _THEM.sub(lambda match: told.phrase, text)
    if told.thing or told.folder:
        text = _IT.sub(lambda match: _word(told.thing or told.folder), text)
    rest = _EXISTS_ONLY.sub("", re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "", text))
    return None if _LEFT_OVER.search(rest) else text


_FOLLOWS = re.compile(
    r"(?i)(?:(?:and|now|but|ok(?:ay)?|then|please|no)[,\s]+)*(?:only|just)\s+(?:the\s+)?(?:ones|those|these|files|folders|in|from|under|the)\b"
    r"|(?:(?:and|now|ok(?:ay)?|then|please)[,\s]+)*(?:\w+\s+){1,2}(?:them|those|these)\b"
    r"|(?:(?:and|now|but|ok(?:ay)?|then|please)[,\s]+)*(?:(?:only|just|show(?:\s+me)?)\s+)?the\s+(?:first|last|top)\s+(?:\d+|one|two|three|five|ten)\Z"
    r"|(?:(?:and|now|but|please)[,\s]+)*(?:without|except|excluding|sorted by|the same (?:in|for|with|but))\s"
)
_ONLY = re.compile(
    r"(?i)\A(?:(?:and|now|but|ok(?:ay)?|then|please|no|show(?:\s+me)?)[,\s]+)*(?:(?:only|just)\s+)?(?:the\s+)?(?:(?:ones|those|these|files|folders)\s+)?"
    r"(?=in|from|under|larger|smaller|bigger|older|newer|first|last|changed|modified|with|called|named|that|which|of|by)"
)
SAYS_NO_MORE = re.compile(
    r"(?i)(?:(?:only|just)\s+(?:the\s+)?(?:\w+\s+){0,2}ones|(?:sort|order|count|narrow|filter|reverse)\s+(?:them|those|these)(?:\s+by\s+\w+)?|(?:(?:only|just|show(?:\s+me)?)\s+)?the\s+(?:first|last|top)\s+\w+)[.!\s]*"
)
_LONGEST_FOLLOW_UP = 80
_CHANGES = re.compile(
    r"\s-(?:exec|execdir|ok|okdir|delete|fprint\w*)\b|\bxargs\b|\b(?:sed|perl|ruby)\b[^|;&]*\s-\w*i|\btee\b|(?<![\d&<])>(?!\s*/dev/null)"
    r"|(?:^|[|;&(]\s*)(?:rm|mv|cp|chmod|chown|touch|kill|pkill|mkdir|rename|truncate|ln)\b"
)


def changes_files(command: str) -> bool:
    """Tell whether a command does something to what it finds, so that its silence says nothing about what was found."""
    return _CHANGES.search(command) is not None


def is_follow_up(text: str) -> bool:
    """Tell whether a goal only makes sense behind another one: "only the ones in src", "sort them by size"."""
    return len(text) <= _LONGEST_FOLLOW_UP and _FOLLOWS.match(text.strip()) is not None


def added(goal: str, remark: str) -> str:
    """A goal and what a later one says more of it, as one."""
    said = _ONLY.sub("", remark.strip().rstrip(".!"), count=1)
    return f"{goal} {said}" if said != remark else f"{goal}, {remark}"


def says_them(clause: str) -> bool:
    """Tell whether a clause is about what was found before it."""
    return bool(_THEM.search(clause) or _HOW_MANY.match(clause.strip()))


def after(told: Told, clause: str, command: str) -> Told:
    """Add what can be referred to behind a step."""
    selects = _SELECTS.match(clause)
    now = replace(told, phrase=clause[selects.end() :] if selects else "", written="")
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        return now
    return _after_words(now, words) if words else now


def _after_words(told: Told, words: list[str]) -> Told:
    program, operands = words[0], [word for word in words[1:] if not word.startswith("-")]
    last = operands[-1] if operands else ""
    if ">" in words[:-1]:
        return replace(_file(told, words[words.index(">") + 1]), written=words[words.index(">") + 1])
    if program in ("curl", "wget") and "://" in last:
        name = posixpath.basename(last.split("?")[0].split("#")[0].partition("://")[2].partition("/")[2])
        folder = next((words[at + 1] for at, word in enumerate(words[:-1]) if word in ("--output-dir", "-P")), "")
        return _file(told, os.path.join(folder, name)) if name and "-o" not in words else told
    if program == "mkdir" and last:
        return _folder(told, last, thing=last)
    if program == "cd" and last:
        moved = os.path.normpath(os.path.join(told.cwd, os.path.expanduser(last)))
        return replace(told, cwd=moved, folder=".", thing="")
    for option in ("-t", "-C", "-d"):
        if option in words[:-1] and not (program == "find" and option == "-d"):
            return _folder(told, words[words.index(option) + 1])
    if program in ("tar", "zip") and operands:
        archive = next((word for word in operands if re.search(r"\.(?:tar|tgz|zip|t\w{2}|gz|xz|bz2|zst)\Z", word)), "")
        return _file(told, archive) if archive else told
    if program in ("cp", "mv", "rsync", "ln") and len(operands) > 1:
        is_folder = last.endswith("/") or told.exists(os.path.join(told.cwd, last) + "/.")
        return _folder(told, last) if is_folder or len(operands) > 2 else _file(told, last)
    if program == "touch" and last:
        return _file(told, last)
    if program in ("find", "du", "ls") and operands and operands[0] not in (".", "(", "!"):
        return replace(told, folder=operands[0], thing="")
    return replace(told, thing=last) if "|" not in words and re.search(r"[./]", last) else told


def _folder(told: Told, path: str, *, thing: str = "") -> Told:
    return replace(told, folder=path, thing=thing, folders=told.folders | {_absolute(told, path)})


def _file(told: Told, path: str) -> Told:
    return replace(told, thing=path, files=told.files | {_absolute(told, path)})


def _absolute(told: Told, path: str) -> str:
    return os.path.normpath(os.path.join(told.cwd, os.path.expanduser(path)))


def _word(path: str) -> str:
    """A path as it stands in a goal: nothing that could be taken for another word of it."""
    plain = path if path == "." or path.startswith(("/", "./", "../", "~")) else f"./{path}"
    return plain if re.fullmatch(r"[\w./~+@%-]+", plain) else f'"{plain}"' if '"' not in plain else f"'{plain}'"
