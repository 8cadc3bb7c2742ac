"""Every rung when what it needs is taken away for real; and what is refused instead of running unconfined."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.support.confined_world import ConfinedWorld, need
from tests.support.few import ONE_USER

pytestmark = ONE_USER


@pytest.fixture(params=["root", "user"])
def who(request):
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("only root can be confined as root")
    return request.param


@pytest.fixture
def worlds():
    made = []

    def make(who, **keywords):
        made.append(ConfinedWorld(who, **keywords))
        return made[-1]

    yield make
    for world in made:
        world.remove()


def refused(ran, *words):
    """It did not run, and all three places say why."""
    assert ran.code == 126
    assert ran.out == ""
    for word in words:
        assert word in ran.err
        assert word in ran.confining["reason"] + ran.confining.get("remedy", "")
    return True


def test_without_namespaces_landlock_takes_over_and_says_what_it_misses(worlds, who):
    world = worlds(who, without={"unshare": "EPERM"})
    need(world, "workspace", "Landlock")
    ran = world.one("workspace", f"touch {world.outside}/new")
    assert ran.code != 0
    assert world.untouched()
    assert ran.confining["how"].endswith("(by Landlock)")
    assert ran.confining["misses"] == ["changes of permission bits, owners, times and attributes of files outside"]


@pytest.mark.few(1)
@pytest.mark.parametrize("error", ["EPERM", "ENOSPC", "ENOSYS"])
def test_without_namespaces_and_landlock_nothing_runs(worlds, who, error):
    world = worlds(who, without={"unshare": error, "landlock_create_ruleset": "ENOSYS"})
    mark = world.workspace / "mark"
    for mode in ("workspace", "read-only", "workspace,no-network"):
        ran = world.one(mode, f"echo ran; touch {mark}")
        assert refused(
            ran, "this kernel has no Landlock", "namespaces" if error != "ENOSPC" else "user.max_user_namespaces"
        )
    assert not mark.exists()


@pytest.mark.thorough
def test_landlock_switched_off_at_boot(worlds, who):
    world = worlds(who, without={"unshare": "EPERM", "landlock_create_ruleset": "EOPNOTSUPP"})
    assert refused(world.one("workspace", "true"), "Landlock is switched off", "lsm=")


@pytest.mark.thorough
def test_a_kernel_that_cannot_make_a_tree_read_only(worlds, who):
    world = worlds(who, without={"mount_setattr": "ENOSYS"})
    ran = world.one("workspace", f"touch {world.outside}/new")
    assert ran.confining["how"].endswith("(by Landlock)")
    assert world.untouched()


@pytest.mark.thorough
def test_without_a_filter_of_calls_nothing_is_promised(worlds, who):
    world = worlds(who, without={"seccomp": "EINVAL", "landlock_create_ruleset": "ENOSYS"})
    # the feature is taken away by a filter, which is in place before
    assert refused(world.one("workspace", "true"), "no filter of system calls")


@pytest.mark.thorough
def test_no_network_without_namespaces_is_held_by_the_filter_alone(worlds, who):
    world = worlds(who, without={"unshare": "EPERM", "landlock_create_ruleset": "ENOSYS"})
    script = (
        "import socket\n"
        "for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n"
        "    for family in (socket.AF_INET, socket.AF_INET6, 40):\n"
        "        try: socket.socket(family, kind); print('made', family, kind)\n"
        "        except OSError as error: print(error.errno)\n"
        "socket.socket(socket.AF_UNIX); print('unix')\n"
    )
    ran = world.one("no-network", f'python3 -c "{script}"; echo x > {world.outside}/kept && cat {world.outside}/kept')
    assert ran.out.split("\n") == ["13"] * 6 + ["unix", "x"], ran.err
    assert ran.confining["how"] == "no network (by a filter of system calls)"
    assert any("Unix sockets" in miss for miss in ran.confining["misses"])


def test_no_network_leaves_files_and_loopback(worlds, who):
    world = worlds(who)
    need(world, "no-network", "namespaces")
    script = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname())\n"
        "print('loopback')\n"
        "try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9)); print('out')\n"
        "except OSError as error: print(error.strerror)\n"
    )
    ran = world.one(
        "no-network", f'python3 -c "{script}"; echo x > {world.outside}/kept; ls /sys/class/net > /dev/null'
    )
    assert ran.out == "loopback\nNetwork is unreachable"
    assert (world.outside / "kept").read_text() == "x\n"


@pytest.mark.thorough
def test_the_host_s_network_cannot_be_entered_again(worlds):
    if os.geteuid() != 0:
        pytest.skip("only root could")
    world = worlds("root")
    need(world, "no-network", "namespaces")
    for command in (
        "nsenter -t 1 -n true",
        "nsenter -t $PPID -n true",
        "ip netns list-id >/dev/null && ip link add x type dummy",
    ):
        assert world.one("no-network", command).code != 0


def test_a_limit_of_user_namespaces(worlds):
    """The sysctl itself, in a user namespace of the test's own."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can set the limit")
    own = ("unshare", "-U", "--map-users=0,0,65536", "--map-groups=0,0,65536", "--setgroups", "allow")
    limit = ("sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh")
    probe = subprocess.run([*own, *limit, "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        pytest.skip(f"no user namespace with a limit of its own: {probe.stderr}")
    world = worlds("user", before=(*own, *limit), without={"landlock_create_ruleset": "ENOSYS"})
    assert refused(world.one("workspace", "true"), "ENOSPC: sysctl user.max_user_namespaces")
    world = worlds("user", before=(*own, *limit))
    ran = world.one("workspace", f"touch {world.outside}/new")
    assert ran.confining["how"].endswith("(by Landlock)")
    assert world.untouched()


# --- what is refused ---


def test_sudo_of_a_user_cannot_be_confined_and_says_the_way_out(worlds):
    world = worlds("user")
    need(world, "workspace", "namespaces")
    assert refused(world.one("workspace", "sudo -n touch x"), "cannot be confined", "--confine off")
    world = worlds("user", without={"unshare": "EPERM"})
    assert refused(world.one("no-network", "ls; sudo id"), "cannot be confined", "--confine off")


@pytest.mark.thorough
def test_root_keeps_sudo_and_stays_confined(worlds):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    world = worlds("root")
    need(world, "workspace", "namespaces")
    (world.workspace / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
    (world.workspace / "sudo").chmod(0o755)
    ran = world.one(
        "workspace", f"PATH=$PWD:$PATH sudo grep NoNewPrivs /proc/self/status; ./sudo touch {world.outside}/new"
    )
    assert ran.out.split() == ["NoNewPrivs:", "0"]
    assert world.untouched()


@pytest.mark.few(1)
@pytest.mark.parametrize("workspace", ["/", "{base}", "{base}/nothing", "relative"])
def test_a_workspace_that_bounds_nothing(worlds, workspace):
    world = worlds("user")
    world.options = {
        "workspace": workspace.format(base=world.base),
        "home": str(world.base / "tmp" / "home"),
        "cwd": str(world.workspace),
    }
    ran = world.one("workspace", "echo ran")
    assert refused(ran, "workspace")


@pytest.mark.thorough
def test_our_own_settings_stay_as_they_are_in_a_workspace_that_holds_them(worlds, who):
    world = worlds(who)
    need(world, "workspace", "namespaces")
    config = world.workspace / ".config" / "agent-shell"
    config.mkdir(parents=True)
    (config / "policy.toml").write_text("")
    world.own()
    world.options = {"protected": [str(config), str(world.workspace / ".local" / "state" / "agent-shell")]}
    commands = (
        "echo x > .config/agent-shell/policy.toml",
        "mv .config other",
        "rm -rf .config",
        "mkdir -p .local/state && echo x > .local/state/agent-shell/x",
        "mv .local other",
    )
    for command, ran in zip(commands, world.run(*(("workspace", command) for command in commands)), strict=True):
        assert ran.code != 0, command
    assert (config / "policy.toml").read_text() == ""
    assert world.one("workspace", "touch free").code == 0
    world.without = {"unshare": "EPERM"}
    assert refused(world.one("workspace", "true"), "Landlock alone cannot keep")


# --- what is said afterwards ---


def test_a_denial_names_the_path_and_the_narrowest_way_out(worlds, who):
    world = worlds(who)
    need(world, "workspace", "namespaces")
    told, several, read_only = world.run(
        ("workspace", f"echo x > {world.outside}/new"),
        ("workspace", f"touch {world.outside}/a; mkdir {world.base}/b"),
        ("read-only", "touch here"),
    )
    assert told.notes == (
        f"confined (workspace): writing {world.outside}/new was denied. "
        f"To let it write there too: --confine-write {world.outside}"
    )
    assert f"{world.outside}/a, {world.base}/b" in several.notes
    assert "--confine workspace" in read_only.notes
    world.options = {"also": [str(world.outside)]}
    assert world.one("workspace", f"echo x > {world.outside}/new").code == 0


@pytest.mark.thorough
def test_what_failed_for_other_reasons_says_nothing_of_confinement(worlds, who):
    world = worlds(who)
    need(world, "workspace", "namespaces")
    for ran in world.run(
        ("workspace", "false"),
        ("workspace", "cat nothing"),
        ("workspace", f"cat {world.outside}/no"),
        ("workspace", "cat /proc/1/mem"),
    ):
        assert ran.code != 0
        assert ran.notes == ""


@pytest.mark.thorough
def test_the_program_that_wanted_the_network_is_named(worlds):
    world = worlds("user")
    need(world, "no-network", "namespaces")
    ran = world.one("no-network", "curl -sS --max-time 2 http://192.0.2.1/")
    if ran.code == 127:
        pytest.skip("needs curl")
    assert "the network is off, and curl wanted it" in ran.notes
