"""Scripts from files, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.protocol.errors import ConfigError
from agent.protocol.messages import ToolCall
from agent.protocol.outcomes import Usage
from agent.providers.scripted import Scripted, ScriptedError, ScriptedReply, load_script
from tests.support.provider_harness import ask, run, text_of

TOML = """
[[reply]]
text = "hello"
delay = 0.0
chunk_size = 3
usage = { input_tokens = 3, cost = 0.5 }

[[reply]]
json = { mode = "command", command = "printf 'ü\\n'" }

[[reply]]
tool_calls = [{ id = "a", name = "ls", arguments = { path = "." } }]
finish = "length"
model = "m"

[[reply]]
error = { status = 429, message = "slow down", retry_after = 2 }
"""


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text(TOML)
    assert load_script(str(path)) == (
        ScriptedReply(text="hello", chunk_size=3, usage=Usage(input_tokens=3, cost=0.5)),
        ScriptedReply(json={"mode": "command", "command": "printf 'ü\n'"}),
        ScriptedReply(tool_calls=(ToolCall(id="a", name="ls", arguments={"path": "."}),), finish="length", model="m"),
        ScriptedReply(error=ScriptedError(status=429, message="slow down", retry_after=2)),
    )


@pytest.mark.parametrize("wrap", [lambda replies: replies, lambda replies: {"reply": replies}])
def test_json(tmp_path: Path, wrap) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(wrap([{"json": {"a": "ü"}}])))
    assert text_of(run(Scripted.from_file(str(path)), ask())) == '{"a": "ü"}'


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.toml", b"", "has no replies"),
        ("a.toml", b"[[reply]\n", "cannot be used"),
        ("a.toml", b"\xff\xfe", "cannot be used"),
        ("a.toml", b"[[reply]]\ntxet = 'x'\n", "txet"),
        ("a.toml", b"[[reply]]\ntext = 3\n", r"reply\[0\]\.text"),
        ("a.toml", b"[[reply]]\ntext = 'x'\njson = 1\n", "either text or json"),
        ("a.toml", b"[[reply]]\ndelay = -1\n", "delay"),
        ("a.toml", b"[[reply]]\ndelay = nan\n", "delay"),
        ("a.toml", b"reply = 3\n", "cannot be used"),
        ("a.json", b"3", "cannot be used"),
        ("a.json", b"[" * 100_000, "cannot be used"),
        ("a.json", b"\x00", "cannot be used"),
    ],
)
def test_bad_scripts(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=complaint) as caught:
        load_script(str(path))
    assert str(path) in caught.value.message


def test_unreadable_scripts(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.toml"):
        with pytest.raises(ConfigError, match="cannot read the script"):
            load_script(str(path))
