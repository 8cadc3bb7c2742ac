"""Show in the editor what a text hides: characters that are not seen, or that look like others, are written out."""

from __future__ import annotations

from bisect import bisect_right

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from agent.text.lazy_pattern import lazily

# Match what may have to be written out; most text has none of it.
_BEYOND_ASCII = lazily(r"[^\x00-\x7f]")


def written_out(line: str) -> list[str]:
    """Show each character of `line` as in the editor: itself, or `<U+XXXX>` for what is hidden or misleads."""
    from agent.text.visible import visible_pieces

    return [char if char < "\x80" else piece for char, piece in zip(line, visible_pieces(line), strict=True)]


class InvisibleCharacters(Processor):
    """Writes hidden characters out. Control characters are shown as ^X by prompt_toolkit itself."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        if not any(_BEYOND_ASCII.search(fragment[1]) for fragment in fragments):
            return Transformation(fragments)
        out: StyleAndTextTuples = []
        starts: list[int] = []
        position = 0
        exploded = explode_text_fragments(fragments)
        pieces = written_out("".join(fragment[1] for fragment in exploded))
        for fragment, text in zip(exploded, pieces, strict=True):
            style, char = fragment[0], fragment[1]
            starts.append(position)
            position += len(text)
            out.append((style if text == char else "class:invisible", text))
        starts.append(position)

        def to_display(index: int) -> int:
            return starts[index] if index < len(starts) else position + index - len(starts) + 1

        def to_source(index: int) -> int:
            return bisect_right(starts, index) - 1

        return Transformation(out, source_to_display=to_display, display_to_source=to_source)
