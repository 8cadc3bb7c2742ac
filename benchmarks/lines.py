"""Lines that an accepted goal prints besides the command's own output, on a terminal of 80 columns, with the offline planner."""

from __future__ import annotations

import os
import re
import statistics
import tempfile

import pyte

from benchmarks.figures import PYTHON, Figure
from benchmarks.screen import Screen

# Each goal, and the lines that its command prints.
_GOALS = (
    ("count the lines of note1.txt", 1),
    ("show the last 2 lines of note1.txt", 2),
    ("show the first line of note1.txt", 1),
    ("delete note2.txt", 0),
    ("create a folder called out", 0),
    ("rename note3.txt to note3.md", 0),
    ("copy note4.txt to note5.txt", 0),
    ("make note4.txt executable", 0),
    ("count the words of note1.txt", 1),
)
_COLUMNS, _ROWS = 80, 200
_DEAD_TIME = 0.4  # seconds: a new question takes no Enter at first


def lines_of(text: bytes) -> list[str]:
    """What stands on the screen after `text`, without the toolbar and the empty rest."""
    display = pyte.Screen(_COLUMNS, _ROWS)
    pyte.ByteStream(display).feed(text)
    return [line.rstrip() for line in display.display]


def main() -> list[Figure]:
    """Each goal is accepted as it is proposed."""
    counts: list[int] = []
    with tempfile.TemporaryDirectory() as home:
        for number in range(1, 5):
            with open(os.path.join(home, f"note{number}.txt"), "w") as file:
                file.write("a\nb\nc\n")
        env = {**os.environ, "HOME": home, "TERM": "xterm-256color", "AGENT_SESSION_DIR": os.path.join(home, "s")}
        screen = Screen(
            [PYTHON, os.path.abspath("agent_shell.py"), "--planner", "offline"], env, home, columns=_COLUMNS
        )
        try:
            screen.wait("❯".encode())
            screen.quiet(1.5)
            for goal, printed in _GOALS:
                screen.send(goal + "\r")
                screen.wait(b"F1 more")
                screen.quiet(_DEAD_TIME)
                before = screen.seen
                screen.send("\r")
                screen.wait("[✓✗] ".encode())
                screen.quiet(0.4)
                told = lines_of(before + screen.seen)
                first = next(at for at, line in enumerate(told) if goal in line)
                last = max(at for at, line in enumerate(told) if re.match(r"(root )?❯$", line))
                counts.append(last - first - 1 - printed)
        finally:
            screen.close()
    median = statistics.median(counts)
    return [Figure("lines besides the output, an accepted goal, median", median, 0, "lines", "<= 4", median <= 4)]


if __name__ == "__main__":
    for figure in main():
        print(figure)
