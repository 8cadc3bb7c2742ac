"""Every log of the corpus that the engine really wrote can be shown as a recording, on a screen and as a page."""

from __future__ import annotations

import json
from pathlib import Path

import pyte

from agent.audit.story.goal import stories
from agent.emitters.export.asciicast import asciicast
from agent.emitters.export.frames import Look
from agent.emitters.export.html_report import html_report
from agent.emitters.export.screen_script import screen_script
from agent.protocol.events.goal import GoalStarted
from agent.protocol.records import Record
from agent.recording.reader import read_records
from tests.support.each import each

LOGS = sorted((Path(__file__).resolve().parents[3] / "replays").glob("*.jsonl"))


@each("path", LOGS, ids=lambda path: path.stem)
def test_a_real_log_can_be_pictured(path: Path) -> None:
    records: list[Record] = list(read_records(str(path)))
    goals = sum(isinstance(record.event, GoalStarted) for record in records)
    frames = list(screen_script(records, Look()))
    assert sum(bool(frame.marker) for frame in frames) == goals
    shown = "".join(frame.text for frame in frames)
    pyte.Stream(pyte.Screen(100, 30)).feed(shown.replace("\n", "\r\n"))
    assert shown.count("❯") >= goals
    assert "cannot be shown" not in shown
    events = [json.loads(line) for line in asciicast(records)]
    assert sum(event[1] == "m" for event in events[1:]) == goals
    page = b"".join(html_report(stories(records))).decode()
    assert page.count('<section class="goal') == goals
