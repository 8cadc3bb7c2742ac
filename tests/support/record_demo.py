"""Record a real session as asciicast (`docs/demo/first-minute.cast`) and as an animated SVG made from it.

`python -m tests.support.record_demo [FOLDER]`: starts the program on a pseudo-terminal in a throw-away folder, types like a person, and
keeps what the screen showed.
"""

from __future__ import annotations

import html
import json
import os
import select
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pyte

ROOT = Path(__file__).resolve().parents[2]
COLUMNS, ROWS = 92, 24
_PALETTE = {
    "black": "#5c6370", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b", "blue": "#61afef",
    "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#dcdfe4", "default": "#dcdfe4", "brightblack": "#7f848e",
    "brightred": "#e06c75", "brightgreen": "#98c379", "brightbrown": "#e5c07b", "brightyellow": "#e5c07b",
    "brightblue": "#61afef", "brightmagenta": "#c678dd", "brightcyan": "#56b6c2", "brightwhite": "#ffffff",
}  # fmt: skip


@dataclass
class Typed:
    """Keys to type, and how long to look at the result (seconds)."""

    keys: str
    wait: float = 1.2
    speed: float = 0.045


STORY = (
    Typed("", 1.5),
    Typed("find the 5 largest files under this folder"),
    Typed("\r", 1.8),
    Typed("\r", 2.2),
    Typed("delete all *.tmp files here"),
    Typed("\r", 2.0),
    Typed("\x15", 0.4),
    Typed("ls *.tmp"),
    Typed("\r", 2.0),
    Typed(":session\r", 1.6),
    Typed("exit\r", 0.8),
)


def record() -> list[tuple[float, str]]:
    """(seconds, output) pairs of one session."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "project"
        work.mkdir()
        for index, name in enumerate(("video.mov", "dump.sql", "photo.raw", "app.log", "notes.md", "a.tmp", "b.tmp")):
            (work / name).write_bytes(b"x" * (900_000 >> index))
        home = Path(folder) / "home"
        home.mkdir()
        env = {
            "HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8",
            "AGENT_SESSION_DIR": str(Path(folder) / "sessions"), "AGENT_PLANNER": "offline",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }  # fmt: skip
        child = pexpect.spawn(
            sys.executable, [str(ROOT / "agent_shell.py")], env=env, cwd=str(work), dimensions=(ROWS, COLUMNS)
        )
        events = _play(child)
        child.close(force=True)
    return [(at, text.replace(folder, "/tmp/demo")) for at, text in events]


def _play(child: pexpect.spawn) -> list[tuple[float, str]]:
    events: list[tuple[float, str]] = []
    start = time.monotonic()

    def look(seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([child.child_fd], [], [], left)[0]:
                try:
                    data = os.read(child.child_fd, 65536)
                except OSError:
                    return
                if b"\x1b[6n" in data:
                    child.send("\x1b[1;1R")
                events.append((time.monotonic() - start, data.decode("utf-8", "replace")))

    look(2.5)
    for typed in STORY:
        for key in typed.keys:
            if child.isalive():
                child.send(key)
            look(typed.speed)
        look(typed.wait)
    return events


def write_cast(events: list[tuple[float, str]], path: Path) -> None:
    """asciicast v2."""
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "agent-shell: the first minute"}
    lines = [json.dumps(header), *(json.dumps([round(at, 3), "o", text]) for at, text in events)]
    path.write_text("\n".join(lines) + "\n")


def frames(events: list[tuple[float, str]]) -> list[tuple[float, list[str]]]:
    """(seconds, rows as SVG) of every screen that stood for a moment."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    out: list[tuple[float, list[str]]] = []
    for index, (at, text) in enumerate(events):
        stream.feed(text.replace("\x1b[6n", ""))
        stands = events[index + 1][0] - at if index + 1 < len(events) else 2.0
        rows = [_row(screen, row) for row in range(ROWS)]
        if stands >= 0.04 and (not out or out[-1][1] != rows):
            out.append((at, rows))
    return out


def _row(screen: pyte.Screen, row: int) -> str:
    spans: list[tuple[str, bool, str]] = []
    for column in range(COLUMNS):
        cell = screen.buffer[row][column]
        back = _color(cell.bg) if cell.bg != "default" and not cell.reverse else ""
        color = back if cell.reverse and back else _color(cell.fg)
        if spans and spans[-1][:2] == (color, cell.bold):
            spans[-1] = (color, cell.bold, spans[-1][2] + cell.data)
        else:
            spans.append((color, cell.bold, cell.data))
    while spans and not spans[-1][2].strip():
        spans.pop()
    return "".join(
        f'<tspan fill="{color}"{" font-weight=" + chr(34) + "bold" + chr(34) if bold else ""}>{html.escape(text)}</tspan>'
        for color, bold, text in spans
    )


def _color(name: str) -> str:
    return _PALETTE.get(name, f"#{name}" if len(name) == 6 else _PALETTE["default"])


def write_svg(shots: list[tuple[float, list[str]]], path: Path) -> None:
    """One group a frame, shown in turn by CSS; a viewer without animation sees the last."""
    total = shots[-1][0] + 3.0
    line, char = 18, 8.4
    width, height = int(COLUMNS * char) + 32, ROWS * line + 32
    style, groups = [], []
    for index, (at, rows) in enumerate(shots):
        end = shots[index + 1][0] if index + 1 < len(shots) else total
        a, b = 100 * at / total, 100 * end / total
        style.append(
            f"@keyframes f{index}{{0%{{opacity:0}}{a:.3f}%{{opacity:1}}{b:.3f}%{{opacity:{int(b >= 100)}}}100%{{opacity:{int(b >= 100)}}}}}"
            f"#f{index}{{animation:f{index} {total:.1f}s step-end infinite}}"
        )
        text = "".join(
            f'<text x="16" y="{16 + (row + 1) * line - 5}">{content}</text>'
            for row, content in enumerate(rows)
            if content
        )
        groups.append(
            f'<g id="f{index}"{"" if index + 1 == len(shots) else " opacity=" + chr(34) + "0" + chr(34)}>{text}</g>'
        )
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        'aria-label="Recorded session of agent-shell">'
        "<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre}" + "".join(style) + "</style>"
        f'<rect width="{width}" height="{height}" rx="8" fill="#21252b"/>{"".join(groups)}</svg>\n'
    )


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/demo"
    folder.mkdir(exist_ok=True)
    events = record()
    write_cast(events, folder / "first-minute.cast")
    write_svg(frames(events), folder / "first-minute.svg")


if __name__ == "__main__":
    main()
