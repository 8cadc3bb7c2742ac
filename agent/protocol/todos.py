"""Define an agent's todo list, and its one form in the log, in files and on the screen: a line each, `[x]` before what is done."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

MOST_ITEMS = 50
_MOST_CHARS = 300
_DONE, _OPEN = "[x] ", "[ ] "


class Todo(Struct, frozen=True):
    text: str
    done: bool = False


def todo_text(todos: Sequence[Todo]) -> str:
    """The list in lines; `todos_in` reads them."""
    return "\n".join((_DONE if each.done else _OPEN) + " ".join(each.text.split())[:_MOST_CHARS] for each in todos)


def todos_in(text: str) -> tuple[Todo, ...]:
    """The items that `text` has a line for, other lines left out."""
    lines = (line for line in text.splitlines() if line.startswith((_DONE, _OPEN)))
    return tuple(Todo(line[4:], line.startswith(_DONE)) for line in lines)[:MOST_ITEMS]


def open_todos(todos: Sequence[Todo]) -> int:
    return sum(not each.done for each in todos)


def counted_open(todos: Sequence[Todo]) -> str:
    return f"{open_todos(todos)} of {len(todos)} {'todo' if len(todos) == 1 else 'todos'} open"
