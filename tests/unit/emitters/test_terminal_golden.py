"""What each event looks like, as whole files: tests/golden/terminal. Set AGENT_UPDATE_GOLDEN=1 to write them anew."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
from pathlib import Path
from typing import get_args

import pytest

from agent.emitters.streams import JsonlEmitter
from agent.protocol.events.known import Event, KnownEvent
from agent.protocol.records import decode, event_type
from tests.support.each import each
from tests.support.event_cases import CASES, MODES

GOLDEN = Path(__file__).parents[2] / "golden" / "terminal"
LINES = GOLDEN.parent / "events" / "lines.jsonl"


def visible(data: bytes) -> str:
    """Bytes as they stand in a golden file: one line a line, controls as ^[, an end without newline marked."""
    text = data.decode("utf-8", "replace")
    if not text:
        return "(nothing)\n"
    pictured = "".join(f"^{chr(64 + ord(c))}" if c < " " and c != "\n" else c for c in text)
    return pictured if pictured.endswith("\n") else pictured + "(no newline)\n"


def rendered(terminal, events: list[Event]) -> str:
    parts = []
    for mode, options in MODES.items():
        screen = terminal(**options)

        async def play(screen=screen) -> None:
            await screen.show(*events)
            screen.seconds += 2.0
            screen.emitter._tick()  # what a waiting person sees next
            screen.emitter._spinner.stop()
            screen.emitter._words.pacer.cancel()

        asyncio.run(play())
        parts += [
            f"=== {mode}: stdout\n",
            visible(screen.out.getvalue()),
            f"=== {mode}: stderr\n",
            visible(screen.err.getvalue()),
        ]
    return "".join(parts)


@pytest.mark.covers("S1-2", "S1-42", "S1-43", "S1-68", "S1-70")
@each("case", CASES)
def test_looks_as_before(terminal, case: str) -> None:
    path = GOLDEN / f"{case}.txt"
    now = rendered(terminal, CASES[case])
    if os.environ.get("AGENT_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(now, encoding="utf-8")
    assert now == path.read_text(encoding="utf-8")


@pytest.mark.covers("S1-68", "S1-70")
def test_every_event_has_a_golden_file_and_no_file_is_left_over() -> None:
    tags = {kind.__struct_config__.tag for kind in get_args(KnownEvent)}
    assert tags <= {event_type(events[-1]) for events in CASES.values()}
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)
    assert all(
        case == "unknown" or case.partition("-")[0] in {event_type(event) for event in events}
        for case, events in CASES.items()
    )


@pytest.mark.covers("S1-42", "S1-68")
def test_every_event_has_a_row_of_each_emitter() -> None:
    """On a terminal with and without colour, plain into a pipe, told at length, and as a JSON line."""
    lines = LINES.read_bytes().splitlines(keepends=True)
    for tag in sorted(kind.__struct_config__.tag for kind in get_args(KnownEvent)):
        files = [path for path in GOLDEN.glob("*.txt") if path.stem.partition("-")[0] == tag]
        heads = [f"=== {mode}: {stream}\n" for mode in MODES for stream in ("stdout", "stderr")]
        assert files and all(head in path.read_text(encoding="utf-8") for path in files for head in heads), tag
        (line,) = [line for line in lines if json.loads(line)["type"] == tag]
        target = io.BytesIO()
        asyncio.run(JsonlEmitter(target).emit(decode(line)))
        assert target.getvalue() == line


def test_no_control_from_outside_is_in_any_golden_file() -> None:
    for path in GOLDEN.glob("*hostile*.txt"):
        text = path.read_text(encoding="utf-8")
        colours = re.compile(r"\^\[\[[0-9]+m")
        assert "^" not in colours.sub("", text)
        assert not re.search("[\u202e\x80-\x9f\u200b]", text)
