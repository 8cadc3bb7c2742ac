"""Find the JSON in what a model wrote: tolerant of what stands around it, strict about the JSON itself."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from agent.protocol.errors import PlannerError
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    import json

MAX_REPLY_CHARS = 2_000_000
_MAX_OBJECTS = 64
_MAX_DEPTH = 64


_OBJECT_START = lazily(r'\{(?=\s*")')
_OPEN_THOUGHT = lazily(r"<(think|thinking|reasoning)>")


def strip_thinking(text: str) -> str:
    """The text without `<think>…</think>` at its beginning; everything is thought where the end is missing.

    Servers that swallow the opening tag leave `…</think>` alone, which counts as well unless it stands inside JSON.
    """
    rest = text.lstrip()
    while match := _OPEN_THOUGHT.match(rest):
        end = rest.find(f"</{match.group(1)}>", match.end())
        if end < 0:
            return ""
        rest = rest[end + len(match.group(1)) + 3 :].lstrip()
    if not rest.startswith(("{", "[", "```")) and (end := rest.find("</think>")) >= 0:
        rest = rest[end + len("</think>") :].lstrip()
    return rest


def json_objects(text: str) -> list[dict[str, Any]]:
    """Every outermost JSON object in `text`, in order, ignoring prose and code fences around them.

    Raises PlannerError where something that begins like a JSON object is broken, cut off, too deep, or has a key twice: what
    the model meant would be a guess.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise PlannerError(f"the reply has {len(text):,} characters, more than {MAX_REPLY_CHARS:,}")
    import json

    found: list[dict[str, Any]] = []
    position = 0
    while match := _OBJECT_START.search(text, position):
        start = match.start()
        try:
            value, position = _decoder().raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise PlannerError(_why(text, error)) from None
        except ValueError:  # a number of thousands of digits
            raise PlannerError("the JSON holds a number that is too long") from None
        except RecursionError:
            raise PlannerError("the JSON is nested too deeply") from None
        _check_depth(value)
        found.append(value)
        if len(found) > _MAX_OBJECTS:
            raise PlannerError(f"the reply holds more than {_MAX_OBJECTS} JSON objects")
    return found


def single_object(text: str, markers: frozenset[str]) -> dict[str, Any]:
    """The one object of the reply that has a key of `markers`; the same object written twice counts as one.

    Raises PlannerError for an empty reply, for none, and for several that differ.
    """
    body = strip_thinking(text)
    if not body:
        raise PlannerError("the reply is empty" if not text.strip() else "the reply holds nothing but thinking")
    objects = json_objects(body)
    marked = [value for value in objects if markers & value.keys()]
    if not marked:
        wanted = " or ".join(f'"{name}"' for name in sorted(markers))
        what = f"no JSON object with {wanted}" if objects else "there is no JSON object"
        raise PlannerError(f"{what} in the reply")
    if any(value != marked[0] for value in marked[1:]):
        raise PlannerError("the reply holds several JSON objects that differ; only one is allowed")
    return marked[0]


def parse_object(text: str) -> dict[str, Any]:
    """`text` as exactly one JSON object (the arguments of a native call). Raises PlannerError."""
    stripped = text.strip()
    if not stripped or "".join(stripped.split()) == "{}":
        return {}
    if not stripped.startswith("{"):
        raise PlannerError("the arguments are not a JSON object")
    objects = json_objects(stripped)
    if len(objects) != 1 or not stripped.endswith("}"):
        raise PlannerError("the arguments are not one JSON object")
    return objects[0]


@cache
def _decoder() -> json.JSONDecoder:
    import json

    # strict=False takes raw newlines and tabs inside strings, which small models write and which mean one thing only
    return json.JSONDecoder(strict=False, object_pairs_hook=_unique, parse_constant=_no_constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PlannerError(f"the JSON has the key {twice[:40]!r} twice")
    return out


def _no_constant(name: str) -> Any:
    raise PlannerError(f"the JSON holds {name}, which is not JSON")


def _check_depth(value: Any) -> None:
    """Refuse what later encoders could only take with a deep stack."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise PlannerError("the JSON is nested too deeply")
        inner = [item for item in level if isinstance(item, (dict, list))]
        level = [child for item in inner for child in (item.values() if isinstance(item, dict) else item)]


def _why(text: str, error: json.JSONDecodeError) -> str:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return "the JSON is cut off before its end"
    return f"the JSON is not valid: {error.msg} at character {error.pos + 1}"
