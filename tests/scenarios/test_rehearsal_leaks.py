"""A rehearsal shows what changed, and changes nothing: as root and as an ordinary user, over real overlays."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.few import ONE_USER
from tests.support.rehearsal_bench import Bench, changes, err, out, tree

pytestmark = ONE_USER

BRIEF = (
    "rm -rf src && sed -i s/alpha/beta/ 2.txt 3.txt && mkdir new && echo hi > new/f && chmod 600 x && ln -s x link && "
    "mv c d && echo z >> hard"
)


@pytest.fixture(params=["root", "user"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    bench = Bench(request.param)
    yield bench
    assert not any(
        b"agent-shell" in line or b"/rehearse-" in line
        for line in Path("/proc/self/mountinfo").read_bytes().splitlines()
    )
    bench.remove()


def furnish(work: Path) -> None:
    (work / "src" / "deep").mkdir(parents=True)
    (work / "c").mkdir()
    for number in (1, 2, 3):
        (work / f"{number}.txt").write_text(f"alpha {number}\n")
    (work / "src" / "deep" / "f").write_text("keep\n")
    (work / "src").chmod(0o700)
    (work / "x").write_text("x\n")
    (work / "x").chmod(0o644)
    (work / "c" / "in").write_text("c\n")
    os.link(work / "1.txt", work / "hard")


def test_it_shows_everything_and_changes_nothing(bench: Bench) -> None:
    furnish(bench.work)
    bench.own()
    before = bench.listing()
    said = bench.run(BRIEF)
    assert said["result"]["exit_code"] == 0, err(said)
    assert changes(said) == {
        ("rename", "d"),
        ("delete", "src"),
        ("modify", "2.txt"),
        ("modify", "3.txt"),
        ("create", "new"),
        ("create", "f"),
        ("meta", "x"),
        ("create", "link"),
        ("modify", "hard"),
    }
    assert not said.get("obstacle")
    assert bench.listing() == before
    assert not any((bench.state / "undo").iterdir())


def test_committed_and_undone_is_as_it_was(bench: Bench) -> None:
    furnish(bench.work)
    bench.own()
    before = bench.listing()
    said = bench.run(BRIEF, then="undo")
    assert said["undone"]["state"] == "undone"
    assert bench.listing() == before


def test_names_of_every_kind(bench: Bench) -> None:
    before = bench.listing()
    said = bench.run(
        r"""touch $'new\nline' "quo'te\"" $'\xff\xfe' 'a,b:c\d' "$(printf 'x%.0s' {1..255})"; mkdir ' sp ace'"""
    )
    assert said["result"]["exit_code"] == 0, err(said)
    assert ("create", "new\nline") in changes(said)
    assert ("create", "\udcff\udcfe") in changes(said)
    assert ("create", "a,b:c\\d") in changes(said)
    assert len(changes(said)) == 6
    assert bench.listing() == before


def test_types_and_special_files(bench: Bench) -> None:
    for name in ("file", "other"):
        (bench.work / name).write_text("text")
    (bench.work / "folder").mkdir()
    (bench.work / "folder" / "in").write_text("in")
    os.mkfifo(bench.work / "pipe")
    bench.own()
    before = bench.listing()
    said = bench.run(
        "rm file && mkdir file && rm -r folder && echo now > folder && rm other && ln -s x other && mkfifo fifo && rm -f pipe && "
        "truncate -s 10G sparse && python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\""
    )
    assert said["result"]["exit_code"] == 0, err(said)
    assert {("type", "file"), ("type", "folder"), ("type", "other"), ("create", "fifo"), ("delete", "pipe")} <= changes(
        said
    )
    assert {("create", "sparse"), ("create", "sock")} <= changes(said)
    assert bench.listing() == before


def test_shared_memory_and_temporary_folders_do_not_leak(bench: Bench) -> None:
    name = f"probe-{os.getpid()}-{bench.kind}"
    said = bench.run(f"for d in /dev/shm /tmp /var/tmp; do echo z > $d/{name} && cat $d/{name}; done")
    assert out(said) == "z\nz\nz\n", err(said)
    assert changes(said) == {("create", name)}
    assert len(said["changes"]) == 3
    for folder in ("/dev/shm", "/tmp", "/var/tmp"):
        assert not os.path.lexists(f"{folder}/{name}")


def test_what_is_not_ours_stays_as_it_is(bench: Bench) -> None:
    said = bench.run("echo x > /etc/probe-of-a-rehearsal")
    assert not os.path.lexists("/etc/probe-of-a-rehearsal")
    if bench.kind == "root":
        assert changes(said) == {("create", "probe-of-a-rehearsal")}
    else:
        assert said["result"]["exit_code"] == 1
        assert "Read-only file system" in err(said)


def test_no_descriptor_and_no_variable_of_ours(bench: Bench) -> None:
    said = bench.run("ls -l /proc/self/fd | sed 1d | wc -l; env | grep -ci -e agent-shell -e BASH_ENV; ls -a; ls /dev")
    lines = out(said).split()
    assert lines[:2] == ["4", "1"]  # three streams and ls's own folder; AI_AGENT says who runs it
    assert set(lines[4:]) == {
        *("fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"),
    }


def test_two_at_once(bench: Bench) -> None:
    (bench.work / "f").write_text("0")
    bench.own()
    before = bench.listing()
    started = [bench.start(f"echo {word} >> f; sleep 0.2; cat f", env={}) for word in ("one", "two")]
    said = []
    import json

    for process in started:
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
        said.append(json.loads(output.splitlines()[0]))
    if any(one.get("error") for one in said):
        pytest.skip(said[0].get("message", ""))
    assert [out(one) for one in said] == ["0one\n", "0two\n"]
    assert bench.listing() == before


def test_the_shell_state_comes_with_the_commit_only(bench: Bench) -> None:
    (bench.work / "sub").mkdir()
    bench.own()
    kept, committed, after = bench.runs(
        "cd sub; export A=1; f() { echo hi; }",
        {"text": "cd sub; export A=2; f() { echo ho; }; alias g=x; umask 027", "then": "commit"},
        {"text": "pwd; echo $A; f; alias; umask"},
    )
    assert kept["cwd_now"] == str(bench.work)
    assert kept["result"]["cwd_after"] == str(bench.work / "sub")
    assert committed["cwd_now"] == str(bench.work / "sub")
    assert committed["committed"]["changes"] == 0
    assert out(after) == f"{bench.work / 'sub'}\n2\nho\nalias g='x'\n0027\n"


def test_a_very_long_command(bench: Bench) -> None:
    said = bench.run("echo " + "x" * 200_000 + " | wc -c")
    assert out(said) == "200001\n"


def test_output_is_streamed(bench: Bench) -> None:
    said = bench.run("echo out; echo err >&2")
    assert said["streamed"].split() in (["out", "err"], ["err", "out"])


def test_root_sees_bind_mounts_and_other_file_systems() -> None:
    """A tmpfs and a bind mount below the working folder, in a mount namespace that is thrown away."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    bench = Bench("root")
    try:
        bench.words = ("unshare", "-m", "sh", "-c", _WITH_MOUNTS, "sh", str(bench.work), *bench.words)
        (bench.work / "real").mkdir()
        (bench.work / "real" / "a").write_text("a")
        for name in ("bound", "memory", "fixed"):
            (bench.work / name).mkdir()
        before = tree(bench.work / "real")
        said = bench.run("echo b > bound/a; echo m > memory/new; rm memory/there; echo no > fixed/x; ls memory")
        assert out(said) == "new\n"
        assert "fixed/x: Read-only file system" in err(said)
        found = {(change["op"], os.path.relpath(change["path"], bench.work)) for change in said["changes"]}
        assert found == {("modify", "bound/a"), ("create", "memory/new"), ("delete", "memory/there")}
        assert tree(bench.work / "real") == before
        committed = bench.run("echo b > bound/a; echo m > memory/new; rm memory/there; cat bound/a", then="commit")
        assert committed["committed"]["changes"] == 3
        assert (bench.work / "real" / "a").read_text() == "b\n"
    finally:
        bench.remove()


_WITH_MOUNTS = (
    'cd "$1" && shift && mount --make-rprivate / && mount --bind real bound && mount -t tmpfs none memory && touch memory/there && '
    'mount -t tmpfs none fixed && mount -o remount,ro fixed && cd / && exec "$@"'
)


def test_a_socket_of_a_running_service_does_not_answer(bench: Bench) -> None:
    server = socket.socket(socket.AF_UNIX)
    place = bench.base / "service.sock"
    server.bind(str(place))
    server.listen()
    place.chmod(0o777)
    with server:
        ask = f"import socket; socket.socket(socket.AF_UNIX).connect({str(place)!r})"
        said = bench.run(f'python3 -c "{ask}"')
        assert said["result"]["exit_code"] == 1
        assert "ConnectionRefusedError" in err(said)


def test_what_belongs_to_others_is_not_theirs_to_remove() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to make a file of another user")
    bench = Bench("user")
    place = Path("/tmp") / f"roots-{os.getpid()}"
    place.write_text("root's")
    try:
        (said,) = bench.runs({"text": f"rm -f {place}", "then": "commit"})
        assert said == {
            "error": "commit_failed",
            "message": f"this rehearsal cannot be committed: {place} belongs to another user, so a real run could not do this",
            "hint": "",
            "seconds": said["seconds"],
        }
        assert place.read_text() == "root's"
    finally:
        place.unlink()
        bench.remove()


def test_what_changed_meanwhile_is_not_overwritten(bench: Bench) -> None:
    for name in ("one", "two"):
        (bench.work / name).write_text(name)
    bench.own()
    (said,) = bench.ask(
        {
            "text": "echo more >> one; echo more >> two",
            "between": f"printf mine > '{bench.work}/two'; mkdir -p '{bench.state}/undo/journals/0000001'",  # left open by a crash
            "then": "commit",
        }
    )
    if said["error"] == "rehearsal_unavailable":
        pytest.skip(said["message"])
    assert said["error"] == "rehearsal_conflict"
    assert [conflict["path"] for conflict in said["conflicts"]] == [str(bench.work / "two")]
    assert [each["undo_id"] for each in said["resumed"]] == ["0000001"]
    assert (bench.work / "one").read_text() == "one"
    assert (bench.work / "two").read_text() == "mine"


def test_odd_variables_and_commands_that_end_badly(bench: Bench) -> None:
    odd = {
        "ODD": "new\nline 'and' \"quotes\" $x",
        "BYTES": "\udcff\udcfe",
        "BASH_FUNC_f%%": "() { echo from outside; }",
    }
    said = bench.runs(
        'printf "%s" "$ODD"; printf "%s" "$BYTES" | od -An -tx1; f',
        "if",
        "set -u; echo $nothing; echo never",
        "set -e; false; echo never",
        "exec true",
        "trap 'echo mine' EXIT",
        env=odd,
    )
    assert out(said[0]) == odd["ODD"] + " ff fe\nfrom outside\n", err(said[0])
    assert [one["result"]["exit_code"] for one in said] == [0, 2, 1, 1, 0, 0] or said[2]["result"]["exit_code"] == 127
    assert [one["result"]["state_kept"] for one in said] == [True, True, True, True, False, False]


def test_an_environment_that_is_too_long(bench: Bench) -> None:
    said = bench.run("true", env={"LONG": "x" * 200_000})
    assert said["result"]["exit_code"] == 126
    assert "too long for the system (E2BIG)" in err(said)
    assert not said["changes"]


def test_our_own_folder_is_not_moved_away() -> None:
    bench = Bench("root")
    try:
        said = bench.runs(
            {"text": f"mv {bench.state} {bench.state}-2 && mv {bench.home} {bench.home}-2", "then": "commit"}
        )[0]
        assert said["error"] == "commit_failed" and "would be moved" in said["message"], said
        assert bench.state.is_dir() and bench.home.is_dir()
    finally:
        bench.remove()
