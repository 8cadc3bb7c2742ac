"""Folders by what is in them, and everything that is in a folder: listed, moved, copied, deleted, but for the newest."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.grammar.said.which_files import KIND, name_tests
from agent.planner.offline.values import quote_path

_IN = r"(?: (?:in|under|below|inside|of|within) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?)?"
_IN_IT = (
    r"(?: (?:in|inside|of|from|under|within|out of) (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?)"
)
_HOLD = r"(?:(?:that |which )?(?:contain|contains|hold|holds|have|has|include|includes|containing|holding|having|with|in which there (?:is|are)|where there (?:is|are)))"
_LACK = r"(?:(?:that |which )?(?:contain|contains|hold|holds|have|has|containing|holding|with) (?:no|not any|not a single)|without(?: any| a| an)?|(?:that |which )?(?:do not|don't|does not|doesn't) (?:contain|hold|have)(?: any| a| an)?|lacking(?: any| a)?)"
_SOME = r"(?:at least one |one or more |more than zero |a |an |any |some |one |the )?"
_FILES = r"(?: (?:files?|scripts?|documents?|sources?|source files?|images?))?(?: (?:in them|in it|inside|directly in them))?"
_ONCE = r"(?:,? (?:but )?(?:each|every one|every folder|listed|without duplicates|without repetition)(?: listed| shown)?(?: only)?(?: once)?)?"
_FOLDERS = r"(?:which |all |all the |the |every |each |any )?(?:sub)?(?:folders?|director(?:y|ies)|dirs)"
_ORDER = {"newest": "nr", "latest": "nr", "most recent": "nr", "oldest": "n", "largest": "nr", "biggest": "nr", "smallest": "n"}  # fmt: skip


def _root(heard: Heard) -> str | None:
    """The folder that is said, "." where none is; None for what is no folder here."""
    if not heard.has("dir") or heard.text("dir") in (".", "here"):
        return "."
    said = heard.text("dir").rstrip("/") or "/"
    return said if heard.scene.exists(said + "/.") and not said.startswith("-") else None


def _holding(heard: Heard) -> str | None:
    root = _root(heard)
    tests = name_tests(heard.text("kind"), heard.scene)
    if root is None or tests is None:
        return None
    return f"find {quote_path(root)} -type f {tests + ' ' if tests else ''}-printf '%h\\n' | sort -u"


def _lacking(heard: Heard) -> str | None:
    """Folders in which no file of a kind lies."""
    root = _root(heard)
    tests = name_tests(heard.text("kind"), heard.scene)
    if root is None or not tests:
        return None
    if re.search(r"""["$`]""", tests):
        return None
    inner = f'find "$1" -maxdepth 1 -type f {tests} -print -quit | grep -q .'.replace("'", '"')
    return f"find {quote_path(root)} -type d -not -exec sh -c '{inner}' sh {{}} \\; -print"


def _named_folder(heard: Heard, name: str) -> str | None:
    said = heard.text(name).rstrip("/")
    ok = said and said not in (".", "..", "~", "/") and not said.startswith("-") and heard.scene.exists(said + "/.")
    return said if ok else None


def _all_gone(heard: Heard) -> str | None:
    folder = _named_folder(heard, "dir")
    if folder is None:
        return None
    return f"find {quote_path(folder)} -mindepth 1 -delete"


def _all_over(heard: Heard) -> str | None:
    """Everything that is in a folder goes into another; hidden files too, which `*` would leave behind."""
    source, target = _named_folder(heard, "dir"), heard.text("target").rstrip("/")
    if source is None or not target or target.startswith("-") or "." in target.rsplit("/", 1)[-1].strip("."):
        return None
    if target == source or f"{target}/".startswith(f"{source}/"):
        return None
    made = "" if heard.scene.exists(target + "/.") else f"mkdir -p {quote_path(target)} && "
    if heard.scene.exists(target) and made:
        return None
    if heard.low("verb") in ("copy", "duplicate", "cp"):
        return f"{made}cp -a {quote_path(source)}/. {quote_path(target)}/"
    return f"{made}find {quote_path(source)} -mindepth 1 -maxdepth 1 -exec mv -t {quote_path(target)} {{}} +"


def _but_the_newest(heard: Heard) -> str | None:
    root = _root(heard)
    kind = heard.text("kind") if heard.has("kind") else "files"
    tests = name_tests(kind, heard.scene)
    if root is None or tests is None:
        return None
    which = heard.low("which")
    key = "%s" if which in ("largest", "biggest", "smallest") else "%T@"
    if heard.has("n") and heard.has("n2"):
        return None
    keep = int(heard.number("n2" if heard.has("n2") else "n") or 1)
    tests = f"{tests} " if tests else ""
    head = f"find {quote_path(root)} -maxdepth 1 -type f {tests}-printf '{key} %p"
    if heard.low("verb") in ("list", "show", "print", "display", "find"):
        return f"{head}\\n' | sort -{_ORDER[which]} | tail -n +{keep + 1} | cut -d' ' -f2-"
    return f"{head}\\0' | sort -z{_ORDER[which]} | tail -zn +{keep + 1} | cut -zd' ' -f2- | xargs -0r rm --"


def _listed(heard: Heard) -> str | None:
    folder = _named_folder(heard, "dir")
    return None if folder is None else f"ls {_letters(heard)}{quote_path(folder)}"


def _letters(heard: Heard) -> str:
    said = heard.low("how")
    letters = "l" if re.search("long|detail|size|owner|permission|date|time", said) else ""
    letters += "i" if "inode" in said else ""
    letters += "A" if "hidden" in said else ""
    letters += "R" if re.search("recurs|subfolder|subdirector", said) else ""
    letters += "h" if "human" in said else ""
    if re.search("newest first|recent first|newest on top|by (?:date|time|age)", said):
        letters += "t"
    elif re.search("oldest first|newest last|recent (?:at the end|last)", said):
        letters += "tr"
    elif re.search("largest first|biggest first|by size", said):
        letters += "S"
    elif re.search("smallest first", said):
        letters += "Sr"
    return f"-{letters} " if letters else ""


def _by_version(heard: Heard) -> str | None:
    folder = _named_folder(heard, "dir")
    back = "r" if re.search("newest|latest|highest|descending|reverse", heard.low("back")) else ""
    return None if folder is None else f"ls {quote_path(folder)} | sort -V{back}"


_HOW = (
    r"(?P<how>(?:,? ?(?:and |but |with |in |including |(?:its |their |the |all |also )*|sorted |ordered |from |of )*(?:long(?: form| format| listing)?|details?|sizes?|dates?|times?|owners?|permissions?|hidden (?:files|ones|entries)(?: too| included)?"
    r"|inodes?(?: numbers?)?|recursively|newest first|oldest first|largest first|smallest first|everything in (?:its |the )?sub(?:folders|directories)|sub(?:folders|directories)(?: too| included)?|by (?:date|time|size|age)|human[- ]readable(?: sizes?)?|most recent (?:first|last|at the end)),?)+)"
)
_N = r"(?:<n:int> )?"
_WHICH = r"(?P<which>newest|latest|most recent|oldest|largest|biggest|smallest)"
_KINDS = rf"(?: (?P<kind>(?!files?\b){KIND}))?(?: files?| ones?)?"
RULES = [
    Said("folders directories folder directory dirs", rf"{{ASK}}(?:names of )?{_FOLDERS}{_IN} {_LACK} (?P<kind>{KIND}){_FILES}", _lacking, "folders without a kind of files"),
    Said("folders directories folder directory dirs", rf"{{ASK}}(?:names of |paths of )?{_FOLDERS}{_IN} {_HOLD} (?:{_SOME})?(?P<kind>{KIND}){_FILES}{_ONCE}", _holding, "folders with a kind of files"),
    Said("folders directories folder directory", rf"(?:in )?which (?:folders?|director(?:y|ies)) (?:is|are) (?:there )?{_SOME}(?P<kind>{KIND}){_FILES}", _holding, "folders with a kind of files"),
    Said("everything anything all contents content", rf"(?:delete|remove|erase|wipe|rm|throw away|get rid of) (?:everything|anything|all|all the contents?|the contents?|all contents?|the whole contents?|all (?:the )?files and (?:folders|directories|subfolders)|whatever is|everything that is|all that is){_IN_IT}(?: itself)?", _all_gone, "everything in a folder goes"),
    Said("everything all contents content", rf"(?P<verb>move|copy|mv|cp|put|duplicate|bring) (?:everything|all|all the contents?|the contents?|the whole contents?|all (?:the )?files and (?:folders|directories|subfolders)|whatever is|everything that is|all that is){_IN_IT} (?:in)?to (?:the )?(?:folder |directory )?<target:path>(?: folder| directory)?", _all_over, "everything in a folder goes elsewhere"),
    Said("but except keep all", rf"(?P<verb>delete|remove|erase|list|show|print|display|find) (?:all|everything|all files|all the files|every file) (?:but|except|other than|apart from|save)(?: for)? (?:the )?{_N}{_WHICH}(?: <n2:int>)?{_KINDS}{_IN}", _but_the_newest, "all but the newest files"),
    Said("keep", rf"keep (?:only |just )?(?:the )?{_N}{_WHICH}(?: <n2:int>)?{_KINDS}{_IN}(?:,? (?:and )?(?P<verb>delete|remove|erase|throw away) (?:all )?(?:the )?(?:rest|others?|other files|older ones|remaining files|remaining ones))", _but_the_newest, "all but the newest files"),
    Said("contents content listing everything what entries files", rf"(?:{{ASK}}|list )?(?:directory listing |listing |contents? |everything |what is |what's |entries |all entries )(?:(?:of|in|inside|under) )(?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?{_HOW}", _listed, "what is in a folder"),
    Said("version versions", r"(?:{ASK}|sort |list )?(?:the )?(?:contents of |entries of |folders in )?(?:the )?<dir:path>(?: folder| directory)? (?:sorted |ordered )?(?:by|in order of)(?: the)?(?: their)? versions?(?: numbers?)?(?P<back>.{0,40}?first| descending| reversed?)?", _by_version, "a folder in order of versions"),
    Said("version versions", r"(?:{ASK}|sort |list )?(?:the )?<dir:path> (?:sorted |ordered )?(?:in|by) version order(?P<back>.{0,40})", _by_version, "a folder in order of versions"),
    Said("recursively subfolders subdirectories inodes inode details long hidden", rf"(?:list|show|ls)(?: the)?(?: folder| directory)? <dir:path>(?: folder| directory)?{_HOW}", _listed, "what is in a folder"),
    Said("directory folder here", rf"(?:{{ASK}}|list )(?:contents? of |entries (?:of|in) )?(?:this (?:directory|folder)|the current (?:directory|folder)|here){_HOW}", lambda h: f"ls {_letters(h)}".rstrip() if _letters(h) else None, "what is in this folder"),
    Said("folders directories", r"(?:list|show|print|display|see|which|what)(?: me)?(?: the| my)? (?:names of (?:the )?)?(?:folders|directories)(?: (?:are|is))?(?: there)? (?:here|in (?:this|the current) (?:folder|directory)|in (?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?)", lambda h: _subfolders(h), "folders in a folder"),
    Said("hidden", r"{ASK}hidden (?:files and folders|entries|things|items|ones) (?:of|in) (?:this|the current) (?:directory|folder)(?: only)?", lambda h: "ls -d .[!.]*", "hidden entries of this folder"),
    Said("entries entry", r"{ASK}(?P<end>first|last) <n:int> entries (?:of|in) (?:(?:this|the current) (?:directory|folder)|(?:the )?(?:folder |directory )?<dir:path>(?: folder| directory)?)(?: (?:in alphabetical order|alphabetically|by name))?", lambda h: _some_entries(h), "some entries of a folder"),
    Said("swap exchange", r"(?:swap|exchange|switch) (?:the )?names of (?:the files )?<a:path> and <b:path>", lambda h: _swapped(h), "names change places"),
    Said("larger bigger smaller heavier lighter", r"(?:which (?:one )?(?:of them )?is (?:larger|bigger|smaller|heavier|lighter)[:,]? <a:path> or <b:path>|is <a2:path> or <b2:path> (?:larger|bigger|smaller|heavier|lighter))(?:[?,;.] ?(?:show |print |give me )?(?:the )?(?:disk )?(?:usage|sizes?) of both(?: in bytes)?)?", lambda h: _compared(h), "which one is larger"),
]  # fmt: skip


def _some_entries(heard: Heard) -> str | None:
    folder = ""
    if heard.has("dir"):
        named = _named_folder(heard, "dir")
        if named is None:
            return None
        folder = f" {quote_path(named)}"
    return f"ls{folder} | {'head' if heard.low('end') == 'first' else 'tail'} -n {heard.number('n')}"


def _subfolders(heard: Heard) -> str | None:
    if not heard.has("dir"):
        return "ls -d */"
    folder = _named_folder(heard, "dir")
    return None if folder is None else f"ls -d {quote_path(folder)}/*/"


def _swapped(heard: Heard) -> str | None:
    """Two files that take each other's name, by way of a third one that is not there."""
    first, second = heard.text("a"), heard.text("b")
    if first == second or not heard.scene.exists(first) or not heard.scene.exists(second):
        return None
    if first.startswith("-") or second.startswith("-"):
        return None
    spare = f"{first.rstrip('/')}.swap"
    if heard.scene.exists(spare):
        return None
    a, b, c = quote_path(first), quote_path(second), quote_path(spare)
    return f"mv {a} {c} && mv {b} {a} && mv {c} {b}"


def _compared(heard: Heard) -> str | None:
    names = [heard.text("a") or heard.text("a2"), heard.text("b") or heard.text("b2")]
    if any(name.startswith("-") or not heard.scene.exists(name) for name in names):
        return None
    return f"du -sb {quote_path(names[0])} {quote_path(names[1])}"
