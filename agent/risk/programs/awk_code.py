"""Read an awk program for what it does outside of itself: commands, files that it writes, code that it loads.

The reader knows awk's own functions and those that the program defines. Whatever else is called, loaded or cannot be read
is told in `unread`, so that nothing that is not understood passes for a plain computation.
"""

from __future__ import annotations

import itertools
import re

from msgspec import Struct

from agent.risk.reader.words import UNKNOWN
from agent.risk.tables.names import names

_TOKEN = re.compile(
    r"""(?P<blank>(?:[ \t\r]|\\\r?\n|\#[^\n]*)+)
    |(?P<line>\n)
    |(?P<string>"(?:\\[\s\S]|[^"\\])*")
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<at>@[ \t]*(?:load|include|namespace)\b|@[ \t]*(?=[A-Za-z_/]))
    |(?P<call>[A-Za-z_][\w:]*(?=\())
    |(?P<name>[A-Za-z_][\w:]*)
    |(?P<sign>>>|\|&|\|\||&&|[-+*/%^!<>=~]=|\+\+|--|\*\*=?|[-+*/%^!<>|?:~$=(){}\[\];,])""",
    re.X,
)
_REGEX = re.compile(r"/((?:\\[^\n]|\[\^?\]?(?:\[:\w+:\]|[^\]\n])*\]|[^/\\\n\[])*|(?:\\[^\n]|[^/\\\n])*)/")
_OPERAND_ENDS = frozenset(("string", "regex", "number", "name"))
_KEYWORDS = names("awk.keywords")
_FUNCTIONS = names("awk.functions")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_EXPRESSION_ENDS = frozenset(
    (";", "{", "}", "\n", ",", "&&", "||", "!", "?", ":", "print", "printf", "return", "in", "=")
)

Token = tuple[str, str]


class AwkProgram(Struct):
    """`commands`: texts for a shell, with UNKNOWN for what is computed; `called` are those given to `system`.

    `writes`: (file, whether it is appended to). `unread`: what is not understood, in words.
    """

    commands: list[str] = []
    called: bool = False
    writes: list[tuple[str, bool]] = []
    loads: list[str] = []
    unread: str = ""
    network: bool = False
    environment: bool = False


def read_awk(text: str, variables: dict[str, str]) -> AwkProgram:
    """Read what the program reaches, where `variables` (given with -v or as operands) have these values."""
    found = AwkProgram()
    tokens = _with_home(_tokens(text, found))
    found.network = any(kind == "string" and "/inet" in word for kind, word in tokens)
    first = _constants(tokens, variables, {})
    known = {
        **variables,
        **_constants(tokens, variables, {name: text for name, text in first.items() if text != UNKNOWN}),
    }
    own = {after for (_, word), (_, after) in itertools.pairwise(tokens) if word in ("func", "function")}
    printing = 0  # in a print statement: one more than the depth of brackets where it stands
    depth = 0
    for index, (kind, word) in enumerate(tokens):
        if kind in ("name", "call") and word in ("print", "printf"):
            printing = depth + 1
        elif word in ("(", "["):
            depth += kind == "sign"
        elif word in (")", "]"):
            depth -= kind == "sign"
        elif kind == "line" or (kind == "sign" and word in (";", "}", "{")):
            printing = depth = 0
        elif kind == "sign" and word in (">", ">>") and printing == depth + 1:
            found.writes.append((_value(_right(tokens, index + 1), known), word == ">>"))
        elif kind == "sign" and word in ("|", "|&"):
            following = next((text for kind, text in tokens[index + 1 : index + 2]), "")
            side = _left(tokens, index) if following == "getline" else _right(tokens, index + 1)
            found.commands.append(_value(side, known))
        if word in ("system", "awk::system") and kind != "string":
            found.called = True
            found.commands.append(_value(_right(tokens, index + 1), known))
        elif kind == "call" and word not in own and word.removeprefix("awk::") not in _FUNCTIONS:
            found.unread = f"calls {word[:40]}, which is not an awk function"
        elif kind == "at":
            _directive(found, tokens, index)
        elif kind == "name" and word == "ENVIRON":
            named = [kind for kind, _ in tokens[index + 1 : index + 4]]
            found.environment = found.environment or named != ["sign", "string", "sign"]
    return found


def _tokens(text: str, found: AwkProgram) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        last = tokens[-1] if tokens else ("sign", ";")
        value = last[0] in _OPERAND_ENDS and last[1] not in _KEYWORDS
        if text[position] == "/" and not value and last not in (("sign", ")"), ("sign", "]"), ("sign", "$")):
            regex = _REGEX.match(text, position)
            if regex is not None:
                tokens.append(("regex", ""))
                position = regex.end()
                continue
        token = _TOKEN.match(text, position)
        if token is None:
            found.unread = "has parts that cannot be read"
            position += 1
            continue
        if token.lastgroup == "string":
            tokens.append(("string", _plain(token[0][1:-1])))
        elif token.lastgroup != "blank":
            tokens.append((token.lastgroup or "", token[0]))
        position = token.end()
    return tokens


def _plain(text: str) -> str:
    """A string without its escapes."""
    return re.sub(
        r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|\r?\n|([\s\S]))",
        lambda escape: (
            chr(int(escape[1], 8)) if escape[1] else chr(int(escape[2], 16)) if escape[2] else _ESCAPES.get(escape[3], escape[3] or "")
        ),
        text,
    )  # fmt: skip


def _with_home(tokens: list[Token]) -> list[Token]:
    """The tokens with `~` for `ENVIRON["HOME"]`."""
    for index in range(len(tokens) - 3, -1, -1):
        if tokens[index : index + 4] == [("name", "ENVIRON"), ("sign", "["), ("string", "HOME"), ("sign", "]")]:
            tokens[index : index + 4] = [("string", "~")]
    return tokens


def _constants(tokens: list[Token], variables: dict[str, str], known: dict[str, str]) -> dict[str, str]:
    """Variables that are set once, to text (`known` are others that are); any other that is set has no known value."""
    found: dict[str, str] = {}
    for index in range(len(tokens) - 1):
        kind, name = tokens[index]
        follows = tokens[index + 1][1]
        behind = index > 0 and tokens[index - 1][1] in ("++", "--", "getline", "in", "$")
        if kind == "name" and (
            behind or (follows[-1:] in ("=", "+", "-") and follows in ("=", "+=", "-=", "++", "--"))
        ):
            once = follows == "=" and name not in found and name not in variables
            found[name] = _value(_right(tokens, index + 2), known) if once else UNKNOWN
    return found


def _value(tokens: list[Token], known: dict[str, str]) -> str:
    """The text that strings, numbers and known variables make side by side."""
    pieces = [
        word if kind in ("string", "number") else known.get(word, UNKNOWN) if kind == "name" else "" if word in "()" else UNKNOWN
        for kind, word in tokens
    ]  # fmt: skip
    return "".join(pieces) or UNKNOWN


def _right(tokens: list[Token], start: int) -> list[Token]:
    """An expression from `start` to where its statement, argument or bracket ends."""
    depth = 0
    for end in range(start, len(tokens)):
        kind, word = tokens[end]
        if kind == "line" or (kind == "sign" and depth <= 0 and word not in ("(", "[", "$")):
            return tokens[start:end]
        depth += (kind == "sign" and word in "([") - (kind == "sign" and word in ")]")
    return tokens[start:]


def _left(tokens: list[Token], end: int) -> list[Token]:
    """An expression that ends before `end`."""
    depth = 0
    for start in range(end - 1, -1, -1):
        kind, word = tokens[start]
        if kind == "sign" and word in (")", "]"):
            depth += 1
        elif kind == "sign" and word in ("(", "["):
            if not depth:
                return tokens[start + 1 : end]
            depth -= 1
        elif not depth and kind != "string" and word in _EXPRESSION_ENDS:
            return tokens[start + 1 : end]
    return tokens[:end]


def _directive(found: AwkProgram, tokens: list[Token], index: int) -> None:
    """`@load` and `@include` bring code in; `@name(…)` calls what the variable says."""
    word = tokens[index][1][1:].strip()
    following = tokens[index + 1 : index + 2]
    if word in ("load", "include"):
        found.loads += [text for _, text in following]
    elif word == "" and following and following[0][0] in ("call", "name"):
        found.unread = "calls a function whose name is computed"
