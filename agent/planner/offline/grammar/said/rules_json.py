"""JSON files: fields by their names, counts, keys, conditions, order, shape."""

from __future__ import annotations

import json
import re
import shlex

from agent.planner.offline.grammar.said.json_facts import Document, Field, document_of, field_named, spelled
from agent.planner.offline.grammar.said.sentence_rules import Heard, Said

_IN = r"(?: (?:in|from|of|inside|within|out of|stored in|listed in) (?:the )?(?:json )?(?:file |document )?)"
# What stands for any element.
_GENERIC = {"entries", "elements", "items", "objects", "records", "rows", "values", "lines", "entry", "element", "item", "object", "record", "row", "line", "things", "events"}  # fmt: skip
_EACH = r"(?: (?:of|for|from|in|over|across) (?:all |each |every |all of |the |all the |every one of )*(?P<who>[a-z][\w-]*))?"
_LESS = r"(?:less|smaller|lower|fewer|younger|cheaper|earlier) than|under|below|<"
_MORE = r"(?:more|greater|larger|higher|bigger|older|later) than|over|above|>|exceeds|exceeding"
_SIGN = rf"(?P<sign>is not|isn't|is not equal to|does not equal|!=|is at least|at least|>=|is at most|at most|<=|(?:is |are |was )?(?:{_MORE})|(?:is |are |was )?(?:{_LESS})|is equal to|equals|equal to|==?|is|are|was|of|contains|containing)"
_WHERE = rf"(?:,? (?:where|whose|with|that have|which have|having|if|for which|that are \w+(?: of \w+)? \(|that are|\()(?: the| an?)?(?: field| value of)? ?(?:<key:words> {_SIGN} (?P<value>'[^']*'|\"[^\"]*\"|[^\s'\")]+)\)?))"


def _document(heard: Heard) -> Document | None:
    name = heard.text("file")
    text = heard.scene.peek(name)
    return document_of(text, name) if text else None


def _is_things(heard: Heard, document: Document, said: str) -> str | None:
    """The path of the things that a goal calls `said`: those of the file's top, or of a list in it."""
    word = said.strip().lower()
    top = {"array": ".[]", "lines": "", "object": None}[document.top]
    for key, path in document.lists.items():
        if word in spelled(key):
            return path + "[]" if not path.startswith(".[]") else None
    stem = heard.text("file").rsplit("/", 1)[-1].rpartition(".")[0].lower()
    named = (
        word in spelled(stem)
        or stem in spelled(word)
        or (word in ("people", "persons", "person", "users", "user") and top is not None)
    )
    if top is not None and (not word or word in _GENERIC or named):
        return top
    if len(document.lists) == 1 and word in _GENERIC:
        return next(iter(document.lists.values())) + "[]"
    return None


def _jq(program: str, heard: Heard, flags: str = "") -> str:
    return f"jq {flags + ' ' if flags else ''}{shlex.quote(program)} {heard.path('file')}"


def _raw(field: Field) -> str:
    return "-r"


def _values(heard: Heard) -> str | None:
    document = _document(heard)
    if document is None:
        return None
    field = field_named(
        document, re.sub(r"\A(?:value of |field |key )|(?: fields?| values?| key)\Z", "", heard.low("field"))
    )
    if field is None:
        return None
    who = heard.low("who")
    if who and _is_things(heard, document, who) != field.holder and who not in ("line", "lines"):
        return None
    path = field.path + ("[]" if field.kind == "list" else "")
    command = _jq(path, heard, "-r")
    if heard.has("unique"):
        return f"{command} | sort -u"
    if heard.has("sorted"):
        return f"{command} | sort{' -n' if field.kind == 'number' else ''}{' -r' if heard.has('back') else ''}"
    return command


def _two_values(heard: Heard) -> str | None:
    document = _document(heard)
    if document is None:
        return None
    first, second = field_named(document, heard.low("field")), field_named(document, heard.low("other"))
    if first is None or second is None or first.holder != second.holder:
        return None
    form = {"csv": "@csv", "tsv": "@tsv", "tab": "@tsv"}.get(heard.low("form")[:3])
    pair = f"[{first.step}, {second.step}]"
    before = f"{first.holder} | " if first.holder else ""
    if form:
        return _jq(f"{before}{pair} | {form}", heard, "-r")
    return _jq(f'{before}"\\({first.step}) \\({second.step})"', heard, "-r")


def _count(heard: Heard) -> str | None:
    document = _document(heard)
    if document is None:
        return None
    things = _is_things(heard, document, heard.low("what"))
    if heard.low("what") in ("keys", "top-level keys", "top level keys", "fields") and document.top == "object":
        return _jq("length", heard) if heard.low("what") != "fields" else None
    if things is None or things.count("[]") > 1:
        return None
    if heard.has("key"):
        condition = _condition(heard, document, things)
        if condition is None:
            return None
        if document.top == "lines":
            return f"{_jq(f'select({condition})', heard, '-c')} | wc -l"
        return _jq(f"[{things} | select({condition})] | length", heard)
    if document.top == "lines":
        return f"wc -l < {heard.path('file')}"
    return _jq("length" if things == ".[]" else f"{things.removesuffix('[]')} | length", heard)


def _condition(heard: Heard, document: Document, holder: str) -> str | None:
    field = field_named(document, heard.low("key"), holder)
    if field is None or field.kind in ("object", "null"):
        return None
    said, sign = heard.text("value"), re.sub(r"\A(?:is|are|was) (?=\w+ )", "", heard.low("sign"))
    if field.kind in ("number", "truth"):
        if not re.fullmatch(r"-?\d+(?:\.\d+)?|true|false", said.lower()):
            return None
        value = said.lower()
    elif field.kind == "list":
        return f"{field.step} | index({json.dumps(said, ensure_ascii=False)})"
    else:
        cased = next(
            (json.loads(seen) for seen in field.values if seen.lower() == json.dumps(said, ensure_ascii=False).lower()),
            said,
        )
        value = json.dumps(cased, ensure_ascii=False)
    if sign in ("contains", "containing"):
        return f"{field.step} | contains({json.dumps(said, ensure_ascii=False)})" if field.kind == "text" else None
    symbol = "=="
    if sign in ("not", "is not", "isn't", "not equal to", "is not equal to", "does not equal", "!="):
        symbol = "!="
    elif sign in ("at least", ">="):
        symbol = ">="
    elif sign in ("at most", "<="):
        symbol = "<="
    elif re.fullmatch(_MORE, sign):
        symbol = ">"
    elif re.fullmatch(_LESS, sign):
        symbol = "<"
    return f"{field.step} {symbol} {value}"


def _selected(heard: Heard) -> str | None:
    document = _document(heard)
    if document is None:
        return None
    who = heard.low("who")
    wanted = field_named(document, heard.low("field")) if heard.low("field") else None
    if wanted is not None and (not who or _is_things(heard, document, who) == wanted.holder):
        holder: str | None = wanted.holder
    elif not who:
        holder, wanted = _is_things(heard, document, heard.low("field")), None
    else:
        return None
    condition = _condition(heard, document, holder) if holder is not None else None
    if holder is None or condition is None:
        return None
    begin = f"{holder} | " if holder else ""
    if wanted is None:
        return _jq(f"{begin}select({condition})", heard, "-c" if document.top == "lines" else "")
    return _jq(f"{begin}select({condition}) | {wanted.step}{'[]' if wanted.kind == 'list' else ''}", heard, "-r")


def _of_one(heard: Heard) -> str | None:
    """ "the email of Ann": the field of the thing of which another field says that."""
    document = _document(heard)
    wanted = field_named(document, heard.low("field")) if document is not None else None
    if document is None or wanted is None:
        return None
    said = json.dumps(heard.text("one"), ensure_ascii=False).lower()
    keys = [
        f
        for f in document.fields
        if f.holder == wanted.holder and f.key != wanted.key and any(v.lower() == said for v in f.values)
    ]
    if len(keys) != 1:
        return None
    value = next(v for v in keys[0].values if v.lower() == said)
    begin = f"{wanted.holder} | " if wanted.holder else ""
    return _jq(
        f"{begin}select({keys[0].step} == {value}) | {wanted.step}{'[]' if wanted.kind == 'list' else ''}", heard, "-r"
    )


def _element(heard: Heard) -> str | None:
    document = _document(heard)
    things = _is_things(heard, document, heard.low("what")) if document is not None else None
    places = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
    if document is None or things is None:
        return None
    at = places[heard.low("place")]
    if document.top == "lines":
        return f"sed -n {at + 1 if at >= 0 else '$'}p {heard.path('file')}".replace("$p", "'$p'")
    if things.count("[]") != 1:
        return None
    base = things.removesuffix("[]")
    if heard.has("field"):
        field = field_named(document, heard.low("field"), things)
        return _jq(f"{base}[{at}]{field.step}", heard, "-r") if field is not None else None
    return _jq(f"{base}[{at}]", heard)


def _computed(heard: Heard) -> str | None:
    document = _document(heard)
    field = field_named(document, heard.low("field")) if document is not None else None
    if document is None or field is None or field.kind != "number":
        return None
    how = heard.low("how")
    what = "add" if how in ("sum", "total", "add", "sum up", "add up") else "max" if how in ("largest", "highest", "maximum", "greatest", "biggest", "oldest", "max") else "min" if how in ("smallest", "lowest", "minimum", "least", "min", "youngest") else "add / length"  # fmt: skip
    if document.top == "lines":
        return _jq(f"map({field.path}) | {what}", heard, "-s")
    return _jq(f"[{field.path}] | {what}", heard) if "[]" in field.holder else None


def _ordered(heard: Heard) -> str | None:
    document = _document(heard)
    field = field_named(document, heard.low("key")) if document is not None else None
    if document is None or field is None or field.kind not in ("text", "number"):
        return None
    back = " | reverse" if heard.has("back") else ""
    if document.top == "lines":
        return _jq(f"sort_by({field.step}){back} | .[]", heard, "-sc") if not heard.has("field") else None
    if field.holder.count("[]") != 1 or not field.holder.endswith("[]"):
        return None
    base = field.holder.removesuffix("[]")
    before = "" if base in ("", ".") else f"{base} | "
    if heard.low("field") and _is_things(heard, document, heard.low("field")) is None:
        wanted = field_named(document, heard.low("field"), field.holder)
        return (
            _jq(f"{before}sort_by({field.step}){back} | .[]{wanted.step}", heard, "-r") if wanted is not None else None
        )
    return _jq(f"{before}sort_by({field.step}){back}", heard)


def _grouped(heard: Heard) -> str | None:
    document = _document(heard)
    field = field_named(document, heard.low("key")) if document is not None else None
    if document is None or field is None or _is_things(heard, document, heard.low("what")) != field.holder:
        return None
    return f"{_jq(field.path, heard, '-r')} | sort | uniq -c"


def _with_value(heard: Heard) -> str | None:
    """ "login events in events.jsonl": lines of which one field says that."""
    document = _document(heard)
    if document is None or document.top != "lines" or _is_things(heard, document, heard.low("what")) != "":
        return None
    said = json.dumps(heard.text("value"), ensure_ascii=False)
    if sum(said in field.values for field in document.fields) != 1:
        return None
    return f"grep {'-c ' if heard.has('count') else ''}{shlex.quote(said)} {heard.path('file')}"


def _keys(heard: Heard) -> str | None:
    document = _document(heard)
    if document is None:
        return None
    if heard.has("what"):
        things = _is_things(heard, document, heard.low("what"))
        base = things.removesuffix("[]") if things else None
        return _jq(f"{base}[0] | keys[]", heard, "-r") if base is not None and things != "" else None
    return _jq("keys[]", heard, "-r") if document.top == "object" else None


_J = ".json .jsonl .ndjson"
RULES = [
    Said(_J, rf"{{ASK}}(?:names of (?:all )?(?:the )?)?(?:top[- ]level |top |first[- ]level )?(?:keys|field names)(?: (?:at|of|on) (?:the )?(?:top|first|highest)(?: level)?)?(?: (?:of|in) (?:each|the|every|the first|an?) (?P<what>(?!file|json|document)[a-z]+))?{_IN}<file:json>", _keys, "keys of a JSON file"),
    Said(_J, rf"(?:how many|{{ASK}}(?:number|count) of|count(?: the)?(?: number of)?) (?P<what>[a-z][\w-]*(?: level keys)?)(?: (?:there )?are(?: there)?| does| do| has)?(?:(?: (?:in|of|from|inside|listed in|stored in)| contained in)? (?:the )?(?:file |json |json file |array in )?<file:json>)?(?: has| have| contains?| lists?)?(?:{_WHERE})?", lambda h: _count(h) if h.has("file") else None, "how many things a JSON file holds"),
    Said(_J, rf"(?:how many|{{ASK}}(?:number|count) of|count(?: the)?) (?P<what>[a-z][\w-]*)(?:{_WHERE}){_IN}<file:json>", _count, "how many things a JSON file holds"),
    Said(_J, r"(?:turn|convert|print|show|output|make|compress|minify|write|put|compact)(?: the)?(?: file| json file| contents of)? <file:json>(?: (?:into|as|in|to))?(?: a)?(?: (?:compact|minified|single-line|one-line))?(?: json)?(?:,? (?:on|in|into) (?:one|a single) line)?", lambda h: _jq(".", h, "-c") if re.search(r"(?i)compact|minif|line|compress", h._match.string) else None, "JSON on one line"),
    Said(_J, r"(?:is|check (?:whether|if|that)|test (?:whether|if|that)|see if|verify that|validate(?: that)?|check)(?: the file)? <file:json>(?: is)?(?: (?:valid|well-formed|correct|proper))?(?: json)?(?:[,;?]? (?:and )?(?:print|say|echo|output) <say:word>(?: if (?:so|it is|it's valid|yes|valid))?)?", lambda h: _jq("empty", h) + (f" && echo {shlex.quote(h.text('say'))}" if h.has("say") else "") if h.has("say") and re.search(r"(?i)valid|formed|correct|proper", h._match.string.replace(h.text("file"), "")) else None, "whether JSON is valid"),
    Said(_J, rf"{{ASK}}(?:<field:words> of the )?(?P<place>first|second|third|fourth|fifth|last) (?P<what>[a-z][\w-]*){_IN}<file:json>", _element, "one element of a JSON file"),
    Said(_J, rf"(?:{{ASK}}|select |filter )<field:words>{_EACH}{_IN}<file:json>{_WHERE}", _selected, "things of a JSON file by a condition"),
    Said(_J, rf"(?:{{ASK}}|select |filter )<field:words>{_EACH}{_WHERE}{_IN}<file:json>", _selected, "things of a JSON file by a condition"),
    Said(_J, rf"(?:{{ASK}}|calculate |compute )?(?P<how>sum|total|average|mean|add up|sum up|add|largest|highest|maximum|max|greatest|smallest|lowest|minimum|min|biggest|oldest|youngest)(?: of)?(?: all)?(?: of)?(?: the)? <field:words>(?: field| values?)?{_EACH}{_IN}<file:json>", _computed, "a number of a JSON file"),
    Said(_J, rf"(?:sort|order) (?:the )?(?:<field:words>{_IN})?<file:json> by (?:the |their )?(?:field )?<key:words>(?P<back>,? (?:in reverse|descending|in descending order|from (?:high to low|highest to lowest)|(?:highest|largest|oldest|newest) first))?(?:,? ascending| in ascending order|,? (?:youngest|lowest|smallest|least) first)?", _ordered, "a JSON file in order"),
    Said(_J, rf"{{ASK}}<field:words>{_IN}<file:json>,? (?:sorted|ordered|in order) (?:by|of) (?:the |their )?<key:words>(?P<back>,? (?:in reverse|descending|in descending order|(?:highest|largest|oldest|newest) first))?", _ordered, "a JSON file in order"),
    Said(_J, rf"(?:count|(?:{{ASK}})?number of|how many) (?:the )?(?P<what>[a-z]+) (?:by|per|for each|of each|grouped by) <key:words>{_IN}<file:json>|how many (?P<what2>zzz)", _grouped, "counts by a field"),
    Said(_J, rf"{{ASK}}<field:words> and (?:the )?<other:words>{_EACH}{_IN}<file:json>(?:,? as (?P<form>csv|tsv|tab-separated values))?", _two_values, "two fields of a JSON file"),
    Said(_J, rf"(?:{{ASK}}|extract |select )?(?P<unique>unique |distinct |different )?<field:words>{_EACH}{_IN}<file:json>(?:,? (?:without|with no) (?:the )?(?:quotes|quotation marks))?(?P<unique2>,? without duplicates)?(?P<sorted>,? (?:sorted|in order|in alphabetical order)(?: alphabetically| numerically)?(?P<back> in reverse(?: order)?)?)?", lambda h: _values(h) if not h.has("unique2") else None, "a field of a JSON file"),
    Said(_J, rf"{{ASK}}<field:words> of (?:the )?(?:[a-z]+ )?(?:named |called |with (?:the )?(?:name|id|sku) )?(?P<one>'[^']*'|\"[^\"]*\"|[\w.@-]+){_IN}<file:json>", _of_one, "a field of one thing in a JSON file"),
    Said(_J, rf"(?:(?P<count>how many |count (?:the )?|number of )|{{ASK}})(?P<value>[\w.-]+) (?P<what>[a-z]+)(?: are(?: there)?)?{_IN}<file:json>", _with_value, "lines of a JSON file by a value"),
    Said(_J, r"(?:pretty[- ]print|format|indent|beautify)(?: the)?(?: file| json| json file)? <file:json>(?: (?:with|using) indentation| nicely)?", lambda h: _jq(".", h), "JSON in readable form"),
]  # fmt: skip
