"""Judge assignments: what they make of the shell's variables, and those that change what programs do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.paths.absolute import absolute
from agent.risk.paths.search_path import begins_elsewhere, relative_entry
from agent.risk.reader.tree import Assignment
from agent.risk.reader.words import Word, bounded, taint_of
from agent.risk.shell.state import Value

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


def others_may_change(walker: Walker, path: str) -> bool:
    """Tell whether an absolute path is, or lies below, a folder where everybody may put things, such as /tmp."""
    return path.startswith("/") and walker.rater.scopes.public(f"{absolute(path, '/')}/")
