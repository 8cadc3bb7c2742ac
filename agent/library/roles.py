"""Read roles: Markdown that stands before the planner's own instructions, with settings in front and variables in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from agent.library.entries import Entries
from agent.library.front_matter import front_and_body, typed
from agent.protocol.errors import ConfigError, InvalidRequest

VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


class Variable(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that a text needs. Without `default` it has to be given. `rest`: takes all that is left (macros)."""

    name: str
    description: str = ""
    default: str | None = None
    rest: bool = False


class _Front(Struct, frozen=True, forbid_unknown_fields=True):
    description: str = ""
    variables: tuple[Variable, ...] = ()


class Role(Struct, frozen=True):
    name: str
    text: str
    description: str = ""
    variables: tuple[Variable, ...] = ()

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with each `{{variable}}` replaced. Raises InvalidRequest for one that has no value."""
        return fill(self.text, self.variables, values, f"the role {self.name}")


def read_role(name: str, text: str, path: str) -> Role:
    """Raises ConfigError."""
    front, body, line = front_and_body(text)
    settings = typed(front, _Front, path, first_line=line)
    if not body:
        raise ConfigError(f"{path}:{len(text.splitlines()) or 1}: the role has no text")
    return Role(name, body, settings.description, settings.variables)


def fill(text: str, variables: tuple[Variable, ...], values: Mapping[str, str], of: str) -> str:
    """`text` with `{{name}}` replaced for the names among `variables`; other braces stay. Raises InvalidRequest."""
    known = {each.name: values.get(each.name, each.default) for each in variables}
    missing = [name for name, value in known.items() if value is None]
    if missing:
        raise InvalidRequest(f"{of} needs {', '.join(missing)}", hint=f"give {missing[0]}=VALUE")
    return VARIABLE.sub(lambda found: known.get(found[1]) or ("" if found[1] in known else found[0]), text)


def roles_in(folder: str) -> Entries[Role]:
    """The person's roles in `folder`, and those that ship."""
    return Entries("role", folder, ".md", read_role, shipped="roles")
