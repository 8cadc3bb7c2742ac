"""The logs that the benchmarks are made on are logs like any other."""

import hashlib
from pathlib import Path

from agent.protocol.events.session import SessionFinished
from agent.recording.fold import goals
from agent.recording.reader import BadLine, read_log
from benchmarks.audit_logs import FIRST_HASH, write_sessions


def test_each_line_is_a_record_chained_to_the_one_before(tmp_path):
    written = write_sessions(str(tmp_path), goals=300, seed=7, crashes=0.3)
    paths = sorted(tmp_path.iterdir())
    assert len(paths) == written.sessions and sum(path.stat().st_size for path in paths) == written.bytes
    found = events = crashed = 0
    for path in paths:
        before = FIRST_HASH
        for line in path.read_bytes().splitlines():
            assert f'"prev":"{before}"'.encode() in line
            before = hashlib.sha256(line).hexdigest()
        records = list(read_log(str(path)))
        assert not any(isinstance(record, BadLine) for record in records)
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        found += len(goals(records))
        events += len(records)
        crashed += not isinstance(records[-1].event, SessionFinished)
    assert (found, events) == (300, written.events) and 0 < crashed < written.sessions


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    texts = []
    for name in ("a", "b"):
        write_sessions(str(tmp_path / name), goals=40, seed=3)
        texts.append([path.read_bytes() for path in sorted(Path(tmp_path / name).iterdir())])
    assert texts[0] == texts[1]
