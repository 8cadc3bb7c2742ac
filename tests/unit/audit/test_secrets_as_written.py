"""Secrets are found in a log in whatever way a program has written its lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from agent.audit.scrubbing import Found, find_secrets
from agent.recording.reader import SessionFile
from agent.redaction.known_values import encoded_forms
from agent.redaction.redactor import SecretRedactor

KNOWN = {
    "API_KEY": "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1J",
    "SHORT": "hunter2",
    "SPOKEN": 'it\'s "so" long & strange/ü\nwith lines',
    "PLAIN": "0a1b2c3d4e5f",
}
REDACTOR = SecretRedactor(KNOWN, key=b"k")


def record(**fields: Any) -> dict[str, Any]:
    head = {
        "v": 1,
        "seq": 7,
        "time": "2026-03-04T10:20:00.001000Z",
        "session": "102000-q7rk2z",
        "run": "6f03160e",
        "goal_id": "",
    }
    return {**head, "prev": "0f" * 32, "type": "notice", **fields}


def ours(text: str) -> bytes:
    try:
        return msgspec.json.encode(record(text=text))
    except UnicodeEncodeError:
        return theirs(text)


def theirs(text: str) -> bytes:
    return json.dumps(record(text=text)).encode()


def slashed(text: str) -> bytes:
    return json.dumps(record(text=text)).replace("/", "\\/").replace("&", "\\u0026").encode()


def deep(text: str) -> bytes:
    return json.dumps(record(args=[{"a": {text: [text[::-1]]}}]), ensure_ascii=False).encode("utf-8", "surrogatepass")


def no_record(text: str) -> bytes:
    return text.replace("\n", "\\n").encode("utf-8", "surrogatepass")


def broken(text: str) -> bytes:
    return theirs(text)[:-2]


def undecodable(text: str) -> bytes:
    return json.dumps(record(text=text, more="\ud800")).encode()


WRITERS: tuple[Callable[[str], bytes], ...] = (ours, theirs, slashed, deep, no_record, broken, undecodable)


def found(lines: list[bytes], tmp_path: Path) -> Found:
    path = tmp_path / "2026-03-04-a.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return find_secrets(SessionFile(str(path), "a", "2026-03-04", 0, 0.0), REDACTOR)


def test_known_values_are_found_in_all_their_forms(tmp_path: Path) -> None:
    forms = [form for value in KNOWN.values() for form in sorted(encoded_forms(value))]
    wrapped = [
        "".join(f"{form[at : at + 40]}\r\n" for at in range(0, len(form), 40)) for form in forms if len(form) > 40
    ]
    envelopes = [json.dumps(record(run="0a1b2c3d4e5f"), separators=(",", ":")).encode()]
    for write in WRITERS:
        lines = [write(f"x{form}y") for form in [*forms, *wrapped]] + envelopes
        assert found(lines, tmp_path).lines > len(lines) * 0.5, write.__name__


def test_fields_that_are_secret_by_name_and_keys_that_stand_twice(tmp_path: Path) -> None:
    token = "ghp_" + "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"
    lines = [
        b'{"type":"notice","api_\\u006bey":"zT9p4Qw7Lk2xVb"}',
        '{"type":"notice","api_\u212aey":"zT9p4Qw7Lk2xVb"}'.encode(),
        '{"type":"notice","pa\u017f\u017fword":"zT9p4Qw7Lk2xVb"}'.encode(),
        b'{"type":"notice","input_tokens":12,"output_tokens":3}',
        b'{"type":"notice","x_tokens":"zT9p4Qw7Lk2xVb"}',
        b'{"type":"notice","text":"%s","text":"hunter2"}' % token.encode(),
        b'{"type":"notice","text":"hunter2","text":"%s"}' % token.encode(),
    ]
    assert {place.line for place in found(lines, tmp_path).places} >= {1, 2, 3, 6, 7}
