"""Which folders an ordinary user's rehearsal shows through a read-only overlay, from facts alone."""

from __future__ import annotations

from agent.execution.mountinfo import Mount
from agent.execution.sandbox.layout import MOST_QUIET, Facts, quiet_places


def mount(point: str, kind: str = "ext4") -> Mount:
    return Mount(
        number=1,
        parent=1,
        point=point.encode(),
        options=frozenset(("rw",)),
        kind=kind,
        super_options=frozenset(("rw",)),
    )


def quiet(mounts: list[Mount], folders: str, roots: str = "", links: str = "") -> list[str]:
    """The places, given all folders there are, overlaid `roots`, and folders that are links."""
    names = set(folders.split())

    def entries(path: bytes) -> list[bytes]:
        start = path.decode().rstrip("/") + "/"
        return sorted({name[len(start) :].split("/")[0].encode() for name in names if name.startswith(start)})

    facts = Facts(
        uid=1000,
        is_folder=lambda path: path.decode() not in links.split(),
        owner=lambda path: 0,
        can_write=lambda path: False,
        entries=entries,
    )
    return [path.decode() for path in quiet_places(mounts, facts, [root.encode() for root in roots.split()])]


SYSTEM = [mount("/"), mount("/proc", "proc"), mount("/sys", "sysfs"), mount("/dev", "devtmpfs")]


def test_whole_folders_that_are_not_overlaid() -> None:
    folders = "/bin /usr/lib /etc/x /home/me /home/you /srv /var/tmp /var/lib /proc /sys /dev /tmp/x"
    assert quiet(SYSTEM, folders, "/home/me /tmp /var/tmp", links="/bin") == ["/home", "/srv", "/var"]


def test_around_other_mounts_their_neighbours() -> None:
    mounts = [*SYSTEM, mount("/run", "tmpfs"), mount("/run/lock", "tmpfs"), mount("/run/user/1000", "tmpfs")]
    mounts += [mount("/data"), mount("/net", "autofs"), mount("/srv/jail/proc", "proc")]
    folders = "/run/dbus /run/lock /run/user/1000 /run/user/1001 /data /net /srv/jail/proc /srv/jail/etc /srv/www"
    found = quiet(mounts, folders, "/run/user/1000")
    assert found == ["/data", "/run/dbus", "/run/lock", "/run/user/1001", "/srv/jail/etc", "/srv/www"]


def test_no_more_than_are_worth_it() -> None:
    assert len(quiet(SYSTEM, " ".join(f"/f{number}" for number in range(100)))) == MOST_QUIET
