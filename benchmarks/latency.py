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


_CHANGES = (
    ("rename note{n}.txt to renamed{n}.txt", rb"would rename note{n}\.txt"),
    ("delete note{n}.txt", rb"would delete note{n}\.txt"),
    ("make the folder new{n}", rb"would create new{n}/"),
)


def main() -> list[Figure]:
    """40 goals that read, and as many that change files, of which the confirmation shows what they would do; each is cancelled there."""
    times, previewed = _times(_GOALS, "❯ ".encode()), _times(_CHANGES, b"")
    return [
        Figure("Enter to confirmation, offline, median", statistics.median(times), 0, "ms", "-", True),
        _p95("Enter to confirmation, offline, p95", times, 50),
        _p95("Enter to confirmation with preview, offline, p95", previewed, 120),
    ]


def _p95(name: str, times: list[float], most: int) -> Figure:
    p95 = times[int(len(times) * 0.95) - 1]
    return Figure(name, p95, 0, "ms", f"<= {most} ms", p95 <= most)


def _times(goals: tuple[tuple[str, bytes], ...], before: bytes) -> list[float]:
    """Milliseconds from Enter until what is awaited stands behind `before`, sorted."""
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
                goal, pattern = goals[number % len(goals)]
                screen.send(goal.format(n=number))
                screen.quiet()
                start = screen.send("\r")
                # The editable line, and not how the goal was read, which stands above it.
                editable = before + pattern.replace(b"{n}", str(number).encode())
                times.append((screen.wait(editable) - start) * 1e3)
                screen.wait(b"F1 more")
                screen.quiet()
                screen.send("\x03")
                screen.wait(b"cancelled|interrupted")
                screen.quiet()
        finally:
            screen.close()
    return sorted(times)


if __name__ == "__main__":
    for figure in main():
        print(figure)
