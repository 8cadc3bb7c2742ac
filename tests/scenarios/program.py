"""The whole program in a world of its own: home, working folder, session folder, and a mark on every process it starts."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.processes import marked
from tests.support.warm_program import popen

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
ENVELOPE = {"v", "seq", "time", "session", "run", "goal_id", "type"}


@dataclass(frozen=True)
class Ended:
    """A process that has ended; `code` is negative for a death by signal."""

    code: int
    stdout: str
    stderr: str


def command(text: str, reason: str = "") -> dict[str, str]:
    """A planner's proposal on the wire."""
    return {"mode": "command", "command": text, "reason": reason}


def chat(text: str) -> dict[str, str]:
    """A planner's chat reply on the wire."""
    return {"mode": "chat", "message": text}


class World:
    """Folders below `base`, and ways to start the program in them.

    Every process inherits a variable with a random name, so that `survivors` finds what was left behind.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = base / "home"
        self.work = base / "work"
        self.sessions = base / "sessions"
        self.mark = f"MARK_{secrets.token_hex(8)}"
        self.launcher: tuple[str, ...] = (sys.executable,)
        self.extra: dict[str, str] = {}
        for folder in (self.home / ".config" / "agent-shell", self.work):
            folder.mkdir(parents=True)
        self.config = self.home / ".config" / "agent-shell"

    def environ(self, **more: str | None) -> dict[str, str]:
        """A small environment; None takes a variable away."""
        env: dict[str, str | None] = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "AGENT_SESSION_DIR": str(self.sessions),
            self.mark: "1",
            **self.extra,
            **more,
        }
        return {name: value for name, value in env.items() if value is not None}

    def words(self, *arguments: str | bytes) -> list[str | bytes]:
        """The command line that starts the program."""
        return [*self.launcher, str(ROOT / "agent_shell.py"), *arguments]

    def start(
        self, *arguments: str | bytes, env: dict[str, str | None] | None = None, **more: Any
    ) -> subprocess.Popen[bytes]:
        """Start the program; streams are pipes unless given, standard input is /dev/null."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.work}
        return popen(self.words(*arguments), env=self.environ(**(env or {})), **{**streams, **more})

    def run(
        self, *arguments: str | bytes, stdin: bytes | None = None, env: dict[str, str | None] | None = None, **more: Any
    ) -> Ended:
        """Run the program to its end. It must not die with a traceback."""
        if stdin is not None:
            more["stdin"] = subprocess.PIPE
        process = self.start(*arguments, env=env, **more)
        return self.end_of(process, stdin)

    def end_of(self, process: subprocess.Popen[bytes], stdin: bytes | None = None) -> Ended:
        """Wait for the end and look at what was said."""
        try:
            out, err = process.communicate(stdin, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"did not end; stdout {out[-500:]!r} stderr {err[-2000:]!r}") from None
        ended = Ended(
            process.returncode, (out or b"").decode("utf-8", "replace"), (err or b"").decode("utf-8", "replace")
        )
        assert "Traceback" not in ended.stderr, ended.stderr
        return ended

    def scripted(self, *replies: Any, delay: float = 0.0) -> tuple[str, str]:
        """`--planner scripted:FILE` that gives these replies; a str is sent as it is, a dict as JSON."""
        path = self.base / f"script-{secrets.token_hex(4)}.json"
        texts = [{"text" if isinstance(reply, str) else "json": reply, "delay": delay} for reply in replies]
        path.write_text(json.dumps({"reply": texts}))
        return "--planner", f"scripted:{path}"

    # --- what was recorded ---

    def logs(self) -> list[Path]:
        """The session logs, oldest first."""
        return sorted(self.sessions.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)

    def events(self) -> list[dict[str, Any]]:
        """Every event of every log. Each line is a whole object with the envelope, in order."""
        found = []
        for path in self.logs():
            found += envelopes(whole_lines(path))
        return found

    def goals(self) -> list[dict[str, Any]]:
        """The `goal.finished` events. Everything that started has finished."""
        events = self.events()
        assert_paired(events)
        return [event for event in events if event["type"] == "goal.finished"]

    def goal(self) -> dict[str, Any]:
        """The one goal that was pursued."""
        (goal,) = self.goals()
        return goal

    def types(self) -> list[str]:
        return [event["type"] for event in self.events()]

    # --- processes ---

    def survivors(self) -> dict[int, str]:
        """Pid -> command line of living processes that carry the mark."""
        return marked(self.mark)

    def no_orphans(self) -> None:
        """Nothing that the program started lives on (what was killed needs a moment to be gone)."""
        until(lambda: not self.survivors(), lambda: f"left behind: {self.survivors()}")

    def leave(self) -> None:
        """The end of a scenario: nothing lives on, and what does is ended before it is complained about."""
        try:
            self.no_orphans()
        except BaseException:
            self.end_survivors()
            raise

    def end_survivors(self) -> None:
        for pid in self.survivors():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def whole_lines(path: Path) -> bytes:
    """What is in a log that may just be written to: a reader can see the first half of a line before the other."""
    end = time.monotonic() + PATIENCE
    while (data := path.read_bytes()) and not data.endswith(b"\n") and time.monotonic() < end:
        time.sleep(0.01)
    return data


def envelopes(data: bytes) -> list[dict[str, Any]]:
    """The events of JSONL bytes, each checked for its envelope and the order of sequence numbers."""
    assert not data or data.endswith(b"\n"), data[-200:]
    events = [json.loads(line) for line in data.splitlines()]
    for event in events:
        assert event.keys() >= ENVELOPE, event
    numbers = [event["seq"] for event in events if event["type"] != "assistant.delta"]
    assert numbers == sorted(set(numbers)), numbers
    return events


def assert_paired(events: Sequence[dict[str, Any]]) -> None:
    """Exactly one finished for each started."""
    types = [event["type"] for event in events]
    for name in {kind.rpartition(".")[0] for kind in types if kind.endswith((".started", ".finished"))} - {
        "core_command",
        "undo",
    }:
        assert types.count(f"{name}.started") == types.count(f"{name}.finished"), (name, types)


def until(
    condition: Callable[[], object], why: Callable[[], str] = lambda: "it never came", *, patience: float = PATIENCE
) -> None:
    """Wait for something that will come."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, why()
        time.sleep(0.01)
