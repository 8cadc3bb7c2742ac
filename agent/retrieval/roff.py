"""Read the source of a manual page as plain text: headings at the margin, options and paragraphs indented, no line broken.

Both macro sets of the field are read, man and mdoc. It runs no program, and what it does not know it passes over.
"""

from __future__ import annotations

import re

_BLOCK = re.compile(r"[.'][ \t]*(?:de1?|am1?|ig)\b")
_STRING = re.compile(r"^\.ds[ \t]+(\S+)[ \t]+\"?(.*)$", re.MULTILINE)
_CHOICE = re.compile(r"^[.'][ \t]*(?:if|ie|el|while)\b")
_ESCAPE = re.compile(
    r"\\(?:f(?:\[[^]]{0,80}\]|\(..|.)|s(?:\[[^]]{0,80}\]|[+-]?\d{1,2})|m\[[^]]{0,80}\]|[hvwlLDbXxoZ]'[^']{0,200}'|N'(\d+)'"
    r"|\*?\((..)|\*?\[([^]]{0,80})\]|\*(.)|([-e&/,cdu~0|^%:\"'` .]|$))"
)
_SIGNS = {
    "aq": "'", "cq": "'", "oq": "'", "dq": '"', "lq": '"', "rq": '"', "em": "—", "en": "-", "bu": "•", "ha": "^", "ti": "~",
    "mi": "-", "hy": "-", "rs": "\\", "bv": "|", "or": "|", "at": "@", "Aq": "'", "co": "(c)", "ga": "`", "sh": "#", "Do": "$",
    "->": "->", "<=": "<=", ">=": ">=", "la": "<", "ra": ">", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "sl": "/",
}  # fmt: skip
_LETTERS = {"-": "-", "e": "\\", "~": " ", "0": " ", " ": " ", "'": "'", "`": "`", ".": "."}
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
_ALTERNATING = frozenset(("BR", "RB", "IR", "RI", "BI", "IB"))
_SAME = frozenset(("B", "I", "SM", "SB", "R", "OP", "SY"))
_BREAKS = frozenset(("PP", "P", "LP", "HP", "br", "sp", "nf", "fi", "EX", "EE", "YS", "Pp", "Bd", "Ed", "D1", "Dl"))
_MDOC = frozenset(
    "Nm Fl Ar Op Cm Ic Pa Ev Li Sy Em Ql Dq Sq Pq Bq Aq Brq Xr Ns No Oo Oc Po Pc Do Dc Bro Brc Va Vt Fa Ad Tn Dv Er An Qq Pf Ap Bx Ux "
    "Nx Fx Ox".split()
)
_PAIRS = {"Oo": "[", "Oc": "]", "Po": "(", "Pc": ")", "Do": '"', "Dc": '"', "Bro": "{", "Brc": "}"}
_AROUND = {"Op": "[]", "Dq": '""', "Sq": "''", "Pq": "()", "Bq": "[]", "Aq": "<>", "Ql": "''", "Qq": '""', "Brq": "{}"}
_BODY, _STEP = 7, 7
_MOST_CHARS = 8 << 20  # with its strings in place


def plain(source: str) -> str:
    """The text of a page. Sections stand at the margin, their text is indented, what explains an option more than the option."""
    page = _Page()
    source = _without_blocks(source).replace("\\\n", "")
    for name, value in _STRING.findall(source)[:50]:
        written = {1: rf"\*{name}", 2: rf"\*({name}"}.get(len(name), rf"\*[{name}]")
        if len(source) + source.count(written) * len(value) <= _MOST_CHARS:  # strings of strings grow without end
            source = source.replace(written, value)
    depth = 0
    for line in source.split("\n"):
        if depth or _CHOICE.match(line):  # conditions are about printers and old versions
            depth += line.count("\\{") - line.count("\\}")
            continue
        if line[:1] in (".", "'"):
            page.request(line[1:].strip())
        else:
            page.text(unescaped(line))
    page.end()
    return "\n".join(page.lines)


def _without_blocks(source: str) -> str:
    """`source` without definitions of macros and what is to be ignored; one that has no end is left in."""
    lines, kept, at = source.split("\n"), list[str](), 0
    last = max((number for number, line in enumerate(lines) if line.startswith("..")), default=-1)
    while at < len(lines):
        if at < last and _BLOCK.match(lines[at]):
            at = next(number for number in range(at + 1, last + 1) if lines[number].startswith("..")) + 1
        else:
            kept.append(lines[at])
            at += 1
    return "\n".join(kept)


def unescaped(text: str) -> str:
    """`text` without fonts and sizes, its signs as characters."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_sign, re.sub(r'\\["#].*', "", text))


def _sign(found: re.Match[str]) -> str:
    number, pair, name, letter, other = found.groups()
    if number:
        return chr(int(number)) if int(number) < 0x110000 else ""
    if other is not None:
        return _LETTERS.get(other, "")
    return _SIGNS.get(pair or name or "", "") if not letter else ""


class _Page:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self._words: list[str] = []
        self._indent = _BODY
        self._hang = 0  # of the text that explains a tag
        self._tag = False  # the next text is one
        self._name = ""
        self._lists = 0
        self._filled = True  # lines may be joined

    def text(self, line: str) -> None:
        if not line.strip():
            self.end()
            return
        if line[:1] == " ":
            self.end()
        self._words.append(line.strip())
        if self._tag:
            self._tag = False
            self.end()
            self._hang = _STEP
        elif not self._filled:
            self.end()

    def end(self, *, blank: bool = False) -> None:
        """Put down the paragraph that was being read."""
        if self._words:
            self.lines.append(" " * (self._indent + self._hang) + " ".join(self._words))
            self._words = []
        if blank and self.lines and self.lines[-1][:1] == " ":
            self.lines.append("")

    def request(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name in ("SH", "SS", "Sh", "Ss"):
            self._heading(name, " ".join(_arguments(rest)))
        elif name in ("TP", "TQ"):
            self.end()
            self._hang, self._tag = 0, True
        elif name == "IP":
            self._item(next(iter(_arguments(rest)), ""))
        elif name in ("RS", "RE"):
            self.end()
            self._indent = max(self._indent + (4 if name == "RS" else -4), _BODY)
            self._hang = 0
        elif name in _BREAKS:
            self.end(blank=name in ("PP", "P", "LP", "Pp"))
            if name in ("nf", "EX", "Bd", "fi", "EE", "Ed"):
                self._filled = name in ("fi", "EE", "Ed") or (name == "Bd" and "-filled" in rest)
            self._hang = self._hang if name in ("br", "sp", "Pp", "nf", "fi", "EX", "EE") else 0
        elif name in _ALTERNATING:
            self.text("".join(_arguments(rest)))
        elif name in _SAME:
            self.text(" ".join(_arguments(rest)))
        else:
            self._mdoc(name, rest)

    def _heading(self, name: str, title: str) -> None:
        self.end(blank=True)
        self._indent, self._hang, self._tag = _BODY, 0, False
        self.lines.append(title.upper() if name[1] in "Hh" else f"   {title}")

    def _item(self, tag: str) -> None:
        self.end()
        self._hang = 0
        if tag:
            self._words = [tag]
            self.end()
        self._hang = _STEP

    def _mdoc(self, name: str, rest: str) -> None:
        if name == "Bl":
            self.end()
            self._lists += 1
            self._indent += _STEP if self._lists > 1 else 0
        elif name == "El":
            self.end()
            self._lists -= 1
            self._indent = max(self._indent - _STEP, _BODY) if self._lists else _BODY
            self._hang = 0
        elif name == "It":
            self._item(self._inline(_arguments(rest, plain=False)))
        elif name == "Nd":
            self.text(f"- {unescaped(rest)}")
        elif name in _MDOC:
            if name == "Nm" and rest and not self._name:
                self._name = rest.split(maxsplit=1)[0]
            self.text(self._inline([name, *_arguments(rest, plain=False)]))

    def _inline(self, words: list[str]) -> str:
        """A line of macros that call each other: `Fl a Ar file` is `-a file`."""
        said, glue, close, option = "", True, "", False
        for at, word in enumerate(words):
            if word in _MDOC:
                option = word == "Fl"
                if word == "Ns":
                    glue = True
                    continue
                if word in ("Oc", "Pc", "Dc", "Brc"):
                    said += _PAIRS[word]
                    continue
                piece = _PAIRS.get(word, "")
                if word in _AROUND:
                    piece, close = _AROUND[word][0], _AROUND[word][1] + close
                last = at + 1 == len(words) or words[at + 1] in _MDOC
                piece += "-" if option and last else ""
                piece += "file ..." if word == "Ar" and last else self._name if word == "Nm" and last else ""
                if piece:
                    said += piece if glue else f" {piece}"
                    glue = word in _PAIRS or word in _AROUND or (option and last)
                continue
            text = unescaped(word)
            if re.fullmatch(r"[.,;:)\]?!|]+", text):
                said += f" {text}" if text == "|" else text
                glue = False
                continue
            said += ("" if glue else " ") + ("-" if option else "") + text
            glue = False
        cut = len(said.rstrip(".,;:")) if close else len(said)
        return said[:cut] + close + said[cut:]


def _arguments(rest: str, *, plain: bool = True) -> list[str]:
    found = [
        quoted.replace('""', '"') if quoted else bare for quoted, bare in _ARGUMENT.findall(rest.replace("\\ ", "\0"))
    ]
    words = [word.replace("\0", " ") for word in found if word]
    return [unescaped(word) for word in words] if plain else words
