"""Check that a goal asks for just the change that a command makes. What is in doubt is refused: no command, and the reason in words.

Recipes and grammar find commands by the words of a goal; they can be wrong about a goal of many words. Here only the finished command
and the goal as it was typed are compared, so a mistake of theirs has to get past somebody who knows nothing of how they read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from agent.planner.offline.grammar.changes import operations, redirections, shell_words
from agent.planner.offline.grammar.places import unsound
from agent.planner.offline.grammar.reach import out_of_reach
from agent.planner.offline.grammar.saying import letters_of, literals, masked, no_order, orders, undone
from agent.text.lazy_pattern import LazyPattern

_NEW_ONLY = frozenset({"write", "append", "create"})
_VERBS = {
    "delete": "untrack|stop|ignore|delete|remove|erase|rm|drop|discard|eliminate|purge|unlink|trash|rid|destroy"
    "|shred|rmdir|kill|throw|clean|prune|clear|wipe|cleanup",
    "move": "move|mv|rename|relocate|put|change|convert|make|capitalize|lowercase|uppercase|add|append|prepend"
    "|prefix|replace|swap|turn|strip"
    "|remove|give|set|substitute|insert|transform|number|call|translate|suffix|attach|delete|sort|organize|get"
    "|bring|take|store|place",
    "copy": "copy|cp|duplicate|backup|back|make|save|put|replicate|clone|create|sync|synchronize|mirror|keep"
    "|rsync|scp|transfer|upload|download|send|store|place|take|get|install|fetch",
    "mode": "chmod|copy|make|change|set|give|grant|allow|add|remove|revoke|take|deny|mark|restrict|let|protect"
    "|turn|disable|enable|forbid|prevent|lock|hide|fix|drop|clear|strip|put|assign|should|able",
    "owner": "chown|chgrp|change|set|make|give|assign|transfer|put|let|hand|should|belong|take",
    "empty": "empty|clear|truncate|wipe|erase|blank|zero|delete|remove|make|create|shrink|cut|set|reset|reduce|flush",
    "edit": "replace|substitute|change|delete|remove|add|append|prepend|insert|put|sort|convert|make|swap|strip"
    "|trim|squeeze|collapse|uncomment"
    "|comment|capitalize|uppercase|lowercase|indent|edit|drop|erase|update|set|turn|number|eliminate|join"
    "|rename|modify|fix|transform"
    "|discard|rid|prefix|suffix|alter|clean|overwrite|wrap|reverse|truncate|clear|deduplicate|dedupe|unindent"
    "|translate|shuffle|enable|disable|order|double|merge|sed|write|get|keep|correct|shorten|mark|apply"
    "|throw|toss|take|strike|cross|kick|spell|should|became|becomes|adapt",
}
_ASKS = {name: LazyPattern(rf"(?:{verbs})(?:s|es)?\Z") for name, verbs in _VERBS.items()}
_ANNOUNCES = LazyPattern(
    r"\b(?:sav|writ|wrote|stor|output|redirect|put|dump|export|append|record|log|creat|mak|generat|add|insert"
    r"|print|send|pip|keep|into|to \x02"
    r"|to (?:a|the|an) (?:new )?file|as \x02|in \x02|called|named|to \x01|in \x01|as \x01|copy|merg|combin"
    r"|concat|join|list|extract|split|unpack|decompress"
    r"|prepend|convert|backup|back|collect|gather|produc|result|new|ignor|background|nohup)\w*"
)
HOLDS_NO_TEXT = LazyPattern(
    r"(?i)\.(?:tar|tgz|tbz2?|txz|gz|bz2|xz|zst|zip|7z|rar|jar|war|iso|img|deb|rpm|whl|jpe?g|png|gif|bmp|tiff?"
    r"|webp|ico|heic|mp[34]|m4a|wav|flac"
    r"|ogg|mkv|avi|mov|webm|pdf|docx?|xlsx?|pptx?|odt|ods|odp|epub|db|sqlite3?|mdb|exe|dll|so|o|a|pyc|class|bin"
    r"|dat|ttf|otf|woff2?|gpg|p12|pfx)\Z"
)
_MAKES_BYTES = LazyPattern(
    r"\b(?:gzip|bzip2|xz|zstd|tar|zip|7z|gunzip|zcat|base64|xxd|openssl|gpg|curl|wget|dd|convert|ffmpeg|sqlite3"
    r"|pg_dump|git|head -c|tail -c)\b"
)
_TEXT_TOOL = LazyPattern(r"(?:sed (?:-\S+ )*-\w*i|perl (?:-\S+ )*-\w*i|sort (?:-\S+ )*-o)")
_REMOVES = "delet|remov|eras|rm|rid|trash|discard|drop|eliminat|destroy|unlink|throw|purg|shred"
_KINDS_OF_TEXT = "text|words?|line|string|contents?|letter|number|value|entry|name|sentence"
_NO_NAMES = frozenset([
    "called", "named", "titled", "the", "a", "an", "with", "for", "in", "and", "of", "to", "from", "by", "it",
    "them", "that", "this", "those", "these", "all", "every", "each", "everything", "file", "files", "folder",
    "folders", "directory", "directories", "newest", "oldest", "latest", "largest", "biggest", "smallest", "not",
    "but", "except", "only", "please", "into", "onto", "as", "then",
])  # fmt: skip
_SUPERLATIVES = LazyPattern(r"-name '?\*?(?:newest|oldest|latest|largest|biggest|smallest|first|last|rest|others?)\b'?")
_ATTRIBUTE = LazyPattern(
    r"sed -i[^|;]*?s(.)(?:extension|ending|suffix|prefix|headers?|names?|owner|group|mode|permissions?|contents?|title|type|encoding|lines?"
    r"|columns?|size|date)\1"
)
# "replace name with Name in x.csv" says of the text in a file what becomes of it.
_IN_A_FILE = LazyPattern(
    r"\b(?:replace|substitute)\w* (?:the (?:word|text|string) |every |each |all )?[\w\x01]+ (?:with|by) [\w\x01]+ (?:in|inside|within)"
    r" (?:the file )?\x02"
)


def refusal(goal: str, command: str, exists: Callable[[str], bool]) -> str:
    """Say why `command` is not what `goal` asks for; "" where nothing speaks against it. What only reads is never refused.

    `exists` tells whether a path is there, as the goal's folder sees it.
    """
    does = operations(command)
    if not does:
        return ""
    said = masked(goal)
    why = no_order(said)
    if why and _does_so(why, said, command):
        why = ""
    if why and not does <= _NEW_ONLY:
        return f"the goal {why}"
    if why and why != "has a condition" and not _ANNOUNCES.search(said):
        return f"the goal {why}"
    return (
        _without_verb(said, does)
        or _left_out(goal, said, command)
        or _bad_target(goal, said, command, exists)
        or _bad_change(goal, said, command)
        or unsound(goal, said, command, exists)
        or out_of_reach(goal, said, command, exists)
    )


def no_plain_order(goal: str, command: str) -> str:
    """Say why a goal orders no change though `command` makes one; "" for an order, and for what only reads. Less than `refusal`: whether
    the words ask for just this change is not looked at."""
    does = operations(command)
    said = masked(goal)
    why = no_order(said) if does and not does <= _NEW_ONLY else ""
    return f"the goal {why}" if why and not _does_so(why, said, command) else ""


def _does_so(why: str, said: str, command: str) -> bool:
    """Tell whether a command does justice to what makes its goal no plain order."""
    if why == "is about undoing something":
        undoes = r"git (?:reset|revert|restore|checkout|(?:rebase|merge) --abort)|kubectl rollout undo"
        return re.match(undoes, command) is not None
    if why == "says what not to do":
        kept = re.search(r"\b(?:keep|leav)\w* (?:the |all |my |its |their )?(?:original|file|source)", said)
        alone = re.search(r"\bleave\b.*\b(?:files|folders|directories) (?:alone|untouched|unchanged|as)\b", said)
        keeps = kept and re.search(r" -k| --keep|\bcp\b| -c\b|tar -|zip -r", command)
        return bool(keeps or (alone and re.search(r" -type [df]", command)))
    return False


def _without_verb(said: str, does: frozenset[str]) -> str:
    """Tell whether each operation has a verb in the goal that orders it."""
    ordered = orders(said)
    for name in sorted(does & _ASKS.keys()):
        if not any(_ASKS[name].match(word) for word in ordered) and not _stated(name, said):
            return f"no word of the goal asks to {'change modes' if name == 'mode' else name}"
    return ""


def _stated(name: str, said: str) -> bool:
    """Tell whether permissions and owners are ordered by saying what is to be."""
    return name in ("mode", "owner") and bool(re.search(r"\b(?:should|executable|readable|writable|able|must)\b", said))


def _left_out(goal: str, said: str, command: str) -> str:
    """A quoted text, or an order, that the command does not have."""
    plain = letters_of(command)
    for text in literals(goal):
        if letters_of(text) and letters_of(text) not in plain:
            return f"the command does not have {text[:40]!r} in it"
    missed = undone(said, command)
    return f"the command does not {missed} anything" if missed else ""


def _bad_target(goal: str, said: str, command: str, exists: Callable[[str], bool]) -> str:
    """Files that would be written though nobody said so, or that are no text."""
    words = shell_words(command)
    for kind, target in redirections(command):
        if not _ANNOUNCES.search(said) or re.fullmatch(r"[\x02 ]*(?:to|into|as|in)?[\x02 ]*", said):
            return f"nothing in the goal says that output goes to {target}"
        called = rf"\b(?:folder|directory|dir) (?:called|named) (?:the )?{re.escape(target.lower())}(?![\w.-])"
        if exists(target.rstrip("/") + "/.") or re.search(called, said):
            return f"{target} is a folder"
        if target in _NO_NAMES:
            return f"{target!r} does not look like a name"
        before = command.rsplit(">", 1)[0]
        if (
            kind == ">"
            and target.removeprefix("./") in [word.removeprefix("./") for word in shell_words(before)]
            and target != "nohup.out"
        ):
            return f"{target} would be emptied before it is read"
        if HOLDS_NO_TEXT.search(target) and not _MAKES_BYTES.search(before) and not _joins(before, target):
            return f"{target} is not a text file"
        if kind == ">" and exists(target) and re.search(r"\b(?:link|symlink|shortcut)\b", said):
            return f"{target} is there already"
        joins = re.search(r"\b(?:combine|merge|join|concatenate)\b", said)
        if joins and "-exec" not in before and re.match(r"find .*-type \w[^|]*\Z", before.strip()):
            return "that would be a list of names"
    if re.match(r"tar -r\w* \S+\.(?:gz|bz2|xz|zst|t[gbx]z2?)\b", command):
        return "nothing can be added to a compressed archive"
    if _TEXT_TOOL.search(command) and any(HOLDS_NO_TEXT.search(word) for word in words[2:]):
        return "files of that kind are not text"
    if words and words[0] in ("printf", "echo") and redirections(command):
        return _bad_text(goal, words, exists)
    return ""


def _joins(before: str, target: str) -> bool:
    """Tell whether only files of the same kind are put one after the other."""
    words = shell_words(before)
    return bool(words) and words[0] == "cat" and all(HOLDS_NO_TEXT.search(word) for word in words[1:]) and "." in target


def _bad_text(goal: str, words: list[str], exists: Callable[[str], bool]) -> str:
    """A text to write that is more likely something else: a file that is there, or "a line"."""
    end = next((at for at, word in enumerate(words) if word.startswith((">", "|"))), len(words))
    for text in words[1:end]:
        if "%" in text or not re.search(r"\w", text) or any(text in found for found in literals(goal)):
            continue
        if exists(text):
            return f"{text} is a file"
        said_as_text = rf"(?i)\b(?:{_KINDS_OF_TEXT}) {re.escape(text)}\b"
        counted = rf"(?i)\b(?:an?|the|some|another|two|three|\d+) {re.escape(text)}\b"
        if re.search(counted, goal) and not re.search(said_as_text, goal):
            return f"{text!r} does not look like a text to write"
    return ""


def _bad_change(goal: str, said: str, command: str) -> str:
    """Changes that are known to be taken for others."""
    words = shell_words(command)
    if words and words[0] in ("rm", "mv", "cp", "mkdir", "touch", "chmod", "chown", "ln", "truncate"):
        operands = [word for word in words[1:] if not word.startswith("-")]
        for word in operands:
            named = rf"\b(?:called|named|as|name|let|make|point|redirect|switch|link) (?:the link )?['\"]?{re.escape(word)}\b"
            if word in _NO_NAMES and not (words[0] == "ln" and re.search(named, said)):
                return f"{word!r} does not look like a name"
            nameless = re.search(
                r"\b(?:the|my|all|each|every|any|another|some) "
                rf"{re.escape(word.lower())}(?!\w)(?! (?:folder|directory|file)\b)",
                said,
            )
            if words[0] in ("cp", "mv") and word == operands[-1] and nameless and word.isalpha():
                return f"{word!r} does not look like a name"
    if _SUPERLATIVES.search(command) and not re.search(r"\b(?:named|called|name)\b", said):
        return "it is not clear which one is meant"
    removes = re.search(rf"\b(?:{_REMOVES})\w*", said)
    cleans = removes or "uninstall" in said or re.search(r"\b(?:clean|wip)", said)
    if re.search(r"(?<![\w-])(?<!git )rm\b", command) and not cleans:
        return "no word of the goal asks to delete"
    if re.match(r"(?:sudo )?rm ", command) and not removes:
        return "cleaning up may mean less than deleting it"
    if _ATTRIBUTE.search(command) and not _IN_A_FILE.search(said):
        return "that is more likely a property of a file than text in it"
    return _bad_repository(said, command) or _bad_name(goal, said, command)


def _bad_repository(said: str, command: str) -> str:
    if "stash pop" in command and re.search(r"\bkeep|\bstay|\bleave", said):
        return "a stash that is popped is not kept"
    if "--amend" in command and not re.search(r"\b(?:amend|last|previous|latest|reword|fix ?up|most recent)\w*", said):
        return "nothing in the goal says to change a commit"
    if re.search(r"\bpush\b.*(?:--force|-f\b)", command) and not re.search(r"\bforc", said):
        return "nothing in the goal says to force it"
    if "--hard" in command and not re.search(
        r"\b(?:hard|discard|throw|drop|lose|delete|reset|remove|undo|abandon|revert)", said
    ):
        return "nothing in the goal says to lose changes"
    return ""


def _bad_name(goal: str, said: str, command: str) -> str:
    """Renaming what was not said: the extension for a part of the name, files for what is in them."""
    if "${f%.*}.$0" in command and not re.search(
        r"\b(?:extensions?|suffix|ending|ext|end)\b|\x02|\*\.|\b\w{1,5} files?\b.*\b(?:to|into|as)\b", said
    ):
        return "nothing in the goal is about extensions"
    ends = re.search(r"-name '\*\.(\w+)'.*\$0\"; done' (\w+)", command)
    if ends and re.search(rf"\b{ends[2]}\b.*\b{ends[1]}\b", goal):
        return "it is not clear which extension becomes which"
    if "${f%.*}.$0" in command and (
        (re.search(r"\bnames?\b", said) and "extension" not in said) or "-name" not in command
    ):
        return "the name was meant, or more than the extension"
    if (
        re.search(r"\brename\b", said)
        and "sed -i" in command
        and not re.search(r"\bin (?:all|every|each|the|\x02)", said)
    ):
        return "it is not clear what to rename"
    return ""


def resolver(cwd: str, exists: Callable[[str], bool]) -> Callable[[str], bool]:
    """`exists` for paths as a goal in the folder `cwd` writes them."""
    return lambda name: exists(os.path.join(cwd or os.curdir, os.path.expanduser(name)))
