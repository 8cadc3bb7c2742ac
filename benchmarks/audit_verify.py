"""How fast logs are verified: every line read, parsed, hashed and chained, and the end held against its head."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Sequence

from agent.protocol.events.command import CommandOutput
from agent.protocol.events.session import SessionStarted
from agent.recording.chained_lines import Link, line_hash
from agent.recording.envelope import SystemClock
from agent.recording.integrity.log_proof import HeadWriter
from agent.recording.integrity.verify import verify_folder
from agent.recording.jsonl import open_session
from agent.recording.reader import list_sessions
from benchmarks.audit_append import WithoutWaiting, outputs
from benchmarks.audit_logs import write_sessions
from benchmarks.figures import Figure

WANTED = 150.0


def speed(folder: str, heads: str) -> tuple[float, int]:
    """Megabytes (10^6) a second of CPU, the best of three, and how many sessions did not verify."""
    best, bad = 0.0, 0
    for _ in range(3):
        gc.collect()
        start = time.process_time()
        found = list(verify_folder(folder, heads))
        took = time.process_time() - start
        best = max(best, sum(each.bytes for each in found) / took / 1e6)
        bad = sum(not each.sound for each in found)
    return best, bad


def vouch_for(folder: str, heads: str) -> None:
    """Keep the heads that the writer of these logs would have kept."""
    for session in list_sessions(folder):
        with open(session.path, "rb") as file:
            lines = file.read().splitlines()
        guardian = HeadWriter(heads, session.session_id, folder, WithoutWaiting())
        guardian.begin(Link(1, line_hash(lines[0])))
        guardian.keep(Link(len(lines), line_hash(lines[-1])), synced=True, closed=True)
        guardian.close()


def of_outputs(root: str, megabytes: int) -> tuple[float, int]:
    """One log of outputs of 1 kB."""
    folder, heads = os.path.join(root, "outputs"), os.path.join(root, "heads")
    recorder = open_session(
        folder,
        clock=SystemClock(),
        redactor=None,
        started=SessionStarted(session_id=""),
        heads=heads,
        disk=WithoutWaiting(),
    )
    sample = [CommandOutput(command_id="g1.1", stream="stdout", data=text, offset=0.25) for text in outputs()]
    while os.path.getsize(recorder.path or "") < megabytes * 1_000_000:
        for event in sample:
            recorder.append(event, run="r1", goal_id="g1")
    recorder.close()
    return speed(folder, heads)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """The figures of this benchmark."""
    goals = int(arguments[0]) if arguments else 8_000
    with tempfile.TemporaryDirectory() as root:
        outputs_speed, touched = of_outputs(root, 60)
        sessions = os.path.join(root, "sessions")
        write_sessions(sessions, goals=goals)
        vouch_for(sessions, os.path.join(root, "known"))
        goals_speed, bad = speed(sessions, os.path.join(root, "known"))
    wanted = f">= {WANTED:g} MB/s"
    return [
        Figure("verify, outputs of 1 kB", outputs_speed, 0, "MB/s", wanted, outputs_speed >= WANTED and not touched),
        Figure(f"verify, {goals:,} goals", goals_speed, 0, "MB/s", wanted, goals_speed >= WANTED and not bad),
    ]


if __name__ == "__main__":
    figures = main(sys.argv[1:])
    print(*figures, sep="\n")
    sys.exit(any(not figure.holds for figure in figures))
