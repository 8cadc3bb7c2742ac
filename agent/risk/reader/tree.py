"""Define the syntax tree of a shell command: plain nodes with character offsets, no behaviour.

A word is a list of parts. Parts are tuples, because most words have one and there are many:

    ("lit", text, quoted)                      literal characters
    ("var", name, operator, argument, quoted)  a parameter; `argument` is a list of parts or None. The operator is "" for
                                               `$name`, else "!" or "#", the subscript as in "[0]", and ":". A subscript
                                               with expansions is "[$]"; its parts are a sixth item
    ("cmd", Sequence, quoted)                  command substitution
    ("proc", Sequence, direction)              process substitution, direction "<" or ">"
    ("arith", parts)                           arithmetic: $(( … )), (( … )), an operand of `-eq` in [[ … ]]
    ("name", parts)                            the operand of `-v` in [[ … ]]: the name of a variable or of an element
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Part = tuple[Any, ...]


class WordNode(Struct, eq=False):
    """A word as written: parts, and where it stands."""

    parts: list[Part]
    start: int
    end: int

    def literal(self) -> str | None:
        """The text of a word without any quoting or expansion, else None."""
        if len(self.parts) == 1:
            part = self.parts[0]
            if part[0] == "lit" and not part[2]:
                return str(part[1])
        return None

    def unquoted(self) -> str | None:
        """The text of a word without any expansion, however it is quoted, else None."""
        if all(part[0] == "lit" for part in self.parts):
            return "".join(str(part[1]) for part in self.parts)
        return None


class Redirect(Struct, eq=False):
    """`operator` as written (">", ">>", "<", "<<", "<<<", ">&", "&>", "<>", ">|"); `body` is a here-document's parts."""

    operator: str
    fd: str
    target: WordNode
    start: int
    end: int
    body: list[Part] | None = None
    strip_tabs: bool = False


class Assignment(Struct, eq=False):
    """`name=value`, `name+=value`, `name[i]=value`, `name=(values)`; `values` has one word unless it is an array.

    `subscript` holds the parts of what stands in the brackets, None where there are none.
    """

    name: str
    values: list[WordNode]
    append: bool
    array: bool
    start: int
    subscript: list[Part] | None = None


class Node(Struct, eq=False):
    """Base of every command."""

    start: int
    end: int = 0
    redirects: list[Redirect] = []


class Simple(Node, eq=False):
    """Assignments, words and redirections of one simple command."""

    assignments: list[Assignment] = []
    words: list[WordNode] = []


class Pipeline(Node, eq=False):
    commands: list[Node] = []
    negated: bool = False


class Sequence(Node, eq=False):
    """Pipelines in order; each item is (joiner before it: "", ";", "&&", "||", "&"; command; runs in background)."""

    items: list[tuple[str, Node, bool]] = []


class Group(Node, kw_only=True, eq=False):
    """`{ … }`, or `( … )` where `subshell` is true. `pipes` is the variable that `coproc NAME` puts its descriptors into."""

    body: Sequence
    subshell: bool
    pipes: str = ""


class Branch(Node, eq=False):
    """`if`: pairs of condition and body, the last condition None for `else`."""

    arms: list[tuple[Sequence | None, Sequence]] = []


class Loop(Node, kw_only=True, eq=False):
    """`while`, `until`, `for`, `select`. `values` is None where there is no list of words; `parts` hold an arithmetic head."""

    body: Sequence
    condition: Sequence | None = None
    name: str = ""
    values: list[WordNode] | None = None
    parts: list[Part] = []


class Case(Node, kw_only=True, eq=False):
    subject: WordNode
    arms: list[tuple[list[WordNode], Sequence]] = []


class Function(Node, kw_only=True, eq=False):
    name: str
    body: Node


class Test(Node, kw_only=True, eq=False):
    """`[[ … ]]` or `(( … ))`: the parts of its words, operators and all."""

    parts: list[Part]
