"""Small things that people do one after the other: go somewhere, make, rename, gather, put together."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.grammar.tables import column_named, table_of
from agent.planner.offline.values import quote_path

_NAME = r"(?:called |named |with the name )?"
_KIND = r"(?P<kind>[\w*.]+)"
_IN_DIR = r"(?: (?:in|from|of|under|below|inside) (?:the )?(?:folder |directory )?(?P<dir>'[^']+'|\"[^\"]+\"|(?!one\b|a\b)[\w./~-]+?)(?: folder| directory)?)?"
_WHOLE = re.compile(r"(?i)(?:this|here|current|the current|this folder|it|there)\Z")


def _globs(heard: Heard) -> list[str] | None:
    """The endings of a kind of files: "python", "txt", "*.txt"; None for a word that is no kind."""
    said = heard.low("kind").removeprefix("*").lstrip(".")
    known = heard.scene.lexicon.kinds.get(said) or heard.scene.lexicon.kinds.get(said.rstrip("s"))
    if known:
        return list(known)
    plain = re.fullmatch(r"[a-z0-9]{1,5}", said) and (
        said in heard.scene.lexicon.extensions or heard.low("kind").startswith(("*.", "."))
    )
    return [said] if plain else None


def _place(heard: Heard) -> str | None:
    """The folder of a goal with a slash behind it, "" for this one; None where there is none of that name."""
    said = heard.text("dir").rstrip("/") if heard.has("dir") else ""
    if not said or said == ".":
        return ""
    return quote_path(said) + "/" if heard.scene.exists(said + "/.") else None


def _patterns(heard: Heard) -> str | None:
    endings, place = _globs(heard), _place(heard)
    if not endings or place is None:
        return None
    return " ".join(f"{place or './'}*.{ending}" if not place else f"{place}*.{ending}" for ending in endings).replace(
        "./*", "*"
    )


def _gone(heard: Heard) -> str | None:
    return f"cd {heard.path('dir')}" if heard.scene.exists(heard.text("dir") + "/.") else None


def _renamed(heard: Heard) -> str | None:
    old, new = heard.text("a"), heard.text("b")
    return (
        f"mv -n {quote_path(old)} {quote_path(new)}"
        if heard.scene.exists(old) and not new.startswith(("*", "."))
        else None
    )


def _put(heard: Heard) -> str | None:
    patterns = _patterns(heard)
    target = heard.text("target")
    if patterns is None or not heard.scene.exists(target + "/."):
        return None
    program = "cp" if heard.low("verb") == "copy" else "mv"
    return f"{program} {patterns} {quote_path(target.rstrip('/'))}/"


def _per_file(heard: Heard) -> str | None:
    patterns = _patterns(heard)
    letter = {"l": "l", "w": "w", "c": "m", "b": "c"}[heard.low("unit")[0]]
    return f"wc -{letter} {patterns}" if patterns else None


def _joined(heard: Heard) -> str | None:
    patterns = _patterns(heard)
    if patterns is None:
        return None
    middle = " | sort" + (" -u" if heard.has("unique") else "") if heard.has("sorted") else ""
    return f"cat {patterns}{middle} > {heard.path('file')}"


def _gathered(heard: Heard) -> str | None:
    endings, place = _globs(heard), _place(heard)
    text = heard.text("text")
    if not endings or place is None or not text:
        return None
    names = " ".join(f"--include='*.{ending}'" for ending in endings)
    pattern = shlex.quote(text) if not text.startswith("-") else "-e " + shlex.quote(text)
    fixed = "F" if re.search(r"[\\.*^$\[\]]", text) else ""
    plain = "h" if heard.has("plain") else ""
    return f"grep -r{plain}{fixed} {names} {pattern} {place.rstrip('/') or '.'} > {heard.path('file')}"


def _replaced_where_found(heard: Heard) -> str | None:
    old, new = heard.text("old"), heard.text("new")
    folders = heard.several("dirs") if heard.has("dirs") else ["."]
    if not old or not all(heard.scene.exists(folder + "/.") for folder in folders):
        return None
    left = re.sub(r"([\\.*^$\[\]/])", r"\\\1", old)
    right = re.sub(r"([\\/&])", r"\\\1", new)
    places = " ".join(quote_path(folder) for folder in folders)
    return f"grep -rlZF -e {shlex.quote(old)} {places} | xargs -0 -r sed -i {shlex.quote(f's/{left}/{right}/g')}"


def _below_header(heard: Heard) -> str | None:
    """A table in order whose first line stays where it is."""
    name = heard.text("file")
    table = table_of(heard.scene.peek(name), name)
    found = column_named(table, heard.low("key").split()) if table.header else None
    if found is None or not table.separator:
        return None
    flags = ("n" if found[1] in table.numeric else "") + ("r" if heard.has("back") else "")
    file = heard.path("file")
    parted = shlex.quote(table.separator) if table.separator != "," else ","
    ordered = f"head -n 1 {file}; tail -n +2 {file} | sort -t{parted} -k{found[1]},{found[1]}{flags}"
    return f"{{ {ordered}; }} > {heard.path('out')}" if heard.has("out") else ordered


RULES = [
    Said("only", r"(?:print|show|display|give me|output) only the (?:number|count) of lines (?:in|of) (?:the )?(?:file )?<file:path>", lambda h: f"wc -l < {h.path('file')}", "how many lines a file has"),
    Said("go change switch", r"(?:go|change|switch|move|cd)(?: over)? (?:in)?to (?:the )?(?:folder |directory |working directory |sub-?folder )?<dir:path>(?: folder| directory)?", _gone, "go to a folder"),
    Said("touch", rf"touch (?:(?:a|an|the) )?(?:new |empty )*(?:file )?{_NAME}<file:path>", lambda h: f"touch {h.path('file')}" if h.low("file") not in ("file", "files", "new") else None, "make an empty file"),
    Said("left", r"{ASK}(?:what(?:'s| is| has been)? |files )?(?:(?:that )?(?:is|are) )?(?:left|still there|remains|remaining|left over)(?: over)? (?:in|of|inside|under) (?:the )?(?:folder |directory )?<dir:path>", lambda h: f"ls {h.path('dir')}" if h.scene.exists(h.text("dir") + "/.") else None, "what is left in a folder"),
    Said("rename", r"rename (?:the )?(?:folder |directory |file )?<a:path> (?:to|into|as) <b:path>", _renamed, "another name"),
    Said("folder directory", rf"(?:make|create|add) (?:(?:a|an|the|another) )?(?:new |empty )*(?:folder|directory) {_NAME}(?P<name>[\w][\w./+-]*)(?: here)?", lambda h: f"mkdir -p {h.path('name')}" if h.low("name") not in ("for", "in", "with", "called", "named", "of", "from", "under", "structure", "and", "tree", "to") else None, "make a folder"),
    Said("put move copy", rf"(?P<verb>put|move|copy) (?:all )?(?:of )?(?:the )?{_KIND} files{_IN_DIR} (?:in|into|to) (?:the )?(?:folder |directory )?<target:path>", lambda h: _put(h) if h.low("verb") == "put" else None, "files into a folder"),
    Said("each every", rf"for (?:each|every|all) (?:of the )?{_KIND} files?{_IN_DIR},? (?:print|show|display|list|output|tell me) (?:its|the|their) (?:file ?)?names? and (?:its |the |their )?(?:number|count|numbers) of (?P<unit>lines|words|characters|bytes)", _per_file, "lines of each file"),
    Said("concatenate join merge combine cat", rf"(?:concatenate|join|merge|combine|cat) (?:all )?(?:of )?(?:the )?(?:contents of )?(?:all )?(?:the )?{_KIND} files{_IN_DIR}(?: together)? (?:in)?to (?:a |one |the )?(?:single |new )?(?:file )?{_NAME}<file:path>(?P<sorted>,? (?:and )?(?:sorted|in sorted order|in alphabetical order|sort(?:ing)? (?:the lines|it|them))(?: alphabetically)?(?P<unique>,? (?:and )?without duplicates)?)?", _joined, "files put together"),
    Said("collect gather save write put", rf"(?:collect|gather|save|write|put) (?:all )?(?:the )?lines (?:that (?:contain|have|mention) |with |containing |mentioning )(?:the )?(?:word |text )?<text:word> (?:from|of|in) (?:all )?(?:the )?{_KIND} files{_IN_DIR} (?:in|into|to) (?:the |a )?(?:file )?{_NAME}<file:path>(?P<plain>,? (?:but )?(?:without|with no) (?:the |their )?(?:file ?)?names)?", _gathered, "lines gathered in a file"),
    Said("replace", r"(?:find|search for|look for) (?:all )?(?:the )?files (?:that contain|containing|with|which contain)(?: the)?(?: word| text| string| port)? <old:word> and (?:replace|change) (?:it|that|this|every occurrence|all occurrences)(?: there| in them)? (?:with|by|to) <new:word>(?: there| in them| in place)?(?:,? (?:but )?(?:only )?(?:below|under|in|inside)(?: the)?(?: folders?)? <dirs:paths>)?", _replaced_where_found, "replace where it is found"),
    Said("header", r"sort (?:the )?(?:file |table )?<file:path> by (?:the )?(?:column )?<key:words>(?: column)?(?: numerically| alphabetically)?(?P<back>,? (?:in reverse(?: order)?|descending|in descending order))?,? (?:but |and |while )?(?:keep|keeping|leave|leaving) (?:the |its )?(?:header|first|heading)(?: line| row)?(?: (?:on|at) (?:the )?top| in place| where it is| first)?(?:,? (?:and )?(?:then )?(?:save|write|store|put) (?:it|the result|that) (?:as|to|in|into) <out:path>)?", _below_header, "a table in order, below its header"),
    Said("permissions", r"{ASK}(?:file )?permissions of (?:the )?(?:file )?<file:path>", lambda h: f"ls -l {h.path('file').removeprefix('./')}" if h.text("file").startswith("./") else None, "rights of a file"),
]  # fmt: skip
