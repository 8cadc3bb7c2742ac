"""Read macros: typed lines with variables, written down once to be done one after another."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

from msgspec import Struct

from agent.library.agents import VARIABLE, Variable, fill
from agent.library.entries import Entries
from agent.library.front_matter import place_of, typed
from agent.protocol.errors import ConfigError, InvalidRequest

MAX_DEPTH = 8
MAX_STEPS = 200
_QUOTED = re.compile(r"""\\.|\$'(?:\\.|[^'\\])*'?|'[^']*'?|"(?:\\.|[^"\\])*"?|`(?:\\.|[^`\\])*`?""", re.DOTALL)
_CALL = re.compile(r"[:.]macro\s+(.+)", re.DOTALL)


class _Written(Struct, frozen=True, forbid_unknown_fields=True):
    steps: tuple[str, ...]
    description: str = ""
    variables: tuple[Variable, ...] = ()


class Macro(Struct, frozen=True):
    """`steps` are lines as they are typed: goals, `:commands`, `!commands`."""

    name: str
    steps: tuple[str, ...]
    description: str = ""
    variables: tuple[Variable, ...] = ()

    def lines(self, words: Sequence[str]) -> tuple[str, ...]:
        """The steps with `words` in the places of the variables, in their order, or `name=word` anywhere.

        In a `!command` each value is one word of the shell, whatever is in it; `~/` is the home folder.
        Raises InvalidRequest for too few or too many words.
        """
        values = self._values(words)
        quoted = {name: " ".join(map(_one_word, value)) for name, value in values.items()}
        plain = {name: " ".join(value) for name, value in values.items()}
        of = f"the macro {self.name}"
        return tuple(
            fill(step, self.variables, quoted if step.lstrip().startswith("!") else plain, of) for step in self.steps
        )

    def _values(self, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
        names = {each.name for each in self.variables}
        values: dict[str, tuple[str, ...]] = {}
        left = []
        for word in words:
            name, equals, value = word.partition("=")
            if equals and name in names:
                values[name] = (value,)
            else:
                left.append(word)
        for each in self.variables:
            if each.name in values or not left:
                continue
            values[each.name] = tuple(left) if each.rest else (left[0],)
            left = [] if each.rest else left[1:]
        if left:
            raise InvalidRequest(f"the macro {self.name} takes no {shlex.join(left)}", hint=self.usage)
        return values

    @property
    def usage(self) -> str:
        """`:macro NAME a [b] [c...]`."""
        words = [
            f"[{each.name}{'...' if each.rest else ''}]" if each.rest or each.default is not None else each.name
            for each in self.variables
        ]
        return " ".join((":macro", self.name, *words))


def _one_word(value: str) -> str:
    """`value` as one word of the shell, which still finds the home folder in `~` and `~/…`, as in what is typed."""
    tilde, slash, rest = value.partition("/")
    return f"~{slash}{shlex.quote(rest) if rest else ''}" if tilde == "~" else shlex.quote(value)


def read_macro(name: str, text: str, path: str) -> Macro:
    """Raises ConfigError."""
    written = typed(text, _Written, path)
    if not written.steps or not all(step.strip() and "\n" not in step.strip() for step in written.steps):
        raise ConfigError(f"{place_of('steps', text, path)}: steps must be lines of text, at least one")
    if any(each.rest for each in written.variables[:-1]):
        raise ConfigError(f"{place_of('variables', text, path)}: only the last variable can take the rest")
    variables = tuple(
        Variable(each.name, each.description, "", True) if each.rest and each.default is None else each
        for each in written.variables
    )
    for step in written.steps:
        if step.lstrip().startswith("!") and (inside := _in_quotes(step, [each.name for each in variables])):
            where = place_of("steps", text, path)
            raise ConfigError(f"{where}: no quotes around {{{{{inside}}}}}: in a !command each value is quoted already")
    return Macro(name, written.steps, written.description, variables)


def _in_quotes(step: str, names: Sequence[str]) -> str:
    """The first variable between quotes, where those of its value would end them instead of holding it; "" for none."""
    inside = (VARIABLE.findall(each[0]) for each in _QUOTED.finditer(step))
    return next((name for found in inside for name in found if name in names), "")


def expanded(load: Callable[[str], Macro], name: str, words: Sequence[str]) -> tuple[str, ...]:
    """All lines of a macro, those of the macros among its steps in their place.

    Raises InvalidRequest for macros that call themselves or one another too deep, and what `load` raises.
    """
    lines = list(_expanded(load, name, words, ()))
    if len(lines) > MAX_STEPS:
        raise InvalidRequest(f"the macro {name} has more than {MAX_STEPS} steps")
    return tuple(lines)


def _expanded(load: Callable[[str], Macro], name: str, words: Sequence[str], within: tuple[str, ...]) -> Sequence[str]:
    chain = " → ".join((*within, name))
    if name in within:
        raise InvalidRequest(f"the macro {name} would run itself: {chain}")
    if len(within) >= MAX_DEPTH:
        raise InvalidRequest(f"macros call one another more than {MAX_DEPTH} deep: {chain}")
    lines: list[str] = []
    for line in load(name).lines(words):
        call = _CALL.fullmatch(line.strip())
        if call is None:
            lines.append(line.strip())
            continue
        inner, *given = split_words(call[1])
        lines += _expanded(load, inner, given, (*within, name))
        if len(lines) > MAX_STEPS:
            break
    return lines


def split_words(text: str) -> list[str]:
    """Words with shell quoting. Raises InvalidRequest."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InvalidRequest(f"cannot read the words: {error}") from None


def macros_in(folder: str) -> Entries[Macro]:
    """The person's macros in `folder`."""
    return Entries("macro", folder, ".yaml", read_macro)
