"""Questions with two answers, yes or no, and what lies between marks."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.grammar.tables import table_of
from agent.planner.offline.values import quote_path

_THINGS = {"folder": "-mindepth 1 -type d", "directory": "-mindepth 1 -type d", "directorie": "-mindepth 1 -type d", "subfolder": "-mindepth 1 -type d", "subdirectorie": "-mindepth 1 -type d", "file": "-type f", "link": "-type l", "symlink": "-type l", "symbolic link": "-type l"}  # fmt: skip
_BETWEEN = {
    "square brackets": (r"\[", r"[^]]*", r"\]"), "brackets": (r"\[", r"[^]]*", r"\]"), "parentheses": ("(", "[^)]*", ")"), "round brackets": ("(", "[^)]*", ")"),
    "parens": ("(", "[^)]*", ")"), "curly braces": ("{", "[^}]*", "}"), "braces": ("{", "[^}]*", "}"), "curly brackets": ("{", "[^}]*", "}"),
    "angle brackets": ("<", "[^>]*", ">"), "double quotes": ('"', '[^"]*', '"'), "quotes": ('"', '[^"]*', '"'), "quotation marks": ('"', '[^"]*', '"'), "single quotes": ("'", "[^']*", "'"),
}  # fmt: skip


def _two_numbers(heard: Heard) -> str | None:
    first, second = (_THINGS.get(heard.low(name).removeprefix("regular ").rstrip("s")) for name in ("a", "b"))
    if not first or not second or first == second:
        return None
    place = heard.path("dir") if heard.has("dir") else "."
    return f"find {place} {first} | wc -l; find {place} {second} | wc -l"


def _exists(heard: Heard) -> str | None:
    kind = {"folder": "-d", "directory": "-d", "file": "-f"}.get(heard.low("kind") or heard.low("kind2"), "-e")
    name = "file" if heard.has("file") else "other"
    if (
        "." not in heard.text(name)
        and "/" not in heard.text(name)
        and kind == "-e"
        and not heard.scene.exists(heard.text(name))
    ):
        return None
    return f"test {kind} {heard.path(name)} && echo yes || echo no"


def _between(heard: Heard) -> str:
    first, inside, last = _BETWEEN[heard.low("marks")]
    return f"sed -n {shlex.quote(f's/[^{first[-1]}]*{first}{chr(92)}({inside}{chr(92)}){last}.*/{chr(92)}1/p')} {heard.path('file')}"


def _days_old(heard: Heard) -> str:
    name = "file" if heard.has("file") else "other" if heard.has("other") else "third"
    seconds = {"day": 86400, "week": 604800, "hour": 3600, "minute": 60}[
        heard.low("unit" if name == "file" else "unit2" if name == "other" else "unit3").rstrip("s")
    ]
    return f"echo $(( ($(date +%s) - $(stat -c %Y {heard.path(name)})) / {seconds} ))"


_SUFFIX = {"python": "py", "javascript": "js", "typescript": "ts", "shell": "sh", "bash": "sh", "markdown": "md", "text": "txt", "ruby": "rb", "rust": "rs", "golang": "go", "perl": "pl"}  # fmt: skip


def _by_lines(heard: Heard) -> str | None:
    kind = (heard.low("kind") or heard.low("kind2")).lstrip(".*").strip()
    kind = _SUFFIX.get(kind, kind)
    if kind and not re.fullmatch(r"[a-z][a-z0-9+]{0,4}", kind):
        return None
    named = f" -name '*.{kind}'" if kind else ""
    place = heard.path("dir") if heard.has("dir") else heard.path("dir2") if heard.has("dir2") else "."
    number = heard.number("n") if heard.has("n") else heard.number("n2") if heard.has("n2") else "1"
    way = heard.low("way") or heard.low("way2")
    reverse = "r" if way in ("longest", "largest", "biggest", "most") else ""
    return f"find {place} -type f{named} -exec wc -l {{}} \\; | sort -{reverse}n | head -n {number}"


_NOUN = r"(?:regular )?(?:(?:sub)?folders|(?:sub)?directories|files|symlinks|symbolic links|links)"


def _removed(heard: Heard) -> str | None:
    name = heard.text("name") if heard.has("name") else heard.text("named")
    if name in (".", "..") or "/" in name or name.startswith("-") or re.search(r"[*?\[]", name):
        return None
    place = heard.path("dir") if heard.has("dir") else "."
    return f"find {place} -mindepth 1 -type d -name {shlex.quote(name)} -prune -exec rm -rf {{}} +"


def _sums(heard: Heard) -> str | None:
    folder = heard.text("dir").rstrip("/")
    if not heard.scene.exists(folder + "/."):
        return None
    return f"{heard.low('kind').replace('-', '')}sum {quote_path(folder)}/*"


def _header(heard: Heard) -> str | None:
    """The names of the columns, one below the other."""
    name = "file" if heard.has("file") else "other"
    table = table_of(heard.scene.peek(heard.text(name)), heard.text(name))
    if not table.header or not table.separator or table.separator == " ":
        return None
    sign = "'\\t'" if table.separator == "\t" else shlex.quote(table.separator)
    return f"head -n 1 {heard.path(name)} | tr {sign} '\\n'"


_KIND = r"\*?\.?[a-z+]{1,10}"
_HEAD = r"(?:(?:header|column|field)s? (?:names|titles|headings|headers|fields)|names of the (?:columns|fields)|column heads|headers|headings|columns)"
_BELOW = r"(?:(?:each )?(?:one )?(?:on|in) (?:its|their|a|an?) (?:own|separate|single) lines?|each on (?:its|a) (?:own |separate |new )?line|one (?:per|to a|on each|each) line|one below the other|line by line|as a list|one (?:under|after) (?:the other|another))"
_WITH = r"(?:,? (?:and |along |together )?(?:with|including|plus|and) (?:their |the )?(?:respective )?(?:line counts?|numbers? of lines|lines|counts?|how many lines (?:they|each|it) (?:have|has)))?"
_UNIT = r"days|weeks|hours|minutes"
_ANSWER = r"[?,;.]? ?(?:please )?(?:just )?(?:(?:answer|say|print|tell me|reply|output) )?(?:with )?(?:a )?(?:'?yes'? or '?no'?|yes/no)?"

RULES = [
    Said("number count many", rf"{{ASK}}(?:number of |count of |count |count the |how many |how many of )(?:the )?(?P<a>{_NOUN}) and (?:also )?(?:the |of |number of |how many )*(?P<b>{_NOUN})(?: are there| there are| are)?(?: (?:below|under|in|inside|within) (?:the )?(?:folder |directory )?<dir:path>)?(?:,? (?:one line each|each on (?:its|a) (?:own )?line|one per line|separately|on (?:two|separate) lines))?", _two_numbers, "two numbers"),
    Said("exist exists there", rf"(?:(?:check|test|tell me|see|find out|say) (?:if|whether) |does )(?:the |a )?(?:(?P<kind>file|folder|directory) )?(?:called |named )?<file:path> (?:already )?exists?(?: already| here)?{_ANSWER}", _exists, "whether a file is there"),
    Said("there", rf"(?:(?:check|test|tell me|see|find out|say) (?:if|whether) there is |is there )(?:a |an |any )?(?P<kind2>file|folder|directory) (?:called |named )<other:path>(?: here)?{_ANSWER}", _exists, "whether a file is there"),
    Said("lines line", rf"{{ASK}}(?:<n:int> )?(?P<way>longest|largest|biggest|shortest|smallest) (?:<n2:int> )?(?:(?P<kind>{_KIND}) )?(?:source )?(?:files?|scripts?)(?P<s> (?:(?:below|under|in|of) (?:the )?(?:folder |directory )?<dir:path>))? (?:by|in|counted in|measured in|measured by|counted by|in terms of|according to) (?:their |the )?(?:number of |count of )?lines?(?: count)?(?: (?:below|under|in|of) (?:the )?(?:folder |directory )?<dir2:path>)?{_WITH}", _by_lines, "files by their lines"),
    Said("lines", rf"{{ASK}}(?:<n:int> )?(?:(?P<kind>{_KIND}) )?(?:source )?(?:files?|scripts?) (?:(?:below|under|in) (?:the )?(?:folder |directory )?<dir:path> )?(?:with|that have|having|that has|has|have) (?:the )?(?P<way>most|fewest|least) lines(?: of code)?(?: (?:below|under|in|of) (?:the )?(?:folder |directory )?<dir2:path>)?{_WITH}", _by_lines, "files by their lines"),
    Said("every all each", r"(?:remove|delete|erase|get rid of) (?:every|all|each|any) (?:the )?(?:(?P<name>[\w.-]*[_.\d-][\w.-]*|'[^'\0/]+'|\"[^\"\0/]+\") (?:folders?|director(?:y|ies))|(?:folders?|director(?:y|ies)) (?:called|named) (?P<named>[\w.-]+|'[^'\0/]+'|\"[^\"\0/]+\"))(?: (?:anywhere|everywhere))?(?: (?:below|under|in|inside) (?:the )?(?:folder |directory )?<dir:path>)?", _removed, "remove folders of a name"),
    Said("sha256 sha md", r"{ASK}(?P<kind>sha-?256|sha-?1|sha-?512|md5) ?(?:check)?(?:sums?|hash(?:es)?)? (?:of|for) (?:the |all |all the )?(?:files in )?(?:the )?(?P<dir>[\w-]+)(?: folder| directory)?", _sums, "checksums of a folder"),
    Said("names header headers headings columns titles", rf"{{ASK}}(?:{_HEAD} (?:of|in|from) (?:the )?(?:file )?<file:path>|<other:path>(?:'s)?:? {_HEAD}),? {_BELOW}", _header, "names of the columns"),
    Said("between", r"(?:{ASK}|what (?:is|stands) )(?:[a-z]+ [a-z]+ only \(|[a-z]+ only \()?(?:the )?(?:(?:part|text|content|contents|bit|string|everything|what is|what's|what stands|words|values?)s? )?(?:between|within|inside|in) (?:the )?(?P<marks>square brackets|round brackets|curly brackets|angle brackets|brackets|parentheses|parens|curly braces|braces|double quotes|single quotes|quotation marks|quotes)\)? (?:of|in|from) (?:each line (?:of|in) |every line (?:of|in) |all lines of |the lines of )?<file:path>", _between, "what lies between marks"),
    Said("old age", rf"(?:how old in (?P<unit>{_UNIT}) (?:is|are) (?:the )?(?:file |folder )?<file:path>|how many (?P<unit2>{_UNIT}) old is (?:the )?(?:file |folder )?<other:path>|{{ASK}}age (?:of|for) (?:the )?(?:file |folder )?<third:path> in (?P<unit3>{_UNIT}))", _days_old, "age of a file"),
]  # fmt: skip
