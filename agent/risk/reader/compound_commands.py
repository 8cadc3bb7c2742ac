"""Read compound commands: `if`, loops, `case`, functions, groups, subshells, `[[ … ]]`, `(( … ))`, `coproc`."""

from __future__ import annotations

import re

from agent.risk.reader.simple_commands import FUNCTION_HEAD, SimpleCommands
from agent.risk.reader.tree import Branch, Case, Function, Group, Loop, Node, Part, Sequence, Simple, Test, WordNode
from agent.text.lazy_pattern import lazily

OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;&|\n]")
RESERVED = re.compile(
    r"(if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|time|coproc|\[\[|\{|\}|!)(?=[\s;&|()<>]|\Z)"
)
_NAME = lazily(r"[A-Za-z_]\w*")
_NUMERIC = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))


class CompoundCommands(SimpleCommands):
    """Everything that begins with a reserved word or a parenthesis."""

    def compound(self, keyword: str, behind: int) -> Node:
        self.enter()
        start = self.pos
        self.pos = behind
        node: Node
        if keyword == "if":
            node = self.branch(start)
        elif keyword in ("while", "until"):
            condition = self.as_parser().sequence(frozenset(("do",)), "")
            node = Loop(start, body=self.do_body(), condition=condition)
        elif keyword in ("for", "select"):
            node = self.for_loop(start)
        elif keyword == "case":
            node = self.case(start)
        elif keyword == "function":
            node = self.function(start)
        elif keyword == "[[":
            node = self.test(start)
        elif keyword == "coproc":
            node = self.coproc(start)
        else:
            body = self.as_parser().sequence(frozenset(("}",)), "")
            self.expect("}")
            node = Group(start, body=body, subshell=False)
        self.leave()
        return node

    def branch(self, start: int) -> Branch:
        node = Branch(start)
        stop = frozenset(("elif", "else", "fi"))
        while True:
            condition = self.as_parser().sequence(frozenset(("then",)), "")
            self.expect("then")
            node.arms.append((condition, self.as_parser().sequence(stop, "")))
            if not self.accept("elif"):
                break
        if self.accept("else"):
            node.arms.append((None, self.as_parser().sequence(frozenset(("fi",)), "")))
        self.expect("fi")
        return node

    def do_body(self) -> Sequence:
        if self.accept("{"):
            body = self.as_parser().sequence(frozenset(("}",)), "")
            self.expect("}")
            return body
        self.expect("do")
        body = self.as_parser().sequence(frozenset(("done",)), "")
        self.expect("done")
        return body

    def for_loop(self, start: int) -> Loop:
        self.skip_blanks()
        if self.text.startswith("((", self.pos):
            parts = self.arithmetic_parts(self.pos + 2)
            self.skip_blank_lines()
            if parts is not None and self.pos < self.limit and self.text[self.pos] == ";":
                self.pos += 1
                self.skip_blank_lines()
            return Loop(start, body=self.do_body(), parts=[("arith", parts or [])])
        name = _NAME.match(self.text, self.pos, self.limit)
        if name is None:
            self.fail("a loop needs a variable")
        else:
            self.pos = name.end()
        values: list[WordNode] | None = None
        self.skip_blank_lines()
        if self.text.startswith("in", self.pos) and not self.text[self.pos + 2 : self.pos + 3].isalnum():
            self.pos += 2
            values = []
            self.skip_blanks()
            while (word := self.word()) is not None:
                values.append(word)
                self.skip_blanks()
        self.as_parser().operator()
        self.skip_blank_lines()
        return Loop(start, body=self.do_body(), name=name.group() if name else "", values=values)

    def case(self, start: int) -> Case:
        self.skip_blanks()
        node = Case(start, subject=self.word() or WordNode([], start, start))
        self.skip_blank_lines()
        if self.text.startswith("in", self.pos):
            self.pos += 2
        else:
            self.fail("case needs in")
        while True:
            self.skip_blank_lines()
            if self.pos >= self.limit:
                self.fail("esac is missing")
                break
            if self.accept("esac"):
                break
            before = self.pos
            if self.text[self.pos] == "(":
                self.pos += 1
            patterns = self.case_patterns()
            if self.pos < self.limit and self.text[self.pos] == ")":
                self.pos += 1
            else:
                self.fail("case pattern without )")
            node.arms.append((patterns, self.as_parser().sequence(frozenset(("esac",)), "")))
            self.skip_blank_lines()
            separator = OPERATOR.match(self.text, self.pos, self.limit)
            if separator is not None and separator.group().startswith(";"):
                self.pos = separator.end()
            if self.pos == before:
                return node
        return node

    def case_patterns(self) -> list[WordNode]:
        """`a|b|c`, in front of the parenthesis."""
        patterns: list[WordNode] = []
        self.extglob = True
        while True:
            self.skip_blanks()
            word = self.word()
            if word is not None:
                patterns.append(word)
            self.skip_blanks()
            if not self.at_pipe():
                break
            self.pos += 1
        self.extglob = False
        return patterns

    def function(self, start: int) -> Function:
        self.skip_blanks()
        word = self.word()
        head = FUNCTION_HEAD.match(self.text, self.pos, self.limit)
        if head is not None:
            self.pos = head.end()
        return self.function_body(start, (word.literal() if word else None) or "")

    def coproc(self, start: int) -> Node:
        self.skip_blanks()
        word = _NAME.match(self.text, self.pos, self.limit)
        pipes = "COPROC"
        if word is not None:  # an optional name stands before a compound command only
            after = word.end()
            while after < self.limit and self.text[after] in " \t":
                after += 1
            opens = self.text.startswith("(", after) or (
                self.text.startswith("{", after) and RESERVED.match(self.text, after, self.limit)
            )
            if opens and not RESERVED.match(self.text, self.pos, self.limit):
                self.pos, pipes = after, word.group()
        body = self.as_parser().command() or Simple(self.pos, self.pos)
        group = Sequence(start, start)
        group.items.append(("", body, True))
        return Group(start, body=group, subshell=True, pipes=pipes)

    def subshell(self) -> Group:
        start = self.pos
        self.pos += 1
        body = self.as_parser().sequence(frozenset(), ")")
        if self.pos < self.limit and self.text[self.pos] == ")":
            self.pos += 1
        else:
            self.fail("( without )")
        return Group(start, body=body, subshell=True)

    def arithmetic_command(self) -> Test | None:
        start = self.pos
        if not self.text.startswith("((", start):
            return None
        parts = self.arithmetic_parts(start + 2)
        return None if parts is None else Test(start, parts=[("arith", parts)])

    def test(self, start: int) -> Test:
        """`[[ … ]]`: only its words matter, operators and all."""
        words: list[WordNode | None] = []
        self.extglob = True
        while True:
            self.skip_blank_lines()
            if self.pos >= self.limit:
                self.fail("[[ without ]]")
                break
            if self.text.startswith("]]", self.pos):
                self.pos += 2
                break
            word = self.word()
            if word is None:
                self.pos += 1  # operators: && || ( ) < > |
            words.append(word)
        self.extglob = False
        return Test(start, parts=_test_parts(words))

    def accept(self, keyword: str) -> bool:
        self.skip_blank_lines()
        word = RESERVED.match(self.text, self.pos, self.limit)
        if word is None or word.group(1) != keyword:
            return False
        self.pos = word.end()
        return True

    def expect(self, keyword: str) -> None:
        if not self.accept(keyword):
            self.fail(f"{keyword} is missing")


def _test_parts(words: list[WordNode | None]) -> list[Part]:
    """The parts of a test's words; what bash reads as arithmetic or as a name is marked as that."""
    texts = [word.literal() if word is not None else None for word in words]
    parts: list[Part] = []
    for index, word in enumerate(words):
        if word is None:
            continue
        before = texts[index - 1] if index else None
        if before in _NUMERIC or (index + 1 < len(words) and texts[index + 1] in _NUMERIC):
            parts.append(("arith", word.parts))
        elif before == "-v":
            parts.append(("name", word.parts))
        else:
            parts.extend(word.parts)
    return parts
