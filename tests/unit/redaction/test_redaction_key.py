"""One key a folder, private, and never a reason to stop."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from agent.recording.reader import list_sessions
from agent.redaction.key import NAME, folder_key
from agent.redaction.redactor import SecretRedactor


def test_labels_are_the_same_in_every_session_of_a_folder(tmp_path) -> None:
    first, second = (SecretRedactor({}, key=folder_key(str(tmp_path))) for _ in range(2))
    assert first.redact("password=hunter2") == second.redact("password=hunter2")
    assert stat.S_IMODE(os.stat(tmp_path / NAME).st_mode) == 0o600
    assert os.listdir(tmp_path) == [NAME]
    assert list_sessions(str(tmp_path)) == []


def test_processes_that_start_together_agree(tmp_path) -> None:
    keys: list[bytes] = []
    threads = [threading.Thread(target=lambda: keys.append(folder_key(str(tmp_path)))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(keys)) == 1


@pytest.mark.parametrize("what", ["link", "public", "short", "folder", "fifo"])
def test_a_key_that_cannot_be_trusted_is_not_used(tmp_path, what: str) -> None:
    place = tmp_path / NAME
    if what == "link":
        (tmp_path / "other").write_bytes(b"x" * 16)
        os.chmod(tmp_path / "other", 0o600)
        place.symlink_to(tmp_path / "other")
    elif what == "folder":
        place.mkdir()
    elif what == "fifo":
        os.mkfifo(place, 0o600)
    else:
        place.write_bytes(b"x" * (16 if what == "public" else 3))
        os.chmod(place, 0o644 if what == "public" else 0o600)
    assert len({folder_key(str(tmp_path)), folder_key(str(tmp_path)), b"x" * 16}) == 3


def test_a_folder_that_is_not_there(tmp_path) -> None:
    first = folder_key(str(tmp_path / "none" / "deeper"))
    assert folder_key(str(tmp_path / "none" / "deeper")) == first
    assert (tmp_path / "none" / "deeper").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").write_text("")
    assert folder_key(str(tmp_path / "file")) != folder_key(str(tmp_path / "file"))
    assert len(folder_key("bad\0name")) == 16
