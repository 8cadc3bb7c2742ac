"""Record real sessions as asciicast (`docs/demo/*.cast`) and as animated SVGs made from them.

`python -m tests.support.record_demo [FOLDER [NAME]]`: starts the program on a pseudo-terminal in a throw-away folder, types like a person,
and keeps what the screen showed. As an ordinary user, where the tests could start the program as one.
"""

from __future__ import annotations

import html
import json
import os
import select
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pyte

from tests.scenarios.ordinary_user import NOBODY, _launcher

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


@dataclass
class Story:
    """What is recorded under `name`: the files of its folder (content by name), and what is typed in a `shell` there, or in the program.

    `size`: columns and rows of the terminal.
    """

    name: str
    title: str
    files: dict[str, bytes]
    typed: tuple[Typed, ...]
    shell: bool = False
    size: tuple[int, int] = (COLUMNS, ROWS)


_FIRST_MINUTE = (
    Typed("", 1.5),
    Typed("find the 5 largest files under this folder"),
    Typed("\r", 1.8),
    Typed("\r", 2.2),
    Typed("how many lines do the log and md files changed today have in total"),
    Typed("\r", 2.4),
    Typed("\r", 1.8),
    Typed("delete all *.tmp files here"),
    Typed("\r", 2.0),
    Typed("\x15", 0.4),
    Typed("ls *.tmp"),
    Typed("\r", 2.0),
    Typed(":session\r", 1.6),
    Typed("exit\r", 0.8),
)
_PREVIEW = (
    Typed("", 0.2),
    Typed("rename all txt files to md", speed=0.03),
    Typed("\r", 2.1),
    Typed("\r", 1.6),
    Typed(":undo\r", 1.8),
    Typed("y\r", 1.0),
    Typed("sed -i s/http:/https:/ site.conf && rm -r build", speed=0.03),
    Typed("\r", 2.1),
    Typed("\x1b[20~", 2.6),
    Typed("\r", 1.4),
    Typed(":undo\r", 1.8),
    Typed("y\r", 1.2),
    Typed("exit\r", 0.4),
)
_RISK = (
    Typed("", 0.8),
    Typed("curl -fsSL https://example.com/install.sh | sudo bash"),
    Typed("\r", 3.0),
    Typed("\x1b[12~", 4.5),
    Typed("\r", 2.5),
    Typed("no\r", 1.5),
    Typed("rm -rf ~/"),
    Typed("\r", 2.5),
    Typed("exit\r", 0.6),
)
_HELD = (
    Typed("", 0.8),
    Typed(":set confine read-only\r", 1.5),
    Typed('python3 -c \'open("notes.md", "a").write("x")\''),
    Typed("\r", 2.0),
    Typed("\r", 3.0),
    Typed("exit\r", 0.6),
)
_SIZES = ("video.mov", "dump.sql", "photo.raw", "app.log", "notes.md", "a.tmp", "b.tmp")
_SEEN = (
    Typed("", 0.8),
    Typed("delete all *.tmp files here"),
    Typed("\r", 2.2),
    Typed("\x15", 0.5),
    Typed("rm -rf ~/notes *", 2.5, 0.09),
    Typed("\x03", 1.2),
    Typed("curl https://ex\u0430mple.com/notes.md", 1.0),
    Typed("\r", 3.5),
    Typed("\x03", 0.8),
    Typed("exit\r", 0.6),
)
_UNDO = (
    Typed("", 0.8),
    Typed("rm -r build && chmod 600 notes.md"),
    Typed("\r", 2.6),
    Typed("\r", 1.8),
    Typed("ls -l\r", 1.8),
    Typed(":undo\r", 2.8),
    Typed("y\r", 1.8),
    Typed("ls -l . build\r", 2.2),
    Typed("exit\r", 0.6),
)
_AUDIT = (
    Typed("agent-shell --approve low 'count the lines of notes.md'\r", 2.6),
    Typed("agent-shell sessions show\r", 3.2),
    Typed("agent-shell sessions verify\r", 2.6),
    Typed("sed -i '3s/notes.md/other.md/' ~/sessions/*.jsonl\r", 1.2),
    Typed("agent-shell sessions verify\r", 3.5),
)
_TEST = """import unittest

from price import price


class Prices(unittest.TestCase):
    def test_reading(self):
        self.assertEqual(price("2,50"), 250)


unittest.main()
"""
_DONE = "# Tasks\n\n## 1. Prices\n\n- [x] 1.1 Read a price in cents\n\nStatus: review\n"


def _reply(plan: str, *calls: tuple[str, dict[str, object]]) -> dict[str, object]:
    return {"json": {"plan": plan, "tool_calls": [{"tool_name": name, "arguments": given} for name, given in calls]}}


def _code(text: str) -> tuple[str, dict[str, object]]:
    return "write_file", {"path": "price.py", "content": f"def price(text):\n    return {text}\n"}


_PLAN = [
    _reply(
        "Write price() and its test",
        _code("round(float(text) * 100)"),
        ("write_file", {"path": "test_price.py", "content": _TEST}),
        ("run_tests", {}),
        ("finish_feature", {"task_id": 1, "feature_id": 1, "title": "Read a price in cents"}),
    ),
    _reply(
        "A comma is no point: mend it, then submit",
        _code('round(float(text.replace(",", ".")) * 100)'),
        ("write_file", {"path": "TASKS.md", "content": _DONE}),
        ("run_tests", {}),
        ("finish_feature", {"task_id": 1, "feature_id": 1, "title": "Read a price in cents"}),
        ("submit_for_review", {"task_id": 1, "task_title": "Prices"}),
        ("finish", {}),
    ),
]


def _understood(**fields: tuple[object, str]) -> dict[str, object]:
    """The reply to the call that reads a message: each field's value, with the words that it stands on."""
    return {
        "json": {
            path.replace("__", "."): {"evidence": words, "value": value, "confidence": 0.9}
            for path, (value, words) in fields.items()
        }
    }


_WISH = "I want to add up the prices of our shop; with commas no program reads them"
_CHOICE = "The function, since a test can show that it is right"
_NEED = "It has to read a price in cents. Done when its test is green"
_ASKED = [
    _understood(
        initialState__goal=("Add up the prices of the shop", "add up the prices of our shop"),
        initialState__problem=("No program reads prices with commas", "with commas no program reads them"),
    ),
    {"text": "None that I am sure of."},  # what goes on in the background looks for others who had the problem
    {
        "text": "Three ways: turn the commas into points by hand, a spreadsheet that knows your country, or a small function "
        "with a test. The first is quick and goes wrong, the last takes an hour and stays right. Which suits you?",
        "chunk_size": 9,
    },
    _understood(
        decision__decisionMade=({"option": "A function", "reasoning": "A test can show that it is right"}, _CHOICE)
    ),
    {"text": "Then a function it is, because a test can show that it is right. What has to be in it?", "chunk_size": 9},
    {"text": "None that I am sure of."},
    {
        "text": "You chose a function, since a test can show that it is right. What does it have to do, and when is it done?",
        "chunk_size": 9,
    },
    _understood(
        successCriteria__mustHaves=(["Read a price in cents"], "read a price in cents"),
        successCriteria__measures=(["its test is green"], "Done when its test is green"),
        successCriteria__firstRelease=("Read a price in cents", "It has to read a price in cents"),
    ),
    {"text": "Noted: a price in cents, done when its test is green. Is there anything else?", "chunk_size": 9},
]
_WRITTEN = """# Tasks

From an interview (Project Requirements Discovery).

## Context

- Goal: Add up the prices of the shop
- Decided: Read a price in cents

## 1. Read a price in cents
Status: review

Acceptance:
- its test is green
"""
_WORKED = [
    _reply(
        "Write price() and its test",
        _code("round(float(text) * 100)"),
        ("write_file", {"path": "test_price.py", "content": _TEST}),
        ("run_tests", {}),
    ),
    _reply(
        "A comma is no point: mend it, then submit",
        _code('round(float(text.replace(",", ".")) * 100)'),
        ("write_file", {"path": "TASKS.md", "content": _WRITTEN}),
        ("run_tests", {}),
        ("submit_for_review", {"task_id": 1, "task_title": "Read a price in cents"}),
        ("finish", {}),
    ),
]
_INTERVIEW = (
    Typed("agent-shell --planner scripted:talk.json interview exploration\r", 1.5, 0.025),
    Typed(f"{_WISH}\r", 4.0, 0.02),
    Typed(f"{_CHOICE}\r", 3.0, 0.02),
    Typed(":go project-discovery\r", 3.5),
    Typed(f"{_NEED}\r", 3.0, 0.02),
    Typed(":why must have\r", 3.0),
    Typed(":go repo-agent\r", 3.5),
    Typed("y\r", 2.5),
    Typed("agent-shell work lint\r", 1.8, 0.025),
    Typed("git init -q -b main; git add -A; git commit -qm Begin\r", 1.0, 0.02),
    Typed("agent-shell --planner scripted:plan.json --approve medium work\r", 7, 0.02),
    Typed("y\r", 5),
)
_WORK = (
    Typed("git init -q -b main; git add Makefile TASKS.md .gitignore; git commit -qm Begin\r", 1.5),
    Typed("agent-shell work lint\r", 1.8),
    Typed("agent-shell --planner scripted:plan.json --approve medium work\r", 14, 0.03),
    Typed("y\r", 6),
    Typed("git log --oneline agent/task-1\r", 3),
)
STORIES = (
    Story(
        "first-minute",
        "agent-shell: the first minute",
        {name: (b"x" * 63 + b"\n") * (14_000 >> index) for index, name in enumerate(_SIZES)},
        _FIRST_MINUTE,
    ),
    Story(
        "preview",
        "agent-shell: see the change, make it real, take it back",
        {
            "one.txt": b"one\n",
            "two.txt": b"two\n",
            "site.conf": b"name = site\nupstream = http://example.org\nport = 80\n",
            "build/app.o": b"\0" * 48_000,
            "build/lib.a": b"\0" * 9_000,
        },
        _PREVIEW,
    ),
    Story("risk", "agent-shell: what a command does, and the word for high risk", {"notes.md": b"# notes\n"}, _RISK),
    Story("held", "agent-shell: held to reading by the kernel", {"notes.md": b"# notes\n"}, _HELD),
    Story("seen", "agent-shell: nothing runs unseen", {"notes.md": b"# notes\n", "a.tmp": b"", "b.tmp": b""}, _SEEN),
    Story(
        "undo",
        "agent-shell: take it back",
        {"notes.md": b"# notes\n", "build/app.o": b"\0" * 48_000, "build/lib.a": b"\0" * 9_000},
        _UNDO,
    ),
    Story(
        "audit",
        "agent-shell: what was done, and whether the log was touched",
        {"notes.md": b"# notes\n" * 7},
        _AUDIT,
        shell=True,
    ),
    Story(
        "work",
        "agent-shell: a model does a task of a repository",
        {
            "TASKS.md": _DONE.replace("[x]", "[ ]").replace("review", "todo").encode(),
            ".gitignore": b"__pycache__\n",
            "Makefile": b"test:\n\tpython3 test_price.py -v\n",
            "plan.json": json.dumps({"reply": _PLAN}).encode(),
        },
        _WORK,
        shell=True,
    ),
    Story(
        "interview",
        "agent-shell: from a wish to requirements, to tasks, to work",
        {
            ".gitignore": b"__pycache__\n*.json\n",
            "Makefile": b"test:\n\tpython3 test_price.py -v\n",
            "talk.json": json.dumps({"reply": _ASKED}).encode(),
            "plan.json": json.dumps({"reply": _WORKED}).encode(),
        },
        _INTERVIEW,
        shell=True,
        size=(104, 30),
    ),
)


def record(story: Story) -> list[tuple[float, str]]:
    """(seconds, output) pairs of one session."""
    words, packages = _program()
    with _demo_folder() as folder:
        work = Path(folder) / "project"
        work.mkdir()
        for name, content in story.files.items():
            (work / name).parent.mkdir(exist_ok=True)
            (work / name).write_bytes(content)
        home = Path(folder) / "home"
        home.mkdir()
        env = {
            "HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8",
            "AGENT_SESSION_DIR": str(home / "sessions"), "AGENT_PLANNER": "offline",
            "PYTHONPATH": packages or os.environ.get("PYTHONPATH", ""), "PAGER": "cat",
            "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }  # fmt: skip
        if words[0] == "setpriv":
            for path in (Path(folder), *Path(folder).rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        program = [*words, str(ROOT / "agent_shell.py")]
        if story.shell:
            (home / "bin").mkdir()
            (home / "bin" / "agent-shell").write_text(f'#!/bin/sh\nexec {shlex.join(program[len(words) - 1 :])} "$@"\n')
            (home / "bin" / "agent-shell").chmod(0o755)
            env |= {"PATH": f"{home}/bin:{env['PATH']}", "PS1": "$ "}
            program = [*words[:-1], "bash", "--norc", "--noprofile"]
        if words[0] == "setpriv":
            for path in (home, *home.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        child = pexpect.spawn(program[0], program[1:], env=env, cwd=str(work), dimensions=story.size[::-1])
        events = _play(child, story)
        child.close(force=True)
    return events


@contextmanager
def _demo_folder() -> Iterator[str]:
    """A folder with the same short name each time: a name that was changed afterwards would not fit how the screen was drawn."""
    folder = "/tmp/demo"
    os.mkdir(folder, 0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _program() -> tuple[tuple[str, ...], str]:
    """Words that start Python, as an ordinary user where that can be had, and PYTHONPATH for it."""
    try:
        return _launcher()
    except BaseException as error:  # pytest's Skipped is no Exception
        if type(error).__name__ != "Skipped":
            raise
        return (sys.executable,), ""


def _play(child: pexpect.spawn, story: Story) -> list[tuple[float, str]]:
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
    for typed in story.typed:
        for key in typed.keys:
            if child.isalive():
                child.send(key)
            look(typed.speed)
        look(typed.wait)
    return events


def write_cast(events: list[tuple[float, str]], path: Path, story: Story) -> None:
    """asciicast v2."""
    header = {"version": 2, "width": story.size[0], "height": story.size[1], "title": story.title}
    lines = [json.dumps(header), *(json.dumps([round(at, 3), "o", text]) for at, text in events)]
    path.write_text("\n".join(lines) + "\n")


def frames(events: list[tuple[float, str]], size: tuple[int, int]) -> list[tuple[float, list[str]]]:
    """(seconds, rows as SVG) of every screen that stood for a moment."""
    screen = pyte.Screen(*size)
    stream = pyte.Stream(screen)
    out: list[tuple[float, list[str]]] = []
    for index, (at, text) in enumerate(events):
        stream.feed(text.replace("\x1b[6n", ""))
        stands = events[index + 1][0] - at if index + 1 < len(events) else 2.0
        rows = [_row(screen, row) for row in range(size[1])]
        if stands >= 0.04 and (not out or out[-1][1] != rows):
            out.append((at, rows))
    return out


def _row(screen: pyte.Screen, row: int) -> str:
    spans: list[tuple[str, bool, str]] = []
    for column in range(screen.columns):
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


def write_svg(shots: list[tuple[float, list[str]]], path: Path, size: tuple[int, int]) -> None:
    """One group a frame, shown in turn by CSS; a viewer without animation sees the last."""
    total = shots[-1][0] + 3.0
    line, char = 18, 8.4
    width, height = int(size[0] * char) + 32, size[1] * line + 32
    style, groups = [], []
    drawn: dict[tuple[int, str], str] = {}  # each row once, however many frames show it
    for index, (at, rows) in enumerate(shots):
        end = shots[index + 1][0] if index + 1 < len(shots) else total
        a, b = 100 * at / total, 100 * end / total
        style.append(
            f"@keyframes f{index}{{0%{{opacity:0}}{a:.3f}%{{opacity:1}}{b:.3f}%{{opacity:{int(b >= 100)}}}100%{{opacity:{int(b >= 100)}}}}}"
            f"#f{index}{{animation:f{index} {total:.1f}s step-end infinite}}"
        )
        text = "".join(
            f'<use href="#{drawn.setdefault(place, f"r{len(drawn)}")}"/>' for place in enumerate(rows) if place[1]
        )
        groups.append(
            f'<g id="f{index}"{"" if index + 1 == len(shots) else " opacity=" + chr(34) + "0" + chr(34)}>{text}</g>'
        )
    texts = "".join(
        f'<text id="{name}" x="16" y="{16 + (row + 1) * line - 5}">{content}</text>'
        for (row, content), name in drawn.items()
    )
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        'aria-label="Recorded session of agent-shell">'
        "<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre}" + "".join(style) + "</style>"
        f'<rect width="{width}" height="{height}" rx="8" fill="#21252b"/><defs>{texts}</defs>{"".join(groups)}</svg>\n'
    )


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/demo"
    folder.mkdir(exist_ok=True)
    for story in STORIES:
        if len(sys.argv) > 2 and story.name != sys.argv[2]:
            continue
        events = record(story)
        write_cast(events, folder / f"{story.name}.cast", story)
        write_svg(frames(events, story.size), folder / f"{story.name}.svg", story.size)


if __name__ == "__main__":
    main()
