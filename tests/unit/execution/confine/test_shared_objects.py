"""What processes share without a file in a folder of theirs: memory, semaphores, queues, sockets without a name, the memory of another."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import textwrap

import pytest

from tests.scenarios.ordinary_user import _launcher
from tests.support.confined_world import ConfinedWorld, need
from tests.support.few import ONE_USER
from tests.unit.execution.confine.test_lock_hostile import Throwaway

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="calls of Linux")

ATTACKS = {
    "shmat": "a = libc.shmat(known['shm'], None, 0); ctypes.memset(a, 66, 4) if a not in (None, 2**64 - 1) else 1/0",
    "shmget": "libc.shmget(known['key'], 4096, 0o1666) >= 0 or 1/0; libc.shmctl(known['shm'], 1, b'x' * 200) == 0 or 1/0",
    "lock": "libc.shmctl(known['shm'], 11, None) == 0 or 1/0",
    "remove": "libc.shmctl(known['shm'], 0, None) == 0 or 1/0",
    "semop": "libc.semop(known['sem'], struct.pack('HhH', 0, 1, 0), 1) == 0 or 1/0",
    "semctl": "libc.semctl(known['sem'], 0, 16, 5) == 0 or 1/0",
    "msgsnd": "libc.msgsnd(known['msg'], struct.pack('l4s', 1, b'evil'), 4, 0o4000) == 0 or 1/0",
    "posix": "f = os.open(known['posix'], os.O_RDWR); os.write(f, b'evil')",
    "posix mode": "os.chmod(known['posix'], 0o600)",
    "posix gone": "os.unlink(known['posix'])",
    "queue": "q = libc.mq_open(known['queue'].encode(), os.O_WRONLY); libc.mq_send(q, b'evil', 4, 0) == 0 or 1/0",
    "queue gone": "libc.mq_unlink(known['queue'].encode()) == 0 or 1/0",
    "abstract": "socket.socket(socket.AF_UNIX).connect('\\0' + known['name'])",
    "datagram": "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'evil', '\\0' + known['name'] + '.d')",
    "pair": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'evil', '\\0' + known['name'] + '.d')",
    "memory": "f = os.open(f'/proc/{pid}/mem', os.O_RDWR); os.pwrite(f, b'evil', known['address'])",
    "writev": "v = ctypes.c_ulong * 2; b = ctypes.create_string_buffer(b'evil'); libc.process_vm_writev(pid, v(ctypes.addressof(b), 4),"
    " 1, v(known['address'], 4), 1, 0) == 4 or 1/0",
    "getfd": "f = libc.syscall(438, os.pidfd_open(pid), known['nameless'], 0); os.pwrite(f, b'evil', 0)",
    "nameless": "f = os.open(f'/proc/{pid}/fd/{known[\"nameless\"]}', os.O_RDWR); os.pwrite(f, b'evil', 0)",
    "uring": "libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0 or 1/0",
    "trace": "libc.ptrace(0x4206, pid, None, None) == 0 or 1/0",
}
PROGRAM = """
import ctypes, json, os, socket, struct, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
known = json.loads(sys.argv[1])
pid = known["pid"]
for name, attack in known["attacks"].items():
    try:
        exec(attack)
    except Exception:
        continue
    print(name)
"""


class Another:
    """A process with one of each, which says in the end what was done to them."""

    SOURCE = """
    import ctypes, json, mmap, os, socket, sys
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    key = os.getpid()
    name = f"agent-shared-{key}"
    shm, sem, msg = libc.shmget(key, 4096, 0o1666), libc.semget(key, 1, 0o1666), libc.msgget(key, 0o1666)
    shared = libc.shmat(shm, None, 0)
    posix = os.open(f"/dev/shm/{name}", os.O_RDWR | os.O_CREAT, 0o666)
    os.fchmod(posix, 0o666)
    queue = libc.mq_open(f"/{name}".encode(), os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o666, None)
    abstract, datagrams = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    abstract.bind("\\0" + name)
    abstract.listen()
    datagrams.bind("\\0" + name + ".d")
    nameless = os.memfd_create("shared")
    memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
    facts = {"pid": key, "key": key, "name": name, "shm": shm, "sem": sem, "msg": msg, "posix": f"/dev/shm/{name}", "queue": f"/{name}",
             "nameless": nameless, "address": address}
    print(json.dumps(facts), flush=True)
    sys.stdin.read()

    def taken(call):
        try:
            return bool(call())
        except OSError:
            return False

    abstract.setblocking(False)
    datagrams.setblocking(False)
    found = {
        "shm": ctypes.string_at(shared, 4) != bytes(4),
        "sem": libc.semctl(sem, 0, 12) != 0,
        "msg": libc.msgrcv(msg, ctypes.create_string_buffer(64), 16, 0, 0o4000) >= 0,
        "ids": libc.shmget(key, 4096, 0) != shm,
        "posix": not taken(lambda: os.stat(facts["posix"]).st_mode == 0o100666 and not os.fstat(posix).st_size),
        "queue": libc.mq_receive(queue, ctypes.create_string_buffer(1 << 16), 1 << 16, None) >= 0,
        "queue gone": libc.mq_unlink(facts["queue"].encode()) != 0,
        "abstract": taken(abstract.accept),
        "datagram": taken(lambda: datagrams.recv(9)),
        "nameless": os.fstat(nameless).st_size != 0,
        "memory": memory[:4] != bytes(4),
        "traced": "TracerPid:\\t0" not in open("/proc/self/status").read(),
    }
    for remove, number in ((libc.shmctl, shm), (libc.semctl, sem), (libc.msgctl, msg)):
        remove(number, 0, 0)
    taken(lambda: os.unlink(facts["posix"]))
    print(json.dumps([each for each, changed in found.items() if changed]))
    """

    def __init__(self, who: str) -> None:
        words = _launcher()[0] if who == "user" else (sys.executable,)
        self._running = subprocess.Popen(
            [*words, "-c", textwrap.dedent(self.SOURCE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._running.stdout is not None
        self.known = json.loads(self._running.stdout.readline())

    def attacked(self, *attacks: str) -> str:
        """The command that tries these, all at once, and prints what went well."""
        known = {**self.known, "attacks": {name: ATTACKS[name] for name in attacks}}
        return shlex.join(["python3", "-c", PROGRAM, json.dumps(known)])

    def changed(self) -> list[str]:
        """What was done to it; it ends."""
        said, _ = self._running.communicate(timeout=60)
        return json.loads(said)


@pytest.fixture(params=["root", "user"])
def who(request):
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("only root can be confined as root")
    return request.param


@ONE_USER
def test_unconfined_all_of_that_reaches_it(who):
    """Else the others show nothing."""
    another = Another(who)
    gone = ("remove", "posix gone", "queue gone", "trace")
    words = _launcher()[0] if who == "user" else (sys.executable,)
    command = shlex.split(another.attacked(*(each for each in ATTACKS if each not in gone)))
    subprocess.run([*words, *command[1:]], check=True, capture_output=True)
    assert {"shm", "sem", "msg", "posix", "queue", "abstract", "datagram", "nameless", "memory"} <= set(
        another.changed()
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("rung", ["namespaces", "landlock"])
def test_who_is_confined_shares_nothing_with_others(who, rung):
    world = ConfinedWorld(who, without={"unshare": "EPERM"} if rung == "landlock" else {})
    try:
        need(world, "workspace", "Landlock" if rung == "landlock" else "namespaces")
        another = Another(who)
        ran = world.one("workspace", another.attacked(*ATTACKS))
        assert ran.code == 0
        # There it may change the rights of files, as is said.
        assert set(another.changed()) <= ({"posix"} if rung == "landlock" else set())
        assert set(ran.out.splitlines()) <= ({"posix mode"} if rung == "landlock" else set())
    finally:
        world.remove()


@pytest.mark.thorough
@ONE_USER
def test_who_is_held_to_its_rating_shares_nothing_with_others(who):
    world = Throwaway(who)
    try:
        another = Another(who)
        world.run([another.attacked(each) for each in ATTACKS], lying=True, gate=True)
        assert another.changed() == []
    finally:
        shutil.rmtree(world.base)
