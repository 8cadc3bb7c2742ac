"""Read Perl code for what is not on the list of the harmless."""

from __future__ import annotations

import itertools
import re

from agent.risk.inline.tokens import CLOSING, END, Reading, Scanner, Token
from agent.risk.tables.names import names

METHODS, MODULES, NAMES, RESERVED, VALUES = (
    names(f"perl.{kind}") for kind in ("methods", "modules", "names", "reserved", "values")
)
_VARIABLE = re.compile(
    r"[$@%](?:[A-Za-z_]\w*)?::(?=\{)|[$@%](?:::)?[A-Za-z_]\w*(?:::\w+)*|\$#(?:[A-Za-z_]\w*|(?=[{$]))|\$\d+|\$\$(?=[\w{$])|\$\^[A-Z]|[$@%]\{\^?\w+\}|\$[^\w\s{]"
    r"|[$@%](?=[{$])|@[-+]|@_|%[+!-]"
)
_FORBIDDEN = re.compile(
    r"^(?!\$File::Find::(?:name|dir)$)(?:[$@%]\{?(?:INC|ISA|SIG|EXPORT\w*|AUTOLOAD)\b|[%@]\{?ENV\b|\$\^I|.*::(?!Dumper::(?:Sortkeys|Indent|Terse|Useqq)$))"
)
_SIGILS = ("$", "@", "%", "$$", "$#")
_QUOTING = re.compile(r"(q|qq|qw|qr|m|s|tr|y|qx)(?:(?=[^\w\s,;)=])|(?==[^>=~])|\s+(?=[^\w\s,;)=#-]))")
_ESCAPED = re.compile(r"\\.", re.S)
_TESTS = frozenset("rwxofdzslpSbctugkTBAMCeRWXO")
_READ_FROM = re.compile(r"<(?:<>|\$?\w*|[\w*?./~{},-]+)>")
_CODE_IN_PATTERN = re.compile(r"\(\?\??\{")


class _Perl(Scanner):
    space = re.compile(r"(?:\s|(?<![$@%&*])#[^\n]*(?:\n|$))+")
    name = re.compile(r"[A-Za-z_]\w*(?:(?:::|')[A-Za-z_]\w*)*", re.A)

    def special(self, char: str) -> bool:
        code, at = self.code, self.at
        value = self.after_value()
        if char.isalpha() and self._quoting_word(at):
            return True
        if char in "$@" or (char == "%" and not value):
            found = _VARIABLE.match(code, at)
            if found:
                self._variable(found)
                return True
        if char in "%&*/<?" and value is None:
            self.reading.doubt(f"the sign {char!r} behind a block")
        if char in "&*" and not value and code[at : at + 2] not in ("&&", "**"):
            self.reading.doubt("a name of the symbol table" if char == "*" else "a call by &")
        if char in "'\"`":
            self._text(at + 1, char, "qx" if char == "`" else "qq" if char == '"' else "q")
            return True
        if char == "/" and not value:
            self._text(at + 1, "/", "m")
            return True
        if char == "<" and not value:
            found = _READ_FROM.match(code, at)
            if found is None:
                self.reading.doubt("a here-document")
                return False
            self.take("var", found.end())
            return True
        if char == "#":
            self.reading.doubt("a variable or a comment")
        if char == "=" and re.match(r"=[a-z]+", code[at : at + 9]) and (at == 0 or code[at - 1] == "\n"):
            self.reading.doubt("documentation")
        return False

    def _quoting_word(self, at: int) -> bool:
        """Take `q(…)`, `s/…/…/` and the like, unless the letters are a key, a method or a test of a file."""
        ahead = self.code[at : at + 200]
        key = self.last.text == "{" and bool(self.open) and self.open[-1][1] and re.match(r"\w+\s*\}", ahead)
        found = _QUOTING.match(self.code, at)
        if found is None or key or self.last.text in ("->", "sub") or re.match(r"\w+\s*=>", ahead):
            return False
        if self.last.text == "-" and not self.spaced:  # `-s "file"`
            if len(self.tokens) > 1 and self.tokens[-2].kind != "name":
                self.reading.doubt("a minus or a test of a file")
            return False
        close = CLOSING.get(self.code[found.end()], self.code[found.end()])
        self._text(found.end() + 1, close, found.group(1))
        return True

    def belongs(self, bracket: str) -> bool:
        return bracket != "{" or self.last.kind == "var" or self.last.text in ("->", "]", "}")

    def name_is_value(self, name: str) -> bool | None:
        if len(self.tokens) > 1 and self.tokens[-2].text in ("->", "-"):
            return None if self.tokens[-2].text == "-" else True
        return name in VALUES if name in NAMES else None

    def _variable(self, found: re.Match[str]) -> None:
        if _FORBIDDEN.match(found.group()):
            self.reading.doubt(found.group())
        text = found.group()
        self.take("op" if text in _SIGILS and found.end() < len(self.code) else "var", found.end(), text)
        if self.last.kind == "op" and self.code[self.at : self.at + 1] == "{":  # @{…}: what is inside is code
            self.tokens[-1] = Token("var", text)

    def _text(self, start: int, close: str, kind: str) -> None:
        """A text or pattern from `start` on, with its second half and its flags where it has them."""
        end = self.quoted(start, close)
        inside = self.code[start:end]
        second = ""
        if kind in ("s", "tr", "y"):
            begin = end + 1
            if close in CLOSING.values():
                begin += len(self.code[begin:]) - len(self.code[begin:].lstrip())
                close = CLOSING.get(self.code[begin : begin + 1], self.code[begin : begin + 1]) or "?"
                begin += 1
            end = self.quoted(begin, close)
            second = self.code[begin:end]
        flags = re.compile(r"[a-z]*").match(self.code, end + 1) if kind in ("m", "qr", "s", "tr", "y") else None
        flag_text = flags.group() if flags else ""
        if kind == "qx":
            self.reading.doubt("a program")
        if kind in ("m", "qr", "s") and _CODE_IN_PATTERN.search(inside):
            self.reading.doubt("code in a pattern")
        if kind in ("qq", "m", "qr", "s") and close != "'":
            self._interpolated(inside)
        if kind == "s" and "e" in flag_text:
            if flag_text.count("e") > 1:
                self.reading.doubt("code that is computed")
            _judge(_Perl(second, self.reading, depth=self.depth + 1).scan(), self.reading)
        elif kind == "s" and close != "'":
            self._interpolated(second)
        plain = kind in ("q", "qw") or (kind == "qq" and not re.search(r"[$@\\]", inside))
        self.take(
            "pattern" if kind in ("m", "qr", "s") else "text", flags.end() if flags else end + 1, inside, plain=plain
        )

    def _interpolated(self, text: str) -> None:
        """Read the code in a text: indexes, keys, and all in `@{…}`."""
        bare = _ESCAPED.sub("  ", text)
        for found in re.finditer(r"[$@](?:[A-Za-z_]\w*|[$_&\d])?(?:->)?(?=([\[{]))|(?<=[\]}])(?:->)?(?=([\[{]))", bare):
            start = found.end() + 1
            inner = _Perl(bare[start - 1 :], self.reading, depth=self.depth + 1)
            inside = bare[start : start - 1 + inner.quoted(1, CLOSING[bare[start - 1]])]
            if not re.fullmatch(r"\^?\w*|-\d+|\d+,\d*|\$\w+", inside):
                _judge(
                    _Perl(text[start : start + len(inside)], self.reading, depth=self.depth + 1).scan(), self.reading
                )
        for found in re.finditer(r"[$@]\{?(?:::)?[A-Za-z_^]\w*(?:::\w+)*", bare):
            if _FORBIDDEN.match(found.group()) and not found.group().endswith("::"):
                self.reading.doubt(found.group())


def read(code: str) -> Reading:
    """Read Perl `code`, for what is not understood of it."""
    reading = Reading()
    code = re.split(r"(?m)^__(?:END|DATA)__$", code)[0]
    tokens = _Perl(code, reading).scan()
    if any(
        token.text in ("<>", "<<>>", "<ARGV>", "ARGV") and token.kind in ("var", "name") for token in tokens
    ) and "@ARGV" in code + " ".join(
        f"@{token.text[1:]}" for token, after in itertools.pairwise(tokens) if after.text == "[" and token.kind == "var"
    ):
        reading.doubt("@ARGV")  # what `<>` opens, and a name may be a command
    _judge(tokens, reading)
    return reading


def _judge(tokens: list[Token], reading: Reading) -> None:
    padded = [END, END, *tokens, END, END, END]
    own = {after.text for token, after in itertools.pairwise(tokens) if token.text == "sub" and after.kind == "name"}
    own |= set(_opened(tokens, reading))
    for name in own & RESERVED:
        reading.doubt(name)
    for index, token in enumerate(tokens, 2):
        before, after = padded[index - 1], padded[index + 1]
        if token.kind == "name":
            _name(token.text, [padded[index - 2], before, after, padded[index + 2]], own, reading)
        elif token.text == "(" and (before.text == "->" or (before.text in ("}", "]") and before.plain)):
            reading.doubt("a call of a value")
        elif token.kind == "var" and token.text in _SIGILS and after.text == "{" and padded[index + 2].kind == "text":
            reading.doubt("a variable by name")
        elif token.text == "->" and after.kind == "var":
            reading.doubt("a method by name")


def _name(name: str, around: list[Token], own: set[str], reading: Reading) -> None:
    earlier, before, after, following = around[0].text, *around[1:]
    if after.text == "=>" or (before.text == "{" and before.plain and after.text == "}"):
        return
    if before.text in ("use", "no"):
        if name not in MODULES and not re.fullmatch(r"v\d[\d.]*", name):
            reading.doubt(f"use {name}")
    elif before.text == "->":
        if name not in METHODS or (name == "new" and earlier not in MODULES):
            reading.doubt(f"->{name}")
    elif before.text == "-" and len(name) == 1 and name in _TESTS:
        return
    elif name in ("do", "eval"):
        if after.text != "{":
            reading.doubt(name)
    elif after.text == "->" and name in MODULES:
        return
    elif name == "sort" and after.kind == "var" and following.kind == "var":
        reading.doubt("sort by a name")
    elif name not in NAMES and name not in own and not re.fullmatch(r"x\d+", name):
        module, _, function = name.rpartition("::")
        if module not in MODULES or function not in NAMES:
            reading.doubt(name)


def _opened(tokens: list[Token], reading: Reading) -> list[str]:
    """The handles of files that are opened; opening is doubted unless it surely reads a file."""
    handles = []
    for index, token in enumerate(tokens):
        if token.kind != "name" or token.text not in ("open", "opendir"):
            continue
        rest = [part for part in tokens[index + 1 : index + 8] if part.text not in ("(", "my", "local", "our")]
        if not rest or tokens[max(index - 1, 0)].text == "use":
            continue
        if rest[0].kind == "name":
            handles.append(rest[0].text)
        if token.text == "opendir":
            continue
        mode = rest[2] if len(rest) > 2 and rest[1].text == "," else END
        last = rest[3] if len(rest) > 3 else END
        if mode.kind != "text" or not mode.plain:
            reading.doubt("open")
        elif last.text == ",":
            if not re.fullmatch(r"\s*<\s*(?::[\w():-]+\s*)*", mode.text):
                reading.doubt("open")
            elif len(rest) > 4 and rest[4].kind == "text" and rest[4].plain:
                reading.does("read", rest[4].text)
        elif re.fullmatch(r"\s*<\s*[^&=<>|\s][^|]*|[\w./-]+", mode.text):
            reading.does("read", mode.text.strip(" <"))
        else:
            reading.doubt("open")
    return handles
