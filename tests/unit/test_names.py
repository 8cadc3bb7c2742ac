"""Names in `agent/` are nouns of the field, and a module's first line says what it does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

AGENT = Path(__file__).resolve().parents[2] / "agent"
OPENING = re.compile(r"(What|Whether|Which|How|Where|When|Who|Whose|Why)\b")
IMAGES = re.compile(
    r"(?i:(^|_)(desk|keepers?|sieve|disguises?|aftermath|whereabouts|ways_out|sameness|witness|twins?|grounds)(_|$))"
    r"|(Desk|Keeper|Sieve|Disguises?|Standing|Aftermath|Whereabouts|Witness|Twins?|Grounds|Parts)(?![a-z])"
    r"|^_?standing(_|$)|^_?publish$"
)
# Docstrings of functions and classes, and what is said below a name of a module or a class.
INNER_OPENING = re.compile(r'\n *"""((?:What|Whether|Which|How|Where|When|Who|Whose|Why)\b.*)')
WORD = re.compile(r"[^\W\d]\w*")
# Most modules open like this; parsing all takes seconds.
PLAIN_OPENING = re.compile(r'"""([^"\\\n]+)')


def sources() -> Iterator[tuple[Path, str]]:
    return ((path, path.read_text()) for path in sorted(AGENT.rglob("*.py")))


def first_line(source: str) -> str:
    """The first line of a module's docstring."""
    plain = PLAIN_OPENING.match(source)
    return plain[1] if plain else (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def identifiers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name
            case ast.Name():
                yield node.id
            case ast.arg():
                yield node.arg
            case ast.Attribute():
                yield node.attr


def images(source: str) -> set[str]:
    """Names in a source that are images; the same words in texts and comments are none."""
    words = {word for word in WORD.findall(source) if IMAGES.search(word)}
    return words & set(identifiers(ast.parse(source))) if words else words


def test_no_module_opens_with_a_riddle() -> None:
    assert [f"{path}: {line}" for path, source in sources() if OPENING.match(line := first_line(source))] == []


def test_nothing_is_told_in_a_riddle() -> None:
    assert [f"{path}: {line}" for path, source in sources() for line in INNER_OPENING.findall(source)] == []


def test_no_name_is_an_image() -> None:
    found = [f"{path}: {name}" for path, source in sources() for name in sorted(images(source))]
    assert found + [str(path) for path, _ in sources() if IMAGES.search(path.stem)] == []


def test_riddles_and_images_in_sources_are_found() -> None:
    assert first_line('"""What it is.\n"""') == first_line("# x\n'What it is.\\n'") == "What it is."
    assert first_line("x = 1\n") == ""
    assert INNER_OPENING.findall('def f() -> str:\n    """What it is."""\n') == ['What it is."""']
    assert images("def f(desk, x): return x.twin  # keeper\n'sieve'") == {"desk", "twin"}


def test_images_are_known_when_seen() -> None:
    assert all(
        map(IMAGES.search, ("desk", "_desk", "SessionDesk", "open_desk", "HeadKeeper", "without_twins", "LogParts"))
    )
    assert not any(
        map(IMAGES.search, ("background", "understanding", "parts", "desktop", "foreground_job", "Understanding"))
    )
