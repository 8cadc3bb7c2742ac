"""`sessions judge` over logs that the program really wrote."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agent.cli import entry as cli
from tests.support.session_world import SessionWorld


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("judge")
    with pytest.MonkeyPatch.context() as patch:
        world = SessionWorld(base, patch, "unused")

        async def main() -> None:
            for name, lines in (
                ("one", ("!echo first", "!ls", "!rm -rf build")),
                ("two", ("!echo \x1b[31mred", "!ls")),
            ):
                controller = world.controller(name)
                await world.type(controller, *lines)
                await controller.close()
            await world.services.shutdown()

        asyncio.run(main())
    return world.logs


@pytest.fixture
def judge(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Any:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "AGENT_SESSION_DIR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = cli.main(["sessions", "judge", "--session-dir", str(logs), *arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_nothing_has_changed_since(judge: Any) -> None:
    code, out, err = judge()
    assert (code, err) == (0, "")
    assert out == "5 commands in 2 sessions: 0 stricter, 0 looser, 5 same\n"


def test_a_line_a_command(judge: Any) -> None:
    _, out, _ = judge("--json")
    found = rows(out)
    assert [(row["session"], row["command"]) for row in found][:3] == [
        ("one", "echo first"),
        ("one", "ls"),
        ("one", "rm -rf build"),
    ]
    assert found[2]["then"] == {
        "level": "medium", "verdict": "ask", "rule": "level-medium", "decision": "declined", "by": "nobody", "ran": False,
    }  # fmt: skip
    assert found[0]["then"]["ran"] is True
    assert {row["change"] for row in found} == {"same"}
    assert {row["now"]["facts"] for row in found} == {"then"}
    assert "\x1b" not in out


def test_a_policy_before_it_is_put_in_force(judge: Any, tmp_path: Path) -> None:
    file = tmp_path / "new.toml"
    file.write_text('[[rule]]\nname="no-ls"\naction="deny"\nprogram="ls"\n')
    code, out, _ = judge("--policy", str(file))
    assert code == 0
    assert "2 stricter, 0 looser, 3 same" in out
    assert "2 commands would be refused now, and ran then" in out
    assert "new.toml:no-ls" in out
    _, out, _ = judge("--policy", str(file), "--only", "changed", "--json")
    assert [row["command"] for row in rows(out)] == ["ls", "ls"]
    assert all(row["refused_now"] for row in rows(out))


def test_what_would_run_unasked(judge: Any) -> None:
    _, out, _ = judge("--approve", "medium")
    assert "1 command would run unasked now" in out
    assert "rm -rf build" in out
    _, out, _ = judge("--approve", "medium", "--only", "stricter")
    assert "rm -rf build" not in out


def test_hostile_text_is_no_danger_to_the_terminal(judge: Any, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text('[[rule]]\nname="no-echo"\naction="deny"\nprogram="echo"\n')
    _, out, _ = judge("--policy", str(file))
    assert "red" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("words", "count"),
    [(("one",), 3), (("last",), 2), (("-2",), 3), (("one", "two"), 5), (("one", "one"), 3), (("tw",), 2)],
)
def test_which_sessions(judge: Any, words: tuple[str, ...], count: int) -> None:
    _, out, _ = judge("--json", *words)
    assert len(rows(out)) == count


def test_a_file_and_a_folder(judge: Any, logs: Path) -> None:
    (path,) = logs.glob("*-one.jsonl")
    assert len(rows(judge("--json", str(path))[1])) == 3
    assert len(rows(judge("--json", str(logs))[1])) == 5


@pytest.mark.parametrize("words", [("nowhere",), ("/nowhere/x.jsonl",), ("--jobs", "0"), ("--policy", "/nowhere.toml")])
def test_what_cannot_be_is_an_error(judge: Any, words: tuple[str, ...]) -> None:
    code, out, err = judge(*words)
    assert code != 0
    assert not out
    assert err.startswith("agent-shell: ")


def test_a_policy_with_a_mistake_is_not_judged_by(judge: Any, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text("[[rule]]\nname=7\n")
    code, out, err = judge("--policy", str(file))
    assert (code, out) == (3, "")
    assert "bad.toml" in err


def test_facts_of_today_are_said_to_be(judge: Any) -> None:
    _, _, err = judge("--facts")
    assert "what the disk says today" in err


def test_no_logs(judge: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert judge(str(tmp_path / "empty"))[1] == "no commands in 0 sessions\n"


def test_a_broken_line_is_told(judge: Any, logs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "2030-01-01-copy.jsonl"
    (path,) = logs.glob("*-one.jsonl")
    copy.write_bytes(path.read_bytes() + b"rubbish\n")
    code, out, err = judge("--json", str(copy))
    assert (code, len(rows(out))) == (0, 3)
    assert "1 line could not be read" in err
