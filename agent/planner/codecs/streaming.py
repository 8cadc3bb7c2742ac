"""Take chat text out of a reply that is still being written, so that people can read along."""

from __future__ import annotations

from collections.abc import Callable

from agent.text.lazy_pattern import lazily

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_THOUGHTS = ("<think>", "<thinking>", "<reasoning>")
_MAX_HELD = 1_000_000


_SPECIAL = lazily(r'["\\]')


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
        self._escape = ""  # an escape that is not complete yet, from its backslash
        self._surrogate = ""
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
        position = 0
        while position < len(piece):
            if self._state == self._in_string and not self._escape:
                end = _SPECIAL.search(piece, position)
                stop = end.start() if end else len(piece)
                self._string_text(piece[position:stop])
                position = stop
                if end is None:
                    break
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
        self._surrogate = ""
        self._state = self._in_string

    def _in_string(self, char: str) -> None:
        if self._escape:
            self._in_escape(char)
        elif char == "\\":
            self._escape = char
        elif char == '"':
            self._end_string()
        else:
            self._string_text(char)

    def _in_escape(self, char: str) -> None:
        self._escape += char
        if self._escape[1] != "u":
            plain = _ESCAPES.get(char)
            self._escape = ""
            if plain is None:
                self._state = self._dead
            else:
                self._string_text(plain)
        elif len(self._escape) == 6:
            digits, self._escape = self._escape[2:], ""
            try:
                self._code_unit(int(digits, 16))
            except ValueError:
                self._state = self._dead

    def _code_unit(self, code: int) -> None:
        """A UTF-16 code unit: halves of a pair are joined, lone halves replaced."""
        if self._surrogate and 0xDC00 <= code <= 0xDFFF:
            high, self._surrogate = self._surrogate, ""
            self._string_text(chr(0x10000 + ((ord(high) - 0xD800) << 10) + code - 0xDC00))
            return
        self._flush_surrogate()
        if 0xD800 <= code <= 0xDBFF:
            self._surrogate = chr(code)
        else:
            self._string_text("\N{REPLACEMENT CHARACTER}" if 0xDC00 <= code <= 0xDFFF else chr(code))

    def _flush_surrogate(self) -> None:
        """Replace a half that no second half followed."""
        if self._surrogate:
            self._surrogate = ""
            self._string_text("\N{REPLACEMENT CHARACTER}")

    def _string_text(self, text: str) -> None:
        if not text:
            return
        self._flush_surrogate()
        if self._is_value and self._key == "message" and self._mode == "chat":
            self._out.append(text)
        elif not self._is_value or self._key in ("mode", "message"):
            self._value += text
            if len(self._value) > _MAX_HELD:
                self._state = self._dead

    def _end_string(self) -> None:
        self._flush_surrogate()
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
    """What turns pieces of a reply into pieces of chat text; None where a codec's text cannot be told from the rest."""
    if codec == "native":
        return PlainText().feed
    if codec == "small-text":
        from agent.planner.codecs.small_text import SmallTextText

        return SmallTextText(PlainText()).feed
    if codec == "mode-json":
        return ModeJsonText().feed
    return None
