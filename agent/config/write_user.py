"""Changing single settings of the user's file, with everything else in it left as it is."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping

from agent.config.private_folder import make_folder
from agent.protocol.errors import ConfigError

_MAX_FILE = 1_000_000


def write_settings(path: str, changes: Mapping[str, str | None]) -> tuple[str, ...]:
    """Set each name to a text, or remove it (None); returns a line for each that changed: "planner: auto → local".

    The file is replaced as a whole, with mode 0600, or stays as it was. Raises ConfigError for one that cannot be read or written, or
    whose form does not allow the change (settings spread over several lines).
    """
    import tomllib

    target = os.path.realpath(path)
    before = _read(target)
    try:
        old = tomllib.loads(before)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {str(error)[:200]}", hint="mend or remove it") from None
    after = before
    for name, value in changes.items():
        after = _changed(after, name, value)
    wanted = {name: value for name, value in {**old, **changes}.items() if value is not None}
    try:
        reached = tomllib.loads(after) == wanted
    except (tomllib.TOMLDecodeError, RecursionError):
        reached = False
    if not reached:
        raise ConfigError(
            f"{path} cannot be changed without rewriting more of it", hint="change it with `agent-shell config edit`"
        )
    if after != before:
        _replace(target, after)
    return tuple(
        f"{name}: {old.get(name, '(not set)')} → {'(not set)' if value is None else value}"
        for name, value in changes.items()
        if old.get(name) != value
    )


def _read(path: str) -> str:
    try:
        if os.path.exists(path) and (not os.path.isfile(path) or os.path.getsize(path) > _MAX_FILE):
            raise ConfigError(f"{path} is no settings file", hint="mend or remove it")
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _changed(text: str, name: str, value: str | None) -> str:
    """The text with one line of its first part (before any table) set, added or taken out."""
    lines = text.splitlines(keepends=True)
    end = next((at for at, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    written = None if value is None else f"{name} = {_quoted(value)}\n"
    for at in range(end):
        if re.match(rf"\s*{re.escape(name)}\s*=", lines[at]):
            lines[at : at + 1] = [] if written is None else [written]
            return "".join(lines)
    if written is None:
        return text
    if end and not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    lines.insert(end, written)
    return "".join(lines)


def _quoted(value: str) -> str:
    """A TOML basic string. Raises ConfigError for what none can hold."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigError("a settings file cannot hold this name: it is no UTF-8", hint="rename the file") from None
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"' + "".join(f"\\u{ord(char):04x}" if ord(char) < 32 or ord(char) == 127 else char for char in escaped) + '"'
    )


def _replace(path: str, text: str) -> None:
    folder = os.path.dirname(path)
    try:
        make_folder(folder)
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".config-")  # 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
