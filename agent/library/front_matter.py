"""Read typed values from YAML, and Markdown with YAML in front; what is wrong is said with file and line."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from agent.protocol.errors import ConfigError
from agent.struct_types import built
from agent.text.shown import shown_line

_FENCE = "---"
TOO_DEEP = "lists or keys are nested too deeply"
_TYPES = {
    "array": "a list",
    "object": "`key: value`",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}

_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")

T = TypeVar("T")


def front_and_body(text: str) -> tuple[str, str, int]:
    """The YAML between two lines `---` at the very beginning, the rest, and the line (from 1) that the YAML begins in."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].strip() != _FENCE:
        return "", text.strip(), 1
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == _FENCE:
            return "".join(lines[1:number]), "".join(lines[number + 1 :]).strip(), 2
    return "", text.strip(), 1


def typed(text: str, kind: type[T], path: str, *, first_line: int = 1) -> T:
    """The mapping that `text` holds as a `kind` of msgspec, unknown keys refused. Raises ConfigError with file and line."""
    import yaml  # type: ignore[import-untyped]

    try:
        loader = _loader()(text)
        node = loader.get_single_node()
        data = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = first_line + (mark.line if mark is not None else 0)
        what = _yaml_problem(getattr(error, "problem", None) or "not YAML")
        raise ConfigError(f"{path}:{line}: {shown_line(str(what), 200)}") from None
    except RecursionError:
        raise ConfigError(f"{path}:{first_line}: {TOO_DEEP}") from None
    except ValueError as error:
        raise ConfigError(f"{path}:{first_line}: {shown_line(str(error), 200)}") from None
    except Exception:  # constructors fail in any way on what does not fit their tag
        raise ConfigError(f"{path}:{first_line}: a value does not fit its tag (`!!...`)") from None
    if data is None:
        data = {}
    try:
        return msgspec.convert(data, built(kind))
    except RecursionError:
        raise ConfigError(f"{path}:{first_line}: {TOO_DEEP}") from None
    except msgspec.ValidationError as error:
        words = str(error)
        line = first_line + _line_of(words, node)
        raise ConfigError(f"{path}:{line}: {shown_line(plain_words(words, kind), 200)}") from None


def place_of(key: str, text: str, path: str) -> str:
    """`path:line` of a key at the top of YAML, for what is wrong with a value that has its type."""
    found = re.search(rf"^{key}\s*:", text, re.MULTILINE)
    return f"{path}:{text.count(chr(10), 0, found.start()) + 1 if found else 1}"


def _yaml_problem(what: str) -> str:
    """Quote the YAML reader, or say of a value that begins with `!` or `{{` that it has to be quoted."""
    if "constructor for the tag" in what:
        return "what begins with ! has to stand in quotes"
    return "what begins with { has to stand in quotes" if "unhashable" in what else what


def plain_words(words: str, kind: type[Any]) -> str:
    """Put what msgspec says in words for somebody who knows neither its names of types nor its places."""
    what, _, place = words.partition(" - at `$.")
    place = place.rstrip("`")
    if found := re.fullmatch(r"Object contains unknown field `(.*)`", what, re.DOTALL):
        keys = "" if place else f"; there are: {', '.join(kind.__struct_encode_fields__)}"
        return f"no setting is called `{found[1]}`{keys}"
    if found := re.fullmatch(r"Object missing required field `(.*)`", what):
        return f"`{found[1]}` is missing"
    if found := re.fullmatch(r"Expected `(.*)`, got `(.*)`", what):
        wanted, got = (" or ".join(_TYPES.get(each, each) for each in side.split(" | ")) for side in found.groups())
        return f"{f'`{place}`' if place else 'this'} must be {wanted}, not {got}"
    return words


@lru_cache
def _loader() -> Any:
    """Plain values only: a few lines of aliases to aliases would be gigabytes."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.composer.ComposerError(None, None, "aliases are not read here", self.peek_event().start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            """Refuse a key that is given twice; YAML's reader would take the last and say nothing."""
            seen = set()
            for key, _ in _pairs(node):
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"`{key.value}` is given twice", key.start_mark)
                seen.add(str(key.value))
            return super().construct_mapping(node, deep)

    return Loader


def _line_of(words: str, node: Any) -> int:
    """The line, from 0, that msgspec's `words` are about: that of a place as it names them (`$.variables[1].name`), of an unknown
    field that of its key.
    """
    import yaml

    what, _, place = words.partition(" - at `$")
    for key, number in _STEP.findall(place.rstrip("`")):
        inner = [value for name, value in _pairs(node) if name.value == key or not key]
        if isinstance(node, yaml.SequenceNode):
            inner = node.value[int(number) :] if number.isdigit() else node.value
        if not inner:
            break
        node = inner[0]
    unknown = what.partition("unknown field `")[2].removesuffix("`")
    marked = next((name for name, _ in _pairs(node) if unknown and name.value == unknown), node)
    return 0 if marked is None else marked.start_mark.line


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    import yaml

    return node.value if isinstance(node, yaml.MappingNode) else []
