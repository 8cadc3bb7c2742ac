"""Read simple commands: assignments, words and redirections, and functions that begin like one."""

from __future__ import annotations

from agent.risk.reader.tree import Assignment, Function, Node, Redirect, Simple, WordNode
from agent.risk.reader.wordscan import WordScanner
from agent.text.lazy_pattern import lazily

_REDIRECT = lazily(r"(\d+|\{[A-Za-z_]\w*(?:\[[^\n]{0,200}?\])?\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)")
FUNCTION_HEAD = lazily(r"[ \t]*\([ \t]*\)")
_DECLARERS = frozenset(("declare", "typeset", "local", "export", "readonly"))


class SimpleCommands(WordScanner):
    """The layer between words and compound commands; what a function's body may be is up to the layers above."""

    def skip_blank_lines(self) -> None:
        while True:
            self.skip_blanks()
            if self.pos < self.limit and self.text[self.pos] == "\n":
                self.pos += 1
                self.read_heredocs()
            else:
                return

    def simple(self) -> Node | None:
        node = Simple(self.pos)
        words = node.words
        assigns = True  # what stands next may be an assignment
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
            if assigns and (assignment := self.assignment()) is not None:
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
                assigns = word.literal() in _DECLARERS
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
        head = FUNCTION_HEAD.match(self.text, self.pos, self.limit)
        if head is None:
            return None
        self.pos = head.end()
        self.enter()
        function = self.function_body(node.start, node.words[0].literal() or "")
        self.leave()
        function.end = self.pos
        return function

    def function_body(self, start: int, name: str) -> Function:
        self.skip_blank_lines()
        body = self.as_parser().command()
        if body is None:
            self.fail("a function needs a body")
            body = Simple(self.pos, self.pos)
        return Function(start, name=name, body=body)

    def assignment(self) -> Assignment | None:
        head = self.assignment_head()
        if head is None:
            return None
        name, subscript, append, start = head
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
            return Assignment(name, values, append=append, array=True, start=start, subscript=subscript)
        word = self.word() or WordNode([], self.pos, self.pos)
        self.last_end = word.end
        return Assignment(name, [word], append=append, array=False, start=start, subscript=subscript)

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

    def trailing_redirects(self, node: Node) -> None:
        while True:
            self.skip_blanks()
            redirect = self.redirect()
            if redirect is None:
                return
            node.redirects.append(redirect)

    def at_pipe(self) -> bool:
        return (
            self.pos < self.limit
            and self.text[self.pos] == "|"
            and (self.pos + 1 >= self.limit or self.text[self.pos + 1] != "|")
        )
