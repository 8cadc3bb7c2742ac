"""Append commands that were run to the history of the person's shell."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

from agent.config.private_file import append_whole


def remember(commands: Iterable[str], environ: Mapping[str, str]) -> str:
    """Append `commands`; "" or why that was not possible. Only bash and zsh have formats that can be appended to."""
    shell = os.path.basename(environ.get("SHELL", "bash"))
    home = environ.get("HOME", "")
    if shell not in ("bash", "zsh") or not os.path.isabs(home):
        return ""
    path = environ.get("HISTFILE") or os.path.join(home, f".{shell}_history")
    entry = _zsh_entry if shell == "zsh" else _bash_entry
    data = b"".join(entry(command) for command in commands if _fits(command))
    if not data:
        return ""
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o600)
        try:
            append_whole(descriptor, data)  # half of a command is another command
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"your shell history could not be extended: {error.strerror}"
    return ""


def _fits(command: str) -> bool:
    """Tell whether a history file can hold it as one entry that says what it is: no control characters, not endless."""
    return bool(command.strip()) and len(command) < 20_000 and command.replace("\n", "").replace("\t", "").isprintable()


def _bash_entry(command: str) -> bytes:
    """Bash reads each line as an entry unless time stamps are on, so a command of several lines is kept as one `$'…'` line."""
    if "\n" in command:
        quoted = command.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        command = f"eval $'{quoted}'"
    return command.encode("utf-8", "replace") + b"\n"


def _zsh_entry(command: str) -> bytes:
    """Extended format; a newline inside an entry is written as backslash newline, and bytes zsh treats specially are metafied."""
    text = f": {int(time.time())}:0;" + command.replace("\\\n", "\\\\\n").replace("\n", "\\\n")
    out = bytearray()
    for byte in text.encode("utf-8", "replace"):
        if byte == 0 or 0x83 <= byte <= 0xA2:
            out += bytes((0x83, byte ^ 32))
        else:
            out.append(byte)
    return bytes(out) + b"\n"
