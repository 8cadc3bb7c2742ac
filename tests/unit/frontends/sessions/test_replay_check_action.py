"""`sessions replay --check` as a person, a script and a keeper of examples use it."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from msgspec.structs import replace as with_parts

from agent.cli.arguments import parse
from agent.emitters.streams import MemorySink
from agent.frontends.sessions import replay
from agent.frontends.sessions.replay_check import run_check
from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport
from agent.protocol.errors import CoreError, InvalidRequest
from agent.recording.chained_lines import NO_LINE, line_hash
from tests.support.replay_stage import REPLAYS
from tests.support.replaying import services_at

HOSTILE = "\x1b]0;owned\x07\u202e"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    for name in ("chat", "opinions", "tools"):
        shutil.copyfile(REPLAYS / f"{name}.jsonl", folder / f"{name}.jsonl")
    return folder


def _check(
    folder: Path, *wanted: object, stricter: bool = False, json_output: bool = False, **options: object
) -> tuple[int, str]:
    services = services_at(str(folder / "sessions"), **({"json": True} if json_output else {}))
    if stricter:
        app = services.engine.app

        def classify(command: str, context: RiskContext) -> RiskReport:
            finding = Finding(rule="new.rule", level=Level.HIGH, reason=f"thought {HOSTILE} better", span=(0, 1))
            return replace(app.classify(command, context), level=Level.HIGH, findings=(finding,))

        services.engine.app = with_parts(app, classify=classify)
    out = MemorySink()
    code = asyncio.run(run_check(services, [str(name) for name in wanted], out=out, **options))  # type: ignore[arg-type]
    return code, out.text


def test_a_folder_of_logs_that_give_the_same_events(kept: Path, tmp_path: Path) -> None:
    code, text = _check(tmp_path, kept)
    assert (code, text) == (0, "13 goals in 3 logs: 13 the same\n")


def test_differences_are_told_by_goal_event_and_field_and_nothing_hostile_reaches_the_terminal(
    kept: Path, tmp_path: Path
) -> None:
    code, text = _check(tmp_path, kept / "opinions.jsonl", stricter=True)
    assert code == 1
    assert "opinions.jsonl · goal 2 · mild · different" in text
    assert "rating    command.rated #1 proposed: report.level: «medium» then, «high» now" in text
    assert "3 goals in 1 log: 0 the same, 3 different" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_json_is_one_object_a_goal(kept: Path, tmp_path: Path) -> None:
    code, text = _check(tmp_path, kept / "opinions.jsonl", stricter=True, json_output=True)
    rows = [json.loads(line) for line in text.splitlines()]
    assert code == 1
    assert [row["goal"] for row in rows] == [1, 2, 3]
    assert {row["outcome"] for row in rows} == {"different"}
    first = rows[1]["differences"][0]
    assert first.keys() == {"kind", "seq", "event", "which", "field", "then", "now"}
    assert first["kind"] == "rating"
    assert "\u202e" not in text


def test_update_rewrites_an_example_so_that_it_is_the_same_again_and_whole(kept: Path, tmp_path: Path) -> None:
    example = tmp_path / "opinions.jsonl"
    shutil.copyfile(kept / "opinions.jsonl", example)
    before = example.read_bytes()
    code, text = _check(tmp_path, example, stricter=True, update=True)
    assert code == 0
    assert "3 rewritten" in text
    lines = example.read_bytes().splitlines()
    assert example.read_bytes() != before
    hashes = [NO_LINE, *(line_hash(line) for line in lines)]
    assert [json.loads(line)["prev"] for line in lines] == hashes[:-1]
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
    ids = {json.loads(line)["goal_id"] for line in before.splitlines()}
    assert {json.loads(line)["goal_id"] for line in lines} == ids
    assert _check(tmp_path, example, stricter=True)[0] == 0
    assert _check(tmp_path, example)[0] == 1


def test_update_leaves_what_is_the_same_alone(kept: Path, tmp_path: Path) -> None:
    example = tmp_path / "tools.jsonl"
    shutil.copyfile(kept / "tools.jsonl", example)
    before = example.stat()
    assert _check(tmp_path, example, update=True)[0] == 0
    assert example.stat().st_mtime_ns == before.st_mtime_ns


def test_update_never_touches_the_session_folder(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    log = folder / "2030-01-02-chat.jsonl"
    shutil.copyfile(kept / "chat.jsonl", log)
    for wanted in ((), ("chat",), (log,), (folder,)):
        with pytest.raises(InvalidRequest, match="never one of the session folder"):
            _check(tmp_path, *wanted, update=True)
    assert log.read_bytes() == (kept / "chat.jsonl").read_bytes()
    assert _check(tmp_path, "chat")[0] == 0
    assert _check(tmp_path)[0] == 0  # the newest


def test_update_does_not_lose_lines_that_cannot_be_read(kept: Path, tmp_path: Path) -> None:
    example = tmp_path / "opinions.jsonl"
    example.write_bytes((kept / "opinions.jsonl").read_bytes() + b"{torn")
    with pytest.raises(InvalidRequest, match="cannot be read"):
        _check(tmp_path, example, stricter=True, update=True)
    assert example.read_bytes().endswith(b"{torn")


def test_a_log_of_which_nothing_can_be_checked_is_no_success(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = tmp_path / "newer.jsonl"
    newer.write_bytes((kept / "chat.jsonl").read_bytes().replace(b'{"v":1,', b'{"v":9,'))
    code, text = _check(tmp_path, newer)
    assert code == 1
    assert "3 goals in 1 log: 0 the same, 3 not checked" in text
    assert "it was recorded by a newer version" in text
    assert "nothing could be checked" in capsys.readouterr().err


def test_one_goal_and_a_goal_that_is_not_there(kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _check(tmp_path, kept / "chat.jsonl", goal=2)[1] == "1 goal in 1 log: 1 the same\n"
    assert _check(tmp_path, kept / "chat.jsonl", goal=9)[0] == 1
    assert "there is no goal 9" in capsys.readouterr().err


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(InvalidRequest, match="no logs"):
        _check(tmp_path, tmp_path / "none")


@pytest.mark.parametrize(
    "words",
    [
        "--run --check",
        "--update",
        "--from 2",
        "--keep-going",
        "--check --yes",
        "--approve low",
        "--check --update --goal 1 x",
    ],
)
def test_options_that_do_not_go_together(words: str, tmp_path: Path) -> None:
    options: argparse.Namespace = parse("sessions", ["replay", *words.split()])
    with pytest.raises(CoreError):
        asyncio.run(replay.run(services_at(str(tmp_path)), options))
