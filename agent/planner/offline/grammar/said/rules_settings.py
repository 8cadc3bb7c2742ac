"""Settings in files of `key=value` or `key: value`, and lines that are made a comment or no comment."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path, quote_regex, quote_replacement

_KEY = r"(?P<key>'[\w.-]+'|\"[\w.-]+\"|[A-Za-z_][\w.-]*)"
_VALUE = r"<value:word>"
_A_KEY = rf"(?:the )?(?:value (?:of|for) |setting |option |key |parameter |variable |entry )?(?:the )?{_KEY}(?: setting| option| value| key| parameter| variable| entry)?"
_FILE = r"(?:the )?(?:file |config file |configuration )?<file:path>(?: file)?"
_SWITCHES = (("true", "false"), ("yes", "no"), ("on", "off"), ("enabled", "disabled"), ("1", "0"))
_MARKS = {"js": "// ", "ts": "// ", "c": "// ", "h": "// ", "cpp": "// ", "java": "// ", "go": "// ", "rs": "// ", "php": "// ", "sql": "-- ", "lua": "-- ", "ini": "; ", "vim": '" ', "tex": "% "}  # fmt: skip


def _line_of(heard: Heard) -> re.Match[str] | None:
    """The one line of the file that sets the key; None where there is none, or several."""
    key = re.escape(heard.text("key"))
    pattern = (
        rf"(?im)^(?P<start>[ \t]*(?:export )?(?P<quote>[\"']?){key}(?P=quote)[ \t]*[=:][ \t]*)(?P<value>[^\n]*?)[ \t]*$"
    )
    found = list(re.finditer(pattern, heard.scene.peek(heard.text("file"))))
    return found[0] if len(found) == 1 else None


def _written(heard: Heard, line: re.Match[str], value: str) -> str | None:
    """The edit of that line; the marks around the old value stay."""
    old = line["value"]
    if old.startswith(("{", "[", "|", ">")) or "\n" in value:
        return None
    marks = re.match(r"([\"']).*\1(,?)\Z", old)
    comma = "," if old.endswith(",") else ""
    new = f"{marks[1]}{value}{marks[1]}{marks[2]}" if marks else value + comma
    script = f"s/^{quote_regex(line['start'])}.*/{quote_replacement(line['start'] + new)}/"
    return f"sed -i {shlex.quote(script)} {heard.path('file')}"


def _set(heard: Heard) -> str | None:
    line = _line_of(heard)
    return _written(heard, line, heard.text("value")) if line is not None else None


def _switched(heard: Heard) -> str | None:
    """A key turned on or off, in the word that the file has for it."""
    line = _line_of(heard)
    if line is None:
        return None
    now = line["value"].strip("\"',").lower()
    on = heard.low("state") in ("on", "enable", "activate")
    for yes, no in _SWITCHES:
        if now in (yes, no):
            said = yes if on else no
            return _written(heard, line, said.capitalize() if line["value"].strip("\"',")[:1].isupper() else said)
    return None


def _mark(heard: Heard) -> str:
    return _MARKS.get(heard.text("file").rpartition(".")[2].lower(), "# ")


def _address(heard: Heard) -> str | None:
    if heard.has("n"):
        return heard.number("n")
    text = heard.text("text")
    if not text or (heard.scene.peek(heard.text("file")) and text not in heard.scene.peek(heard.text("file"))):
        return None
    return f"/{'^' if heard.has('begin') else ''}{quote_regex(text)}/"


def _commented(heard: Heard) -> str | None:
    where = _address(heard)
    if where is None or not heard.scene.exists(heard.text("file")):
        return None
    script = f"{where}s/^/{quote_replacement(_mark(heard))}/"
    return f"sed -i {shlex.quote(script)} {quote_path(heard.text('file'))}"


def _uncommented(heard: Heard) -> str | None:
    where = _address(heard)
    if where is None or not heard.scene.exists(heard.text("file")):
        return None
    mark = quote_regex(_mark(heard).strip())
    script = rf"{where}s/^\([[:space:]]*\){mark} \{{0,1\}}/\1/"
    return f"sed -i {shlex.quote(script)} {quote_path(heard.text('file'))}"


_LINE = r"(?:the |all |all the |every |each )?(?:lines? (?:number )?<n:int>|lines? (?:(?P<begin>that (?:begins?|starts?) with|(?:beginning|starting) with) |(?:with|containing|contains|that (?:contains?|mentions?|has|have|says?)|mentioning|about|for) )(?:the )?(?:word |text )?<text:word>|<text2:word> lines?)"
RULES = [
    Said("set change update switch modify", rf"(?:set|change|update|switch|modify) {_A_KEY} (?:to|=|as) {_VALUE} in {_FILE}", _set, "a setting"),
    Said("set change update switch modify", rf"(?:set|change|update|switch|modify) {_A_KEY} in {_FILE} (?:to|=|as) {_VALUE}", _set, "a setting"),
    Said("set change update switch modify", rf"(?:set|change|update|switch|modify) {_A_KEY} from (?:'[^']*'|\"[^\"]*\"|[^\s,]+) to {_VALUE} in {_FILE}", _set, "a setting"),
    Said("set change update switch modify", rf"(?:set|change|update|switch|modify) {_A_KEY} in {_FILE} from (?:'[^']*'|\"[^\"]*\"|[^\s,]+) to {_VALUE}", _set, "a setting"),
    Said("set change update switch modify", rf"in {_FILE},? (?:set|change|update|switch|modify) {_A_KEY} (?:to|=|as) {_VALUE}", _set, "a setting"),
    Said("turn switch", rf"(?:turn|switch) (?P<state>on|off) {_A_KEY} in {_FILE}", _switched, "a setting on or off"),
    Said("turn switch", rf"(?:turn|switch) {_A_KEY} (?P<state>on|off) in {_FILE}", _switched, "a setting on or off"),
    Said("turn switch", rf"in {_FILE},? (?:turn|switch) (?P<state>on|off) {_A_KEY}", _switched, "a setting on or off"),
    Said("turn switch enable disable", rf"in {_FILE},? (?:turn|switch) {_A_KEY} (?P<state>on|off)", _switched, "a setting on or off"),
    Said("enable disable activate deactivate", rf"(?P<state>enable|disable|activate|deactivate) {_A_KEY} in {_FILE}", _switched, "a setting on or off"),
    Said("comment", rf"comment(?: out)? {_LINE}(?: out)? (?:in|of|from) {_FILE}", _commented, "lines made comments"),
    Said("comment", rf"in {_FILE},? comment(?: out)? {_LINE}(?: out)?", _commented, "lines made comments"),
    Said("uncomment", rf"uncomment {_LINE} (?:in|of|from) {_FILE}", _uncommented, "lines that are no comments any more"),
]  # fmt: skip
