"""Confined commands, for real: as root and as an ordinary user, on both rungs."""

from __future__ import annotations

import os

import pytest

from tests.support.confined_world import ConfinedWorld, need
from tests.support.few import ONE_USER

LANDLOCK_ONLY = {"unshare": "EPERM"}


@pytest.fixture(params=["root", "user"])
def who(request):
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("only root can be confined as root")
    return request.param


@pytest.fixture(params=["namespaces", "landlock"])
def rung(request):
    return request.param


@pytest.fixture
def world(who, rung):
    made = ConfinedWorld(who, without=LANDLOCK_ONLY if rung == "landlock" else {})
    try:
        need(made, "workspace", "Landlock" if rung == "landlock" else "namespaces")
        yield made
    finally:
        made.remove()


WRITES = (
    "echo new > {0}/new",
    "echo more >> {0}/kept",
    "rm {0}/kept",
    "mv {0}/kept {0}/other",
    "mv {0}/kept .",
    "touch own && mv own {0}/",
    "ln {0}/kept hard && echo more >> hard",
    "ln -s x {0}/link",
    "mkdir {0}/folder",
    "mkfifo {0}/pipe",
    "truncate -s 0 {0}/kept",
    "python3 -c \"import os; os.open('{0}/kept', os.O_RDONLY | os.O_TRUNC)\"",
    "cd {0} && echo more >> kept",
    "exec 3>>{0}/kept; echo more >&3",
)


def went_well(world, mode, commands):
    """Which of `commands`, each in a subshell of one confined run, say that they succeeded; and that run."""
    filled = [command.format(world.outside, world.workspace) for command in commands]
    ran = world.one(mode, "\n".join(f"( {command} ) >/dev/null 2>&1; echo $?" for command in filled))
    codes = ran.out.split()
    assert len(codes) == len(filled), ran.err
    return [command for command, code in zip(filled, codes, strict=True) if code == "0"], ran


@ONE_USER
def test_nothing_outside_the_workspace_is_written(world):
    assert went_well(world, "workspace", WRITES)[0] == []
    assert world.untouched()


@ONE_USER
def test_the_workspace_is_written_as_ever(world):
    script = "mkdir -p a/b; echo one > a/b/f; mv a c; chmod 600 c/b/f; ln -s c/b/f l; cat l; sed -i s/one/two/ c/b/f; cat c/b/f; rm -r c l"
    ran = world.one("workspace", script)
    assert (ran.code, ran.out, ran.err) == (0, "one\ntwo", "")
    assert os.listdir(world.workspace) == []


@pytest.mark.thorough
def test_read_only_writes_nowhere_but_in_its_temporary_folder(world):
    wrote, temporary = world.run(
        ("read-only", "touch here"), ("read-only", 'f=$(mktemp) && echo x > "$f" && cat "$f" && cat <<< here-string')
    )
    assert wrote.code != 0
    assert os.listdir(world.workspace) == []
    assert (temporary.code, temporary.out) == (0, "x\nhere-string")


@pytest.mark.few(1)
def test_metadata_outside_holds_on_namespaces_and_is_named_as_a_gap_on_landlock(world, rung):
    before = os.stat(world.outside / "kept")
    mode, touched = world.run(
        ("workspace", f"chmod 600 {world.outside}/kept"), ("workspace", f"touch -d 2001-01-01 {world.outside}/kept")
    )
    after = os.stat(world.outside / "kept")
    if rung == "namespaces":
        assert mode.code != 0
        assert touched.code != 0
        assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
        assert "permission bits" not in " ".join(mode.confining.get("misses", []))
    else:
        assert "permission bits, owners, times" in " ".join(mode.confining["misses"])


@ONE_USER
def test_state_is_kept_and_what_only_the_run_had_is_not(world):
    (world.workspace / "sub").mkdir()
    world.own()
    first, second, free = world.run(
        ("workspace", "cd sub; export A='x  y'; f() { echo \"f $A\"; }; echo $TMPDIR"),
        ("workspace", "pwd; f"),
        ("off", "echo ${TMPDIR}; ls ${TMPDIR}"),
    )
    assert first.result.get("state_kept", True)
    assert second.out == f"{world.workspace}/sub\nf x  y"
    assert "agent-shell-confined" in first.out
    assert free.out == str(world.base / "tmp")
    assert world.environment["TMPDIR"] == str(world.base / "tmp")


@pytest.mark.thorough
def test_its_private_folder_goes_with_it(world):
    world.run(("workspace", "mkdir -p $TMPDIR/deep/er; chmod 0 $TMPDIR/deep"))
    assert os.listdir(world.base / "tmp") == []


@pytest.mark.thorough
def test_a_long_command_and_descriptors_of_ours(world):
    long, fds = world.run(
        ("workspace", f": {'x' * 130_000}; echo done"),
        ("workspace", 'for fd in /proc/self/fd/*; do printf "%s " "${fd##*/}"; done'),
    )
    assert (long.code, long.out) == (0, "done")
    assert set(fds.out.split()) <= {"0", "1", "2", "3", "255", "self"}


@pytest.mark.thorough
def test_harmless_devices_and_terminals_work(world):
    ran = world.one(
        "workspace",
        "echo x > /dev/null && head -c 3 /dev/zero | wc -c && head -c 2 /dev/urandom | wc -c && ls /dev/pts > /dev/null",
    )
    assert (ran.code, ran.out) == (0, "3\n2")


@ONE_USER
def test_unix_sockets_are_refused_and_pairs_are_not(world):
    script = 'python3 -c "import socket; socket.socketpair(); print(1); socket.socket(socket.AF_UNIX)"'
    ran = world.one("workspace", script)
    assert ran.out == "1"
    assert ran.code == 1
    assert "Permission denied" in ran.err


@pytest.mark.thorough
def test_io_uring_and_foreign_namespaces_are_refused(world):
    script = 'python3 -c "import ctypes; l = ctypes.CDLL(None, use_errno=True); print(l.syscall(425, 1, 0), ctypes.get_errno())"'
    uring, own, other = world.run(
        ("workspace", script), ("workspace", "unshare -U true"), ("workspace", "unshare -m true")
    )
    assert uring.out == "-1 38"
    assert own.code != 0
    assert other.code != 0


ESCAPES = (
    "mount -o remount,rw /",
    "mount -o remount,bind,rw /",
    "mount -t tmpfs none {0}",
    "mount --bind {1} {0}",
    "umount -l /dev/shm",
    "nsenter -t 1 -m true",
    "nsenter -t $PPID -m -U true",
    "chroot / true",
    "ls /proc/1/root/",
    "echo x > /proc/1/root{0}/kept",
    "echo x > /proc/$PPID/root{0}/kept",
    "echo x > /proc/$PPID/cwd/x",
    "echo 0 > /proc/sys/kernel/randomize_va_space",
    "echo x > /sys/kernel/uevent_helper",
    "mknod dev b 259 0 && head -c1 dev",
    "mkdir c && mount -t cgroup2 none c",
    "kill -0 $PPID",
    "python3 -c \"import os; os.setns(os.open('/proc/1/ns/mnt', 0), 0)\"",
)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("mode", "without", "means"),
    [
        ("workspace", {}, "namespaces and Landlock"),
        ("read-only", {}, "namespaces and Landlock"),
        ("workspace,no-network", {}, "namespaces and Landlock"),
        ("workspace", LANDLOCK_ONLY, "Landlock"),
        ("read-only,no-network", LANDLOCK_ONLY, "Landlock"),
    ],
)
def test_there_is_no_way_out(who, mode, without, means):
    world = ConfinedWorld(who, without=without)
    try:
        need(world, mode, means)
        assert went_well(world, mode, ESCAPES)[0] == []
        assert world.untouched()
    finally:
        world.remove()


@pytest.mark.thorough
def test_namespaces_hold_without_landlock(who):
    world = ConfinedWorld(who, without={"landlock_create_ruleset": "ENOSYS"})
    try:
        need(world, "workspace", "namespaces")
        done, ran = went_well(world, "workspace", (*WRITES, *(escape for escape in ESCAPES if "kill" not in escape)))
        assert done == []
        assert world.untouched()
        assert "Landlock" not in ran.confining["how"]
        assert "signals" in " ".join(ran.confining["misses"])
    finally:
        world.remove()


@pytest.mark.thorough
def test_a_block_device_cannot_be_opened(who):
    if os.geteuid() != 0:
        pytest.skip("only root could open one at all")
    device = next((f"/dev/{name}" for name in sorted(os.listdir("/sys/block")) if os.path.exists(f"/dev/{name}")), "")
    if who == "user" or not device:
        pytest.skip("no block device that this user could open")
    for without in ({}, LANDLOCK_ONLY, {"landlock_create_ruleset": "ENOSYS"}):
        world = ConfinedWorld(who, without=without)
        try:
            writing, reading = world.run(
                ("workspace", f"exec 3<>{device}"), ("workspace", f"head -c1 {device} > /dev/null")
            )
            assert writing.code != 0
            assert reading.code != 0 or without == LANDLOCK_ONLY  # which leaves all reading as it is
        finally:
            world.remove()


@pytest.mark.thorough
def test_shared_memory_is_its_own(who):
    world = ConfinedWorld(who)
    try:
        need(world, "workspace", "namespaces")
        name = f"confined-{os.getpid()}-{who}"
        ran = world.one(
            "workspace",
            f"echo x > /dev/shm/{name} && cat /dev/shm/{name}; python3 -c 'import multiprocessing as m; m.Lock()'",
        )
        assert (ran.code, ran.out) == (0, "x")
        assert not os.path.exists(f"/dev/shm/{name}")
    finally:
        world.remove()


@pytest.mark.thorough
def test_no_mount_of_it_is_left(world):
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        before = file.read()
    world.one("workspace,no-network", "true")
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        assert file.read() == before


@pytest.mark.few(1)
def test_without_confinement_all_of_that_writes(who):
    world = ConfinedWorld(who)
    try:
        done, _ran = went_well(world, "off", WRITES[:1] + WRITES[7:8] + WRITES[9:10] + WRITES[12:])
        assert len(done) == 5
        assert not world.untouched()
    finally:
        world.remove()
