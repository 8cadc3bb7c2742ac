"""Find extracted values by their paths, tell how surely they are known, and read them as plain text, whatever their type.

Text in values is that of a person or a model: here it becomes one line of what can be seen, of a bounded length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import ExtractedField, WorkingMemory
from agent.text.shown import shown_line

LINE = 500  # characters of one value
_MOST_ITEMS = 50  # of a list
_MOST_FOUND = 200  # of those that are kept each by itself
_DEEPEST = 4
DEFAULT_THRESHOLD = 0.70
_TOLERANCE = 1e-9  # 0.1 + 0.2 reaches 0.3


class Found(Struct, frozen=True):
    """A value at a path, and the field or item that it is of, or a part of."""

    value: Any
    field: ExtractedField


def found(memory: WorkingMemory, path: str) -> tuple[Found, ...]:
    """Return what stands at a path: one value, or one for each item that is kept by itself. What is empty is left out.

    A path may lead into an object: `decision.made.option` is the key `option` of the field `decision.made`.
    """
    names = path.split(".")
    for count in range(len(names), 0, -1):
        known = memory.extraction.get(".".join(names[:count]))
        if known is not None:
            values = (Found(_below(each.value, names[count:]), each) for each in listed(known)[:_MOST_FOUND])
            return tuple(each for each in values if not is_empty(each.value))
    return ()


def texts(memory: WorkingMemory, path: str) -> Iterator[str]:
    """Yield what stands at a path as texts, one for each item of a list."""
    for each in found(memory, path):
        yield from as_texts(each.value)


def as_texts(value: Any) -> list[str]:
    """Read a value as texts: one for each item of a list."""
    return [text for text in map(as_text, listed(value)[:_MOST_ITEMS]) if text]


def listed(value: Any) -> Sequence[Any]:
    """Return the items of a list; anything else is its only one."""
    return value if isinstance(value, (list, tuple)) else (value,)


def as_text(value: Any, *, limit: int = LINE) -> str:
    """Read a value as one line."""
    return _shown(_written(value, _DEEPEST, limit), limit)


@lru_cache(maxsize=1024)
def _shown(text: str, limit: int) -> str:
    """Keep what was shown: each turn shows the values of those before it again."""
    return shown_line(text, limit)


def is_empty(value: Any) -> bool:
    """Tell whether a value says nothing: False and 0 do say something."""
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {}, ())


def _below(value: Any, names: list[str]) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _written(value: Any, depth: int, limit: int) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case int() if value.bit_length() > 4 * limit:
            return "…"  # Python writes no number of thousands of digits
        case int() | float():
            return str(value)
        case str():
            return value[: limit * 4]
        case list() | tuple() | dict() if not depth:
            return "…"
        case list() | tuple() if not value:
            return "none"
        case list() | tuple():
            said = (each for each in value[:_MOST_ITEMS] if not is_empty(each))
            return _joined("; ", (_written(each, depth - 1, limit) for each in said), limit)
        case dict():
            pairs = [pair for pair in value.items() if not is_empty(pair[1])][:_MOST_ITEMS]
            if len(pairs) == 1 and isinstance(pairs[0][1], str):  # an item of which only the name is known
                return _written(pairs[0][1], depth - 1, limit)
            named = (f"{str(name)[:limit]}: {_written(each, depth - 1, limit)}" for name, each in pairs)
            return _joined(", ", named, limit)
    return str(value)[: limit * 4]


def _joined(sign: str, texts: Iterator[str], limit: int) -> str:
    """Join as many as can be shown."""
    taken, size = list[str](), 0
    for text in texts:
        taken.append(text)
        size += len(text)
        if size > limit * 4:
            break
    return sign.join(taken)


def share(number: float) -> float:
    """Bring a number into 0..1; what is none is 0."""
    return min(1.0, number) if number > 0 else 0.0


def reaches(number: float, threshold: float) -> bool:
    return number >= threshold - _TOLERANCE


def threshold_of(config: EngineConfiguration, path: str) -> float:
    field = config.field(path)
    return DEFAULT_THRESHOLD if field is None else field.confidence_threshold


def says_something(extracted: ExtractedField) -> bool:
    """Tell an answer from a blank: an empty list is one only where the person said so ("there are none")."""
    value = extracted.value
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, (list, tuple, dict)):
        return bool(value or extracted.evidence.strip())
    return value is not None


def confidence_of(memory: WorkingMemory, path: str) -> float:
    """Return the confidence 0..1 that a field is known with; of items kept each by itself, that of the surest."""
    return max((share(each.confidence) for each in memory.kept(path) if says_something(each)), default=0.0)


def is_known(memory: WorkingMemory, config: EngineConfiguration, path: str) -> bool:
    """Tell if there is a value, and the confidence reaches the threshold of its field."""
    confidence = confidence_of(memory, path)
    return confidence > 0 and reaches(confidence, threshold_of(config, path))


def known_values(memory: WorkingMemory, config: EngineConfiguration, path: str) -> Iterator[Any]:
    """Yield what is known confidently enough: the value, or each of the items, whether kept whole or each by itself."""
    least = threshold_of(config, path)
    for each in memory.kept(path):
        if says_something(each) and reaches(share(each.confidence), least) and each.confidence > 0:
            yield from each.value if isinstance(each.value, (list, tuple)) else (each.value,)
