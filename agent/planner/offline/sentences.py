"""What readers of slots look at: the tokens of one goal, and what is true around it."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from msgspec import Struct

from agent.planner.offline.words import Lexicon, Token, tokenize


class Scene(Struct, frozen=True, kw_only=True):
    """What readers may know: the words, the day, which names exist in the working directory, and how a file there begins
    ("" for what is no readable text)."""

    lexicon: Lexicon
    today: datetime.date
    exists: Callable[[str], bool]
    running: Callable[[str], str] = lambda name: ""
    peek: Callable[[str], str] = lambda name: ""


class Sentence(Struct, frozen=True, kw_only=True):
    """A goal in words, in its scene."""

    text: str
    tokens: list[Token]
    scene: Scene

    @classmethod
    def read(cls, text: str, scene: Scene) -> Sentence:
        return cls(text=text, tokens=tokenize(text, scene.lexicon), scene=scene)
