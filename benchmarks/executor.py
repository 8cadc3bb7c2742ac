"""Figures of the executor, each beside a bare peer in the same run.

1. Pipe: a flood through the executor with the display off, against `cat | cat >/dev/null`; and our peak memory.
2. Terminal: short lines through executor and terminal filter to a PTY, against a bare `cat` on the same PTY.
3. Start: time of `true` against a bare `bash -c true`.
The best of the rounds counts on both sides, because the machine may be busy.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable

from agent.emitters.terminal_filter import TerminalFilter
from agent.execution.executor import ShellExecutor
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.execution import CancellationToken, OutputSink
from agent.protocol.outcomes import ExecutionResult
from benchmarks.figures import Figure

MEGABYTE = 1_000_000
MEGABYTES, LINES, ROUNDS = 500, 1_000_000, 3


def approved(command: str) -> ApprovedCommand:
    report = RiskReport(command=command, level=Level.LOW)
    return ApprovedCommand(command_id="b", command=command, report=report, consent=Consent(by="person"))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Bench:
    """One executor in one loop."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.executor = ShellExecutor(cwd="/", env={"PATH": os.environ["PATH"]})

    def run(self, command: str, sink: OutputSink | None = None) -> ExecutionResult:
        return self.loop.run_until_complete(self.executor.execute(approved(command), sink, CancellationToken()))

    def close(self) -> None:
        self.loop.run_until_complete(self.executor.close())
        self.loop.close()


def pipe(bench: Bench, path: str, rounds: int) -> list[Figure]:
    size = MEGABYTES * MEGABYTE
    ours, peer = [], []
    for _ in range(rounds):
        peer.append(seconds(lambda: subprocess.run(f"cat {path} | cat >/dev/null", shell=True, check=True)))
        ours.append(seconds(lambda: bench.run(f"cat {path}")))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    rate, limit = size / min(ours) / MEGABYTE, size / min(peer) / MEGABYTE
    return [
        Figure("500 MB through a pipe, display off", rate, limit, "MB/s", ">= 0.5x", rate >= 0.5 * limit, "cat | cat"),
        Figure("our memory meanwhile", memory, 0, "MB", "< 80 MB", memory < 80),
    ]


class PtyReader:
    """A terminal emulator that only reads: the other end of a PTY."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        self.seen = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while data := os.read(self.master, 1 << 16):
            self.seen += len(data)


def terminal(bench: Bench, lines: int, rounds: int) -> Figure:
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(b"line %d\n" % number for number in range(lines)))
        file.flush()
        pty = PtyReader()

        def show() -> None:
            display = TerminalFilter(True, max_line=4096)

            def sink(stream: str, data: bytes, _offset: float) -> None:
                shown = memoryview(display.feed(stream, data))
                while shown:
                    shown = shown[os.write(pty.slave, shown) :]

            bench.run(f"cat {file.name}", sink)

        ours, peer = [], []
        for _ in range(rounds):
            peer.append(seconds(lambda: subprocess.run(["cat", file.name], stdout=pty.slave, check=True)))
            ours.append(seconds(show))
    mine, theirs = lines / min(ours) / 1000, lines / min(peer) / 1000
    return Figure("1 M short lines to a terminal", mine, theirs, "k lines/s", ">= 0.3x", mine >= 0.3 * theirs, "cat")


def start(bench: Bench, rounds: int) -> Figure:
    ours = min(seconds(lambda: bench.run("true")) for _ in range(10 * rounds))
    peer = min(seconds(lambda: subprocess.run(["bash", "-c", "true"], check=True)) for _ in range(10 * rounds))
    return Figure("running `true`, shell state kept", ours * 1e3, peer * 1e3, "ms", "-", True, "bash -c true")


def main() -> list[Figure]:
    """All three."""
    bench = Bench()
    with tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as file:
        block = b"some output of a build, neither short nor long\n" * 20_000
        for _ in range(MEGABYTES * MEGABYTE // len(block) + 1):
            file.write(block)
        file.truncate(MEGABYTES * MEGABYTE)
        file.flush()
        figures = pipe(bench, file.name, ROUNDS)
    figures += [terminal(bench, LINES, ROUNDS), start(bench, ROUNDS)]
    bench.close()
    return figures


if __name__ == "__main__":
    for figure in main():
        print(figure)
