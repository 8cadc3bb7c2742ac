"""Ctrl-R: matching, what is read beside the prompt, and the list with keys from a pipe."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from prompt_toolkit.history import InMemoryHistory

from agent.audit.queries.figures import Entry
from agent.frontends.repl.goal_prompt import GoalPrompt
from agent.frontends.repl.history_search import Narrowing, PastReader, Typed, merged, ordered, places, typed
from agent.frontends.repl.history_search_view import HistorySearch
from agent.frontends.screen import Screen
from benchmarks.audit_logs import write_sessions
from tests.support.each import each
from tests.support.fake_terminal import FakeTerminal


def entry(text: str, *, at: int = 1, cwd: str = "/w", is_command: bool = True, outcome: str = "exit 0") -> Entry:
    return Entry(text=text, is_command=is_command, at=at, times=1, cwd=cwd, outcome=outcome)


class Reader(PastReader):
    """Entries that are there at once, or come when `come` is set."""

    def __init__(self, *entries: Entry, later: bool = False) -> None:
        super().__init__("", "")
        self.come = threading.Event()
        self.later = entries if later else ()
        self.entries = () if later else entries

    def _read(self, changed: Callable[[], None], stopped: threading.Event) -> None:
        if self.later:
            self.come.wait(60)
            self.entries = self.later
        self.reading = False
        changed()


@each(
    ("query", "text", "found"),
    [
        ("", "ls", ()),
        ("ls", "ls", (0, 1)),
        ("gtst", "git status", (0, 2, 4, 5)),
        ("status git", "git status", (4, 5, 6, 7, 8, 9, 0, 1, 2)),
        ("Git", "git status", None),
        ("git", "GIT status", (0, 1, 2)),
        ("test", "latest test", (7, 8, 9, 10)),
        ("x", "git", None),
        ("aa", "a", None),
        ("i̇", "İstanbul", None),
    ],
)
def test_places(query: str, text: str, found: tuple[int, ...] | None) -> None:
    assert places(query, text) == found


def test_the_order_is_whole_words_then_here_then_the_latest() -> None:
    entries = [
        entry("make test", at=1),
        entry("make test -j8", at=2, cwd="/elsewhere"),
        entry("make latest", at=3),
        entry("m-t-e-s-t", at=4),
        entry("ls", at=5),
    ]
    assert [found.text for found in ordered("test", entries, "/w")] == [
        "make latest",
        "make test",
        "make test -j8",
        "m-t-e-s-t",
    ]
    assert [found.text for found in ordered("", entries, "/w")] == [
        "ls",
        "m-t-e-s-t",
        "make latest",
        "make test",
        "make test -j8",
    ]


def test_narrowing_gives_what_a_search_anew_gives() -> None:
    entries = [entry(f"{a}{b} {c}", at=ord(c)) for a in "abc" for b in "abc" for c in "abc"]
    narrowed = Narrowing(entries, "/w")
    for query in ("a", "ab", "ab c", "ab", "b", "", "cc", "ccc"):
        assert narrowed(query) == ordered(query, entries, "/w")


def test_matching_is_bounded() -> None:
    hostile = entry("a" * 200_000)
    began = time.process_time()
    for _ in range(50):
        assert places("a" * 40 + "b", hostile.text) is None
    assert time.process_time() - began < 2  # a hang would take minutes


def test_lines_of_the_prompt_come_behind_what_the_index_knows() -> None:
    lines = ["!ls -la", ":help", "count files", "!ls -la", "!", "known"]
    assert typed(lines) == [Typed("ls -la", True), Typed("count files", False), Typed("known", False)]
    known = entry("known", is_command=False)
    assert merged([known], lines) == [known, Typed("ls -la", True), Typed("count files", False)]


def test_the_reader_reads_all_sessions(tmp_path: Path) -> None:
    write_sessions(str(tmp_path / "s"), goals=40, seed=8)
    reader = PastReader(str(tmp_path / "s"), str(tmp_path / "state"))
    changes = threading.Semaphore(0)
    reader.begin(changes.release)
    assert reader._thread is not None
    reader._thread.join(60)
    assert not reader.reading and len(reader.entries) > 20
    assert changes.acquire(timeout=60)
    before = list(reader.entries)
    reader.begin(changes.release)  # again, as the list is opened again
    reader._thread.join(60)
    assert list(reader.entries) == before


def test_a_folder_that_cannot_be_read_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a file")
    reader = PastReader(str(tmp_path / "s"), "")
    reader.begin(lambda: None)
    assert reader._thread is not None
    reader._thread.join(60)
    assert (reader.reading, list(reader.entries)) == (False, [])


def opened(terminal: FakeTerminal, reader: PastReader, *lines: str, query: str = "") -> HistorySearch:
    return HistorySearch(terminal.screen, reader, lines, cwd="/w", home="/home/me", query=query)


def chosen(terminal: FakeTerminal, reader: PastReader, keys: str, *lines: str, query: str = "") -> str | None:
    async def main() -> str | None:
        terminal.keys.send_text(keys)
        async with asyncio.timeout(60):
            return await opened(terminal, reader, *lines, query=query).choose()

    return asyncio.run(main())


THREE = (
    entry("git push", at=3, outcome="exit 1", cwd="/home/me/src"),
    entry("push it", at=2, is_command=False, outcome="completed"),
    entry("ls -la", at=1),
)


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("\r", "push it"),  # used here, and the latest of those
        ("git\r", "!git push"),
        ("la\r", "!ls -la"),
        ("\x1b[B\r", "!ls -la"),
        ("\x1b[B\x1b[B\x1b[B\x1b[B\r", "!git push"),
        ("\x12\x12\x1b[A\r", "!ls -la"),
        ("\t\r", "push it"),  # goals only
        ("\t\t\r", "!ls -la"),  # commands only
        ("zzz\r", None),
        ("git\x07", None),
        ("git\x03", None),
        ("git\x04", None),
    ],
)
def test_keys(terminal: FakeTerminal, keys: str, expected: str | None) -> None:
    assert chosen(terminal, Reader(*THREE), keys) == expected


def test_escape_leaves(terminal: FakeTerminal) -> None:
    assert chosen(terminal, Reader(*THREE), "git\x1b") is None


def test_what_is_shown(terminal: FakeTerminal) -> None:
    assert chosen(terminal, Reader(*THREE), "\x07", "!make all") is None
    for words in ("history ❯", "$ git push", "exit 1", "~/src", "completed", "$ make all", "4 goals and commands"):
        assert words in terminal.seen


def test_hostile_texts_are_made_visible(terminal: FakeTerminal) -> None:
    evil = entry("echo \x1b]0;owned\x07\u202e", outcome="\x1b[31m")
    assert chosen(terminal, Reader(evil), "\x07") is None
    assert "\x1b]0;owned" not in terminal.raw and "\u202e" not in terminal.raw and "\x07" not in terminal.raw


def test_it_is_there_before_the_index_is(terminal: FakeTerminal) -> None:
    """What was typed at this prompt can be found at once; the rest comes in while the list is open, for the same query."""
    reader = Reader(*THREE, later=True)

    async def main() -> str | None:
        search = opened(terminal, reader, "push the button")
        task = asyncio.ensure_future(search.choose())
        terminal.keys.send_text("push")
        async with asyncio.timeout(60):
            while "push the button" not in terminal.seen or "(reading …)" not in terminal.seen:
                await asyncio.sleep(0.005)
            assert "git push" not in terminal.seen
            reader.come.set()
            while "git push" not in terminal.seen:
                await asyncio.sleep(0.005)
            terminal.keys.send_text("\r")
            return await task

    assert asyncio.run(main()) == "push it"


def prompt(terminal: FakeTerminal, reader: PastReader) -> GoalPrompt:
    return GoalPrompt(
        terminal.screen,
        InMemoryHistory(),
        toolbar=lambda: "",
        marks=list,
        cwd=lambda: "/w",
        search=lambda text: opened(terminal, reader, query=text),
    )


async def steps(terminal: FakeTerminal, read: asyncio.Future[str | None], *keys: str) -> str | None:
    for key in keys:
        for _ in range(12):
            await asyncio.sleep(0.005)
        terminal.keys.send_text(key)
    return await read


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("gi", "\x12", "\r", " --force", "\r"), "!git push --force"),  # Enter in the list runs nothing
        (("abc", "\x12", "\x07", "d", "\r"), "abcd"),  # the line comes back as it was
        (("\x12", "\x03", "x", "\r"), "x"),
        (("\x12", "ls", "\r", "\r"), "!ls -la"),
    ],
)
def test_at_the_goal_prompt(terminal: FakeTerminal, keys: tuple[str, ...], line: str) -> None:
    async def main() -> str | None:
        asked = prompt(terminal, Reader(*THREE))
        async with asyncio.timeout(60):
            return await steps(terminal, asyncio.ensure_future(asked.read()), *keys)

    assert asyncio.run(main()) == line


def test_a_signal_ends_the_list_and_the_prompt(terminal: FakeTerminal) -> None:
    async def main() -> str | None:
        asked = prompt(terminal, Reader(*THREE))
        read = asyncio.ensure_future(asked.read())
        await asyncio.sleep(0.05)
        terminal.keys.send_text("\x12")
        async with asyncio.timeout(60):
            while "history ❯" not in terminal.seen:
                await asyncio.sleep(0.005)
            asked.leave()
            return await read

    assert asyncio.run(main()) is None


def test_an_open_menu_leaves_no_empty_lines_behind(terminal: FakeTerminal) -> None:
    async def main() -> str | None:
        reading = asyncio.ensure_future(prompt(terminal, Reader()).read())
        return await steps(terminal, reading, ":und", "o", "\r")

    assert asyncio.run(main()) == ":undo"
    assert ":undo-turn" in terminal.raw  # the menu was there
    assert terminal.raw[terminal.raw.rindex(":undo") :].count("\r\n") <= 1, "the line is followed by its end alone"


@pytest.mark.parametrize(("columns", "last"), [(40, "Enter: take"), (120, "Esc: back")])
def test_hints_are_whole_or_left_out(terminal: FakeTerminal, columns: int, last: str) -> None:
    searched = opened(terminal, Reader(entry("ls", at=1)))
    searched._screen = cast("Screen", SimpleNamespace(columns=columns))
    bar = "".join(fragment[1] for fragment in searched._bar())
    assert len(bar) < columns
    assert bar.endswith(last)
