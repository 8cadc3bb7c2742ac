"""Characters that cannot be seen, or that reorder others, as they stand in an editable line: `<U+202E>`.

Only the display changes; the buffer keeps the character, so what runs is what the buffer holds.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

_HIDDEN_CATEGORIES = {"Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
_BLANKS = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\u3164\uffa0\u115f\u1160\u034f\u17b4\u17b5\ufe00-\ufe0f"


@lru_cache(maxsize=1)
def _suspicious() -> re.Pattern[str]:
    """Anything beyond ASCII that may have to be written out; most text has none of it."""
    return re.compile(r"[^\x00-\x7f]")


@lru_cache(maxsize=1)
def _blank() -> re.Pattern[str]:
    return re.compile(f"[{_BLANKS}\U000e0100-\U000e01ef]")


def written_out(char: str) -> str:
    """How `char` is shown in the editor: itself, or `<U+XXXX>` for what could not be seen or would mislead."""
    if char < "\x80":
        return char
    hidden = unicodedata.category(char) in _HIDDEN_CATEGORIES or _blank().match(char)
    return f"<U+{ord(char):04X}>" if hidden else char


class InvisibleCharacters(Processor):
    """Writes hidden characters out. Control characters are shown as ^X by prompt_toolkit itself."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        if not any(_suspicious().search(fragment[1]) for fragment in fragments):
            return Transformation(fragments)
        out: StyleAndTextTuples = []
        starts: list[int] = []
        position = 0
        for fragment in explode_text_fragments(fragments):
            style, char = fragment[0], fragment[1]
            text = written_out(char)
            starts.append(position)
            position += len(text)
            out.append((style if text == char else "class:invisible", text))
        starts.append(position)

        def to_display(index: int) -> int:
            return starts[index] if index < len(starts) else position + index - len(starts) + 1

        def to_source(index: int) -> int:
            return bisect_right(starts, index) - 1

        return Transformation(out, source_to_display=to_display, display_to_source=to_source)
