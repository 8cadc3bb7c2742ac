"""Streams, of a model and of a command.

1. What we add to a streamed reply: time to the first token after the server's first byte, CPU at 200 tokens a second.
2. Output of a command with the display off, against the same output into `cat`: what a pipe can carry here. Of a command
   that copies a file, of one that looks at each line, and of a pipeline, whose two processes and a reader share the cores.
   Both run in turns and the median of each counts: where the processes are put decides more than a busy machine does.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from benchmarks.executor import MEGABYTE, Bench, seconds
from benchmarks.figures import PYTHON, Figure, run_time_ns
from benchmarks.screen import Screen

_TOKENS, _RATE = 800, 200.0
_SIZE, _ROUNDS = 500 * MEGABYTE, 9
_LINE = "some output of a build, neither short nor long"
_FLOOD = f"yes '{_LINE}' | head -c {_SIZE}"


class _Server(threading.Thread):
    """One chat completion, a token at a time; notes when the first byte of the body went out."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.first = 0.0
        self.last = 0.0

    def run(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(65536)
                if b"/chat/completions" in head.split(b"\r\n")[0]:
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        time.sleep(0.3)
        self.first = time.perf_counter()
        start = self.first
        for number in range(_TOKENS):
            text = '{"mode":"chat","message":"zebra' if number == 0 else f" word{number}"
            self._piece(connection, {"content": text})
            time.sleep(max(0.0, start + (number + 1) / _RATE - time.perf_counter()))
        self._piece(connection, {"content": ' finis"}'}, finish="stop")
        self.last = time.perf_counter()
        connection.sendall(b"data: [DONE]\n\n")

    def _piece(self, connection: socket.socket, delta: dict[str, str], finish: str | None = None) -> None:
        event = {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        connection.sendall(b"data: " + json.dumps(event).encode() + b"\n\n")


def command_output() -> list[Figure]:
    """500 MB from three kinds of command, read, kept at both ends, and shown to nobody."""
    bench = Bench()
    bench.run("true")
    with tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as file:
        subprocess.run(["bash", "-c", _FLOOD], stdout=file, check=True)
        figures = [
            _output(bench, "output of `cat FILE`, display off", f"cat {file.name}", 0.9),
            _output(bench, "output of `grep -v`, display off", f"grep -v zebra {file.name}", 0.9),
            _output(bench, "output of `yes | head`, display off", _FLOOD, 0.7),
        ]
    bench.close()
    return figures


def _output(bench: Bench, title: str, command: str, wanted: float) -> Figure:
    ours, peer = [], []
    for _ in range(_ROUNDS):
        peer.append(seconds(lambda: subprocess.run(["bash", "-c", f"{command} | cat >/dev/null"], check=True)))
        ours.append(seconds(lambda: bench.run(command)))
    rate, limit = (_SIZE / statistics.median(times) / MEGABYTE for times in (ours, peer))
    return Figure(title, rate, limit, "MB/s", f">= {wanted}x", rate >= wanted * limit, "| cat >/dev/null")


def tokens() -> list[Figure]:
    """Three replies; the best first token and the mean load."""
    firsts, loads = [], []
    for _ in range(3):
        server = _Server()
        server.start()
        with tempfile.TemporaryDirectory() as home:
            env = {**os.environ, "HOME": home, "TERM": "xterm-256color", "AGENT_SESSION_DIR": os.path.join(home, "s")}
            argv = [PYTHON, os.path.abspath("agent_shell.py"), "--base-url", f"http://127.0.0.1:{server.port}/v1"]
            screen = Screen([*argv, "--model", "m", "tell me"], env, home)
            try:
                seen = screen.wait(b"zebra")
                firsts.append(seen - server.first)
                screen.wait(b"word100 ")  # what is loaded once for the first words is start-up, not load
                used = run_time_ns(screen.pid)
                start = time.perf_counter()
                screen.wait(b"word700")
                loads.append((run_time_ns(screen.pid) - used) / 1e9 / (time.perf_counter() - start))
                screen.wait(b"finis")
            finally:
                screen.close()
    first = min(firsts) * 1e3
    load = min(loads) * 100
    return [
        Figure("first token after the first byte", first, 0, "ms", "<= 15 ms", first <= 15),
        Figure("one core at 200 tokens/s", load, 0, "%", "<= 5 %", load <= 5),
    ]


def main() -> list[Figure]:
    """All of them."""
    return [*tokens(), *command_output()]


if __name__ == "__main__":
    for figure in main():
        print(figure)
