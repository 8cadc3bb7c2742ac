"""Write a command in a form in which blanks, quoting style and comments do not matter, and everything else does."""

from __future__ import annotations

import re

from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import Part, Sequence

_MARKS = re.compile(r"[*?\[\]{},~!$`\\\"'|&;()<> \t\n#=:]")
_OPERATORS = re.compile(
    r"&&|\|\||;;&|;;|;&|\|&|(?:\d+|\{[A-Za-z_]\w*\})?(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)|[;&|()\n]"
)


def normal_form(command: str) -> tuple[str, ...]:
    """The words and operators of `command`; the stripped text alone where it cannot be read.

    `ls  -l`, `'ls' -l # list` and `ls \\<newline> -l` have one form; `ls *` and `ls '*'` have two.
    """
    try:
        probe = Parser(command)
        probe.parse()
        if probe.errors or "\0" in command:
            return (command.strip(),)
        return tuple(_Tokens(command).all())
    except BudgetError:
        return (command.strip(),)


class _Tokens(Parser):
    """Reads token by token instead of building a tree."""

    def all(self) -> list[str]:
        tokens: list[str] = []
        while True:
            self.skip_blanks()
            if self.pos >= self.limit:
                break
            found = _OPERATORS.match(self.text, self.pos, self.limit)
            if found is not None and not (found.group() in "<>" and self.text.startswith("(", found.end())):
                self.pos = found.end()
                token = found.group()
                if token in ("<<", "<<-"):
                    tokens.append(token)
                    self._here_document(tokens)
                    continue
                if token == "\n":  # noqa: S105
                    self._bodies(tokens)
                    token = ";"  # noqa: S105
                if token == ";" and (not tokens or tokens[-1] in (";", "&&", "||", "|", "&", "(", "then", "do")):  # noqa: S105
                    continue
                tokens.append(token)
                continue
            start = self.pos
            word = self.word()
            if word is None:
                self.pos += 1
                tokens.append(self.text[start])
                continue
            tokens.append(self._canonical(word.parts, word.start, word.end))
        while tokens and tokens[-1] == ";":
            tokens.pop()
        return tokens

    def _here_document(self, tokens: list[str]) -> None:
        self.skip_blanks()
        start = self.pos
        word = self.word()
        if word is None:
            return
        tokens.append(self.text[start : word.end])
        from agent.risk.reader.tree import Redirect

        self.add_heredoc(Redirect("<<", "", word, start, word.end))
        self.heredocs[-1].strip_tabs = tokens[-2] == "<<-"

    def _bodies(self, tokens: list[str]) -> None:
        if not self.heredocs:
            return
        start = self.pos
        self.read_heredocs()
        tokens.append("<<body " + self.text[start : self.pos])

    def _canonical(self, parts: list[Part], start: int, end: int) -> str:
        """Quoted characters that would mean something get a backslash, whatever quoted them; expansions stay as written."""
        pieces: list[str] = []
        for part in parts:
            if part[0] == "lit":
                text = str(part[1])
                pieces.append(_MARKS.sub(r"\\\g<0>", text) if part[2] else text)
            elif part[0] == "var" and not part[3]:
                pieces.append(f"{'q' if part[4] else ''}${{{part[2].rstrip(':')}{part[1]}}}")
            else:
                return self.text[start:end].replace("\\\n", "")
        return "".join(pieces) or "''"


def is_empty(command: str) -> bool:
    """Tell whether there is nothing to run: blanks and comments only."""
    try:
        tree: Sequence = Parser(command).parse()
    except BudgetError:
        return False
    return not tree.items
