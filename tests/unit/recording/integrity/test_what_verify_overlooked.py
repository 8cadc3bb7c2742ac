"""Changes that leave every event as it was, lines that only readers take for events, and logs in each other's place."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from msgspec import structs

from agent.protocol.errors import InvalidState, RecordingError
from agent.protocol.events.session import Notice, SessionPruned
from agent.recording.integrity import verify
from agent.recording.integrity.heads import read_heads
from agent.recording.integrity.log_proof import HeadWriter
from agent.recording.integrity.rewriting import bury_session, rewrite_session
from agent.recording.naming import staged_path
from agent.recording.reader import list_sessions, read_session
from tests.support.log_place import shouted, told

SMALL = 1500


@pytest.mark.parametrize("which", [0, 1, -1])
def test_a_line_end_that_was_taken_is_missed(place, which) -> None:
    place.write(12, rotate_bytes=SMALL)
    path = place.files()[which]
    path.write_bytes(path.read_bytes()[:-1])
    checked = place.one()
    assert checked.state == "touched"
    assert checked.problems[0].file == str(path)
    assert "line end" in checked.problems[0].text


class _Killed(BaseException):
    pass


@pytest.mark.parametrize("prepared", [True, False], ids=["next file is there", "its name was lost"])
@pytest.mark.parametrize("cut", [1, 2, 60])
def test_a_rotation_that_was_torn_goes_on_and_is_whole(place, cut, prepared) -> None:
    recorder = place.open(rotate_bytes=0)
    place.fill(recorder, 3)
    recorder._rotate_bytes = 1
    opened: list = []
    prepare, write = recorder._log.prepare_next, recorder._log.append

    def noted():
        opened.append(prepare())
        return opened[0]

    def torn(line: bytes, *, sync: bool) -> None:
        if b"log.rotated" in line:
            os.write(recorder._log._file._fd, line[:-cut])
            raise _Killed
        write(line, sync=sync)

    recorder._log.prepare_next, recorder._log.append = noted, torn
    with pytest.raises(_Killed):
        recorder.append(Notice(text="never"))
    opened[0].close()
    place.crash(recorder)
    if not prepared:
        os.unlink(opened[0].path)
    assert place.one().state == "crash"
    place.write(2, rotate_bytes=0)
    assert place.one().state == "whole", place.one().problems


@pytest.mark.parametrize(
    "forged", [{"type": "notice", "text": "forged"}, {"seq": 0, "type": "notice", "text": "forged"}]
)
def test_what_only_readers_take_for_an_event_is_no_torn_line(place, forged) -> None:
    recorder = place.open()
    place.fill(recorder)
    recorder._proof.before(structs.replace(recorder._link, seq=recorder._link.seq + 1))  # killed just now
    place.crash(recorder)
    assert place.one().sound
    (path,) = place.files()
    with path.open("ab") as file:
        file.write(json.dumps(forged).encode() + b"\n")
    assert "forged" in told(place)
    assert any("was added" in each.text for each in place.one().problems)
    place.write()
    assert not place.one().sound


@pytest.mark.parametrize(
    "forged",
    [b'{"type":"notice","text":"forged \xff"}', b'{"type":"notice","x":' + b"[" * 5000 + b"]" * 5000 + b"}"],
    ids=["no UTF-8", "deep"],
)
def test_an_object_that_only_more_patient_readers_understand_is_no_torn_line(place, forged) -> None:
    recorder = place.open()
    place.fill(recorder)
    recorder._proof.before(structs.replace(recorder._link, seq=recorder._link.seq + 1))  # killed just now
    place.crash(recorder)
    (path,) = place.files()
    with path.open("ab") as file:
        file.write(forged + b"\n")
    assert any("was added" in each.text for each in place.one().problems)


def test_a_file_added_behind_a_tombstone_is_seen(place) -> None:
    place.write(12, rotate_bytes=SMALL)
    second = place.files()[1]
    kept = second.read_bytes()
    (session,) = list_sessions(place.sessions)
    bury_session(session, place.heads, lambda _: SessionPruned(before="", events=0, bytes=0), now="2026")
    assert place.one().state == "whole"
    second.write_bytes(kept)
    assert len(list(read_session(list_sessions(place.sessions)[0]))) > 1
    assert not place.one().sound


def test_a_copy_beside_the_log_is_seen(place) -> None:
    path = place.write()
    shutil.copy(path, path.with_name(path.name.replace(path.name[:10], "2031-01-01")))
    assert [each.state for each in place.verify()] == ["whole", "touched"]
    assert "once more" in place.verify()[1].problems[0].text


def test_a_log_of_the_same_id_from_elsewhere_does_not_stand_in(place, tmp_path) -> None:
    path = place.write()
    other = place.write(folder=str(tmp_path / "other"))
    shutil.copy(other, path)
    checked = place.one(folder=str(tmp_path / "other"))
    assert checked.state == "whole"
    states = [each.state for each in place.verify()]
    assert states == ["whole", "gone"]
    gone = verify.lost_logs(place.sessions, place.heads, place.verify()[:1], "a")
    assert [each.state for each in gone] == ["gone"]


def test_what_another_folder_has_announced_puts_nothing_in_place_here(place, tmp_path) -> None:
    place.write()
    other = str(tmp_path / "other")
    theirs = place.write(folder=other)
    writer = HeadWriter(place.heads, "a", other)
    log = next(head for head in read_heads(place.heads, "a") if head.folder != "").log
    logs = {head.log for head in read_heads(place.heads, "a")}
    assert log in logs
    end = place.one(folder=other).end
    writer.announce(place.one(folder=other).log, "f" * 64, end, "")  # killed while it was rewritten
    writer.close()
    assert theirs.exists()
    (path,) = place.files()
    whole = path.read_bytes()
    Path(staged_path(str(path))).write_bytes(whole[: len(whole) // 2])  # killed here, before anything was announced
    assert place.one().state == "whole"
    place.write()
    assert path.read_bytes().startswith(whole)
    assert place.one().state == "whole"


def test_a_log_that_is_rewritten_under_the_walk_is_walked_again(place, monkeypatch) -> None:
    place.write(12, rotate_bytes=SMALL)
    (session,) = list_sessions(place.sessions)
    once, walks = verify._verify_once, []

    def rewritten_meanwhile(which, heads, signatures):
        checked = once(which, heads, signatures)
        walks.append(checked)
        if len(walks) > 1:
            return checked
        monkeypatch.setattr(verify, "_verify_once", once)
        rewrite_session(session, place.heads, shouted, note=lambda _: Notice(text="done"), now="2026")
        monkeypatch.setattr(verify, "_verify_once", rewritten_meanwhile)
        broken = verify.Problem(session.path, 1, "half old, half new")
        return structs.replace(checked, problems=(broken,))

    monkeypatch.setattr(verify, "_verify_once", rewritten_meanwhile)
    assert verify.verify_session(session, place.heads).sound
    assert len(walks) == 2


def test_a_log_from_before_there_were_chains_is_unknown_rather_than_touched(place) -> None:
    path = place.write(heads=None)
    old = [json.loads(line) for line in path.read_bytes().splitlines()]
    lines = [json.dumps({key: value for key, value in line.items() if key != "prev"}) for line in old]
    path.write_text("\n".join(lines) + "\n")
    assert place.one().state == "unknown"
    path.write_text("\n".join([*lines[:3], *lines[4:]]) + "\n")
    assert not place.one().sound


def test_a_pipe_in_the_place_of_a_new_text_holds_nothing_up(place) -> None:
    path = place.write()
    writer = HeadWriter(place.heads, "a", place.sessions)
    checked = place.one()
    writer.announce(checked.log, "f" * 64, checked.end, "")
    writer.close()
    os.mkfifo(staged_path(str(path)))
    place.one()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_log_that_root_rewrites_stays_its_owners(place) -> None:
    path = place.write()
    os.chown(path, 12345, 12345)
    (session,) = list_sessions(place.sessions)
    rewrite_session(session, place.heads, shouted, note=lambda _: Notice(text="done"), now="2026")
    assert "NUMBER 1" in told(place)
    info = path.stat()
    assert (info.st_uid, info.st_gid, info.st_mode & 0o777) == (12345, 12345, 0o600)


def test_a_file_with_another_name_is_not_written_to(place, tmp_path) -> None:
    path = place.write()
    precious = tmp_path / "precious"
    precious.write_text("root:x:0:0\n")
    path.unlink()
    os.link(precious, path)
    with pytest.raises(RecordingError, match="another hard link"):
        place.open()
    assert precious.read_text() == "root:x:0:0\n"


def test_who_only_looks_whether_a_log_is_in_use_stops_no_writer(place) -> None:
    path = place.write()
    fd = os.open(path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH)
    timer = threading.Timer(0.015, os.close, (fd,))
    timer.start()
    place.write()
    timer.join()
    assert place.one().state == "whole"


@pytest.mark.parametrize("bury", [False, True])
def test_a_log_that_went_on_since_it_was_listed_is_rewritten_with_all_its_files(place, bury) -> None:
    place.write(12, rotate_bytes=SMALL)
    (listed,) = list_sessions(place.sessions)
    place.write(12, rotate_bytes=SMALL)
    (now,) = list_sessions(place.sessions)
    assert len(now.paths) > len(listed.paths)
    if bury:
        bury_session(listed, place.heads, lambda _: SessionPruned(before="", events=0, bytes=0), now="2026")
        assert len(place.files()) == 1
    else:
        rewrite_session(listed, place.heads, shouted, note=lambda _: Notice(text="done"), now="2026")
        assert not [text for text in told(place) if text.startswith("number")]
    assert place.one().sound


def test_a_log_that_went_on_since_it_was_listed_is_verified_with_all_its_files(place) -> None:
    place.write(12, rotate_bytes=SMALL)
    (listed,) = list_sessions(place.sessions)
    place.write(12, rotate_bytes=SMALL)
    assert verify.verify_session(listed, place.heads).state == "whole"
    place.files()[-1].unlink()
    assert not verify.verify_session(listed, place.heads).sound


def test_a_session_that_went_on_since_it_was_chosen_is_not_pruned(place) -> None:
    from agent.audit.retention import Chosen, prune, survey

    place.write()
    (listed,) = list_sessions(place.sessions)
    looked_at = survey(listed)
    place.write()
    with pytest.raises(InvalidState, match="went on"):
        prune(Chosen(survey=looked_at, reason="old"), place.heads, now="2026")
    assert "number 1" in told(place)
