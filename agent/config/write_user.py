"""Change single settings of the user's file, with everything else in it left as it is."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agent.config.paths import make_folder
from agent.config.private_file import replace_file
from agent.protocol.errors import ConfigError

_MAX_FILE = 1_000_000
_TEMPLATE = """\
# Settings of agent-shell; `agent-shell config show` lists them with their meaning in docs/settings.md.
# Keys (OPENROUTER_API_KEY ...) belong into the environment or into .env in this folder, not here.
#
# planner = "auto"
# approve = "ask"
# edit_mode = "emacs"
"""


def begin_file(path: str) -> None:
    """Make the person's settings file, with mode 0600 and a few commented lines, if there is none. Raises OSError."""
    make_folder(os.path.dirname(path) or ".")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_TEMPLATE)


def write_settings(path: str, changes: Mapping[str, str | None]) -> tuple[str, ...]:
    """Set each name to a text, or remove it (None); returns a line for each that changed: "planner: auto → local".

    The file is replaced as a whole, with mode 0600, or stays as it was. Raises ConfigError for one that cannot be read or written, or
    that would have to be rewritten elsewhere too (parts of one table that stand apart).
    """
    import tomllib

    target = os.path.realpath(path)
    before = _read(target)
    try:
        old = tomllib.loads(before)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {str(error)[:200]}", hint="fix or remove it") from None
    changed = {name: value for name, value in changes.items() if old.get(name) != value}
    wanted = {name: value for name, value in {**old, **changed}.items() if value is not None}
    try:
        after = _changed(before, changed)
        reached = tomllib.loads(after) == wanted
    except ValueError:  # TOML, but not as the other library reads it
        reached = False
    if not reached:
        raise ConfigError(
            f"{path} cannot be changed without rewriting more of it", hint="change it with `agent-shell config edit`"
        )
    if changed:
        _replace(target, after)
    return tuple(
        f"{name}: {old.get(name, '(not set)')} → {'(not set)' if value is None else value}"
        for name, value in changed.items()
    )


def _read(path: str) -> str:
    try:
        if os.path.exists(path) and (not os.path.isfile(path) or os.path.getsize(path) > _MAX_FILE):
            raise ConfigError(f"{path} is not a settings file", hint="fix or remove it")
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _changed(text: str, changes: Mapping[str, str | None]) -> str:
    """The text with the changes. Raises ValueError where what stands elsewhere would not stay to the byte, and ConfigError."""
    if not changes:
        return text
    import tomlkit

    document = tomlkit.parse(text)
    if document.as_string() != text or any(isinstance(document.get(name), dict) for name in changes):
        raise ValueError
    for name, value in changes.items():
        if value is None:
            document.remove(name)
        elif value.encode("utf-8", "replace").decode() == value:
            document[name] = value
        else:
            raise ConfigError("a settings file cannot hold this name: it is no UTF-8", hint="rename the file")
    return document.as_string()


def _replace(path: str, text: str) -> None:
    try:
        make_folder(os.path.dirname(path))
        replace_file(path, text.encode())
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
