"""Words after expansion, and the shell state they are expanded in: what a command would really be given.

Unknown parts of a value are the character NUL, which no argument can hold: "/srv/\\0/x" starts with /srv/, whatever the
rest. `taint` says where the unknown came from: "var" (not set here), "cmd" (output of a command), "net" (of a download),
"opaque" (decoded), "input" (read from a file or pipe), "glob".
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.risk.tree import Part, WordNode

UNKNOWN = "\0"
MAX_ALTERNATIVES = 24
MAX_FIELDS = 400
MAX_VALUE = 20_000

# Quoted characters that would mean something unquoted travel as private characters until the word is complete.
_SPECIAL = "{},*?[]~ \t\n.=:"
_BASE = 0xE000
_HIDE = {ord(char): _BASE + index for index, char in enumerate(_SPECIAL)}
_SHOW = {_BASE + index: char for index, char in enumerate(_SPECIAL)}
_PLAIN_AFTER = {ord(char): _HIDE[ord(char)] for char in "{},~"}
_BREAK = chr(_BASE + 0x20)  # where an unquoted expansion splits
_NEEDS_HIDING = re.compile("[" + re.escape(_SPECIAL) + "]")
_HIDDEN = re.compile("[\ue000-\ue020]")
_GLOB = re.compile(r"[*?]|\[[^\]]+\]")
_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?\d+)?\Z")
PRIVATE = re.compile("[\ue000-\ue02f]")


def join_taint(a: str, b: str) -> str:
    """Both taints, each word once."""
    if not a or a == b:
        return b or a
    for word in b.split():
        if word not in a:
            a = f"{a} {word}"
    return a


class Word:
    """One argument: text (with UNKNOWN where not known), offsets, an unquoted wildcard, and the taint."""

    __slots__ = ("end", "glob", "quoted", "start", "taint", "text")

    def __init__(
        self, text: str, start: int, end: int, *, glob: bool = False, taint: str = "", quoted: bool = False
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.glob = glob or "glob" in taint
        self.taint = taint
        self.quoted = quoted

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text

    def part(self, text: str) -> Word:
        """The same place with other text, as for the value of `--option=value`."""
        return Word(text, self.start, self.end, glob=self.glob, taint=self.taint, quoted=self.quoted)

    def __repr__(self) -> str:
        return f"Word({self.text!r})"


class Value:
    """What a variable may hold: alternatives, or the elements of an array."""

    __slots__ = ("array", "taint", "texts")

    def __init__(self, texts: list[str], taint: str = "", *, array: bool = False) -> None:
        self.texts = texts
        self.taint = taint
        self.array = array


class State:
    """Variables, functions, directory: what a command finds, and changes for the next one."""

    __slots__ = ("aliases", "cwd", "functions", "home", "maybe", "path_changed", "positional", "variables")

    def __init__(self, cwd: str, home: str) -> None:
        self.cwd = cwd
        self.home = home
        self.variables: dict[str, Value] = {}
        self.functions: dict[str, object] = {}
        self.aliases: dict[str, str] = {}
        self.positional: list[Word] | None = None
        self.path_changed = False
        self.maybe = 0  # > 0: inside something that may not run

    def copy(self) -> State:
        """The state of a subshell."""
        other = State(self.cwd, self.home)
        other.variables = dict(self.variables)
        other.functions = dict(self.functions)
        other.aliases = dict(self.aliases)
        other.positional = self.positional
        other.path_changed = self.path_changed
        other.maybe = self.maybe
        return other

    def assign(self, name: str, value: Value, *, append: bool = False) -> None:
        """Set a variable. Where the assignment may not happen, the old value stays possible."""
        old = self.variables.get(name)
        if append and old is not None and not value.array and not old.array:
            texts = [a + b for a in old.texts for b in value.texts][:MAX_ALTERNATIVES]
            value = Value([text[:MAX_VALUE] for text in texts], value.taint or old.taint)
        elif append and old is not None:
            value = Value((old.texts + value.texts)[:MAX_ALTERNATIVES], value.taint or old.taint, array=True)
        if self.maybe:
            before = old if old is not None else Value([UNKNOWN], "var")
            merged = list(dict.fromkeys(before.texts + value.texts))[:MAX_ALTERNATIVES]
            value = Value(merged, value.taint or before.taint, array=value.array)
        self.variables[name] = value


def known_variable(name: str, state: State) -> Value | None:
    """Variables whose value a shell gives."""
    if name == "HOME":
        return Value([state.home])
    if name == "PWD":
        return Value([state.cwd]) if state.cwd else None
    fixed = _FIXED.get(name)
    return Value([fixed]) if fixed is not None else None


_FIXED = {
    "IFS": " \t\n", "TMPDIR": "/tmp", "TEMP": "/tmp", "TMP": "/tmp", "SHELL": "/bin/bash", "BASH": "/bin/bash", "EDITOR": "nano",
    "VISUAL": "nano", "PAGER": "less", "#": "1", "$": "1", "?": "0", "!": "1", "RANDOM": "1", "UID": "1000", "EUID": "1000",
    "SECONDS": "1", "LINENO": "1", "COLUMNS": "80", "LINES": "24", "SHLVL": "1", "PPID": "1", "0": "bash", "-": "",
}  # fmt: skip


class Expander:
    """Expands words in a state. `substitute` runs a nested command list and gives its output as (text or None, taint)."""

    def __init__(self, state: State, substitute: Callable[[object, str], tuple[str | None, str]]) -> None:
        self.state = state
        self.substitute = substitute
        self.place = (0, 0)

    def fields(self, node: WordNode, place: tuple[int, int]) -> list[Word]:
        """The arguments a word becomes: none, one, or several."""
        parts = node.parts
        if len(parts) == 1 and parts[0][0] == "lit":
            text = parts[0][1]
            if parts[0][2]:
                return [Word(text, *place, quoted=True)]
            if not _NEEDS_HIDING.search(text):
                return [Word(text, *place)]
        self.place = place
        raw, taint = self.join(parts)
        quoted = any(part[0] == "lit" and part[2] for part in parts)
        return self.finish(raw, taint, place, quoted=quoted, glob_ok=True)

    def text(self, node: WordNode, place: tuple[int, int]) -> Word:
        """One argument, as in an assignment or after a redirection: no splitting, no file names."""
        self.place = place
        raw, taint = self.join(node.parts)
        raw = raw.replace(_BREAK, " ")
        raw = self.tilde(raw)
        return Word(raw.translate(_SHOW), *place, taint=taint, glob=bool(_GLOB.search(raw)))

    def body(self, parts: list[Part], place: tuple[int, int]) -> tuple[str, str]:
        """A here-document: text and taint."""
        self.place = place
        raw, taint = self.join(parts)
        return raw.replace(_BREAK, " ").translate(_SHOW), taint

    # --- joining parts ---

    def join(self, parts: list[Part]) -> tuple[str, str]:
        pieces: list[str] = []
        taint = ""
        for part in parts:
            kind = part[0]
            if kind == "lit":
                text = part[1]
                pieces.append(text.translate(_HIDE) if part[2] else text)
                continue
            if kind == "var":
                text, found = self.parameter(part)
                quoted = part[4]
            elif kind == "cmd":
                output, found = self.substitute(part[1], "cmd")
                text = UNKNOWN if output is None else output.rstrip("\n")
                quoted = part[2]
            elif kind == "proc":
                _, found = self.substitute(part[1], "proc" + part[2])
                text, quoted = "/dev/fd/63", True
                found = found or "proc"
            elif kind == "arith":
                self.join(part[1])
                text, found, quoted = "1", "", True
            else:
                assignment = part[1]
                values = [self.text(value, self.place) for value in assignment.values]
                text, found = assignment.name + "=" + " ".join(v.text for v in values), ""
                quoted = True
            taint = join_taint(taint, found)
            pieces.append(text.translate(_HIDE) if quoted else _split_marks(text))
        return "".join(pieces)[:MAX_VALUE], taint

    def parameter(self, part: Part) -> tuple[str, str]:
        """A parameter's value; several alternatives or elements are joined by the field break."""
        _, name, operator, argument, quoted = part
        value = self.lookup(name)
        if operator and operator[0] == "!":
            value = self.lookup(value.texts[0]) if value and value.texts and value.texts[0] != UNKNOWN else None
            operator = operator[1:]
        elif operator and operator[0] == "#":
            return "1", ""
        if operator and operator[0] == "[":
            operator = operator[1:]
        if operator == ":" and argument:
            return self.operate(name, value, argument, quoted)
        if value is None:
            return UNKNOWN, "var"
        return _BREAK.join(value.texts), value.taint

    def lookup(self, name: str) -> Value | None:
        if name.isdigit() or name in ("@", "*"):
            words = self.state.positional
            if name == "0":
                return Value(["bash"])
            if words is None:
                return None
            if name in ("@", "*"):
                return Value([w.text for w in words], next((w.taint for w in words if w.taint), ""), array=True)
            index = int(name[:4]) - 1
            return Value([words[index].text], words[index].taint) if index < len(words) else Value([""])
        return self.state.variables.get(name) or known_variable(name, self.state)

    def operate(self, name: str, value: Value | None, argument: list[Part], quoted: bool) -> tuple[str, str]:
        first = str(argument[0][1]) if argument[0][0] == "lit" else ""
        operator = first[:2] if first[:1] == ":" else first[:1]
        operator = operator if operator in (":-", ":=", ":+", ":?") else first[:1]
        if operator in (":-", ":=", ":+", ":?", "-", "=", "+", "?"):
            rest: list[Part] = [("lit", first[len(operator) :], argument[0][2]), *argument[1:]]
            text, taint = self.join(rest)
            text = self.tilde(text).translate(_SHOW).replace(_BREAK, " ")
            if operator[-1] == "?":
                return (UNKNOWN, "var") if value is None else (_BREAK.join(value.texts), value.taint)
            if operator[-1] == "+":
                return text, taint
            if value is None or value.texts == [""]:
                if operator[-1] == "=":
                    self.state.assign(name, Value([text], taint))
                return text, taint
            return _BREAK.join(value.texts), value.taint
        text, _ = self.join(argument)
        text = text.translate(_SHOW)
        if value is None or UNKNOWN in text:
            return UNKNOWN, "var"
        return _BREAK.join(_edit(old, text) for old in value.texts), value.taint

    # --- after joining ---

    def tilde(self, raw: str) -> str:
        if not raw.startswith("~"):
            return raw
        head, slash, rest = raw.partition("/")
        if head == "~":
            return self.state.home + slash + rest
        if head == "~+":
            return (self.state.cwd or ".") + slash + rest
        if head == "~root":
            return "/root" + slash + rest
        if head[1:].replace("-", "").replace("_", "").isalnum():
            return "/home/" + head[1:] + slash + rest
        return raw

    def finish(self, raw: str, taint: str, place: tuple[int, int], *, quoted: bool, glob_ok: bool) -> list[Word]:
        raws = [raw]
        if "{" in raw and ("," in raw or ".." in raw):
            raws = expand_braces(raw)
        result: list[Word] = []
        for item in raws:
            texts = item.split(_BREAK) if _BREAK in item else (item,)
            for text in texts:
                if text == "" and not quoted:
                    continue
                text = self.tilde(text) if text.startswith("~") else text
                glob = glob_ok and bool(_GLOB.search(text))
                shown = text.translate(_SHOW) if _HIDDEN.search(text) else text
                result.append(Word(shown, *place, glob=glob, taint=taint, quoted=quoted))
        return result[:MAX_FIELDS]


def _split_marks(text: str) -> str:
    """Unquoted expansion: blanks split, wildcards stay wildcards, braces and tildes are plain."""
    if "{" in text or "~" in text:
        text = text.translate(_PLAIN_AFTER)
    if " " in text or "\t" in text or "\n" in text:
        return re.sub(r"[ \t\n]+", _BREAK, text)
    return text


def _edit(text: str, operation: str) -> str:
    """`${x#pattern}` and its relatives on a known value; UNKNOWN where it is not worth following."""
    if UNKNOWN in text or len(text) > 500:
        return UNKNOWN
    kind = operation[:1]
    if kind in "#%":
        longest = operation[1:2] == kind
        pattern = operation[2 if longest else 1 :]
        lengths = range(len(text) + 1) if (longest == (kind == "%")) else range(len(text), -1, -1)
        if kind == "#":
            lengths = range(len(text), -1, -1) if longest else range(len(text) + 1)
            for size in lengths:
                if fnmatch.fnmatchcase(text[:size], pattern):
                    return text[size:]
            return text
        for start in lengths:
            if fnmatch.fnmatchcase(text[start:], pattern):
                return text[:start]
        return text
    if kind == "/":
        everywhere = operation[1:2] == "/"
        pattern, _, new = operation[2 if everywhere else 1 :].partition("/")
        if any(char in pattern for char in "*?["):
            return UNKNOWN
        return text.replace(pattern, new, -1 if everywhere else 1) if pattern else text
    if kind == "^":
        return text.upper() if operation[1:2] == "^" else text[:1].upper() + text[1:]
    if kind == ",":
        return text.lower() if operation[1:2] == "," else text[:1].lower() + text[1:]
    if kind == ":":
        found = re.fullmatch(r":\s*\(?(-?\d+)\)?(?::\s*(-?\d+))?", operation)
        if found is None:
            return UNKNOWN
        start, length = int(found.group(1)), found.group(2)
        tail = text[start:]
        if length is None:
            return tail
        return tail[: int(length)]
    return text if kind == "@" else UNKNOWN


def expand_braces(raw: str) -> list[str]:
    """Brace expansion on text whose quoted characters are hidden, bounded."""
    results = [raw]
    for _ in range(MAX_ALTERNATIVES):
        expanded: list[str] = []
        changed = False
        for item in results:
            pieces = _expand_once(item)
            if pieces is None:
                expanded.append(item)
            else:
                expanded.extend(pieces)
                changed = True
            if len(expanded) > MAX_FIELDS:
                return expanded[:MAX_FIELDS]
        results = expanded
        if not changed:
            break
    return results


def _expand_once(text: str) -> list[str] | None:
    """Expand the first brace group that is one; None where there is none."""
    position = text.find("{")
    tries = 0
    while position >= 0 and tries < MAX_ALTERNATIVES:
        tries += 1
        level = 0
        commas: list[int] = []
        for index in range(position, len(text)):
            char = text[index]
            if char == "{":
                level += 1
            elif char == "," and level == 1:
                commas.append(index)
            elif char == "}":
                level -= 1
                if level == 0:
                    head, tail = text[:position], text[index + 1 :]
                    inner = text[position + 1 : index]
                    if commas:
                        edges = [position, *commas, index]
                        return [head + text[a + 1 : b] + tail for a, b in zip(edges, edges[1:], strict=False)]
                    if (found := _RANGE.match(inner)) is not None:
                        return [head + value + tail for value in _range(found)]
                    break
        position = text.find("{", position + 1)
    return None


def _range(found: re.Match[str]) -> list[str]:
    first, last = found.group(1), found.group(2)
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return [found.group()]
    numeric = first.lstrip("-").isdigit()
    a, b = (int(first[:9]), int(last[:9])) if numeric else (ord(first), ord(last))
    step = 1 if b >= a else -1
    values = list(range(a, b + step, step)) if abs(b - a) < MAX_ALTERNATIVES else [a, b]
    return [str(v) if numeric else chr(v) for v in values]


def decode_printf(text: str) -> str:
    """Backslash escapes as `echo -e` and `printf` read them."""
    if "\\" not in text:
        return text
    from agent.risk.wordscan import decode_ansi_c

    return decode_ansi_c(re.sub(r"\\0([0-7]{1,3})", r"\\\1", text))
