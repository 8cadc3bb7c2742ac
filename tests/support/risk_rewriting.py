"""Rewriting parts of a command, at the places where our own reader finds them: words, blanks, names, options."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Callable, Iterator

from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import (
    Assignment,
    Branch,
    Case,
    Function,
    Group,
    Loop,
    Node,
    Pipeline,
    Sequence,
    Simple,
    WordNode,
)

Variation = Callable[[str, random.Random], str | None]
"""A text and a source of choices to another text, None where the variation does not apply."""

PREFIXES = (
    "sudo ", "env ", "env A=1 ", "nice -n 3 ", "nohup ", "timeout 5 ", "command ", "A=1 ", "time ", "stdbuf -oL ", ">/dev/null ", "! ",
    "ionice -c3 ", "setsid ", "sudo -u root ", "busybox ", "exec ", "doas ", "chronic ", "true; ", "true && ", "cd . && ",
)  # fmt: skip
SUFFIXES = (" 2>/dev/null", " >&2", " </dev/null", " 2>&1", " && true", " || true", "; true", " | cat")


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, Sequence):
        yield from (command for _, command, _ in node.items)
    elif isinstance(node, Pipeline):
        yield from node.commands
    elif isinstance(node, Group | Loop | Function):
        yield node.body
        if isinstance(node, Loop) and node.condition is not None:
            yield node.condition
    elif isinstance(node, Branch):
        for condition, body in node.arms:
            yield body
            if condition is not None:
                yield condition
    elif isinstance(node, Case):
        yield from (body for _, body in node.arms)


def nodes(text: str) -> list[Node]:
    """Every command of `text` outside substitutions; none where it cannot be read without error."""
    parser = Parser(text)
    tree = parser.parse()
    if parser.errors:
        return []
    found: list[Node] = []
    pending: list[Node] = [tree]
    while pending:
        node = pending.pop()
        found.append(node)
        pending.extend(_children(node))
    return found


_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:@%+-]+\Z")


def _words(text: str) -> list[WordNode]:
    """Plain words of simple commands; definitions of aliases and the like keep theirs."""
    found = []
    for node in nodes(text):
        if isinstance(node, Simple):
            for word in node.words:
                literal = word.literal()
                if any(
                    other.parts[:1] and other.parts[0][0] == "assign" for other in node.words
                ):  # a list in brackets needs the plain word `declare` in front
                    continue
                if literal is not None and _PLAIN_WORD.match(literal) and text[word.start : word.end] == literal:
                    found.append(word)
    return found


QUOTES: dict[str, Callable[[str], str]] = {
    "single quotes": lambda w: f"'{w}'",
    "double quotes": lambda w: f'"{w}"',
    "backslashes": lambda w: "".join("\\" + c for c in w),
    "one backslash": lambda w: "\\" + w,
    "empty quotes": lambda w: f"{w[:1]}''{w[1:]}",
    "half quoted": lambda w: f'{w[:1]}"{w[1:]}"',
    "hex": lambda w: "$'" + "".join(f"\\x{ord(c):02x}" for c in w) + "'",
    "octal": lambda w: "$'" + "".join(f"\\{ord(c):03o}" for c in w) + "'",
    "unicode": lambda w: "$'" + "".join(f"\\u{ord(c):04x}" for c in w) + "'",
    "locale": lambda w: f'$"{w}"',
    "echo": lambda w: f"$(echo {w})" if not w.startswith("-") else f"$(printf %s {w})",
    "printf": lambda w: f"$(printf '%s' '{w}')",
    "backquotes": lambda w: f"`printf %s {w}`",
    "default": lambda w: f"${{__n:-{w}}}",
    "empty substitution": lambda w: f"{w[:1]}$(){w[1:]}",
    "continued": lambda w: f"{w[:1]}\\\n{w[1:]}",
    "brace": lambda w: f"{{{w},}}",
    "base64": lambda w: f"$(echo {base64.b64encode(w.encode()).decode()} | base64 -d)",
    "reversed": lambda w: f"$(echo {w[::-1]} | rev)" if not w.endswith("-") else f"'{w}'",
}


def _requoted(name: str, share: float) -> Variation:
    quote = QUOTES[name]

    def vary(text: str, dice: random.Random) -> str | None:
        if "alias" in text:  # a quoted name is no alias
            return None
        words = [word for word in _words(text) if dice.random() < share]
        for word in sorted(words, key=lambda word: -word.start):
            text = text[: word.start] + quote(text[word.start : word.end]) + text[word.end :]
        return text if words else None

    return vary


def _by_variable(text: str, dice: random.Random) -> str | None:
    """A word, or the beginning of one, from a variable set in front."""
    words = _words(text)
    if not words or "alias" in text:
        return None
    word = dice.choice(words)
    literal = text[word.start : word.end]
    cut = dice.randint(1, len(literal))
    value = dice.choice((literal[:cut], f"'{literal[:cut]}'", f"$(printf %s '{literal[:cut]}')"))
    name = f"__v{dice.randint(0, 99_999)}"
    used = dice.choice(("${NAME}", '"${NAME}"', "${NAME:-x}", "${NAME%zz}", "${NAME[0]}")).replace("NAME", name)
    return f"{name}={value}\n{text[: word.start]}{used}{literal[cut:]}{text[word.end :]}"


def _blanks(glue: str) -> Variation:
    def vary(text: str, _: random.Random) -> str | None:
        simple = [node for node in nodes(text) if isinstance(node, Simple) and len(node.words) > 1]
        cuts = [
            (a.end, b.start)
            for node in simple
            for a, b in zip(node.words, node.words[1:], strict=False)
            if text[a.end : b.start] == " "
        ]
        for start, end in sorted(cuts, reverse=True):
            text = text[:start] + glue + text[end:]
        return text if cuts else None

    return vary


def _simple(text: str, *, alone: bool) -> list[Simple]:
    """Simple commands with a program; `alone`: not a part of a pipeline, where a list or redirection changes what flows."""
    found = nodes(text)
    piped: set[int] = set()
    pending = [command for node in found if isinstance(node, Pipeline) for command in node.commands]
    while pending:
        node = pending.pop()
        piped.add(id(node))
        pending.extend(_children(node))
    return [n for n in found if isinstance(n, Simple) and n.words and not (alone and id(n) in piped)]


def _only_the_shell(text: str) -> bool:
    """Whether names mean something to this shell that they do not mean to a program put in front of them."""
    if "command_not_found_handle" in text:
        return True
    return any(isinstance(n, Simple) and n.words and n.words[0].unquoted() == "hash" for n in nodes(text))


def _may_be(word: WordNode, functions: set[str]) -> bool:
    name = word.unquoted()
    return bool(functions) and (name is None or name in functions)


def _in_front(prefix: str) -> Variation:
    """In front of one simple command, of those that begin with a word."""

    def vary(text: str, dice: random.Random) -> str | None:
        alone = any(char in prefix for char in ";&>!")
        functions = {node.name for node in nodes(text) if isinstance(node, Function)}
        if _only_the_shell(text) or (prefix.startswith(">") and functions):  # a function may be a part of a pipeline
            return None
        places = [
            node.start
            for node in _simple(text, alone=alone)
            if node.words[0].start == node.start
            and not _may_be(node.words[0], functions)  # which only the shell itself runs
            and not text.startswith("-", node.start)
            and not (prefix.startswith(">") and text[node.start - 1 : node.start] == "&")  # `&>` is one operator
        ]
        if not places:
            return None
        place = dice.choice(places)
        return text[:place] + prefix + text[place:]

    return vary


def _behind(suffix: str) -> Variation:
    def vary(text: str, dice: random.Random) -> str | None:
        if "|" in suffix and ("while" in text or "until" in text):
            return None  # a loop goes on by the status of its condition
        places = [node.end for node in _simple(text, alone=True) if not node.redirects]
        places = [end for end in places if ";" not in suffix or "&" not in text[end : end + 3]]
        if not places:
            return None
        place = dice.choice(places)
        return text[:place] + suffix + text[place:]

    return vary


_NAME_USE = r"(?:(?<=\$)|(?<=\$\{{)|(?<=\$\{{[!#])){0}(?!\w)|(?<![\w$./-]){0}(?=\+?=|\[)|(?<=for ){0}(?= in)"
_OWN_MEANING = re.compile(r"[A-Z_][A-Z0-9_]*\Z")  # PATH, IFS and the like mean something


def _renamed(text: str, dice: random.Random) -> str | None:
    """Alpha-renaming of variables and functions."""
    names: set[str] = set()
    for node in nodes(text):
        if isinstance(node, Simple):
            names.update(a.name for a in node.assignments if isinstance(a, Assignment))
        elif isinstance(node, Loop) and node.name:
            names.add(node.name)
    names = {name for name in names if not _OWN_MEANING.match(name)}
    if not names:
        return None
    for name in sorted(names):
        uses = re.findall(rf"(?<!\w){name}(?!\w)", text)
        changed, count = re.subn(_NAME_USE.format(re.escape(name)), f"{name}_{dice.randint(2, 99)}", text)
        if count != len(uses):
            return None  # the name also stands where it may be something else
        text = re.sub(rf"{name}_\d+", f"{name}_q", changed)
    return text


def _renamed_function(text: str, _: random.Random) -> str | None:
    names = {node.name for node in nodes(text) if isinstance(node, Function) and node.name.isidentifier()}
    if not names or "'" in text or '"' in text or "export" in text:
        return None
    for name in names:
        text = re.sub(rf"(?<![\w$./-]){name}(?![\w./-])", f"{name}_q", text)
    return text


def _options_last(text: str, _: random.Random) -> str | None:
    """Options behind operands, for programs that take them anywhere."""
    words = text.split(" ")
    if words[0] not in ("rm", "ls", "shred", "mkdir", "rmdir", "wc", "du") or not re.fullmatch(r"[\w ./~-]+", text):
        return None
    options = [word for word in words[1:] if word.startswith("-")]
    if "--" in words or not options or words[0] in ("shred",):
        return None
    return " ".join([words[0], *(word for word in words[1:] if not word.startswith("-")), *reversed(options)])


def _options_apart(text: str, _: random.Random) -> str | None:
    """`rm -rf` as `rm -r -f`."""
    match = re.match(r"((?:sudo )?(?:rm|ls|git clean|cp|chmod|chown)) -([a-zA-Z]{2,4}) ", text)
    if match is None:
        return None
    return f"{match[1]} {' '.join('-' + letter for letter in reversed(match[2]))} {text[match.end() :]}"


def rewritings() -> dict[str, Variation]:
    """Every rewriting by name."""
    found: dict[str, Variation] = {}
    for name in QUOTES:
        found[f"words in {name}"] = _requoted(name, 1.0)
        found[f"some words in {name}"] = _requoted(name, 0.4)
    found["a word from a variable"] = _by_variable
    found["another word from a variable"] = _by_variable
    for name, glue in (("continuations", " \\\n"), ("tabs", "\t"), ("many blanks", "    ")):
        found[f"words apart by {name}"] = _blanks(glue)
    for prefix in PREFIXES:
        found[f"{prefix!r} in front"] = _in_front(prefix)
    for suffix in SUFFIXES:
        found[f"{suffix!r} behind"] = _behind(suffix)
    found["variables renamed"] = _renamed
    found["functions renamed"] = _renamed_function
    found["options last"] = _options_last
    found["options apart"] = _options_apart
    return found
