"""Find the texts in code of other languages: quoted in unusual ways, given in lists, or put together from pieces."""

from __future__ import annotations

import re

from agent.risk.tables.names import pattern


def sign(name: str) -> re.Pattern[str]:
    """Compile the sign that code starts programs, deletes, writes, connects or hides; a group `s` is the text of a string."""
    return pattern(f"signs.{name}")


_JOINED = re.compile(r"""(['"])([^'"\\\n]*)\1\s*(?:\+|\.\.?|<>|~)\s*(['"])([^'"\\\n]*)\3""")
_CONSTANT = re.compile(r"""(?<![\w.])(\$?[A-Za-z_]\w{0,30})\s*=\s*((['"])[^'"\\\n]{0,300}\3)(?=\s*(?:[;\n,)]|$))""")
_OPERAND = re.compile(
    r"(?<![\w$])(\$?[A-Za-z_]\w{0,30})(?=\s*(?:\+|\.(?!\w+\()|~|<>))|(?<=[+.~>])\s*(\$?[A-Za-z_]\w{0,30})(?!\w)"
)
_MAX_CONSTANTS = 20  # each makes the search for their uses slower
_MAX_FOLDS = 12  # each about halves the number of pieces


def joined(code: str) -> tuple[str, bool]:
    """`code` with its texts put together where it is built of pieces: `'r'+'m'`, `a='r'; b='m'; a+b`.

    With it, whether something was left as it stands because there is too much: more constants, or pieces, than are followed.
    """
    if not any(sign in code for sign in "+.~<"):
        return code, False
    constants: dict[str, str] = {}
    assigned = _CONSTANT.findall(code)
    left_out = {name for name, _, _ in assigned[_MAX_CONSTANTS:]}
    cut = bool(left_out) and any((found[1] or found[2]) in left_out for found in _OPERAND.finditer(code))
    for name, value, _ in assigned[:_MAX_CONSTANTS]:
        constants[name] = "" if name in constants else value  # one that changes is none
    known = [re.escape(name) for name, value in constants.items() if value]
    if known:
        names = "|".join(known)
        use = re.compile(
            rf"(?<![\w$.'\"])({names})(?=\s*(?:\+|\.(?!\w+\()|~|<>))|(?<=[+.~>])(\s*)({names})(?![\w'\"(.\[])"
        )
        code = use.sub(
            lambda found: constants[found[1] or found[3]] if found[1] or not found[2] else " " + constants[found[3]],
            code,
        )
    for _ in range(_MAX_FOLDS):
        folded = _JOINED.sub(lambda found: f"{found[1]}{found[2]}{found[4]}{found[1]}", code)
        if folded == code:
            return code, cut
        code = folded
    return code, cut or _JOINED.search(code) is not None


_BELOW_HOME = re.compile(r"""['"]~['"]\s*(?:\+|\.\.?|~)\s*(['"])""")  # at once: `~` is a sign that joins, too


_PATH_MODULE = re.compile(r"""require\s*\(\s*['"](?:node:)?path['"]\s*\)""")
_HOLE_OF_HOME = re.compile(r"""(['"])(?:%s|\{\d?\})(/[^'"\n]*)\1(?=\s*(?:%|\.format\()[^;\n]{0,40}?['"]~['"])""")


def home_named(code: str) -> str:
    """`code` with a plain `~` for each way in which its language names the person's home, put together with what follows."""

    def plain(found: re.Match[str]) -> str:
        before, after = code[found.start() - 1 : found.start()], code[found.end() : found.end() + 1]
        inside = found[1] or (found[0].startswith("$") and (before in ("'", '"') or after in ("/", "'", '"')))
        return "~" if inside else '"~"'

    named = sign("home").sub(plain, _PATH_MODULE.sub("path", code))
    if named == code:
        return code
    named = _HOLE_OF_HOME.sub(r"\1~\2\1", named)
    named = sign("expanded").sub(lambda found: '"' + re.sub(r"['\"]\s*,\s*['\"]/?", "/", found[1])[1:-1] + '"', named)
    return code if named == code else joined(_BELOW_HOME.sub(r"\1~", named))[0]


_Q_OPENING = re.compile(r"\bq[qx]?\s*([{(\[</|!,~])")
_CLOSING = {"{": "}", "(": ")", "[": "]", "<": ">"}


def q_quoted(code: str) -> list[str]:
    """The texts that perl has in `q{…}`, `qq(…)`, `qx[…]`."""
    found = []
    behind = 0
    unclosed: set[str] = set()
    for match in _Q_OPENING.finditer(code):
        closing = _CLOSING.get(match.group(1), match.group(1))
        if match.start() < behind or closing in unclosed:
            continue
        end = code.find(closing, match.end())
        if end < 0:
            unclosed.add(closing)
        else:
            found.append(code[match.end() : end])
            behind = end + 1
    return found


def listed(code: str) -> list[str]:
    """The lists that calls of a module by another name are given: `s.run(["rm", "-rf", "x"])`."""
    pieces = ([found.group("s") for found in sign("text").finditer(call[1])] for call in sign("calls").finditer(code))
    return [" ".join(words) for words in pieces if len(words) > 1]
