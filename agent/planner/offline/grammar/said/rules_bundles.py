"""Archives in fewer words: what goes in and the name, a kind of files of a folder, the contents without the folder, something left out."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.said.rules_packing import pack
from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.grammar.said.which_files import KIND, endings_of
from agent.planner.offline.values import quote_path

_NAME = r"(?P<name>[\w./~+@%-]+\.(?:tar|tgz|tbz2?|txz|tar\.(?:gz|bz2|xz)|zip))"
_PACK = r"(?:pack|compress|tar|zip|bundle|archive|put|squeeze|stuff|wrap)(?: up| together)?"
_SORT = r"(?:(?:gzip|gz|xz|bzip2|bz2|zip)[- ]?(?:ped|ed)?[- ]?(?:compressed )?|compressed |gzipped |packed )?(?:tarball|tar archive|archive|tar file|tar|tgz|zip|zip file|zip archive)"
_AS = r"(?:called|named|as|to|into|in|with the name)"
_ARC = r"(?:the )?(?:archive |file |tarball |zip )?"
_FOLDER = r"(?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?"


def _there(heard: Heard, name: str = "dir") -> str | None:
    said = heard.text(name).rstrip("/")
    return said if said and not said.startswith("-") and heard.scene.exists(said) else None


def _as_named(heard: Heard) -> str | None:
    names = heard.several("what")
    if not names or any(name.startswith("-") or not heard.scene.exists(name) for name in names):
        return None
    return pack(heard.text("name"), names)


def _kind(heard: Heard) -> str | None:
    """Files of one kind that lie in a folder, or here."""
    endings = endings_of(heard.text("kind"), heard.scene)
    folder = _there(heard)
    if not endings or folder is None:
        return None
    place = f"{quote_path(folder)}/"
    what = " ".join(f"{place}*.{ending}" for ending in endings)
    made = pack(heard.text("name"), [])
    return f"{made.rstrip()} {what}" if len(endings) == 1 else None


def _contents(heard: Heard) -> str | None:
    folder = _there(heard)
    name = heard.text("name")
    if folder is None:
        return None
    if name.lower().endswith(".zip"):
        return None if "/" in name else f'(cd {quote_path(folder)} && zip -qr "$OLDPWD"/{quote_path(name)} .)'
    return f"{pack(name, []).rstrip()} -C {quote_path(folder)} ."


def _but(heard: Heard) -> str | None:
    """An archive of a folder that something in it is left out of."""
    folder = _there(heard)
    left = heard.text("left")
    if folder is None or left.startswith("-") or not left:
        return None
    if not re.search(r"[.*]", left) and not heard.scene.exists(f"{folder}/{left}"):
        hidden = f".{left}"
        if not heard.scene.exists(f"{folder}/{hidden}"):
            return None
        left = hidden
    name = heard.text("name")
    if name.lower().endswith(".zip"):
        return None
    made = pack(name, [folder]).split(" ")
    return " ".join([*made[:-1], f"--exclude={quote_path(left)}", made[-1]])


def _flat(heard: Heard) -> str:
    folder = heard.text("dir").rstrip("/")
    return f"unzip -q -j {heard.path('zip')}" + (f" -d {quote_path(folder)}" if folder else "")


def _own(heard: Heard) -> str | None:
    """Several things in one archive that is named after them."""
    names = [name.rstrip("/") for name in heard.several("what")]
    if not 2 <= len(names) <= 3 or any(
        "/" in name or name.startswith("-") or not heard.scene.exists(name) for name in names
    ):
        return None
    joined = "-".join(name.rpartition(".")[0] or name for name in names)
    return pack(f"{joined}.{'zip' if 'zip' in heard.low('sort') else 'tar.gz'}", names)


RULES = [
    Said("as", rf"(?:the )?(?:folder |directory )?<what:paths> as (?:the |a )?(?:{_SORT} )?{_NAME}", _as_named, "pack into an archive"),
    Said("tarball archive zip tar", rf"(?:make|create|build|generate) (?:a |an |one |the )?(?P<sort>{_SORT}) (?:of|from|with|out of|containing) (?:the )?<what:paths>", _own, "pack into an archive"),
    Said("in into as together one", rf"(?:{_PACK} )?(?:all |the |all the |every |each )*(?P<kind>{KIND}) (?:files?|documents?|scripts?|sources?)(?: (?:in|of|from|inside) {_FOLDER})?(?: all)?(?: together)? (?:in|into|to|as) (?:a |an |one |a single |the )?(?:{_SORT} )?(?:called |named )?{_NAME}", _kind, "pack a kind of files"),
    Said("one", rf"(?:make |create )?(?:a|an|one|a single) {_SORT} (?:called |named ){_NAME} (?:with|of|from|containing|that holds|that contains) (?:all |the |all the |every |each )*(?P<kind>{KIND}) (?:files?|documents?|scripts?|sources?)(?: (?:in|of|from|inside) {_FOLDER})?", _kind, "pack a kind of files"),
    Said("contents content inside", rf"{_PACK} (?:only |just )?(?:the )?(?:contents?|inside|what is inside|what's inside) of {_FOLDER},? (?:but )?(?:not|without) (?:the )?(?:folder|directory) itself,? {_AS} (?:a |an |the )?(?:{_SORT} )?{_NAME}", _contents, "pack what is in a folder"),
    Said("without except excluding left leaving but", rf"(?:(?:make|create|build|{_PACK}) )?(?:a |an |the )?(?:{_SORT} (?:of|from) )?{_FOLDER}(?:,? (?:xz|gzip|bzip2|gz) ?compressed)?,? {_AS} {_NAME},? (?:but |and )?(?:(?:without|except|excluding|leaving out|but not|omitting) (?:the |its |any )?(?:hidden )?(?:folder |directory |file )?<left:word>|(?:the |its )?(?:hidden )?(?P<left2>[\w.*-]+) (?:left out|excluded|omitted|not included))", lambda h: _but(h) if h.has("left") else _but_last(h), "pack without something"),
    Said("flat paths junk", rf"(?:extract|unpack|unzip) {_ARC}<zip:zip>(?: (?:to|into|in) {_FOLDER})?,? (?:but )?(?:flat|without (?:the )?(?:paths|folders|directories|folder structure|directory structure)|junking (?:the )?paths|ignoring (?:the )?(?:paths|folders))", _flat, "unpack without folders"),
    Said("uncompressed unpacked", r"{ASK}(?:total |whole |full )?(?:uncompressed|unpacked|extracted) size of (?:the )?(?:stuff |files |everything |contents )?(?:in |inside |of )?(?:the )?<zip:zip>(?:,? in bytes)?", lambda h: f"unzip -l {h.path('zip')} | tail -n 1 | awk '{{ print $1 }}'", "size of what is in an archive"),
    Said("unpacking extracting decompressing uncompressing unzipping", r"(?:{ASK}|read |cat )(?:the )?(?:contents? of )?(?:the )?(?:file )?<file:packed>(?: as text)?,? (?:without|but do not|not) (?:unpacking|extracting|decompressing|uncompressing|unzipping)(?: it| the file| anything)?(?: (?:on|to) (?:the )?disk)?", lambda h: f"{ {'gz': 'zcat', 'bz2': 'bzcat', 'xz': 'xzcat'}[h.text('file').rpartition('.')[2].lower()] } {h.path('file')}", "read a packed file"),
    Said("gz bz xz zip compress squeeze shrink pack", r"(?:compress|squeeze|shrink|pack) (?:the )?(?:file )?<file:path> with (?P<tool>gzip|xz|bzip2),? (?:but |and |while )?(?:keep|keeping|leave|leaving) (?:the )?(?:original|file|it|source)(?: file)?(?: alone| untouched| unchanged| there| as it is| as is)?", lambda h: f"{h.low('tool')} -k {h.path('file')}" if h.scene.exists(h.text("file")) and not h.scene.exists(h.text("file") + "/.") else None, "pack a file and keep it"),
]  # fmt: skip


def _but_last(heard: Heard) -> str | None:
    class _Left(Heard):
        def text(self, name: str) -> str:
            return super().text("left2" if name == "left" else name)

    return _but(_Left(heard._match, heard.scene))
