"""What is inside an archive or a packed file: lists, counts, single members, packing beside the original."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_CAT = {"gz": "zcat", "bz2": "bzcat", "xz": "xzcat"}
_TEST = {
    "gz": "gzip -t",
    "tgz": "gzip -t",
    "bz2": "bzip2 -t",
    "tbz": "bzip2 -t",
    "tbz2": "bzip2 -t",
    "xz": "xz -t",
    "txz": "xz -t",
}
_ARCHIVE = r"(?:the )?(?:archive |zip file |tar file |tarball |compressed file |file )?(?:called |named )?"
_OUT = r"(?:out of|from|of|in|inside|contained in)"
_FILES = r"(?:files|entries|members|items)"
_ONLY = r"(?:only |just )?(?:the )?(?:single )?(?:file |member |entry |folder |directory |files |members )?"


def _is_zip(name: str) -> bool:
    return re.search(r"(?i)\.(?:zip|jar|war|epub)\Z", name) is not None


def _members(heard: Heard) -> list[str] | None:
    names = heard.several("members")
    return (
        None
        if not names or any(name.startswith("-") or name.endswith((".tar", ".zip", ".gz")) for name in names)
        else names
    )


def _listed(heard: Heard) -> str:
    archive = heard.path("archive")
    return f"unzip -Z1 {archive}" if _is_zip(heard.text("archive")) else f"tar -tf {archive}"


def _count(heard: Heard) -> str:
    what = heard.low("what")
    if what in ("files", "file"):
        return f"{_listed(heard)} | grep -vc '/$'"
    if what in ("folders", "directories"):
        return f"{_listed(heard)} | grep -c '/$'"
    return f"{_listed(heard)} | wc -l"


def _taken(heard: Heard) -> str | None:
    names = _members(heard)
    if names is None:
        return None
    words = " ".join(quote_path(name) for name in names)
    archive = heard.path("archive")
    folder = heard.path("dir") if heard.has("dir") else ""
    if _is_zip(heard.text("archive")):
        return f"unzip {archive} {words}" + (f" -d {folder}" if folder else "")
    made = f"mkdir -p {folder} && " if folder else ""
    return f"{made}tar -xf {archive}" + (f" -C {folder}" if folder else "") + f" {words}"


def _printed(heard: Heard) -> str | None:
    names = _members(heard)
    if names is None or len(names) != 1:
        return None
    member, archive = quote_path(names[0]), heard.path("archive")
    return f"unzip -p {archive} {member}" if _is_zip(heard.text("archive")) else f"tar -xOf {archive} {member}"


def _added(heard: Heard) -> str | None:
    names = _members(heard)
    if names is None or not all(heard.scene.exists(name) or "." in name or "/" in name for name in names):
        return None
    words = " ".join(quote_path(name) for name in names)
    archive = heard.text("archive")
    if _is_zip(archive):
        return f"zip -r {heard.path('archive')} {words}"
    return f"tar -rf {heard.path('archive')} {words}" if archive.endswith(".tar") else None


def _tested(heard: Heard) -> str | None:
    archive = heard.text("archive")
    end = archive.rpartition(".")[2].lower()
    if _is_zip(archive):
        check = f"unzip -t {heard.path('archive')}"
    elif end in _TEST:
        check = f"{_TEST[end]} {heard.path('archive')}"
    else:
        check = f"tar -tf {heard.path('archive')} > /dev/null"
    if heard.has("size"):
        return f"{check} && stat -c %s {heard.path('archive')}"
    return f"{check} && echo {shlex.quote(heard.text('say'))}" if heard.has("say") else check


def _read(heard: Heard) -> str:
    return f"{_CAT[heard.text('file').rpartition('.')[2].lower()]} {heard.path('file')}"


def _read_count(heard: Heard) -> str:
    return f"{_read(heard)} | wc -{ {'l': 'l', 'w': 'w', 'c': 'm', 'b': 'c'}[heard.low('unit')[0]] }"


def _read_part(heard: Heard) -> str | None:
    number = heard.number("n") if heard.has("n") else "1"
    return f"{_read(heard)} | {'head' if heard.low('end') in ('first', 'top') else 'tail'} -n {number}"


def _read_matching(heard: Heard) -> str:
    flag = "c" if heard.has("count") else ""
    flag += "i" if heard.has("nocase") else ""
    text = heard.text("text")
    flag += "F" if re.search(r"[\\.*^$\[\]]", text) else ""
    return f"{_read(heard)} | grep {'-' + flag + ' ' if flag else ''}{'-e ' if text.startswith('-') else ''}{shlex.quote(text)}"


def _sorted(heard: Heard) -> str:
    return f"{_read(heard)} | sort" + (" -r" if heard.has("back") else "") + (" -u" if heard.has("unique") else "")


def _kept(heard: Heard) -> str | None:
    program = {
        "gzip": "gzip",
        "bzip2": "bzip2",
        "xz": "xz",
        "compress": "gzip",
        "gunzip": "gunzip",
        "bunzip2": "bunzip2",
        "decompress": "",
        "unpack": "",
        "uncompress": "",
        "unzip": "",
    }[heard.low("verb")]
    end = heard.text("file").rpartition(".")[2].lower()
    if heard.low("how"):
        program = heard.low("how")
    program = program or {"gz": "gunzip", "bz2": "bunzip2", "xz": "unxz"}.get(end, "")
    return f"{program} -k {heard.path('file')}" if program else None


def _packed_plain(heard: Heard) -> str | None:
    names = heard.several("members")
    base = heard.text("base").rstrip("/") if heard.has("base") else ""
    if not names or not heard.text("archive").endswith(".tar"):
        return None
    inside = [f"{base}/{name}" if base else name for name in names]
    return f"tar -cf {heard.path('archive')} {' '.join(quote_path(name) for name in inside)}"


def _logs_packed(heard: Heard) -> str | None:
    ending = {"logs": "log", "log files": "log", "text files": "txt", "csv files": "csv", "txt files": "txt"}.get(
        heard.low("what")
    )
    folder = heard.text("dir")
    if not ending or not heard.scene.exists(folder + "/."):
        return None
    return f"gzip {quote_path(folder.rstrip('/'))}/*.{ending}"


RULES = [
    Said(".tar .zip .tgz .tbz .txz .jar .war .epub", rf"(?:how many|{{ASK}}number of|count(?: the)?(?: number of)?) (?P<what>files|entries|members|items|folders|directories) (?:(?:there )?are (?:there )?|does |has |do )?(?:in |inside |stored in |contained in |packed in |of |within )?{_ARCHIVE}<archive:arc>(?: has| have| contains?| holds?)?", _count, "count what an archive holds"),
    Said(".tar .zip .tgz .tbz .txz .jar .war .epub", rf"{{ASK}}(?:only )?(?:file ?names|names|paths)(?: only)?(?: of (?:all )?(?:the )?{_FILES})? (?:in|inside|of|from|within|stored in|contained in) {_ARCHIVE}<archive:arc>(?: without (?:extracting|unpacking)(?: it| them)?)?", _listed, "names in an archive"),
    Said(".tar .zip .tgz .tbz .txz .jar .war .epub", rf"(?:take|extract|unpack|get|untar|unzip|pull|restore) {_ONLY}<members:paths> {_OUT} {_ARCHIVE}<archive:arc>(?: (?:to|into|in) (?:the )?(?:folder |directory )?<dir:path>)?(?: without (?:extracting|unpacking) (?:the rest|anything else|everything))?", _taken, "take some members out of an archive"),
    Said(".tar .zip .tgz .tbz .txz .jar .war .epub", rf"(?:print|show|display|output|cat|read|view) (?:the )?(?:contents? of )?{_ONLY}<members:word> {_OUT} {_ARCHIVE}<archive:arc>(?: (?:to|on) (?:the )?(?:screen|terminal|standard output|stdout))?(?: without (?:extracting|unpacking)(?: it| them| anything)?)?", lambda h: _printed(h) if re.search(r"[./]", h.text("members")) else None, "print a member of an archive"),
    Said(".tar .zip .jar", r"(?:add|append|put) (?:the )?(?:files? |folder |directory )?<members:paths> (?:to|into|in) (?:the )?(?:existing )?(?:archive |tar archive |zip archive |zip file |tar file )?<archive:arc>", _added, "add to an archive"),
    Said(".tar .zip .jar", r"(?:delete|remove) (?:the )?(?:files? |member |entry )?<members:word> from (?:the )?(?:archive |zip file |tar file )?<archive:arc>", lambda h: (f"zip -d {h.path('archive')} {shlex.quote(h.text('members'))}" if _is_zip(h.text('archive')) else f"tar --delete -f {h.path('archive')} {quote_path(h.text('members'))}" if h.text('archive').endswith('.tar') else None) if _members(h) and not re.search(r"[*?]", h.text("members")) else None, "delete from an archive"),
    Said(".tar .zip .gz .tgz .xz .bz .tbz .txz .jar", rf"(?:(?:test|check|verify|see|find out|tell me)(?: whether| if| that)?|is) {_ARCHIVE}(?P<archive>[\w./~+@%-]+\.(?:gz|bz2|xz|tar|tgz|tbz2?|txz|zip|jar))(?: is)?(?: intact| ok| okay| valid| not (?:damaged|corrupt|corrupted|broken)| undamaged| damaged| corrupt| corrupted)(?:,? and (?P<size>(?:print|show|tell me|display) (?:its|the) size(?: in bytes)?)|,? and (?:print|say|echo) <say:word>(?: if so| if it is)?)?", _tested, "test an archive"),
    Said(".gz .bz .xz", rf"(?:how many|{{ASK}}number of|count(?: the)?(?: number of)?) (?P<unit>lines|words|characters|bytes) (?:(?:there )?are (?:there )?|does |has )?(?:in |inside |of )?{_ARCHIVE}<file:packed>(?: has| have| contains?)?(?: without (?:decompressing|unpacking|extracting)(?: it)?(?: to disk)?)?", _read_count, "count in a packed file"),
    Said(".gz .bz .xz", rf"{{ASK}}(?P<end>first|last|top) (?:<n:int> )?lines? (?:of|in|from) {_ARCHIVE}<file:packed>(?: without (?:decompressing|unpacking|extracting)(?: it)?(?: to disk)?)?", _read_part, "a part of a packed file"),
    Said(".gz .bz .xz", rf"(?:show|print|display|cat|read|view|output) (?:the )?(?:whole |entire |uncompressed |decompressed )*(?:contents?|text) (?:of|in) {_ARCHIVE}<file:packed>(?: (?:on|to) (?:the )?(?:screen|terminal|stdout))?(?: without (?:decompressing|unpacking|extracting|uncompressing)(?: it)?(?: to disk| first)?)?", _read, "print a packed file"),
    Said(".gz .bz .xz", rf"(?:(?P<count>how many|count (?:the )?) ?|{{ASK}}|find |search for |grep )(?:all )?(?:the )?lines (?:that )?(?:contain|containing|with|matching|that contain|mention|mentioning)(?: the)?(?: word| text| string)? <text:word>(?P<nocase> ignoring case| case[- ]insensitively)? in {_ARCHIVE}<file:packed>", _read_matching, "lines of a packed file"),
    Said(".gz .bz .xz", rf"(?:show|print|display|sort) (?:the )?(?:contents? of |lines of )?{_ARCHIVE}<file:packed>(?: sorted| in order| alphabetically)(?P<back> in reverse(?: order)?)?(?P<unique>,? without duplicates)?", _sorted, "lines of a packed file in order"),
    Said("keep keeping keeps without", r"(?P<verb>gzip|bzip2|xz|compress|gunzip|bunzip2|decompress|unpack|uncompress) (?:the )?(?:file )?<file:path>(?: (?:with|using) (?P<how>gzip|bzip2|xz))?,? (?:(?:but|and) )?(?:keep|keeping|keeps|without (?:deleting|removing|replacing))(?: the| its)? (?:original|source|compressed|packed|input|archive|old one|old|\.gz)(?: one)?(?: file| version)?(?: too| as well| in place)?", _kept, "pack beside the original"),
    Said(".tar", r"(?:pack|put|archive|tar|bundle|store|collect) (?:the )?(?:files? |folders? )?<members:paths>(?: (?:of|from|in) (?:the )?(?:folder |directory )?<base:path>)? (?:in|into|to|as) (?:a |an |the )?(?:tar )?(?:archive )?(?:called |named )?<archive:tar>,? (?:uncompressed|without (?:any )?compression|not compressed)", _packed_plain, "pack without compression"),
    Said("compressed gzipped", r"(?:compress|gzip) (?:all )?(?:of )?(?:the )?(?P<what>logs|log files|text files|csv files|txt files) in (?:the )?(?:folder |directory )?<dir:path> (?:that|which) (?:are not|aren't|have not been|are yet to be) (?:yet )?(?:compressed|gzipped)(?: yet| already)?", _logs_packed, "pack what is not packed yet"),
]  # fmt: skip
