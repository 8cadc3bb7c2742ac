"""Which places are overlaid, from facts alone."""

from __future__ import annotations

from agent.execution.mountinfo import Mount
from agent.execution.sandbox.layout import Facts, Layout, for_root, for_user

ME = 1000


def mount(point: str, *, kind: str = "ext4", options: str = "rw", number: int = 0, super_options: str = "rw") -> Mount:
    return Mount(
        number=number or abs(hash(point)) % 10_000,
        parent=1,
        point=point.encode(),
        options=frozenset(options.split(",")),
        kind=kind,
        super_options=frozenset(super_options.split(",")),
    )


def facts(owners: dict[str, int], *, files: tuple[str, ...] = (), free: tuple[str, ...] = (), uid: int = ME) -> Facts:
    """`owners` of folders; every other folder is root's. `free`: writable for all."""

    def owner(path: bytes) -> int | None:
        return owners.get(path.decode(), 0)

    return Facts(
        uid=uid,
        is_folder=lambda path: path.decode() not in files,
        owner=owner,
        can_write=lambda path: owner(path) == uid or path.decode() in free,
        entries=lambda path: sorted(
            {name[len(path) + 1 :].split(b"/")[0] for name in map(str.encode, owners) if name.startswith(path + b"/")}
        ),
    )


def roots(layout: Layout) -> list[str]:
    return [place.root.decode() for place in layout.overlays]


SYSTEM = [
    mount("/"),
    mount("/dev", kind="devtmpfs"),
    mount("/proc", kind="proc"),
    mount("/sys", kind="sysfs"),
    mount("/dev/shm", kind="tmpfs", options="rw,nosuid,nodev"),
    mount("/proc/sys/fs/binfmt_misc", kind="autofs"),
    mount("/sys/fs/cgroup", kind="cgroup2"),
]


def test_root_overlays_everything_real() -> None:
    layout = for_root(
        [
            *SYSTEM,
            mount("/home"),
            mount("/usr", options="ro"),
            mount("/media/disc", kind="iso9660", super_options="ro"),
            mount("/etc/hosts"),
            mount("/mnt/auto", kind="autofs"),
            mount("/mnt/auto/share", kind="nfs4"),
        ],
        facts({}, files=("/etc/hosts",), uid=0),
    )
    assert roots(layout) == ["/", "/dev/shm", "/home"]
    assert [one.point for one in layout.read_only] == [b"/usr", b"/media/disc", b"/etc/hosts"]
    assert layout.left_out == [(b"/etc/hosts", "a file mounted by itself stays read-only")]
    assert layout.overlays[1].flags == {"nosuid", "nodev"}


def test_a_read_only_root_is_overlaid_and_stays_read_only() -> None:
    layout = for_root([mount("/", options="ro"), mount("/var")], facts({}, uid=0))
    assert roots(layout) == ["/", "/var"]
    assert layout.overlays[0].flags == {"ro"}


def test_of_too_many_mounts_those_with_work_in_them_are_kept() -> None:
    many = [mount(f"/m{number:03}", number=number + 10) for number in range(100)]
    layout = for_root([mount("/"), *many], facts({}, uid=0), work=(b"/m099/here",))
    assert len(layout.overlays) == 41
    assert roots(layout)[-1] == "/m099"
    assert len(layout.left_out) == 60


def test_a_user_gets_what_is_theirs_and_the_common_places() -> None:
    layout = for_user(
        [*SYSTEM, mount("/run/user/1000", kind="tmpfs")],
        facts({"/home/me": ME, "/home/me/work": ME, "/run/user/1000": ME}, free=("/tmp", "/var/tmp", "/dev/shm")),
        cwd=b"/home/me/work",
        home=b"/home/me",
    )
    assert roots(layout) == ["/tmp", "/dev/shm", "/home/me", "/var/tmp", "/run/user/1000"]
    assert not layout.left_out
    assert b"/proc" not in [one.point for one in layout.read_only]
    assert b"/" in [one.point for one in layout.read_only]


def test_a_folder_of_theirs_below_somebody_elses_needs_its_own_overlay() -> None:
    """The overlay of /tmp cannot copy root's folder up, which a change below it would need."""
    owners = {"/tmp/roots/mine": ME, "/tmp/mine": ME, "/tmp/mine/deep": ME, "/home/me": ME}
    for cwd, wanted in (("/tmp/roots/mine", True), ("/tmp/mine/deep", False)):
        layout = for_user(SYSTEM, facts(owners, free=("/tmp",)), cwd=cwd.encode(), home=b"/home/me")
        assert (cwd in roots(layout)) is wanted
        assert "/tmp" in roots(layout)


def test_other_mounts_below_split_a_place() -> None:
    layout = for_user(
        [*SYSTEM, mount("/home/me/a/disk"), mount("/home/me/fixed", options="ro")],
        facts(
            {
                "/home/me": ME,
                "/home/me/a": ME,
                "/home/me/a/b": ME,
                "/home/me/a/disk": ME,
                "/home/me/c": ME,
                "/home/me/fixed": ME,
            }
        ),
        cwd=b"/home/me",
        home=b"/home/me",
    )
    assert roots(layout) == ["/home/me/c", "/home/me/a/b", "/home/me/a/disk"]
    assert [path for path, _why in layout.left_out] == [b"/home/me", b"/home/me/a"]


def test_where_nothing_is_theirs_that_is_said() -> None:
    layout = for_user(SYSTEM, facts({}), cwd=b"/usr", home=b"")
    assert roots(layout) == []
    assert layout.left_out == [(b"/usr", "it is not yours, so it stays read-only")]


def test_a_writable_working_folder_of_somebody_else_is_overlaid() -> None:
    layout = for_user(SYSTEM, facts({}, free=("/srv/shared",)), cwd=b"/srv/shared", home=b"")
    assert roots(layout) == ["/srv/shared"]


def test_temporary_folders_with_mounts_below_are_empty_inside() -> None:
    mounts = [
        *SYSTEM,
        mount("/tmp/.mount_app", kind="fuse"),
        mount("/run/user/1000", kind="tmpfs"),
        mount("/run/user/1000/gvfs", kind="fuse"),
    ]
    known = facts({"/home/me": ME, "/run/user/1000": ME, "/tmp/mine": ME}, free=("/tmp", "/var/tmp"))
    layout = for_user(mounts, known, cwd=b"/home/me", home=b"/home/me")
    assert roots(layout) == ["/home/me", "/var/tmp"]
    assert layout.fresh == [b"/tmp", b"/run/user/1000"]
    within = for_user(mounts, known, cwd=b"/tmp/mine", home=b"/home/me")
    assert "/tmp/mine" in roots(within)
    assert within.fresh == [b"/run/user/1000"]
    assert (b"/tmp", "other file systems are mounted below it, so it stays read-only") in within.left_out
