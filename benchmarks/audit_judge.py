"""sessions judge: a million commands under today's rules, as sessions really are, and with not two commands alike.

    python -m benchmarks.audit_judge [--commands N]

Without `--commands` a part of a million is judged, and the time is said for a million.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agent.policy.deciding import decide
from agent.protocol.decisions import RiskContext
from agent.protocol.events.command import CommandConfirmed, CommandProposed, CommandRated, CommandStarted, Known
from agent.protocol.events.goal import GoalStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionStarted
from agent.protocol.records import Record, encode
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from benchmarks.audit_logs import write_sessions
from benchmarks.figures import Figure

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = 50_000
MILLION = 1_000_000
WANTED_SECONDS = 300.0
WANTED_MEGABYTES = 300.0
_A_SESSION = 500


def write_distinct(folder: str, count: int) -> None:
    """Logs of `count` commands, none of which is like another: those of the risk corpus, each time in another folder."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    lines = (ROOT / "tests" / "risk_corpus.jsonl").read_text().splitlines()
    texts = [json.loads(line)["command"] for line in lines]
    reports = [classify(text, RiskContext(cwd="/home/u/w", home="/home/u", workspace="/home/u/w")) for text in texts]
    verdicts = [decide(report, Approval()) for report in reports]
    for session in range(-(-count // _A_SESSION)):
        name = f"d{session}"
        events: list[Event] = [SessionStarted(session_id=name), GoalStarted(goal="all of them")]
        for number in range(session * _A_SESSION, min(count, (session + 1) * _A_SESSION)):
            at, cwd, key = number % len(texts), f"/home/u/w{number}", f"c{number}"
            known = Known(cwd=cwd, home="/home/u", workspace=cwd)
            events += [
                CommandProposed(command_id=key, command=texts[at], cwd=cwd),
                CommandRated(command_id=key, stage="proposed", report=reports[at], verdict=verdicts[at], known=known),
                CommandConfirmed(command_id=key, decision="approved", by="person", command=texts[at]),
                CommandStarted(command_id=key, command=texts[at], cwd=cwd),
            ]
        with open(os.path.join(folder, f"2030-01-01-{name}.jsonl"), "wb") as file:
            for seq, event in enumerate(events, 1):
                file.write(encode(Record(v=1, seq=seq, time="t", session=name, run="", goal_id="g", event=event)))


def judged(folder: str, home: str) -> tuple[int, float, float, float]:
    """How many commands, seconds on the clock, seconds of CPU, and the megabytes of the largest process."""
    argv = [sys.executable, str(ROOT / "agent_shell.py"), "sessions", "judge", "--session-dir", folder, "--json"]
    env = {**os.environ, "HOME": home}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=env, cwd=home) as process:
        assert process.stdout is not None
        count = 0
        while block := process.stdout.read(1 << 20):
            count += block.count(b"\n")
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return count, took, cpu, after.ru_maxrss / 1024


def main(commands: int = COMMANDS) -> list[Figure]:
    """Two kinds of logs: many sessions as people have them, and the worst case for what is remembered."""
    figures = []
    with tempfile.TemporaryDirectory() as base:
        usual, distinct = os.path.join(base, "usual"), os.path.join(base, "distinct")
        write_sessions(usual, goals=commands)
        write_distinct(distinct, commands)
        for name, folder in (("as people work", usual), ("no two alike", distinct)):
            count, took, cpu, megabytes = judged(folder, base)
            scale = MILLION / count
            for what, value in (("seconds", took), ("seconds of CPU on each of two cores", cpu / 2)):
                figures.append(
                    Figure(
                        f"judge 1M commands, {name}: {what}",
                        value * scale,
                        0.0,
                        "s",
                        f"<= {WANTED_SECONDS:.0f} s",
                        value * scale <= WANTED_SECONDS,
                    )
                )
        figures.append(
            Figure(
                f"judge {count:,} commands: largest process",
                megabytes,
                0.0,
                "MB",
                f"<= {WANTED_MEGABYTES:.0f} MB",
                megabytes <= WANTED_MEGABYTES,
            )
        )
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=COMMANDS, help="how many to write and judge")
    for figure in main(parser.parse_args().commands):
        print(figure)
