"""Archives made of files and folders that are named, under the name that is said or their own; and unpacked into a folder."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_LETTER = {"gz": "czf", "tgz": "czf", "bz2": "cjf", "tbz": "cjf", "tbz2": "cjf", "xz": "cJf", "txz": "cJf", "tar": "cf"}
_NAME = r"(?P<name>[\w./~+@%-]+\.(?:tar|tgz|tbz2?|txz|tar\.(?:gz|bz2|xz)|zip))"
_SORT = r"(?:(?:gzip|gz|xz|bzip2|bz2|zip)[- ]?(?:compressed )?|compressed |gzipped |packed )?(?P<sort>tarball|tar archive|archive|tar file|tar|tar\.gz(?: file| archive)?|\.tar\.gz(?: file| archive)?|tar\.xz|tar\.bz2|tgz|zip|zip file|zip archive|tar gz|tar ball)"
_WHAT = r"(?:the |my )?(?:whole |entire |contents of )?(?:files |folders? |director(?:y|ies) )?<what:paths>(?: folders?| director(?:y|ies)| files?)?"
_AS = r"(?:called|named|as|to|into|in|with the name|and (?:call|name) it)"


def _things(heard: Heard) -> list[str] | None:
    names = [name for name in heard.several("what") if name.lower() != "the"]
    there = names and all(heard.scene.exists(name) and not name.startswith("-") for name in names)
    return names if there else None


def _packed(heard: Heard) -> str | None:
    names = _things(heard)
    return pack(heard.text("name"), names) if names is not None else None


def pack(target: str, names: list[str]) -> str:
    """The command that makes the archive `target` of files and folders, by its ending."""
    what = " ".join(quote_path(name) for name in names)
    if target.lower().endswith(".zip"):
        return f"zip -qr {quote_path(target)} {what}"
    return f"tar -{_LETTER[target.lower().rpartition('.')[2]]} {quote_path(target)} {what}"


def _own_name(heard: Heard) -> str | None:
    """An archive that is called like what is in it."""
    names = _things(heard)
    if names is None or len(names) != 1 or names[0] in (".", "..", "~", "/"):
        return None
    said = heard.low("sort")
    ending = "zip" if "zip" in said else "tar" if said in ("tar archive", "tar file", "tar") else "tar.gz"
    for sort in ("tar.xz", "tar.bz2"):
        ending = sort if sort in said else ending
    return pack(f"{names[0].rstrip('/').rsplit('/', 1)[-1]}.{ending}", names)


def _unpacked(heard: Heard) -> str | None:
    """Into a folder, which is made where it is not there."""
    archive, folder = heard.text("arc"), heard.text("dir").rstrip("/")
    if folder.startswith("-") or folder.lower() in ("new", "folder", "it", "the", "a"):
        return None
    make = "" if heard.scene.exists(folder + "/.") else f"mkdir -p {quote_path(folder)} && "
    if re.search(r"(?i)\.(?:zip|jar|war)\Z", archive):
        return None if heard.has("bare") else f"unzip -q {quote_path(archive)} -d {quote_path(folder)}"
    bare = " --strip-components=1" if heard.has("bare") else ""
    return f"{make}tar xf {quote_path(archive)} -C {quote_path(folder)}{bare}"


def _searched(heard: Heard) -> str | None:
    text, name = heard.text("text"), heard.text("file")
    program = {"gz": "zgrep", "bz2": "bzgrep", "xz": "xzgrep"}[name.rpartition(".")[2].lower()]
    return f"{program} -F -e {shlex.quote(text)} {quote_path(name)}"


_BARE = r"(?P<bare>,? (?:but )?(?:drop|strip|skip|leave out|remove|without|dropping|leaving out|stripping|skipping|minus) (?:the |its )?(?:leading|top|top-level|first|outer)(?: [\w.-]+)? (?:directory|folder|component|level|path component|part))?"
RULES = [
    Said("search grep look find", r"(?:search|grep|look through|look in)(?: in| through)? (?:the )?(?:compressed |gzipped |packed |zipped )?(?:log |file |log file )?<file:packed> for (?:the |every |all )?(?:word |text |string |lines with |lines containing )?<text:word>", _searched, "search a packed file"),
    Said("search grep look find lines", r"(?:{ASK}lines (?:with|containing|that contain|mentioning|matching) |(?:search for|look for|grep for|grep|find) )(?:the |every |all )?(?:word |text |string |lines with |lines containing )?<text:word> (?:in|from|of) (?:the )?(?:compressed |gzipped |packed |zipped )?(?:log |file |log file )?<file:packed>", _searched, "search a packed file"),
    Said("tar tgz zip gz xz bz", rf"(?:make|create|build|generate|write) (?:a |an |the )?(?:{_SORT} )?(?:called |named )?{_NAME} (?:from|of|out of|with|containing|that contains|which contains|holding|for) {_WHAT}", _packed, "pack into an archive"),
    Said("tarball archive tar tgz zip gz xz bz", rf"(?:make|create|build|generate) (?:a |an |the )?{_SORT} (?:of|from|with|out of|containing|for) {_WHAT},? {_AS} {_NAME}", _packed, "pack into an archive"),
    Said("pack compress tar zip bundle archive put", rf"(?:pack|compress|tar|zip|bundle|archive|put)(?: up| together)? {_WHAT}(?: together)? (?:into|as|to|in) (?:a |an |the )?(?:{_SORT} )?(?:called |named )?{_NAME}", _packed, "pack into an archive"),
    Said("tarball archive tar tgz zip gz xz bz", rf"(?:make|create|build|generate) (?:a |an |the )?{_SORT} (?:of|from|out of) {_WHAT}", _own_name, "pack into an archive"),
    Said("unpack extract untar unzip decompress", rf"(?:unpack|extract|untar|unzip|decompress) (?:the )?(?:archive |file |tarball )?<arc:arc> (?:into|to|in) (?:a |the )(?:new )?(?:folder|directory) (?:called |named )?<dir:path>{_BARE}", _unpacked, "unpack into a folder"),
    Said("unpack extract untar unzip decompress", rf"(?:unpack|extract|untar|decompress) (?:the )?(?:archive |file |tarball )?<arc:arc> (?:into|to|in) (?:the )?(?:folder |directory )?<dir:path>{_BARE.removesuffix('?')}", _unpacked, "unpack into a folder"),
]  # fmt: skip
