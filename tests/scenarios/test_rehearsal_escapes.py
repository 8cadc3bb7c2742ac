"""A command that tries to leave its rehearsal, as root and as an ordinary user. Whatever it tries is harmless here should it succeed."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.few import ONE_USER
from tests.support.rehearsal_bench import Bench, changes, err, out

pytestmark = ONE_USER


@pytest.fixture(params=["root", "user"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    bench = Bench(request.param)
    yield bench
    bench.remove()


def python(code: str) -> str:
    """A command that runs `code`, whatever quotes it has."""
    import shlex

    return f"python3 -c {shlex.quote(code)}"


def test_process_1_shows_nothing_of_its_own(bench: Bench) -> None:
    said = bench.run(
        "for f in root cwd exe fd/0 ns/mnt; do readlink /proc/1/$f && echo LEAK $f; done; cat /proc/1/environ /proc/1/mem && echo LEAK;"
        "for f in /proc/1/fd/*; do cat $f >/dev/null 2>&1 && echo LEAK $f; done; ls /proc/1/root/ && echo LEAK; true"
    )
    assert "LEAK" not in out(said), err(said)


def test_only_its_own_processes_are_there_and_none_can_be_traced(bench: Bench) -> None:
    victim = subprocess.Popen(["sleep", "60"])
    try:
        said = bench.run(
            f"kill -9 {victim.pid}; kill -0 {victim.pid} && echo LEAK; cat /proc/{victim.pid}/cmdline && echo LEAK; "
            + python(
                "import ctypes, os\n"
                "libc = ctypes.CDLL(None, use_errno=True)\n"
                f"for pid in (1, {victim.pid}, {os.getpid()}):\n"
                "    print('LEAK' if libc.ptrace(16, pid, 0, 0) == 0 else 'refused')\n"
            )
        )
        assert victim.poll() is None
        assert "LEAK" not in out(said)
        assert out(said).count("refused") == 3
    finally:
        victim.kill()
        victim.wait()


def test_kill_all_ends_the_rehearsal_only(bench: Bench) -> None:
    victim = subprocess.Popen(["sleep", "60"])
    try:
        said = bench.run("sleep 50 & setsid sleep 50 & sleep 0.05; kill -9 -1; echo still here")
        assert out(said) == "still here\n"
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_nothing_can_be_mounted_or_unmounted(bench: Bench) -> None:
    said = bench.run(
        "mount -t tmpfs none /mnt && echo LEAK; umount /proc && echo LEAK; umount -l /dev && echo LEAK; "
        "mount -o remount,rw /proc/sys && echo LEAK; mount -o remount,rw,bind /sys && echo LEAK; "
        "nsenter -t 1 -m true && echo LEAK; nsenter -t 1 -a true && echo LEAK; true"
    )
    assert "LEAK" not in out(said), out(said)


def test_a_user_namespace_inside_cannot_undo_the_mounts(bench: Bench) -> None:
    own = str(bench.state / "undo")
    said = bench.run(
        "unshare -Urm sh -c '"
        f"umount /proc && echo LEAK; umount -l {own} && echo LEAK; umount /dev/null && echo LEAK; "
        "mount -o remount,rw,bind /proc/sys && echo LEAK; mount -o remount,rw,bind /sys && echo LEAK; "
        "mkdir -p /tmp/p; mount -t proc none /tmp/p && test -w /tmp/p/sysrq-trigger && echo LEAK; "
        "mount --bind / /tmp/p && umount -l / && echo LEAK; true'"
    )
    assert "LEAK" not in out(said), out(said)


def test_a_user_namespace_inside_reaches_no_control_group(bench: Bench) -> None:
    said = bench.run(
        "unshare -UrmC true && echo LEAK; unshare -Ur unshare -mC true && echo LEAK; "
        "for type in cgroup cgroup2; do unshare -Urm mount -t $type none /mnt && echo LEAK; done; unshare -Urm true && echo nested"
    )
    assert out(said) == "nested\n", out(said)


def test_the_system_cannot_be_set(bench: Bench) -> None:
    name = socket.gethostname()
    pattern = Path("/proc/sys/kernel/core_pattern").read_text()
    said = bench.run(
        # written back as it is, should it succeed
        f"cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && echo LEAK; test -w /proc/sysrq-trigger && echo LEAK; "
        f"hostname {name} && test $(id -u) = 0 && echo SET; date -s @$(date +%s) && echo LEAK; "
        "for f in /proc/irq/default_smp_affinity /sys/kernel/mm/transparent_hugepage/enabled; do"
        " test -e $f && cat $f > $f && echo LEAK $f; done; true"
    )
    assert "LEAK" not in out(said), out(said)
    assert socket.gethostname() == name
    assert Path("/proc/sys/kernel/core_pattern").read_text() == pattern


def test_devices_are_out_of_reach(bench: Bench) -> None:
    before = {name: os.stat(f"/dev/{name}").st_mode for name in ("null", "tty", "zero")}
    said = bench.run(
        "mknod n b 254 0 && echo LEAK; mknod c c 1 1 && echo LEAK; ls /dev | grep -e vd -e sd -e mem -e kmsg -e loop && echo LEAK; "
        "chmod 600 /dev/null /dev/tty /dev/zero; chmod 600 /proc/self/fd/0; chown 1 /dev/null; echo x > /dev/null && echo writes"
    )
    assert "LEAK" not in out(said), out(said)
    assert "writes" in out(said)
    assert {name: os.stat(f"/dev/{name}").st_mode for name in before} == before


def test_what_leads_around_the_overlay_is_refused(bench: Bench) -> None:
    said = bench.run(
        python(
            "import ctypes\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "import platform\n"
            "x = platform.machine() == 'x86_64'\n"
            "for number in ((304, 321, 250, 425) if x else (265, 280, 219, 425)):\n"  # handles, bpf, key rings, io_uring
            "    print(libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno())\n"
        )
    )
    assert {line.split()[0] for line in out(said).splitlines()} == {"-1"}, out(said)
    assert {line.split()[1] for line in out(said).splitlines()} <= {"1", "38"}, out(said)


def test_agents_and_services_do_not_answer(bench: Bench) -> None:
    places = [bench.base / "docker.sock", bench.base / "agent"]
    if bench.kind == "root" or os.geteuid() == 0:
        outside = Path("/opt") / f"probe-{os.getpid()}.sock"
        places.append(outside)
    servers = []
    try:
        for place in places:
            server = socket.socket(socket.AF_UNIX)
            server.bind(str(place))
            server.listen()
            place.chmod(0o777)
            servers.append(server)
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind(f"\0probe-{os.getpid()}")
        abstract.listen()
        servers.append(abstract)
        code = "import socket\n"
        for address in (*map(str, places), f"\\0probe-{os.getpid()}"):
            code += f"try: socket.socket(socket.AF_UNIX).connect('{address}'); print('LEAK {address[1:]}')\nexcept OSError: print('no')\n"
        said = bench.run(python(code), env={"SSH_AUTH_SOCK": str(places[1])})
        assert out(said).split() == ["no"] * (len(places) + 1), out(said)
    finally:
        for server in servers:
            server.close()
        for place in places:
            place.unlink(missing_ok=True)


def test_the_network_is_off_and_who_wanted_it_is_named(bench: Bench) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        ask = python(f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)")
        said = bench.run(ask + "; echo $?")
        assert out(said) == "1\n"
        assert "PermissionError" in err(said)
        (line,) = (line for line in said["not_shown"] if line.startswith("network"))
        assert line.startswith("network: python3") and line.endswith("rehearse with the network on to allow it")
        allowed = bench.run(ask + "; echo $?", network=True)
        assert out(allowed) == "0\n", err(allowed)
        assert "the network was on: what was sent has been sent" in allowed["not_shown"]


def test_with_the_network_on_local_services_stay_out_of_reach(bench: Bench) -> None:
    name = f"probe-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as messages:
        server.bind(f"\0{name}")
        server.listen()
        messages.bind(f"\0{name}-messages")
        code = (
            "import socket\n"
            f"def stream(): socket.socket(socket.AF_UNIX).connect('\\0{name}')\n"
            f"def message(): socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '\\0{name}-messages')\n"
            "def pair(kind): return socket.socketpair(socket.AF_UNIX, kind)[0]\n"
            f"def again(): pair(socket.SOCK_DGRAM).connect('\\0{name}-messages')\n"
            f"def sent(): pair(socket.SOCK_DGRAM).sendto(b'x', '\\0{name}-messages')\n"
            f"def packets(): pair(socket.SOCK_SEQPACKET).connect('\\0{name}')\n"
            "for act in (stream, message, again, sent, packets):\n"
            "    try: act(); print('LEAK', act)\n"
            "    except OSError: print('no')\n"
            "a, b = socket.socketpair(); a.send(b'x'); print('own')\n"
        )
        said = bench.run(python(code), network=True)
        assert out(said).split() == [*["no"] * 5, "own"], out(said)


def test_a_thousand_requests_for_the_network_do_not_hang(bench: Bench) -> None:
    code = "import socket\nn = 0\nfor i in range(1000):\n    try: socket.socket()\n    except OSError: n += 1\nprint(n)"
    assert out(bench.run(python(code))) == "1000\n"


def test_our_own_folders_cannot_be_seen(bench: Bench) -> None:
    undo = bench.state / "undo"
    undo.mkdir(mode=0o700)
    (undo / "secret").write_text("journal")
    bench.own()
    said = bench.run(f"cat {undo}/secret; echo gone > {undo}/secret; ls {undo}/rehearsals")
    assert "journal" not in out(said)
    assert (undo / "secret").read_text() == "journal"
    assert not changes(said)


def test_sudo_and_setuid(bench: Bench) -> None:
    said = bench.run("grep -c . /proc/self/status >/dev/null; grep -e NoNewPrivs -e CapEff /proc/self/status")
    words = out(said).split()
    if bench.kind == "user":
        assert words == ["CapEff:", "0000000000000000", "NoNewPrivs:", "1"]
    else:
        assert not int(words[1], 16) & (1 << 21 | 1 << 19 | 1 << 12)  # no SYS_ADMIN, SYS_PTRACE, NET_ADMIN
        assert words[3] == "0"  # becoming somebody else works for root


def test_nothing_is_left_of_it(bench: Bench) -> None:
    mark = f"mark{os.getpid()}{bench.kind}"
    bench.run(f"(setsid sh -c ': {mark}; sleep 50' &) ; sh -c ': {mark}; sleep 50' & true", env={"MARK": mark})
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                assert mark.encode() not in (entry / "cmdline").read_bytes()
            except OSError:
                continue
