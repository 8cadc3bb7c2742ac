"""Whatever is done to a log is seen, with file and line."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.recording.chained_lines import line_hash
from tests.support.tries import tries


def rechained(lines: list[bytes], start: int = 0) -> list[bytes]:
    """What somebody who knows the format makes of a changed log: numbers and hashes fit again."""
    out = lines[:start]
    for line in lines[start:]:
        record = json.loads(line)
        record["prev"] = line_hash(out[-1]) if out else "0" * 64
        record["seq"] = len(out) + 1
        out.append(json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode())
    return out


def put(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def test_an_untouched_log_is_whole(place) -> None:
    place.write()
    checked = place.one()
    assert (checked.state, checked.events, checked.files, checked.problems) == ("whole", 8, 1, ())


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (lambda lines: lines.__setitem__(3, lines[3].replace(b"number 1", b"number 9")), 4, "was changed"),
        (lambda lines: lines.__delitem__(3), 4, "event 4 is missing"),
        (lambda lines: lines.__delitem__(slice(2, 5)), 3, "events 3 to 5 are missing"),
        (lambda lines: lines.insert(3, lines[3]), 5, "moved or added"),
        (lambda lines: lines.__setitem__(slice(2, 4), [lines[3], lines[2]]), 3, "missing before this line"),
        (lambda lines: lines.__delitem__(0), 1, "missing before this line"),
        (lambda lines: lines.__delitem__(-1), 7, "the end is missing: event 8"),
        (lambda lines: lines.__delitem__(slice(4, None)), 4, "the end is missing: event 5 to 8"),
        (lambda lines: lines.insert(3, b"not json"), 4, "is no record"),
        (lambda lines: lines.append(b"not json"), 9, "something was added"),
        (lambda lines: lines.append(b"[]"), 9, "something was added"),
        (lambda lines: lines.__setitem__(-1, lines[-1].replace(b"closed", b"cloned")), 8, "rewritten"),
        (lambda lines: lines.__setitem__(0, lines[0].replace(b'"test"', b'"best"')), 1, "was changed"),
        (
            lambda lines: lines.__setitem__(3, lines[3].replace(b'"session":"a"', b'"session":"b"')),
            4,
            "another session",
        ),
        (lambda lines: lines.__setitem__(3, lines[3].replace(b'"type"', b'"time":"","type"')), 4, "twice"),
        (lambda lines: lines.__setitem__(3, lines[3].replace(b'"seq":4', b'"seq":44')), 4, "missing before this line"),
    ],
)
def test_a_change_is_named(place, change, line, words) -> None:
    path = place.write()
    lines = path.read_bytes().splitlines()
    change(lines)
    put(path, lines)
    checked = place.verify()[0]  # one whose first line was changed is missed, too
    assert checked.state == "touched"
    assert any(each.line == line and words in each.text for each in checked.problems), checked.problems


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: rechained([*lines[:3], lines[3].replace(b"number 1", b"number 9"), *lines[4:]], 3),
        lambda lines: rechained([*lines[:3], *lines[4:]], 3),
        lambda lines: rechained([*lines[:3], lines[2], *lines[3:]], 3),
        lambda lines: rechained([*lines, lines[3]], len(lines)),
        lambda lines: rechained([lines[0].replace(b'"test"', b'"best"'), *lines[1:]]),
    ],
)
def test_a_change_by_one_who_chains_anew_is_seen_by_the_head(place, change) -> None:
    path = place.write()
    put(path, change(path.read_bytes().splitlines()))
    assert next(each.state for each in place.verify()) in ("touched", "unknown")


@settings(max_examples=tries(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_bytes_is_seen(place, data) -> None:
    if not place.files():
        place.write(2)
    (path,) = place.files()
    whole = path.read_bytes()
    start = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(start, min(len(whole), start + 700)))
    new = whole[:start] + data.draw(st.binary(max_size=40)) + whole[end:]
    try:
        path.write_bytes(new)
        assert all(each.sound for each in place.verify()) is (new == whole)
    finally:
        path.write_bytes(whole)


def test_a_copy_elsewhere_is_known_by_its_first_line(place, tmp_path) -> None:
    place.write()
    shutil.copytree(place.sessions, tmp_path / "copy")
    assert place.one(folder=str(tmp_path / "copy")).state == "whole"
    (copy,) = (tmp_path / "copy").glob("*.jsonl")
    put(copy, copy.read_bytes().splitlines()[:-1])
    assert place.one(folder=str(tmp_path / "copy")).state == "touched"
    assert place.one().state == "whole"


def test_a_log_without_a_head_fails_and_says_so(place, tmp_path) -> None:
    place.write(heads=None)
    checked = place.one()
    assert not checked.sound
    assert "no stored head hash" in checked.problems[0].text


def test_going_on_with_a_touched_log_does_not_make_it_whole(place) -> None:
    path = place.write()
    put(path, path.read_bytes().splitlines()[:-1])
    recorder = place.open()
    assert "will not verify" in recorder.repairs[0]
    recorder.close()
    assert "the end is missing" in place.one().problems[0].text
    place.write()
    assert not place.one().sound


def test_going_on_with_a_log_without_head_does_not_make_it_known(place) -> None:
    place.write(heads=None)
    place.write()
    assert "no stored head covered its first 8 events" in place.one().problems[0].text


def test_a_log_that_is_gone_is_missed(place) -> None:
    place.write(session_id="a")
    path = place.write(session_id="b")
    path.unlink()
    whole, gone = place.verify()
    assert (whole.session_id, whole.state) == ("a", "whole")
    assert (gone.session_id, gone.state) == ("b", "gone")
    assert "the stored head counts 8 events" in gone.problems[0].text


def test_an_emptied_log_is_missed(place) -> None:
    path = place.write()
    path.write_bytes(b"")
    assert not any(checked.sound for checked in place.verify())


def test_sessions_of_one_id_in_two_folders_have_a_head_each(place, tmp_path) -> None:
    place.write()
    place.write(folder=str(tmp_path / "other"))
    assert place.one().state == place.one(folder=str(tmp_path / "other")).state == "whole"
    assert len(os.listdir(place.heads)) == 1


def test_heads_are_private(place) -> None:
    place.write()
    (head,) = os.scandir(place.heads)
    assert head.stat().st_mode & 0o777 == 0o600
    assert os.stat(place.heads).st_mode & 0o777 == 0o700


def test_a_log_from_before_there_were_chains_says_so(place) -> None:
    path = place.write()
    old = [json.loads(line) for line in path.read_bytes().splitlines()]
    put(path, [json.dumps({key: value for key, value in line.items() if key != "prev"}).encode() for line in old])
    checked = place.verify()[0]
    assert "recorded before logs were chained" in checked.problems[0].text
    assert len(checked.problems) == 2  # it is said once, and that no head is known
