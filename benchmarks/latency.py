"""From Enter on a goal to the confirmation prompt, with the offline planner, on a real terminal."""

from __future__ import annotations

import os
import statistics
import tempfile

from benchmarks.figures import PYTHON, Figure
from benchmarks.screen import Screen

_GOALS = (
    ("find the {n} largest files under this folder", rb"(?:find|du|ls)\b[^\n]*{n}"),
    ("count the lines of note{n}.txt", rb"(?:wc|awk|grep)\b[^\n]*note{n}"),
    ("show the last {n} lines of note1.txt", rb"tail\b[^\n]*{n}"),
)


def main() -> list[Figure]:
    """40 goals; each is cancelled at its prompt."""
    times = []
    with tempfile.TemporaryDirectory() as home:
        for number in range(50):
            with open(os.path.join(home, f"note{number}.txt"), "w") as file:
                file.write("x\n")
        env = {**os.environ, "HOME": home, "TERM": "xterm-256color", "AGENT_SESSION_DIR": os.path.join(home, "s")}
        program = os.path.abspath("agent_shell.py")
        screen = Screen([PYTHON, program, "--planner", "offline"], env, home)
        try:
            screen.wait("❯".encode())
            screen.quiet(1.5)
            for number in range(3, 43):
                goal, pattern = _GOALS[number % len(_GOALS)]
                screen.send(goal.format(n=number))
                screen.quiet()
                start = screen.send("\r")
                # The editable line, and not how the goal was read, which stands above it.
                editable = "❯ ".encode() + pattern.replace(b"{n}", str(number).encode())
                times.append(screen.wait(editable) - start)
                screen.wait(b"F1 more")
                screen.quiet()
                screen.send("\x03")
                screen.wait(b"cancelled|interrupted")
                screen.quiet()
        finally:
            screen.close()
    times.sort()
    p95 = times[int(len(times) * 0.95) - 1] * 1e3
    median = statistics.median(times) * 1e3
    return [
        Figure("Enter to confirmation, offline, median", median, 0, "ms", "-", True),
        Figure("Enter to confirmation, offline, p95", p95, 0, "ms", "<= 50 ms", p95 <= 50),
    ]


if __name__ == "__main__":
    for figure in main():
        print(figure)
