"""What the quick look over many lines leaves out holds nothing: the same is found with it as without."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.audit.scrubbing import find_secrets
from agent.recording.reader import SessionFile
from agent.redaction.detector_table import DETECTORS
from agent.redaction.known_values import encoded_forms
from agent.redaction.named_values import ANCHORS
from agent.redaction.prefilter import Prefilter
from agent.redaction.redactor import SecretRedactor
from tests.support.redaction_corpus import secrets
from tests.support.redaction_harmless import harmless
from tests.support.tries import sampled, some

KNOWN = {
    "API_KEY": "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1J",
    "SHORT": "hunter2",
    "SPOKEN": 'it\'s "so" long & strange/ü\nwith lines',
    "PLAIN": "0a1b2c3d4e5f",
}
REDACTOR = SecretRedactor(KNOWN, key=b"k")
SIEVE = Prefilter(REDACTOR)


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


def found(lines: list[bytes], tmp_path: Path, prefilter: Prefilter | None, redactor: SecretRedactor = REDACTOR) -> Any:
    path = tmp_path / "2026-03-04-a.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return find_secrets(SessionFile(str(path), "a", "2026-03-04", 0, 0.0), redactor, prefilter)


@sampled
def test_the_kept_corpus_is_found_in_whatever_way_it_is_written(tmp_path: Path) -> None:
    texts = some([case.text for case in secrets(3)][::2], 2)
    for number, write in enumerate(WRITERS):
        lines = [write(text) for text in texts[number % 2 :: 2]]
        assert found(lines, tmp_path, SIEVE) == found(lines, tmp_path, None), write.__name__


def test_known_values_are_found_in_all_their_forms(tmp_path: Path) -> None:
    forms = [form for value in KNOWN.values() for form in sorted(encoded_forms(value))]
    wrapped = [
        "".join(f"{form[at : at + 40]}\r\n" for at in range(0, len(form), 40)) for form in forms if len(form) > 40
    ]
    envelopes = [json.dumps(record(run="0a1b2c3d4e5f"), separators=(",", ":")).encode()]
    for write in WRITERS:
        lines = [write(f"x{form}y") for form in [*forms, *wrapped]] + envelopes
        slow = found(lines, tmp_path, None)
        assert slow.lines > len(lines) * 0.5
        assert found(lines, tmp_path, SIEVE) == slow, write.__name__


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
    slow = found(lines, tmp_path, None)
    assert slow.lines >= 5
    assert found(lines, tmp_path, SIEVE) == slow


def pieces() -> list[str]:
    """Beginnings, ends and middles of secrets, and what may stand between."""
    between = [
        " ",
        "\n",
        "\r\n",
        "\\",
        "\\n",
        '"',
        "'",
        "''",
        '""',
        "=",
        ": ",
        "/",
        "@",
        "$",
        "%",
        "\x1b[1m",
        "é",
        "\u212a",
        "\u017f",
        "\t",
    ]
    words = [*ANCHORS, *(anchor for detector in DETECTORS for anchor in detector.anchors)]
    values = [
        "hunter2",
        "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E",
        "0f" * 20,
        "A" * 20,
        "123456789",
        "curl -b",
        "is ",
        "%41%42%43",
        "\\x41\\x42",
    ]
    return [*between, *between, *words, *(word.upper() for word in ANCHORS), *values, *values, *values, *KNOWN.values()]


def made(dice: random.Random) -> Iterator[bytes]:
    parts = pieces()
    whole = [case.text for case in secrets(5)]
    while True:
        texts = [dice.choice(parts) for _ in range(dice.randrange(1, 9))]
        if dice.random() < 0.3:
            text = dice.choice(whole)
            cut = dice.randrange(len(text) + 1)
            texts.insert(dice.randrange(len(texts)), text[:cut] + dice.choice(parts) + text[cut:])
        yield dice.choice(WRITERS)("".join(texts))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_put_together_by_chance_is_found_as_without_it(tmp_path: Path, seed: int) -> None:
    lines = [line for line, _ in zip(made(random.Random(seed)), range(400), strict=False)]
    slow = found(lines, tmp_path, None)
    assert slow.lines > 20
    assert found(lines, tmp_path, SIEVE) == slow


def test_most_ordinary_lines_are_left_out() -> None:
    lines = [ours(text) for _, text in harmless(each=3) if not any(word in text.lower() for word in ANCHORS)]
    left = SIEVE.candidates(b"\n".join(lines) + b"\n")
    assert left is not None and len(left) < len(lines) / 3
    clean = [ours(f"line {number} of a listing: src/shop/cart.py 0644 2026-03-04") for number in range(50)]
    assert SIEVE.candidates(b"\n".join(clean)) == set()


def test_with_personal_data_every_line_is_looked_through() -> None:
    assert Prefilter(SecretRedactor({}, key=b"k", personal=True)).candidates(b"{}\n") is None
    assert Prefilter(SecretRedactor({"A": "bad\udcffbytes"}, key=b"k")).candidates(b"{}\n") is None


@pytest.mark.few(1)
@pytest.mark.parametrize("tail", [b"", b"\n", b"\n\n"])
def test_lines_of_any_length_keep_their_numbers(tmp_path: Path, tail: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent.audit import scrubbing
    from agent.recording import chained_lines as reading

    monkeypatch.setattr(scrubbing, "MAX_LINE", 1000)
    monkeypatch.setattr(reading, "_PIECE", 100)
    dice = random.Random(4)
    texts = [dice.choice(["a", "token=zT9p4Qw7Lk2xVb "]) * dice.randrange(1, 3000 // 20) for _ in range(60)]
    path = tmp_path / "2026-03-04-a.jsonl"
    path.write_bytes("\n".join(texts).encode() + tail)
    session = SessionFile(str(path), "a", "2026-03-04", 0, 0.0)
    slow = find_secrets(session, REDACTOR)
    assert slow.lines > 20
    assert find_secrets(session, REDACTOR, SIEVE) == slow
    assert b"".join(reading.raw_pieces(str(path), 1000)) == path.read_bytes()
