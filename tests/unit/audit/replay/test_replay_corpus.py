"""Every kept log gives the same events today. Where a change of behaviour is meant: `python -m tests.support.record_replays`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from agent.recording.chained_lines import NO_LINE, line_hash
from tests.support.each import each
from tests.support.record_replays import SITUATIONS
from tests.support.replay_stage import REPLAYS
from tests.support.replaying import checked, todays_app
from tests.support.tries import sampled, some

LOGS = sorted(REPLAYS.glob("*.jsonl"))


@each("log", LOGS, ids=lambda log: log.stem)
def test_todays_engine_does_what_was_recorded(log: Path) -> None:
    found = checked(log, todays_app())
    told = [
        f"goal {each.case.number}: {each.outcome} {each.reason} "
        f"{[(d.kind, d.event, d.which, d.field, d.then, d.now) for d in each.differences]}"
        for each in found
        if each.outcome != "same"
    ]
    assert found
    assert not told


def test_the_corpus_is_wide() -> None:
    events = [json.loads(line) for log in LOGS for line in log.read_text().splitlines()]
    statuses = {event["status"] for event in events if event["type"] == "goal.finished"}
    decisions = {event["decision"] for event in events if event["type"] == "command.confirmed"}
    by = {event["by"] for event in events if event["type"] == "command.confirmed"}
    assert sum(event["type"] == "goal.started" for event in events) >= 100
    assert statuses >= {
        "completed", "answered", "failed", "cancelled", "skipped", "planner_error", "blocked_by_policy", "budget_exhausted", "interrupted",
    }  # fmt: skip
    assert decisions == {
        "approved", "edited", "skipped", "declined", "cancelled", "remark", "regenerate", "refused", "dry-run",
    }  # fmt: skip
    assert by == {"person", "approve-mode", "policy", "nobody"}
    assert {log.stem for log in LOGS} >= set(SITUATIONS)


@each("log", LOGS, ids=lambda log: log.stem)
def test_a_kept_log_is_whole_and_small_and_tells_nothing_of_where_it_was_recorded(log: Path) -> None:
    before = NO_LINE
    for line in log.read_bytes().splitlines():
        assert json.loads(line)["prev"] == before
        before = line_hash(line)
    assert log.stat().st_size < 200_000
    text = log.read_text()
    assert "/home/" not in text
    assert "/root" not in text


@sampled
def test_a_check_starts_nothing_writes_nothing_and_connects_to_nothing(tmp_path: Path) -> None:
    program = """
import os, sys
from agent.app.composition import build_services, load
import asyncio
from agent.frontends.sessions.replay_check import run_check
services = build_services(load({"session_dir": sys.argv[1]}))
services.engine
async def main():
    return await run_check(services, sys.argv[2:])
seen = []
def watch(event, arguments):
    if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec", "os.system", "socket.connect", "os.remove", "os.rename",
                 "os.mkdir", "os.chdir"):
        seen.append((event, arguments))
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append((event, arguments))
sys.dont_write_bytecode = True
loop = asyncio.new_event_loop()
sys.addaudithook(watch)
code = loop.run_until_complete(main())
sys.exit(f"{code} {seen}" if code or seen else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "sessions"), *map(str, some(LOGS, 3))],
        env={"HOME": str(tmp_path), "PATH": "/nowhere", "PYTHONPATH": str(REPLAYS.parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "the same" in done.stdout
    assert sorted(tmp_path.rglob("*")) == []
