"""Types that several threads begin to decode at the same time."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent.struct_types import built

AGENT = Path(__file__).resolve().parents[2] / "agent"

# While one thread builds `Inner`, as a part of `Outer`, another one comes along.
_TWO_THREADS = """
import threading

import msgspec

from agent.struct_types import built

others = []


def number():
    if not others:
        others.append(threading.Thread(target=lambda: told.append(decoded())))
        others[0].start()
        others[0].join(0.05)  # it waits for us
    return int


class Inner(msgspec.Struct):
    x: "number()"


class Outer(msgspec.Struct):
    a: int
    inner: Inner


def decoded():
    return msgspec.msgpack.decode(msgspec.msgpack.encode(dict(a=1, inner=dict(x=2))), type=built(Outer))


told = []
told.append(decoded())
others[0].join()
assert told == [Outer(1, Inner(2))] * 2, told
"""


def test_the_second_thread_waits_until_all_is_known_of_a_type() -> None:
    """In a process of its own: without `built` it ends with a segmentation fault."""
    assert subprocess.run([sys.executable, "-c", _TWO_THREADS], cwd=AGENT.parent, check=False).returncode == 0


def test_what_cannot_be_decoded_is_said() -> None:
    with pytest.raises(TypeError):
        built(dict[tuple[str, str] | list[str], type(lambda: None)])  # type: ignore[misc]


# Of these msgspec keeps nothing.
_PLAIN = {"dict", "list", "tuple", "str", "int", "bytes", "float", "bool", "Any", "msgspec"}


_PLACES = {"convert": 1, "json.Decoder": 0, "msgpack.Decoder": 0, "json.decode": None, "msgpack.decode": None}


def decoded_types(source: str) -> list[ast.expr]:
    """The types that calls of msgspec are given to decode or convert to."""
    found = []
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and (name := ast.unparse(call.func).removeprefix("msgspec.")) in _PLACES:
            place = _PLACES[name]
            found += [keyword.value for keyword in call.keywords if keyword.arg == "type"]
            found += [] if place is None else call.args[place : place + 1]
    return found


def test_every_type_is_built_before_it_is_decoded() -> None:
    wrong = []
    for path in sorted(AGENT.rglob("*.py")):
        source = path.read_text()
        if path.name == "struct_types.py" or not re.search(r"msgspec(\.| import .*)(convert|json|msgpack)", source):
            continue
        for kind in decoded_types(source):
            names = {node.id for node in ast.walk(kind) if isinstance(node, ast.Name)}
            is_built = isinstance(kind, ast.Call) and ast.unparse(kind.func) == "built"
            if not is_built and not names <= _PLAIN:
                wrong.append(f"{path.relative_to(AGENT)}:{kind.lineno}: {ast.unparse(kind)} (write `built(…)`)")
    assert wrong == []
