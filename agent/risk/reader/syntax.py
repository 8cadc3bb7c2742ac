"""Parse shell text into `agent.risk.reader.tree`, error-tolerant and in bounded time.

Written for this purpose rather than on a general grammar: what counts here is that words are cut exactly as bash cuts
them (docs/decisions has the measurements), that an unfinished text still yields every command in it, and that neither
time nor recursion depends on what a hostile text nests. Tests hold it against `bash -n`; `second_opinion`
asks tree-sitter-bash about the same text.
"""

from __future__ import annotations

from agent.risk.reader.compound_commands import OPERATOR, RESERVED, CompoundCommands
from agent.risk.reader.tree import Node, Pipeline, Sequence, Simple

_CLOSERS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
_MAX_RESTARTS = 40


class Parser(CompoundCommands):
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
            word = RESERVED.match(self.text, self.pos, self.limit)
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
            if operator == "&":
                _whole_list_in_background(result)
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
        found = OPERATOR.match(self.text, self.pos, self.limit) if self.pos < self.limit else None
        if found is None:
            return ""
        operator = found.group()
        if operator in ("|", "|&"):
            return ""
        self.pos = found.end()
        if operator == "\n":
            self.read_heredocs()
        return operator

    def at_closer(self, closers: frozenset[str]) -> bool:
        if not closers:
            return False
        word = RESERVED.match(self.text, self.pos, self.limit)
        return word is not None and word.group(1) in closers

    def pipeline(self) -> Node | None:
        start = self.pos
        negated = False
        while True:  # `!` and `time` come before a pipeline, in any number
            here = self.text.startswith(("!", "t"), self.pos)
            word = RESERVED.match(self.text, self.pos, self.limit) if here else None
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
            return Simple(start, start) if self.pos > start else None
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
        word = RESERVED.match(self.text, self.pos, self.limit)
        if word is not None and word.group(1) in ("!", "time"):
            self.pos = word.end()
            self.skip_blanks()
        return self.command()

    def command(self) -> Node | None:
        self.count_command()
        char = self.text[self.pos] if self.pos < self.limit else ""
        node: Node | None
        if char == "(":
            node = self.arithmetic_command() or self.subshell()
        else:
            word = RESERVED.match(self.text, self.pos, self.limit) if char in "iwufsdtec[{}!" else None
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


def _whole_list_in_background(node: Sequence) -> None:
    """`a && b &`: the and-or list that ends here runs in the background from its first command on."""
    index = len(node.items) - 1
    while index > 0 and node.items[index][0] in ("&&", "||"):
        index -= 1
        joiner, command, _ = node.items[index]
        node.items[index] = joiner, command, True
