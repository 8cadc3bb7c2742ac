"""Parse shell text into `agent.risk.tree`, error-tolerant and in bounded time.

Written for this purpose rather than on a general grammar: what counts here is that words are cut exactly as bash cuts
them (docs/decisions has the measurements), that an unfinished text still yields every command in it, and that neither
time nor recursion depends on what a hostile text nests. Tests hold it against `bash -n`; `second_opinion`
asks tree-sitter-bash about the same text.
"""

from __future__ import annotations

import re

from agent.risk.tree import (
    Assignment,
    Branch,
    Case,
    Function,
    Group,
    Loop,
    Node,
    Part,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    Test,
    WordNode,
)
from agent.risk.wordscan import WordScanner

_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;&|\n]")
_REDIRECT = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)")
_RESERVED = re.compile(
    r"(if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|time|coproc|\[\[|\{|\}|!)(?=[\s;&|()<>]|\Z)"
)
_CLOSERS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
_FUNCTION_HEAD = re.compile(r"[ \t]*\([ \t]*\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_DECLARERS = frozenset(("declare", "typeset", "local", "export", "readonly"))
_MAX_RESTARTS = 40


class Parser(WordScanner):
    """One pass over one text. `errors` holds (offset, message); the tree covers what could be read."""

    def parse(self) -> Sequence:
        """The whole text. After an error, reading goes on behind it, so that nothing is left unseen."""
        program = Sequence(self.pos)
        for _ in range(_MAX_RESTARTS):
            part = self.sequence(frozenset(), "")
            program.items.extend(part.items)
            if self.pos >= self.limit:
                break
            self.fail(f"unexpected {self.text[self.pos : self.pos + 10]!r}")
            word = _RESERVED.match(self.text, self.pos, self.limit)
            self.pos = word.end() if word else self.pos + 1
        else:
            self.fail("too many errors")
            self.abandoned = True
        self.finish_heredocs()
        program.end = self.pos
        return program

    # --- lists and pipelines ---

    def sequence(self, closers: frozenset[str], closing: str) -> Sequence:
        """Pipelines until one of the reserved words `closers`, the character `closing`, or what cannot be read."""
        self.enter()
        result = Sequence(self.pos)
        joiner = ""
        while True:
            self.skip_blank_lines()
            if self.pos >= self.limit or self.text[self.pos] in ")" or self.at_closer(closers):
                break
            before = self.pos
            command = self.pipeline()
            if command is None:
                break
            operator = self.operator()
            result.items.append((joiner or ";", command, operator == "&"))
            if operator in (";;", ";&", ";;&"):
                self.pos -= len(operator)
                break
            if operator == "":
                break
            joiner = ";" if operator in (";", "\n") else operator
            if joiner in ("&&", "||"):
                self.skip_blank_lines()
                if self.pos >= self.limit:
                    self.fail("nothing after " + joiner)
            if self.pos == before:
                break
        result.end = self.pos
        self.leave()
        return result

    def operator(self) -> str:
        """Consume a list operator; a newline reads the bodies of pending here-documents."""
        self.skip_blanks()
        found = _OPERATOR.match(self.text, self.pos, self.limit)
        if found is None:
            return ""
        operator = found.group()
        if operator in ("|", "|&"):
            return ""
        self.pos = found.end()
        if operator == "\n":
            self.read_heredocs()
        return operator

    def skip_blank_lines(self) -> None:
        while True:
            self.skip_blanks()
            if self.pos < self.limit and self.text[self.pos] == "\n":
                self.pos += 1
                self.read_heredocs()
            else:
                return

    def at_closer(self, closers: frozenset[str]) -> bool:
        if not closers:
            return False
        word = _RESERVED.match(self.text, self.pos, self.limit)
        return word is not None and word.group(1) in closers

    def pipeline(self) -> Node | None:
        start = self.pos
        negated = False
        while True:  # `!` and `time` come before a pipeline, in any number
            word = _RESERVED.match(self.text, self.pos, self.limit)
            if word is None or word.group(1) not in ("!", "time"):
                break
            negated = negated or word.group(1) == "!"
            self.pos = word.end()
            self.skip_blanks()
            if word.group(1) == "time" and self.text.startswith("-p", self.pos):
                self.pos += 2
                self.skip_blanks()
        command = self.command()
        if command is None:
            return Simple(start) if self.pos > start else None
        self.skip_blanks()
        if not self.at_pipe() and not negated:
            return command
        result = Pipeline(start)
        result.negated = negated
        result.commands.append(command)
        while self.at_pipe():
            self.pos += 2 if self.text.startswith("|&", self.pos) else 1
            self.skip_blank_lines()
            following = self.pipeline_stage()
            if following is None:
                self.fail("nothing after |")
                break
            result.commands.append(following)
            self.skip_blanks()
        result.end = self.pos
        return result

    def pipeline_stage(self) -> Node | None:
        word = _RESERVED.match(self.text, self.pos, self.limit)
        if word is not None and word.group(1) in ("!", "time"):
            self.pos = word.end()
            self.skip_blanks()
        return self.command()

    def at_pipe(self) -> bool:
        return (
            self.pos < self.limit
            and self.text[self.pos] == "|"
            and (self.pos + 1 >= self.limit or self.text[self.pos + 1] != "|")
        )

    # --- commands ---

    def command(self) -> Node | None:
        self.count_command()
        char = self.text[self.pos] if self.pos < self.limit else ""
        node: Node | None
        if char == "(":
            node = self.arithmetic_command() or self.subshell()
        else:
            word = _RESERVED.match(self.text, self.pos, self.limit) if char in "iwufsdtec[{}!" else None
            if word is None:
                return self.simple()
            keyword = word.group(1)
            if keyword in _CLOSERS or keyword == "!":
                return None
            node = self.compound(keyword, word.end())
        if node is not None:
            self.trailing_redirects(node)
            node.end = self.pos
        return node

    def compound(self, keyword: str, behind: int) -> Node:
        self.enter()
        start = self.pos
        self.pos = behind
        node: Node
        if keyword == "if":
            node = self.branch(start)
        elif keyword in ("while", "until"):
            condition = self.sequence(frozenset(("do",)), "")
            node = Loop(start, self.do_body())
            node.condition = condition
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
            body = self.sequence(frozenset(("}",)), "")
            self.expect("}")
            node = Group(start, body, subshell=False)
        self.leave()
        return node

    def branch(self, start: int) -> Branch:
        node = Branch(start)
        stop = frozenset(("elif", "else", "fi"))
        while True:
            condition = self.sequence(frozenset(("then",)), "")
            self.expect("then")
            node.arms.append((condition, self.sequence(stop, "")))
            if not self.accept("elif"):
                break
        if self.accept("else"):
            node.arms.append((None, self.sequence(frozenset(("fi",)), "")))
        self.expect("fi")
        return node

    def do_body(self) -> Sequence:
        if self.accept("{"):
            body = self.sequence(frozenset(("}",)), "")
            self.expect("}")
            return body
        self.expect("do")
        body = self.sequence(frozenset(("done",)), "")
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
            node = Loop(start, self.do_body())
            node.parts = parts or []
            return node
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
        self.operator()
        self.skip_blank_lines()
        node = Loop(start, self.do_body())
        node.name = name.group() if name else ""
        node.values = values
        return node

    def case(self, start: int) -> Case:
        self.skip_blanks()
        node = Case(start, self.word() or WordNode([], start, start))
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
            node.arms.append((patterns, self.sequence(frozenset(("esac",)), "")))
            self.skip_blank_lines()
            separator = _OPERATOR.match(self.text, self.pos, self.limit)
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
        head = _FUNCTION_HEAD.match(self.text, self.pos, self.limit)
        if head is not None:
            self.pos = head.end()
        return self.function_body(start, (word.literal() if word else None) or "")

    def function_body(self, start: int, name: str) -> Function:
        self.skip_blank_lines()
        body = self.command()
        if body is None:
            self.fail("a function needs a body")
            body = Simple(self.pos)
        return Function(start, name, body)

    def coproc(self, start: int) -> Node:
        self.skip_blanks()
        word = _NAME.match(self.text, self.pos, self.limit)
        if word is not None:  # an optional name stands before a compound command only
            after = word.end()
            while after < self.limit and self.text[after] in " \t":
                after += 1
            if self.text[after : after + 1] in ("{", "(") and not _RESERVED.match(self.text, self.pos, self.limit):
                self.pos = after
        body = self.command() or Simple(self.pos)
        group = Sequence(start)
        group.items.append(("", body, True))
        return Group(start, group, subshell=True)

    def subshell(self) -> Group:
        start = self.pos
        self.pos += 1
        body = self.sequence(frozenset(), ")")
        if self.pos < self.limit and self.text[self.pos] == ")":
            self.pos += 1
        else:
            self.fail("( without )")
        return Group(start, body, subshell=True)

    def arithmetic_command(self) -> Test | None:
        start = self.pos
        if not self.text.startswith("((", start):
            return None
        parts = self.arithmetic_parts(start + 2)
        return None if parts is None else Test(start, parts)

    def test(self, start: int) -> Test:
        """`[[ … ]]`: only its words matter, operators and all."""
        parts: list[Part] = []
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
                continue
            parts.extend(word.parts)
        self.extglob = False
        return Test(start, parts)

    def trailing_redirects(self, node: Node) -> None:
        while True:
            self.skip_blanks()
            redirect = self.redirect()
            if redirect is None:
                return
            node.redirects.append(redirect)

    def accept(self, keyword: str) -> bool:
        self.skip_blank_lines()
        word = _RESERVED.match(self.text, self.pos, self.limit)
        if word is None or word.group(1) != keyword:
            return False
        self.pos = word.end()
        return True

    def expect(self, keyword: str) -> None:
        if not self.accept(keyword):
            self.fail(f"{keyword} is missing")

    # --- simple commands ---

    def simple(self) -> Node | None:
        node = Simple(self.pos)
        words = node.words
        text, limit = self.text, self.limit
        while True:
            self.skip_blanks()
            pos = self.pos
            if pos >= limit:
                break
            char = text[pos]
            if char in "\n;|)":
                break
            if char in "<>&0123456789{" and (redirect := self.redirect()) is not None:
                node.redirects.append(redirect)
                continue
            if char == "&" or (char == "(" and not words):
                break
            if (not words or words[0].literal() in _DECLARERS) and (assignment := self.assignment()) is not None:
                if words:
                    words.append(WordNode([("assign", assignment)], pos, self.pos))
                else:
                    node.assignments.append(assignment)
                continue
            word = self.word()
            if word is None:
                break
            words.append(word)
            if len(words) == 1:
                self.starts.append(pos)
                if (function := self.function_after_name(node)) is not None:
                    return function
        if not words and not node.assignments and not node.redirects:
            return None
        node.end = max(
            words[-1].end if words else node.start,
            node.redirects[-1].end if node.redirects else node.start,
            self.last_end if node.assignments and not words else node.start,
        )
        return node

    def function_after_name(self, node: Simple) -> Function | None:
        """`name() body`, with the position behind the only word of `node`."""
        if node.assignments or self.pos >= self.limit or self.text[self.pos] not in " \t(":
            return None
        head = _FUNCTION_HEAD.match(self.text, self.pos, self.limit)
        if head is None:
            return None
        self.pos = head.end()
        self.enter()
        function = self.function_body(node.start, node.words[0].literal() or "")
        self.leave()
        function.end = self.pos
        return function

    def assignment(self) -> Assignment | None:
        head = self.assignment_head()
        if head is None:
            return None
        name, append, start = head
        if self.pos < self.limit and self.text[self.pos] == "(":
            self.pos += 1
            values = []
            while True:
                self.skip_blank_lines()
                word = self.word()
                if word is None:
                    break
                values.append(word)
            if self.pos < self.limit and self.text[self.pos] == ")":
                self.pos += 1
            else:
                self.fail("array without )")
            self.last_end = self.pos
            return Assignment(name, values, append=append, array=True, start=start)
        word = self.word() or WordNode([], self.pos, self.pos)
        self.last_end = word.end
        return Assignment(name, [word], append=append, array=False, start=start)

    def redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.pos, self.limit)
        if found is None:
            return None
        operator = found.group(2)
        behind = found.end()
        if operator in ("<", ">") and behind < self.limit and self.text[behind] == "(":
            return None  # a process substitution is a word
        start = self.pos
        self.pos = behind
        self.skip_blanks()
        word = self.word()
        if word is None:
            self.fail(f"nothing after {operator}")
            word = WordNode([], self.pos, self.pos)
        redirect = Redirect("<<" if operator == "<<-" else operator, found.group(1) or "", word, start, self.pos)
        if operator in ("<<", "<<-"):
            redirect.strip_tabs = operator == "<<-"
            self.add_heredoc(redirect)
        return redirect
