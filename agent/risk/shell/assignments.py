"""Judge assignments, by `name=…` or `read`: what they make of the shell's variables, and those that change what programs do."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from agent.risk.paths.search_path import begins_elsewhere, relative_entry
from agent.risk.reader.tree import Assignment
from agent.risk.reader.words import NUL, NUMBER, UNKNOWN, Invocation, Output, Word, bounded, join_taint, taint_of
from agent.risk.shell.state import Value, elements

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

Assigned = tuple[str, Word, Assignment]


def evaluate_assignments(walker: Walker, nodes: list[Assignment], place: tuple[int, int]) -> list[Assigned]:
    """The values that stand before a command, or alone."""
    return [assigned for node in nodes for assigned in _evaluate(walker, node, place)]


def _evaluate(walker: Walker, node: Assignment, place: tuple[int, int]) -> list[Assigned]:
    if node.array:
        words = [w for value in node.values for w in walker.expander.fields(value, place)]
        return [(node.name, word, node) for word in words] or [(node.name, Word("", *place), node)]
    return [(node.name, word, node) for word in walker.expander.texts(node.values[0], place)]


def keep_assignments(walker: Walker, assigned: list[Assigned], place: tuple[int, int]) -> None:
    """Assignments without a command change the shell."""
    walker.expander.place = place
    values: dict[Assignment, list[Word]] = {}
    for _, word, node in assigned:
        values.setdefault(node, []).append(word)
    for node, words in values.items():
        if node.array:
            keep_array(walker, node, words if node.values else [])
            continue
        taint = "glob" if words[0].glob and not words[0].quoted else words[0].taint
        value = Value(bounded([word.text for word in words]), taint)
        if node.subscript is not None:
            index = walker.expander.index(node.name, node.subscript)
            walker.state.assign_element(node.name, index, value)
        else:
            walker.state.assign(node.name, value, append=node.append)


def keep_array(walker: Walker, node: Assignment, words: list[Word]) -> None:
    """`name=(a b [key]=c)`."""
    taint = taint_of(words)
    texts, named = [], []
    for word in words:
        key, found, text = word.text[1:].partition("]=")
        if word.text.startswith("[") and found:
            if node.name not in walker.state.associative:
                walker.expander.evaluate(key, word.taint)
            named.append((key, text))
            texts.append(text)
        else:
            texts.append(word.text)
    walker.state.assign(node.name, Value(texts, taint, array=True), append=node.append)
    for key, text in named:
        walker.state.put(f"{walker.state.references.get(node.name, node.name)}[{key}]", Value([text], taint))


def assign_named(walker: Walker, name: str, value: Value, invocation: Invocation) -> None:
    """Set a variable, or the element `name[key]`, as a builtin does that is given its name."""
    walker.expander.place = invocation.place
    name, element, key = name.partition("[")
    if element:
        walker.state.assign_element(name, key.rstrip("]"), value)
    else:
        walker.state.assign(name, value)


def judge_assigned(walker: Walker, name: str, value: Value) -> None:
    """Judge the value that a variable gets, whether by `name=…`, a loop, `read`, `printf -v` or `${name:=…}`.

    Elements of BASH_ALIASES are aliases, those of BASH_CMDS say which file a name stands for.
    """
    place = walker.expander.place
    array, element, key = name.partition("[")
    words = [Word(text, *place, taint=value.taint) for text in value.texts]
    if not element:
        for word in words:
            keep_special(walker, name, word, place)
    elif array in ("BASH_ALIASES", "BASH_CMDS"):
        for word in words:
            walker.state.aliases[key[:-1]] = word.text
            if array == "BASH_ALIASES":
                walker.script(word.text, place, None)
            else:
                walker.add("run", [word], place, reason=f"has {key[:-1]} stand for another program")


def keep_special(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> None:
    """Judge what an assignment means for programs: nothing, unless they get the variable."""
    exported = walker.state.exported
    if name == "PATH":
        _path(walker, word)
    elif name not in exported:
        if name.islower() or not is_usual(name):
            return
        exported.add(name)
    from agent.risk.invocations.environment import judge_environment

    judge_environment(walker, [(name, word)], place)


def is_usual(name: str) -> bool:
    """Tell whether a variable is usually exported already, or means something to the shell itself."""
    from agent.risk.tables.variables import variables

    return variables().usual.hold(name)


def _path(walker: Walker, word: Word) -> None:
    """PATH changes what a name means, unless only absolute folders come behind the old value."""
    if begins_elsewhere(word.text, walker.rater.scopes) or relative_entry(word):
        walker.state.path_changed = True


def _line_end(words: list[Word]) -> str:
    """The sign that ends a line for `read` and `mapfile`: the one behind -d, a byte 0 where that is empty."""
    for word, following in itertools.zip_longest(words, words[1:]):
        option = re.match(r"-[ersta]*d(.?)", word.text, re.S)
        if option is not None:
            given = option[1] or (following.text[:1] if following is not None else "")
            return "\n" if given == UNKNOWN else given or NUL
    return "\n"


def _cut(text: str, end: str) -> list[str]:
    """The lines of a text; what stands behind the last sign for an end is one too."""
    pieces = text.split(end)
    return [piece.rstrip("\n") for piece in (pieces if pieces[-1] or len(pieces) == 1 else pieces[:-1])]


def _split(walker: Walker, invocation: Invocation, text: str) -> list[str]:
    """The words of a line for `read`, which IFS tells apart."""
    given = [word.text for name, word in invocation.environment if name == "IFS"]
    value = walker.state.variables.get("IFS")
    signs = given[-1] if given else value.texts[0] if value is not None and value.texts else ""
    apart = "".join(re.escape(sign) for sign in signs if not sign.isspace() and sign != UNKNOWN)
    if not apart:
        return text.split()
    return [
        piece.strip() for piece in re.split(rf"[{apart}\n]" + (r"|\s+" if " " in signs else ""), text) if piece.strip()
    ]


def read(walker: Walker, invocation: Invocation) -> Output:
    taint = invocation.stdin[1] if invocation.stdin else ""
    taint = NUMBER if taint == NUMBER else join_taint("input", taint)
    known = invocation.stdin[0] if invocation.stdin else None
    names = [w.text for w in invocation.words[1:] if w.text.partition("[")[0].isidentifier()]
    lines = invocation.words[0].text != "read"
    end = _line_end(invocation.words[1:])
    if known and names and (lines or any(re.match(r"-[A-Za-z]*a", w.text) for w in invocation.words[1:])):
        texts = _cut(known, end) if lines else _split(walker, invocation, known)
        assign_named(walker, names[-1], Value(elements(texts), taint, array=True), invocation)
        return "", ""
    texts = _cut(known, end) if known else [UNKNOWN]
    if len(names) > 1:
        texts = list(dict.fromkeys([*(piece for text in texts for piece in _split(walker, invocation, text)), *texts]))
    for name in names or ["REPLY"]:
        assign_named(walker, name, Value(bounded(texts), taint), invocation)
    return "", ""


def getopts(walker: Walker, invocation: Invocation) -> Output:
    """The name gets one of the letters of the options, or a question mark."""
    for letters, name in itertools.pairwise(invocation.words[1:3]):
        assign_named(walker, name.text, Value(bounded(["?", *letters.text.replace(":", "")])), invocation)
    return "", ""
