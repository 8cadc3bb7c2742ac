"""Lines of a log are read in a short way where they are as we write them; it gives what the long way gives."""

import json
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol import records

REPLAYS = Path(__file__).parents[2] / "replays"
LINES = [line for log in sorted(REPLAYS.rglob("*.jsonl")) for line in log.read_bytes().splitlines(keepends=True)][::7]


def both(line: bytes) -> tuple[object, object]:
    """What both ways make of a line; errors as their kind."""

    def tried(read) -> object:
        try:
            return read(line)
        except (msgspec.MsgspecError, ValueError) as error:
            return type(error)

    return tried(records.decode), tried(records._whatever_it_holds)


def test_lines_of_recorded_sessions_are_read_the_short_way():
    assert len(LINES) > 100
    for line in LINES:
        record = records._whatever_it_holds(line)  # a log of an older version may lack fields that are written today
        assert records._as_written(records.encode(record)) == record, line


@given(st.sampled_from(LINES), st.data())
@settings(deadline=None)
def test_a_changed_line_gives_the_same_both_ways(line, data):
    at = data.draw(st.integers(0, len(line)))
    new = data.draw(
        st.sampled_from([b"", b'"', b" ", b"\\u0041", b"{", b"1", b',"later":1', b"\xff", b"null", b"1e9", b"\n"])
    )
    quick, slow = both(line[:at] + new + line[at + data.draw(st.integers(0, 3)) :])
    assert quick == slow


@given(st.sampled_from(LINES), st.sampled_from(["repeated", "more", "order", "spaces", "escapes"]))
@settings(deadline=None)
def test_the_same_in_other_writing_gives_the_same_both_ways(line, how):
    fields = json.loads(line)
    changed = {
        "repeated": line.rstrip()[:-1] + b',"seq":7}\n',
        "more": json.dumps({**fields, "later": {"x": [1]}}, separators=(",", ":")).encode() + b"\n",
        "order": json.dumps(dict(reversed(fields.items())), separators=(",", ":"), ensure_ascii=False).encode() + b"\n",
        "spaces": json.dumps(fields).encode() + b"\n",
        "escapes": json.dumps(fields, separators=(",", ":")).encode() + b"\n",
    }[how]
    quick, slow = both(changed)
    assert quick == slow
