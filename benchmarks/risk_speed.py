"""What rating costs: one command in process, a batch on one core, memory over many lines, the first rating of a process.

`python -m benchmarks.risk_speed [--data DIR]`; DIR (default: $AGENT_SHELL_RISK_DATA) holds the public sets, without it the
project's own corpus is rated over and over. It ends within a minute; `--lines 1000000` looks longer for memory that grows.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.figures import PYTHON, Figure, paired_minimum, run_time_ns

_OWN = Path(__file__).resolve().parents[1] / "tests"
_FEW, _MANY = 20_000, 120_000  # every line of the sets was rated once by the end of the few
_FIRST = "from agent.risk.classifier import classify\nclassify('find . -name \"*.log\" -exec rm -f {} +')\n"


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """Measure; one figure a line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("AGENT_SHELL_RISK_DATA", ""))
    parser.add_argument("--lines", type=int, default=_MANY)
    options = parser.parse_args(list(arguments))
    commands = _commands(Path(options.data) if options.data else None)
    median, p99 = in_process(commands)
    compileall.compile_dir("agent", quiet=1)  # as an installation has it: a process would otherwise pay for compiling
    first, bare = paired_minimum([PYTHON, "-c", _FIRST], [PYTHON, "-c", "pass"])
    few_rate, few_memory = batch(commands, _FEW)
    many_rate, many_memory = batch(commands, options.lines)
    growth, most = (
        many_memory - few_memory,
        max(3, options.lines / 100_000),
    )  # MB; what a cache takes, or 10 bytes a line
    return [
        Figure("rating a command: median", median, 0, "us", "<= 150 us", median <= 150),
        Figure("rating a command: p99", p99, 0, "us", "<= 2000 us", p99 <= 2_000),
        Figure(f"risk --batch, {_FEW:,} lines with start-up", few_rate, 0, "commands/s", ">= 5000", few_rate >= 5_000),
        Figure(f"risk --batch, {options.lines:,} lines", many_rate, 0, "commands/s", ">= 5000", many_rate >= 5_000),
        Figure(f"risk --batch, {options.lines:,} lines: memory", many_memory, 0, "MB", "-", True),
        Figure("risk --batch: memory more than for few", growth, 0, "MB", f"<= {most:g} MB", growth <= most),
        Figure("first rating: CPU over bare Python", (first - bare) * 1e3, 0, "ms", "<= 50 ms", first - bare <= 0.05),
    ]


def in_process(commands: Sequence[str]) -> tuple[float, float]:
    """Median and 99th percentile in microseconds, over the better of two rounds: a busy machine only adds."""
    from agent.risk.classifier import classify

    assert classify("ls").parse == "ok", "what fails closed is quick, and says nothing"
    best = [float("inf")] * len(commands)
    for _ in range(2):
        for index, command in enumerate(commands):
            start = time.perf_counter_ns()
            classify(command)
            best[index] = min(best[index], (time.perf_counter_ns() - start) / 1000)
    best.sort()
    return best[len(best) // 2], best[int(len(best) * 0.99)]


def batch(commands: Sequence[str], lines: int) -> tuple[float, float]:
    """Commands a second of CPU, and the largest memory in MB, of `agent-shell risk --batch` on `lines` lines."""
    with tempfile.TemporaryFile() as source:
        for line in _repeated(commands, lines):
            source.write(line)
        source.seek(0)
        argv = [PYTHON, "agent_shell.py", "risk", "--batch", "-"]
        with subprocess.Popen(argv, stdin=source, stdout=subprocess.DEVNULL) as process:
            memory = cpu = 0.0
            while process.poll() is None:
                memory = max(memory, _resident(process.pid))
                cpu = max(cpu, _cpu(process.pid))
                time.sleep(0.01)
    return lines / cpu, memory


def _repeated(commands: Sequence[str], lines: int) -> Iterator[bytes]:
    encoded = [json.dumps({"command": command}).encode() + b"\n" for command in commands]
    for index in range(lines):
        yield encoded[index % len(encoded)]


def _resident(pid: int) -> float:
    """The most memory that a process had resident so far, in MB; 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in text.splitlines() if line.startswith("VmHWM")), 0.0)


def _cpu(pid: int) -> float:
    try:
        return run_time_ns(pid) / 1e9
    except OSError:
        return 0.0


def _commands(data: Path | None) -> list[str]:
    file = data / "unlabelled_tldr.jsonl" if data is not None else _OWN / "risk_corpus.jsonl"
    return [json.loads(line)["command"] for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    missed = 0
    for figure in main(sys.argv[1:]):
        print(figure)
        missed += not figure.holds
    sys.exit(1 if missed else 0)
