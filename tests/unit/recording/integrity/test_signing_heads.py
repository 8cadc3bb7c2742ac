"""Signatures: made at goal and session ends, checked with the public half, and of no use to who changed the log."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.protocol.errors import ConfigError
from agent.protocol.events.session import Notice
from agent.recording.chained_lines import Link, line_hash
from agent.recording.integrity.log_proof import HeadWriter
from agent.recording.integrity.rewriting import rewrite_session
from agent.recording.integrity.signing import make_key, signatures_with, signer_with
from agent.recording.integrity.verify import Checked
from agent.recording.reader import list_sessions
from tests.support.log_place import shouted

pytest.importorskip("cryptography", reason="the extra `sign` is not installed")


@pytest.fixture
def key(tmp_path: Path) -> str:
    path = str(tmp_path / "sign.pem")
    make_key(path)
    return path


def signed(place, key: str, **more) -> Path:
    return place.write(signer=signer_with(key, place.heads), **more)


def check(place, key: str) -> Checked:
    return place.one(signatures=signatures_with(f"{key}.pub", place.heads))


def test_the_folder_of_a_key_is_made_and_private(tmp_path: Path) -> None:
    make_key(str(tmp_path / "config" / "agent-shell" / "sign.pem"))
    assert (tmp_path / "config" / "agent-shell" / "sign.pem.pub").exists()
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_dir()} == {0o700}


def test_a_key_is_private_and_never_written_over(key: str) -> None:
    assert os.stat(key).st_mode & 0o777 == 0o600
    assert "PRIVATE" not in Path(f"{key}.pub").read_text()
    before = Path(key).read_bytes()
    with pytest.raises(ConfigError):
        make_key(key)
    assert Path(key).read_bytes() == before


def test_a_signed_session_verifies(place, key: str) -> None:
    path = signed(place, key)
    checked = check(place, key)
    assert (checked.state, checked.signed, checked.problems) == ("whole", 8, ())
    kept = [json.loads(line) for line in (Path(place.heads) / "a~signed.jsonl").read_text().splitlines()]
    assert [each["seq"] for each in kept] == [7, 8]  # the goal's end, the session's end
    secret = Path(key).read_text().splitlines()[1]
    assert all(secret not in file.read_text() for file in [path, *Path(place.heads).iterdir()])


def test_whoever_forges_log_and_head_has_no_signature(place, key: str) -> None:
    path = signed(place, key)
    lines = path.read_bytes().splitlines()
    lines[-1] = lines[-1].replace(b"closed", b"cloned")
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    forged = HeadWriter(place.heads, "a", place.sessions)
    forged.adopt(line_hash(lines[0]), Link(8, line_hash(lines[-1])), trailing=False, hash_at=lambda seq: None)
    forged.close()
    for file in Path(place.heads).glob("a.json"):  # all doubt is wiped out, too: the forger knows how heads are made
        file.unlink()
    forged.begin(Link(1, line_hash(lines[0])))
    forged.keep(Link(8, line_hash(lines[-1])), synced=True, closed=True)
    forged.close()
    assert place.one().sound
    assert "not the one that was signed" in check(place, key).problems[0].text


def test_another_key_does_not_fit(place, key: str, tmp_path: Path) -> None:
    signed(place, key)
    other = str(tmp_path / "other.pem")
    make_key(other)
    assert "does not fit the key" in check(place, other).problems[0].text


def test_a_log_without_signature_fails_where_one_is_wanted(place, key: str) -> None:
    place.write()
    assert place.one().sound
    assert check(place, key).problems[0].text == "it is not signed"


def test_an_end_that_is_not_signed(place, key: str) -> None:
    signed(place, key)
    place.write()
    assert "are not signed" in check(place, key).problems[0].text


def test_a_signature_of_another_session_is_no_help(place, key: str) -> None:
    signed(place, key)
    signed(place, key, session_id="b")
    heads = Path(place.heads)
    (heads / "a~signed.jsonl").write_bytes((heads / "b~signed.jsonl").read_bytes())
    found = place.verify(signatures=signatures_with(f"{key}.pub", place.heads))
    assert [each.sound for each in found] == [False, True]


def test_a_torn_signature_is_passed_over(place, key: str) -> None:
    signed(place, key)
    with open(Path(place.heads) / "a~signed.jsonl", "ab") as file:
        file.write(b'{"session":"a","lo')
    signed(place, key)
    assert check(place, key).sound


def test_a_rewritten_log_is_signed_anew_or_not_at_all(place, key: str) -> None:
    signed(place, key)
    (session,) = list_sessions(place.sessions)
    rewrite_session(
        session,
        place.heads,
        shouted,
        note=lambda done: Notice(text="x"),
        now="2026",
        signer=signer_with(key, place.heads),
    )
    assert check(place, key).sound


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_key_that_others_can_read_is_refused(place, key: str, mode: int) -> None:
    os.chmod(key, mode)
    with pytest.raises(ConfigError) as caught:
        signer_with(key, place.heads)
    assert "can be read by others" in caught.value.message


def test_a_key_that_is_not_there_or_none(place, key: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        signer_with(str(tmp_path / "none"), place.heads)
    assert "--make-key" in caught.value.hint
    with pytest.raises(ConfigError):
        signatures_with(key, place.heads)  # the private half
    Path(key).write_text("precious nonsense")
    path = signed(place, key)
    warning = [line for line in path.read_text().splitlines() if "cannot be signed" in line]
    assert len(warning) == 1
    assert "precious" not in warning[0]


def test_the_keyring(place, tmp_path: Path, monkeypatch) -> None:
    ring: dict[tuple[str, str], str] = {}
    fake = SimpleNamespace(
        get_password=lambda service, name: ring.get((service, name)),
        set_password=lambda service, name, value: ring.__setitem__((service, name), value),
    )
    monkeypatch.setitem(sys.modules, "keyring", fake)
    public = tmp_path / "ring.pub"
    public.write_bytes(make_key("keyring"))
    with pytest.raises(ConfigError):
        make_key("keyring")
    place.write(signer=signer_with("keyring", place.heads))
    assert check(place, str(tmp_path / "ring")).signed == 8


def test_without_a_keyring_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigError) as caught:
        make_key("keyring")
    assert "[keyring]" in caught.value.hint


def test_what_a_killed_process_left_of_a_draft_comes_back_nowhere(tmp_path) -> None:
    from agent.recording.integrity.signing import Signature, add_signature, drop_signatures, read_signatures

    heads = str(tmp_path)
    for log in ("old", "new"):
        add_signature(heads, Signature(session="a", log=log, seq=1, hash="0", time="2026"))
    (tmp_path / f"a~signed.jsonl.{os.getpid()}").write_text(
        '{"session":"a","log":"old","seq":9,"hash":"0","time":"2026"}\n'
    )
    drop_signatures(heads, "a", "old")
    assert [each.log for each in read_signatures(heads, "a")] == ["new"]
