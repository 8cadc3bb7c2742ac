"""Keep answers of the terminal from being taken for keys.

A program may ask the terminal what it is, where its cursor stands or what its title says. Where the answer comes when the program has
ended, it would be typed into the prompt that stands there. Sequences that no key sends are dropped, whole; but for the answer to a
question of our own, which has its place among the keys: what was typed before it was typed without what the terminal had to show first.
"""

from __future__ import annotations

import re

from prompt_toolkit.input import Input
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from agent.text.lazy_pattern import lazily

# Each can be written as one character, too. Alt with a letter begins like some, but nothing follows it so soon.
_CONTROL, _END = r"(?:\x1b\[|\x9b)", r"(?:\x07|\x1b\\|\x9c)"
_STRING = (
    r"(?:(?:\x1b\]|\x9d)[0-9lL]|(?:\x1bP|\x90)[0-9>!$+|]|(?:\x1b[_^X]|[\x98\x9e\x9f])[A-Z0-9])[^\x07\x1b\x9c\r\n\x03]*"
)
_WHOLE = re.compile(rf"{_CONTROL}(?:M[\s\S]{{3}}|\[[A-E]|(?![M\[])[0-?]*[ -/]*[@-~])|{_STRING}{_END}")
_BEGUN = lazily(rf"(?:{_CONTROL}(?:M[\s\S]{{0,2}}|\[|[0-?]*[ -/]*)|{_STRING}\x1b?|\x1b[\]P_^X]?|[\x98\x9d-\x9f\x90])\Z")
_BEGINNING = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f]")
_KEY = 2  # characters of an Escape with a key behind it
_LONGEST = 100_000  # characters of an answer
QUESTION, IS_WELL = "\x1b[5n", "\x1b[0n"


class KeysOnly(Vt100Parser):
    """A parser that hands on keys and what is pasted. `asked`, `answered`: how often the terminal was asked QUESTION, and has answered.

    An answer is handed on as a key that does nothing, with its number.
    """

    _held = ""  # the beginning of what may be an answer
    asked = answered = 0
    tried = answers = False  # it was asked once, and answered

    def feed(self, data: str) -> None:
        if self._pastes():
            super().feed(data)  # what comes behind it comes here again
            return
        data, self._held = self._held + data, ""
        at = 0
        while at < len(data):
            found = _BEGINNING.search(data, at)
            start = len(data) if found is None else found.start()
            super().feed(data[at:start])
            if found is None:
                return
            whole = _WHOLE.match(data, start)
            if whole is None and _BEGUN.match(data, start) and len(data) - start < _LONGEST:
                self._held = data[start:]
                return
            at = start + 1 if whole is None else whole.end()
            if whole is None or whole[0] in ANSI_SEQUENCES:
                super().feed(data[start:at])
            elif whole[0] == IS_WELL and self.tried:
                self.answers = True
                if self.answered < self.asked:
                    self.answered += 1
                    self.feed_key_callback(KeyPress(Keys.Ignore, str(self.answered)))
            if self._pastes():
                super().feed(data[at:])
                return

    def heard(self, text: str) -> None:
        """Count the answers in `text`, which was read past this parser: of keys from before a question."""
        if self.tried and (count := text.count(IS_WELL)):
            self.answers = True
            self.answered = min(self.asked, self.answered + count)

    def _pastes(self) -> bool:
        return self._in_bracketed_paste

    def flush(self) -> None:
        """Nothing came for a while: an Escape was a key, and so was one with a letter. What is longer is an answer without its end."""
        held, self._held = self._held, ""
        if len(held) <= _KEY:
            super().feed(held)
        super().flush()


def keep_out_answers(source: Input) -> None:
    """Have `source` hand on keys alone, where it reads a terminal."""
    parser = getattr(source, "vt100_parser", None)
    if isinstance(parser, Vt100Parser) and not isinstance(parser, KeysOnly):
        source.vt100_parser = KeysOnly(parser.feed_key_callback)  # type: ignore[attr-defined]


_ESCAPES = lazily(
    rf"{_CONTROL}(?:M[^\r\n]{{3}}|[0-?]*[ -/]*[@-~])|(?:\x1b[\]P_^X]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\r\n]*{_END}"
    r"|\x1b(?:O.|.)?|[\x80-\x9f]",
    re.DOTALL,
)


def without_answers(text: str) -> str:
    """`text` as it was read from a terminal, without escape sequences: neither answers nor keys that are no text."""
    return _ESCAPES.sub("", text)
