"""What is looked for in many files: which files hold a text, where a marker or a definition stands, how often in each."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path, quote_regex

_ENDINGS = {
    "c": "c", "c++": "cpp", "header": "h", "java": "java", "go": "go", "rust": "rs", "shell": "sh", "bash": "sh", "perl": "pl", "ruby": "rb",
    "log": "log", "text": "txt", "markdown": "md", "json": "json", "csv": "csv", "xml": "xml", "sql": "sql", "css": "css", "html": "html",
    "php": "php", "python": "py", "javascript": "js", "typescript": "ts",
}  # fmt: skip
_DEFINED = {
    "function": {"py": "def ", "js": "function ", "ts": "function ", "php": "function ", "go": "^func ", "rs": "fn "},
    "class": {"py": "^class ", "js": "class ", "ts": "class ", "java": "class ", "php": "class "},
    "import": {"py": r"^\(import\|from\) ", "js": "^import ", "ts": "^import ", "java": "^import ", "go": "import "},
    "include": {"c": "^#include", "cpp": "^#include", "h": "^#include"},
}  # fmt: skip
_KIND = r"(?:(?P<k>[A-Za-z][\w+#]*|\*?\.\w{1,5}) )?(?P<both>sources? and headers|files|sources|source files|source code|modules|pages|programs|documents|code|scripts|logs|headers)"
_QUANTITY = r"(?:all |any |every |each |of |the |my |our |all of the )*"
_PLACE = r"(?:,? (?:here|anywhere|(?:anywhere )?in (?:this|the|our|my) (?:whole |entire )?(?:project|folder|tree|repo|repository|code|codebase|code base|directory|source))|,? (?:anywhere |somewhere )?(?:in|under|below|inside|within|throughout|across|from|of) (?:the |my )?(?:folder |directory )?(?P<d>(?!(?:this|each|them|it|any|every|all|project|code)\b)[\w./~-]+)(?: folder| directory| tree)?)?"
_HOLDS = r"(?:(?:that|which|who|where|do|does|did|still|also) )*(?P<no>not |don't |doesn't |never )?(?:contain(?:s|ing)?|mention(?:s|ing)?|have|has|having|hold(?:s|ing)?|includ(?:e|es|ing)|say(?:s|ing)?|us(?:e|es|ing)|refer(?:s|ring)? to|talk(?:s|ing)? (?:about|of)|(?:are|is) about|deal(?:s|ing)? with|connect(?:s|ing)? to|call(?:s|ing)?|reference(?:s)?|speak(?:s|ing)? of|say something about|with) (?:a |an |the |any )?(?:word |text |string |line |term |name )?"
_NAMES = r"(?:(?: somewhere| anywhere)?(?: (?:in|inside) (?:it|them))?)(?:[,;:]? ?\(?(?:just|only|show|give|print|i only need|please)? ?(?:me )?(?:the |their )?(?:file ?)?names?(?: only| suffice| please)?\)?)?"
_MARKER = r"(?P<m>(?-i:TODO|FIXME|XXX|HACK|NOTE|BUG|DEPRECATED))(?:'?s)?(?: comments?| marks?| notes?| markers?| lines?| entries| tags?)*"
_LEFT_OUT = r"(?:,? (?:but )?(?:please )?(?:except|without|not in|excluding|skipping|ignoring|leaving out|outside(?: of)?) (?:the |what is in |those in |anything in )*(?:folder )?(?P<x>[\w.-]+)(?: folder)?(?: out)?)?"
_WHERE_IT_STANDS = r"(?:,? (?:and |also )?(?:with |show |including |giving |say |tell me )*(?:(?:the |their )?(?:files? (?:name )?and )?line ?numbers?|(?:files? and lines?|where they (?:are|stand|occur)|where (?:it|each) (?:is|stands)|the file and (?:the )?line(?: number)?)))?"


def _globs(heard: Heard) -> list[str] | None:
    """The patterns of file names for a kind; [] for all files, None for a kind that is not known."""
    said = heard.text("k").lstrip("*").lower()
    noun = heard.low("both")
    if said in ("", "source", "all", "plain", "single", "other"):
        return ["*.log"] if noun == "logs" and not said else None if noun in ("headers", "pages") and not said else []
    if said.startswith("."):
        return ["*" + said]
    ending = _ENDINGS.get(said)
    if ending is None:
        known = heard.scene.lexicon.kinds.get(said)
        return ["*." + one for one in known] if known else None
    return [f"*.[{ending}h]"] if "headers" in noun and ending == "c" else ["*." + ending]


def _where(heard: Heard) -> str | None:
    """The folder; None for one that is not there."""
    folder = heard.text("d").rstrip("/") if heard.has("d") else ""
    if not folder:
        return "."
    return folder if heard.scene.exists(folder + "/.") else None


def _grep(letters: str, text: str, globs: list[str], where: str, left_out: str = "") -> str:
    pattern = quote_regex(text).replace("\\/", "/")
    words = [f"grep -{letters}"]
    words += [f"--include={shlex.quote(glob)}" for glob in globs]
    if left_out:
        words.append(f"--exclude-dir={shlex.quote(left_out)}")
    words.append(("-e " if pattern.startswith("-") else "") + shlex.quote(pattern))
    return " ".join([*words, quote_path(where)])


def _files_with(heard: Heard) -> str | None:
    globs, where, text = _globs(heard), _where(heard), heard.text("t")
    if (
        globs is None
        or where is None
        or not text
        or text.lower() in ("details", "sizes", "dates", "owners", "permissions", "spaces", "links", "extension")
        or re.search(r"(?i)\b(?:and|or|but|more|less|than|in their name|lines|words|bytes)\b", text)
    ):
        return None
    command = _grep("rL" if heard.has("no") else "rl", text, globs, where)
    return f"{command} | wc -l" if heard.has("many") else command


def _folder_with(heard: Heard) -> str | None:
    """ "which invoices say ..." where there is a folder of invoices."""
    folder, text = heard.text("f"), heard.text("t")
    if not heard.scene.exists(folder + "/.") or re.search(r"(?i)\b(?:and|or|but|more|than)\b", text):
        return None
    command = _grep("rL" if heard.has("no") else "rl", text, [], folder)
    return f"{command} | wc -l" if heard.has("many") else command


def _markers(heard: Heard) -> str | None:
    globs, where = (_globs(heard) if heard.has("both") else []), _where(heard)
    if globs is None or where is None:
        return None
    return _grep("rn", heard.text("m"), globs, where, heard.text("x") if heard.has("x") else "")


def _marker_counts(heard: Heard) -> str | None:
    globs, where = (_globs(heard) if heard.has("both") else []), _where(heard)
    if globs is None or where is None:
        return None
    if heard.has("each"):
        only = " | grep -v ':0$'" if heard.has("some") else ""
        return _grep("rc", heard.text("m"), globs, where) + only
    return _grep("rho", heard.text("m"), globs, where) + " | wc -l"


def _definitions(heard: Heard) -> str | None:
    globs, where = (_globs(heard) if heard.has("both") else []), _where(heard)
    what = next(name for name in _DEFINED if heard.low("what").startswith(name[:5]))
    if globs is None or where is None or (not globs and not heard.has("d")):
        return None
    if not globs:
        words = {
            "function": "(def|function|func|fn) ",
            "class": "class ",
            "import": "(import|from) ",
            "include": "#include",
        }
        return f"grep -rnE {shlex.quote('^[[:space:]]*' + words[what])} {quote_path(where)}"
    pattern = _DEFINED[what].get(globs[0].removeprefix("*."))
    return f"grep -rn {shlex.quote(pattern)} --include={shlex.quote(globs[0])} {quote_path(where)}" if pattern else None


def _lines_in_each(heard: Heard) -> str | None:
    where = _where(heard)
    return _grep("rc", heard.text("t"), [], where) if where not in (None, ".") and where else None


def _around(heard: Heard) -> str | None:
    """Lines beside those with a text."""
    number = heard.number("n") if heard.has("n") else "1"
    side = re.sub(r"\s+", " ", heard.low("side"))
    letter = (
        "C"
        if " and " in side
        or side in ("around", "surrounding", "of context around", "on either side of", "on both sides of")
        else "A"
        if re.match(r"after|below|behind|following|past", side)
        else "B"
    )
    text = heard.text("t")
    if not heard.scene.peek(heard.text("file")) or not number.isdigit():
        return None
    return f"grep -{letter} {number} {shlex.quote(quote_regex(text).replace(chr(92) + '/', '/'))} {heard.path('file')}"


def _shebang(heard: Heard) -> str | None:
    where = _where(heard)
    said = heard.text("t").removeprefix("#!")
    return (
        f"grep -rl {shlex.quote('^#!' + quote_regex(said).replace(chr(92) + '/', '/'))} {quote_path(where)}"
        if where
        else None
    )


_ASKED = r"(?:(?P<many>how many|number of|count)(?: of)? |(?:in )?(?:which|what)(?: of)? |(?:the )?names of |(?:find|list|show|give me|print|get|tell me|search for)(?: me)? (?:which |the names of |names of )?|)"
_SIDE = r"before and (?:\w+ )?(?:lines? )?after|above and (?:\w+ )?(?:lines? )?below|after and before|around|surrounding|of context around|on either side of|on both sides of|after|below|behind|following|before|above|preceding"
RULES = [
    Said("files sources modules pages programs documents code scripts logs headers", rf"{_ASKED}{_QUANTITY}{_KIND}{_PLACE} {_HOLDS}<t:word>{_NAMES}", _files_with, "files that hold a text"),
    Said("files sources modules pages programs documents code scripts logs headers", rf"{_ASKED}{_QUANTITY}{_KIND} {_HOLDS}<t:word>(?: in (?:it|them))?{_PLACE}{_NAMES}", _files_with, "files that hold a text"),
    Said("which what names in many number files how", rf"(?:(?P<many>how many|number of) |(?:in )?which (?:of the )?|(?:the )?names of (?:the |all |all the )?|what ){_QUANTITY}(?P<f>[a-z][\w-]+) {_HOLDS}<t:word>{_NAMES}", _folder_with, "files of a folder that hold a text"),
    Said("todo todos fixme fixmes xxx hack hacks note notes bug bugs deprecated", rf"(?:{{ASK}}|find |search for |look for |collect |where are |)(?:all |every |each |any |the |all the |remaining |open )*{_MARKER}(?: (?:in|of|from) {_QUANTITY}{_KIND})?{_PLACE}{_LEFT_OUT}{_WHERE_IT_STANDS}", _markers, "markers in the code"),
    Said("todo todos fixme fixmes xxx hack hacks note notes bug bugs deprecated", rf"(?:count|(?:the )?number of|how many|count of)(?: the| all)* {_MARKER}(?: (?:are there|there are|do we have|are|does|have|stand|occur|appear))?(?: (?:in|of) {_QUANTITY}{_KIND})?{_PLACE}(?P<each>,? (?:per|in each|in every|for each|for every|by|of each)(?: single)? file)?(?P<some>,? (?:but )?(?:and )?(?:only|just)(?: for| the| show)* (?:files|those|ones)(?: files)? (?:that |which |where )?(?:have|has|with|contain|there (?:is|are))(?: at ?least)? (?:one|any|some))?(?: (?:altogether|together|in total|in all|overall))?", _marker_counts, "how many markers"),
    Said("function functions class classes import imports include includes method methods", rf"(?:{{ASK}}|find |where are )(?:all |every |each |the |all the )*(?P<what>functions?|class(?:es)?|imports?|includes?)(?: definitions?| statements?| lines?)?(?: defined)?(?: (?:in|of|from) {_QUANTITY}{_KIND})?{_PLACE}{_WHERE_IT_STANDS}", _definitions, "definitions in the code"),
    Said("each every per", r"(?:for (?:each|every) file (?:in|under|of) (?P<d>[\w./~-]+),? )(?:say |tell me |print |show |give )?(?:me )?(?:how many|the number of)(?: of its)? lines (?:that )?(?:contain|mention|have|match) (?:the word )?<t:word>", _lines_in_each, "lines with a text in each file"),
    Said("each every per", r"(?:count|the number of|number of|how many) (?:the )?lines (?:that |which |with |containing )*(?:contain |mention |have |match )?(?:the word )?<t:word>(?: are)? (?:in|for|per|of) (?:each|every)? ?file (?:in|under|of) (?P<d>[\w./~-]+)", _lines_in_each, "lines with a text in each file"),
    Said("before after around surrounding above below context following preceding either both behind", rf"(?:{{ASK}}|find )?(?:with )?(?:the )?(?:(?P<n>\d+|one|a|two|three|four|five|six|seven|eight|nine|ten) )?lines? (?P<side>{_SIDE}) (?:every |each |all |any |the |lines? |line |ones? |with |containing |that |contains? |mention(?:s|ing)? |occurrences? of |word |match(?:es)? (?:of|for) )*<t:word> (?:in|of|from) <file:path>", _around, "lines around a text"),
    Said("before after around surrounding context", rf"(?:{{ASK}}|find |search for |grep )?(?:every |each |all |the |lines? |line |with |containing |that |contains? |word |matches (?:of|for) )*<t:word> (?:in|of|from) <file:path>,? (?:and |with |together with |plus |along with )+(?:the )?(?:(?P<n>\d+|one|a|two|three|four|five|six|seven|eight|nine|ten) )?lines? (?:of context )?(?P<side>{_SIDE})(?: it| them| each| that| each match)?", _around, "lines around a text"),
    Said("start starts begin begins shebang starting beginning", rf"(?:{{ASK}}|find |which |what )?(?:names of )?(?:all |the |every |those )*(?:shell )?(?:scripts|files|programs) (?:that |which |whose first line )*(?:start|starts|begin|begins|starting|beginning|are|with|have) (?:with )?(?:a |an |the )?(?P<t>(?:#!)?/[\w./-]+(?: (?!shebang|in\b|under\b)\w+)?)(?: shebang(?: line)?)?(?:{_PLACE})", _shebang, "scripts by their first line"),
]  # fmt: skip
