"""The syntax tree of a shell command: plain nodes with character offsets, no behaviour.

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

Part = tuple[Any, ...]


class WordNode:
    """A word as written: parts, and where it stands."""

    __slots__ = ("end", "parts", "start")

    def __init__(self, parts: list[Part], start: int, end: int) -> None:
        self.parts = parts
        self.start = start
        self.end = end

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


class Redirect:
    """`operator` as written (">", ">>", "<", "<<", "<<<", ">&", "&>", "<>", ">|"); `body` is a here-document's parts."""

    __slots__ = ("body", "end", "fd", "operator", "start", "strip_tabs", "target")

    def __init__(self, operator: str, fd: str, target: WordNode, start: int, end: int) -> None:
        self.operator = operator
        self.fd = fd
        self.target = target
        self.start = start
        self.end = end
        self.body: list[Part] | None = None
        self.strip_tabs = False


class Assignment:
    """`name=value`, `name+=value`, `name[i]=value`, `name=(values)`; `values` has one word unless it is an array.

    `subscript` holds the parts of what stands in the brackets, None where there are none.
    """

    __slots__ = ("append", "array", "name", "start", "subscript", "values")

    def __init__(
        self,
        name: str,
        values: list[WordNode],
        *,
        append: bool,
        array: bool,
        start: int,
        subscript: list[Part] | None = None,
    ) -> None:
        self.subscript = subscript
        self.name = name
        self.values = values
        self.append = append
        self.array = array
        self.start = start


class Node:
    """Base of every command."""

    __slots__ = ("end", "redirects", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.redirects: list[Redirect] = []


class Simple(Node):
    """Assignments, words and redirections of one simple command."""

    __slots__ = ("assignments", "words")

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.assignments: list[Assignment] = []
        self.words: list[WordNode] = []


class Pipeline(Node):
    __slots__ = ("commands", "negated")

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.commands: list[Node] = []
        self.negated = False


class Sequence(Node):
    """Pipelines in order; each item is (joiner before it: "", ";", "&&", "||", "&"; command; runs in background)."""

    __slots__ = ("items",)

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.items: list[tuple[str, Node, bool]] = []


class Group(Node):
    """`{ … }`, or `( … )` where `subshell` is true. `pipes` is the variable that `coproc NAME` puts its descriptors into."""

    __slots__ = ("body", "pipes", "subshell")

    def __init__(self, start: int, body: Sequence, *, subshell: bool, pipes: str = "") -> None:
        super().__init__(start)
        self.pipes = pipes
        self.body = body
        self.subshell = subshell


class Branch(Node):
    """`if`: pairs of condition and body, the last condition None for `else`."""

    __slots__ = ("arms",)

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.arms: list[tuple[Sequence | None, Sequence]] = []


class Loop(Node):
    """`while`, `until`, `for`, `select`. `values` is None where there is no list of words; `parts` hold an arithmetic head."""

    __slots__ = ("body", "condition", "name", "parts", "values")

    def __init__(self, start: int, body: Sequence) -> None:
        super().__init__(start)
        self.body = body
        self.condition: Sequence | None = None
        self.name = ""
        self.values: list[WordNode] | None = None
        self.parts: list[Part] = []


class Case(Node):
    __slots__ = ("arms", "subject")

    def __init__(self, start: int, subject: WordNode) -> None:
        super().__init__(start)
        self.subject = subject
        self.arms: list[tuple[list[WordNode], Sequence]] = []


class Function(Node):
    __slots__ = ("body", "name")

    def __init__(self, start: int, name: str, body: Node) -> None:
        super().__init__(start)
        self.name = name
        self.body = body


class Test(Node):
    """`[[ … ]]` or `(( … ))`: the parts of its words, operators and all."""

    __slots__ = ("parts",)

    def __init__(self, start: int, parts: list[Part]) -> None:
        super().__init__(start)
        self.parts = parts
