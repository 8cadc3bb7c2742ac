"""What it costs to record one output of 1 kB: redaction, chain, head and write, the waiting for the disk apart.

The outputs are a kept sample of real ones (audit_outputs.jsonl). CPU of the thread, system calls included; the median of all appends.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from agent.protocol.events.command import CommandOutput
from agent.protocol.events.session import SessionStarted
from agent.recording.disk import Disk
from agent.recording.envelope import SystemClock
from agent.recording.jsonl import open_session
from agent.redaction.redactor import SecretRedactor
from benchmarks.figures import Figure

_SAMPLE = Path(__file__).with_name("audit_outputs.jsonl")
_SECRETS = {"DATABASE_PASSWORD": "correct-horse-battery-staple", "API_TOKEN": "k3JhV8sWq2ZxN5tR7yB1"}
WANTED = 100.0


class WithoutWaiting(Disk):
    """The disk's own time is not what is measured."""

    def fsync(self, fd: int) -> None:
        pass


def outputs() -> list[str]:
    """The sample, a text each."""
    return [json.loads(line)["output"] for line in _SAMPLE.read_text(encoding="utf-8").splitlines()]


def costs(rounds: int = 12) -> list[float]:
    """Microseconds of CPU of each append, sorted."""
    sample = outputs()
    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        recorder = open_session(
            os.path.join(folder, "sessions"),
            clock=SystemClock(),
            redactor=SecretRedactor(_SECRETS, key=b"benchmark"),
            started=SessionStarted(session_id=""),
            heads=os.path.join(folder, "heads"),
            disk=WithoutWaiting(),
        )
        gc.freeze()
        for number in range(rounds):
            for text in sample:
                event = CommandOutput(command_id="g1.1", stream="stdout", data=text, offset=0.25)
                start = time.thread_time_ns()
                recorder.append(event, run="r1", goal_id="g1")
                if number:  # the first round is for warming up
                    found.append((time.thread_time_ns() - start) / 1000)
        recorder.close()
    return sorted(found)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """The figures of this benchmark."""
    found = costs()
    median, late = found[len(found) // 2], found[int(len(found) * 0.99)]
    return [
        Figure("append of a 1 kB output, CPU median", median, 0, "µs", f"<= {WANTED:g} µs", median <= WANTED),
        Figure("append of a 1 kB output, CPU p99", late, 0, "µs", "for information", True),
    ]


if __name__ == "__main__":
    figures = main(sys.argv[1:])
    print(*figures, sep="\n")
    sys.exit(any(not figure.holds for figure in figures))
