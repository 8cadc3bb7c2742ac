"""Take chat text out of a reply that is still being written, so that people can read along."""

from __future__ import annotations

import json
from collections.abc import Callable

from agent.text.lazy_pattern import lazily
from agent.text.visible import well_formed

_THOUGHTS = ("<think>", "<thinking>", "<reasoning>")
_MAX_HELD = 1_000_000
_LONGEST_ESCAPE = 12  # a pair of surrogates
# The part of a string that can be decoded by now: no escape is cut, and no half of a pair waits for the other.
_SETTLED = lazily(
    r'(?:[^"\\]+|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F])))*"
)


class PlainText:
    """The `native` form: text is chat as it comes, but for thinking at its beginning."""

    def __init__(self) -> None:
        self._held = ""
        self._open = False

    def feed(self, piece: str) -> str:
        """The chat text that `piece` adds."""
        if self._open:
            return piece
        self._held += piece
        rest = self._held.lstrip()
        while tag := next((tag for tag in _THOUGHTS if rest.startswith(tag)), None):
            end = rest.find(f"</{tag[1:]}")
            if end < 0:
                return ""
            rest = rest[end + len(tag) + 1 :].lstrip()
        begun = any(tag.startswith(rest) for tag in (*_THOUGHTS, "<tool_call>"))
        if begun or rest.startswith("<tool_call>"):
            return ""
        self._open = True
        self._held = ""
        return rest


class ThoughtText:
    """Thoughts of a model between tags at the beginning of its text, as they grow. `over`: no more of it follows."""

    def __init__(self) -> None:
        self._held = ""
        self._end = ""
        self.over = False

    def feed(self, piece: str) -> str:
        """The thought that `piece` adds."""
        self._held += piece
        if not self._end:
            rest = self._held.lstrip()
            tag = next((tag for tag in _THOUGHTS if rest.startswith(tag)), "")
            if not tag:
                self.over = not any(tag.startswith(rest) for tag in _THOUGHTS)
                return ""
            self._held, self._end = rest[len(tag) :], f"</{tag[1:]}"
        thought, end, _ = self._held.partition(self._end)
        if end:
            self.over = True
            return thought
        cut = next(size for size in range(len(self._end) - 1, -1, -1) if thought.endswith(self._end[:size]))
        self._held = thought[len(thought) - cut :]
        return thought[: len(thought) - cut]


class ModeJsonText:
    """The `mode-json` form: the value of `message` as it grows, once `mode` is known to be chat.

    Only the outermost object counts. What does not look as expected ends the stream of text, never the reply: the parser
    judges the whole afterwards.
    """

    def __init__(self) -> None:
        self._before = PlainText()
        self._state: Callable[[str], None] = self._seek
        self._key = ""
        self._value = ""  # the string being read, decoded
        self._held = ""  # its end that is not settled yet
        self._in_string = False
        self._is_value = False
        self._skip_depth = 0
        self._skip_string = False
        self._skip_escape = False
        self._mode = ""
        self._early = ""  # a message that came before the mode
        self._out: list[str] = []

    def feed(self, piece: str) -> str:
        """The chat text that `piece` adds."""
        if self._state == self._dead:
            return ""
        if self._state == self._seek:
            piece = self._before.feed(piece)
        piece, self._held, position = self._held + piece, "", 0
        while position < len(piece):
            if self._in_string:
                position = self._read_string(piece, position)
            else:
                self._state(piece[position])
                position += 1
        out = "".join(self._out)
        self._out.clear()
        return out

    def _dead(self, char: str) -> None:
        pass

    def _seek(self, char: str) -> None:
        """Before the object."""
        if char == "{":
            self._state = self._before_key

    def _before_key(self, char: str) -> None:
        if char == '"':
            self._begin_string(is_value=False)
        elif char not in " \t\r\n,":
            # `{` in prose or code: go on seeking, unless the object had begun
            self._state = self._dead if self._key else self._seek

    def _after_key(self, char: str) -> None:
        if char == ":":
            self._state = self._before_value
        elif not char.isspace():
            self._state = self._dead

    def _before_value(self, char: str) -> None:
        if char == '"':
            self._begin_string(is_value=True)
        elif not char.isspace():
            self._skip_depth = 0
            self._skip_string = False
            self._state = self._skip
            self._skip(char)

    def _skip(self, char: str) -> None:
        """A value that is no string: numbers, null, nested objects and lists."""
        if self._skip_string:
            if self._skip_escape:
                self._skip_escape = False
            elif char == "\\":
                self._skip_escape = True
            elif char == '"':
                self._skip_string = False
        elif char == '"':
            self._skip_string = True
        elif char in "{[":
            self._skip_depth += 1
        elif char in "}]":
            if self._skip_depth == 0:
                self._state = self._dead
            self._skip_depth -= 1
        elif char == "," and self._skip_depth == 0:
            self._state = self._before_key

    def _after_value(self, char: str) -> None:
        if char == ",":
            self._state = self._before_key
        elif not char.isspace():
            self._state = self._dead

    def _begin_string(self, *, is_value: bool) -> None:
        self._is_value = is_value
        self._value = ""
        self._in_string = True

    def _read_string(self, piece: str, position: int) -> int:
        """Take what is settled of the string that goes on at `position`; where to go on."""
        settled = _SETTLED.match(piece, position)
        end = settled.end() if settled else position
        self._held = "" if piece.startswith('"', end) else piece[end:]
        try:
            self._string_text(well_formed(json.loads(f'"{piece[position:end]}"', strict=False)))
        except ValueError:
            self._state = self._dead
        if self._state == self._dead or len(self._held) > _LONGEST_ESCAPE:
            self._state, self._in_string = self._dead, False
            return len(piece)
        if not self._held and end < len(piece):
            self._in_string = False
            self._end_string()
            return end + 1
        return len(piece)

    def _string_text(self, text: str) -> None:
        if self._is_value and self._key == "message" and self._mode == "chat":
            self._out.append(text)
        elif not self._is_value or self._key in ("mode", "message"):
            self._value += text
            if len(self._value) > _MAX_HELD:
                self._state = self._dead

    def _end_string(self) -> None:
        if not self._is_value:
            self._key = self._value
            self._state = self._after_key
            return
        self._state = self._after_value
        if self._key == "mode":
            self._mode = self._value
            if self._mode != "chat":
                self._state = self._dead
            else:
                self._out.append(self._early)
        elif self._key == "message" and self._mode != "chat":
            self._early = self._value


def text_stream(codec: str) -> Callable[[str], str] | None:
    """The reader that turns pieces of a reply into pieces of chat text; None where a codec's text cannot be told from the rest."""
    if codec == "native":
        return PlainText().feed
    if codec == "small-text":
        from agent.planner.codecs.small_text import SmallTextText

        return SmallTextText(PlainText()).feed
    if codec == "mode-json":
        return ModeJsonText().feed
    return None
