"""What starting costs: `--version`, `--help`, and the CPU until the REPL's first frame against a bare prompt."""

from __future__ import annotations

import os
import tempfile

from benchmarks.figures import PYTHON, Figure, paired_minimum, run_time_ns
from benchmarks.screen import Screen

_BARE = "from prompt_toolkit import prompt\nprompt('goal> ')\n"


def main() -> list[Figure]:
    """Measure; one figure a line."""
    figures = []
    for flag, bound in (("--version", 4), ("--help", 5)):
        ours, peer = paired_minimum([PYTHON, "agent_shell.py", flag], [PYTHON, "-c", "pass"])
        figures.append(
            Figure(
                f"CPU of {flag}", ours * 1e3, peer * 1e3, "ms", f"<= {bound}x", ours <= bound * peer, "python3 -c pass"
            )
        )
    with tempfile.TemporaryDirectory() as home:
        bare = os.path.join(home, "bare.py")
        with open(bare, "w") as file:
            file.write(_BARE)
        mine, theirs = [], []
        for _ in range(9):
            theirs.append(first_frame_cpu([PYTHON, bare], home, b"goal>"))
            mine.append(first_frame_cpu([PYTHON, "agent_shell.py", "--planner", "offline"], home, "❯".encode()))
    ours, peer = min(mine), min(theirs)
    figures.append(
        Figure(
            "CPU until the REPL's first frame", ours * 1e3, peer * 1e3, "ms", "<= 1.5x", ours <= 1.5 * peer,
            "bare prompt_toolkit prompt",
        )
    )  # fmt: skip
    return figures


def first_frame_cpu(argv: list[str], home: str, prompt: bytes) -> float:
    """Seconds of CPU that `argv` has used when its prompt appears on the terminal."""
    env = {**os.environ, "HOME": home, "TERM": "xterm-256color", "AGENT_SESSION_DIR": os.path.join(home, "sessions")}
    screen = Screen(argv, env, os.getcwd())
    try:
        screen.wait(prompt)
        return run_time_ns(screen.pid) / 1e9
    finally:
        screen.close()


if __name__ == "__main__":
    for figure in main():
        print(figure)
