"""Launch request of one command, and how the helper is asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agent.execution.process_tree import wire
from agent.execution.process_tree.limits import UNLIMITED, RunLimits


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What to start: words and environment (undecodable bytes as surrogates), where, and how its terminal is made."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    terminal: bool
    pass_through: bool
    screen: bool = False
    inherit_stdin: bool
    timeout: float | None
    grace: float
    head_bytes: int
    tail_bytes: int
    strays: str = "cgroup"
    command: str = ""
    command_id: str = ""
    sandbox: dict[str, Any] | None = None
    limits: RunLimits = UNLIMITED

    def request(self, *, tty: bool, background: Literal["end", "keep"]) -> wire.Message:
        """The message to the helper. `tty`: a PTY's master comes with it; `background`: what becomes of what is left behind."""
        message: wire.Message = {
            "op": "run",
            "argv": [encoded(word) for word in self.argv],
            "env": {encoded(name): encoded(value) for name, value in self.env.items()},
            "cwd": encoded(self.cwd),
            "tty": tty,
            "timeout": self.timeout,
            "grace": self.grace,
            "strays": self.strays,
            "background": background,
        }
        if any(limit is not None for limit in self.limits):
            message["limits"] = self.limits.encoded()
        if self.sandbox is not None:
            message["sandbox"] = self.sandbox
        return message


def encoded(text: str) -> str:
    """Text as bytes-in-latin-1, the form in which the helper takes words. Raises UnicodeEncodeError for real surrogates."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
