"""What a held command may put where: temporary files of its own, records of a repository, no programs that run as their owner."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agent.execution.confine.lock import asked_files, asked_sockets
from agent.execution.confine.lock.asked_files import AskedFiles
from agent.execution.confine.lock.caller import CURRENT, Caller, Name, Refused
from agent.execution.confine.lock.plan import LockPlan, OwnPlaces, is_record
from agent.execution.confine.lock.preparing import LOOKED_FOR
from tests.scenarios.ordinary_user import NOBODY
from tests.support.few import ONE_USER

pytestmark = ONE_USER
RECORDS = """
    objects/ab/cdef objects/pack/pack-1.pack objects/tmp_obj_x objects/info/packs objects/info/commit-graphs/graph-1
    refs/heads/a/b refs/heads/config logs/HEAD logs/refs/stash HEAD HEAD.lock ORIG_HEAD FETCH_HEAD MERGE_MSG AUTO_MERGE
    COMMIT_EDITMSG index index.lock index.stash.12 next-index-12.lock packed-refs packed-refs.new packed-refs.lock
    shallow.lock gc.pid gc.log.lock worktrees/w/HEAD worktrees/w/index.lock modules/lib/objects/ab/c
    modules/third/lib/FETCH_HEAD modules/lib/packed-refs.lock lfs/objects/a/b
"""
SET_UP = """
    config config.lock config.worktree commondir gitdir hooks hooks/pre-commit info info/attributes info/exclude objects/info
    objects/info/alternates objects/info/alternates.lock objects/info/http-alternates objects/x/info/alternates worktrees/w
    worktrees worktrees/w/commondir worktrees/w/gitdir worktrees/w/config.worktree modules modules/lib modules/lib/config
    modules/lib/hooks/x modules/lib/commondir modules/lib/objects/info/alternates modules/a/b/config modules/objects/config
    modules/objects/hooks/update modules/lib/worktrees/w/commondir rebase-merge/git-rebase-todo objects refs logs
    modules/lib/objects worktrees/w/logs something new/config description branches/x
"""


def test_only_known_places_of_a_repository_are_records():
    assert [path for path in RECORDS.split() if not is_record(os.fsencode(path))] == []
    assert [path for path in ("", *SET_UP.split()) if is_record(os.fsencode(path))] == []


PYTHON = "python3 -c "
IN_A_REPOSITORY = tuple(
    "git add other; " + PYTHON + f"'{code}'"
    for code in (
        'open(".git/commondir", "w").write("/tmp")',
        'open(".git/config", "a").write("[core]")',
        'import os; os.rename(".git", ".git-away")',
        'import os; os.rename(".git", "/tmp/git-away")',
        'import os; os.rename(".", "/tmp/all-away")',
        'import os; os.rename("{w}", "{w}-away")',
        'import os; os.rename(".git/objects", ".git/refs/objects")',
        'import os; os.rename(".git/hooks", ".git/refs/hooks")',
        'import os; os.symlink("/tmp", ".git/hooks/x")',
        'import os; os.mkdir(".git/worktrees"); os.mkdir(".git/modules"); open(".git/modules/config", "w")',
        'open(".git/info/attributes", "w").write("* filter=x")',
        'open(".git/objects/info/alternates", "w").write("/tmp")',
        'import os; os.makedirs(".git/objects/x/info"); open(".git/objects/x/info/alternates", "w").write("/tmp")',
    )
)
OWNERS = tuple(
    "d=$(mktemp -d) && cd $d && "
    + PYTHON
    + f"'import os; {code}'; find $d -type f -perm /6000 | grep . > {{h}}/found; rm -r $d"
    for code in (
        'os.umask(0); os.open("s", os.O_CREAT | os.O_WRONLY, 0o6777)',
        'os.fchmod(os.open("s", os.O_CREAT | os.O_WRONLY), 0o6755)',
        'open("s", "w"); os.chmod("s", 0o2755)',
        'os.mknod("s", 0o104755)',
        'f = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o4755); os.link("/proc/self/fd/%d" % f, "s")',
    )
)


@pytest.mark.thorough
def test_the_inside_of_a_repository_is_set_up_by_nobody_who_records(world):
    subprocess.run(["git", "init", "-q", world.workspace], check=True, env=world.environ)
    world.own()
    kept = [".git/commondir", ".git/config", ".git/hooks", ".git/info/attributes", ".git/objects/info/alternates", ".git/modules/config",
            ".git/objects/x/info/alternates", ".git/objects", ".git"]  # fmt: skip

    def state():
        return [(name, path.stat().st_ino, path.read_bytes() if path.is_file() else b"") for name in kept
                if (path := world.workspace / name).exists()]  # fmt: skip

    before = state()
    done = world.run([text.replace("{w}", str(world.workspace)) for text in IN_A_REPOSITORY])
    assert state() == before
    assert [text for text, item in zip(IN_A_REPOSITORY, done, strict=True) if item["code"] == 0] == []


FOUNDING = tuple(
    f"{first}{PYTHON}'import os; {code}'"
    for first, code in (
        ("git init -q; ", 'open(".git/hooks/pre-commit", "w")'),
        ("git init -q; ", 'os.rename(".git/hooks/pre-commit.sample", ".git/hooks/pre-commit")'),
        ("git init -q; ", 'os.symlink("/tmp", ".git/hooks/pre-push")'),
        ("git init -q; ", 'open(".git/commondir", "w")'),
        ("git init -q; ", 'os.rename(".git", "away")'),
        ("git init -q new; ", 'os.rename("new", "away")'),
        ("git init -q new; ", 'open(".git", "w")'),
        ("git init -q old; ", 'open("old/.git/config", "a")'),
    )
)


def test_a_repository_is_made_where_none_is_and_holds_nothing_that_runs(world):
    old = world.workspace / "old"
    subprocess.run(["git", "init", "-q", old], check=True, env=world.environ)
    config = (old / ".git" / "config").read_bytes()
    world.own()
    done = world.run(["git init -q", "git init -q -b main new/deep", "git -C new/deep status --short"], gate=True)
    assert [(item["outcome"], item["code"]) for item in done] == [("ran", 0)] * 3
    for text in FOUNDING:
        for name in (".git", "new"):
            shutil.rmtree(world.workspace / name, ignore_errors=True)
        (item,) = world.run([text])
        assert item["code"] != 0, text
        hooks = [path.name for path in world.workspace.rglob(".git/hooks/*") if path.suffix != ".sample"]
        assert hooks == [] and not (world.workspace / "away").exists(), text
    assert (old / ".git" / "config").read_bytes() == config


def test_a_command_with_an_editor_runs_only_when_asked_for(world):
    done = world.run(["vi --version >/dev/null; echo ran", "ls | nano", "ls && /usr/bin/emacs -nw x"], gate=True)
    assert [item["outcome"] for item in done] == ["declined"] * 3
    assert all(item["out"] == "" for item in done)


def test_nothing_gets_the_rights_of_its_owner(world):
    done = world.run([text.replace("{h}", "/dev/null #") for text in OWNERS], lying=True, gate=True)
    assert [item["outcome"] for item in done] == ["declined"] * len(OWNERS)
    assert all("rights of its owner" in item["remark"] for item in done)


def test_folders_of_others_below_temporary_ones_stay_as_they_are(world):
    for top in ("/tmp", "/var/tmp", "/dev/shm"):
        folder = Path(tempfile.mkdtemp(dir=top))
        (folder / "hooks").mkdir()
        for path in (folder, folder / "hooks"):
            path.chmod(0o777)
        try:
            world.run(
                [
                    f"echo x > {folder}/hooks/pre-commit",
                    f"touch {folder}/x",
                    f"mkdir {folder}/d",
                    f"ln -s /tmp {folder}/l",
                    f"f=$(mktemp {top}/XXXXXX) && mv $f {folder}/moved; rm -f $f",
                    PYTHON
                    + f'\'import os; f = os.open("{folder}", os.O_TMPFILE | os.O_RDWR); os.link("/proc/self/fd/%d" % f, "{folder}/n")\'',
                ],
                lying=True,
                gate=True,
            )
            assert sorted(path.name for path in folder.rglob("*")) == ["hooks"]
        finally:
            shutil.rmtree(folder)


class Named(Caller):
    """A caller that means what it says."""

    def text(self, address):
        return address

    def named(self, folder, text):
        return Name(self.pid, self.pid, CURRENT, text)


@pytest.fixture
def between(tmp_path, monkeypatch):
    """Somebody's file appears at `target` after it was found missing."""
    target = tmp_path / "theirs"
    real = asked_files._parted

    def parted(path, **how):
        found = real(path, **how)
        if path.text == os.fsencode(target) and not target.exists():
            target.write_text("theirs")
        return found

    monkeypatch.setattr(asked_files, "_parted", parted)
    return target


def files(tmp_path):
    return AskedFiles(LockPlan(temporary=(os.fsencode(tmp_path),)), lambda pid: False)


def test_what_appears_after_it_was_missing_is_judged_anew(between, tmp_path):
    with pytest.raises(Refused):
        files(tmp_path).open(Named(os.getpid()), 0, os.fsencode(between), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    assert between.read_text() == "theirs"


def test_nothing_is_renamed_over_what_appears(between, tmp_path):
    held, own = files(tmp_path), os.fsencode(tmp_path / "own")
    os.close(held.open(Named(os.getpid()), 0, own, os.O_WRONLY | os.O_CREAT, 0o600))
    with pytest.raises(FileExistsError):
        held.rename(Named(os.getpid()), (0, own), (0, os.fsencode(between)), 0)
    assert between.read_text() == "theirs"


def test_a_name_that_was_its_own_before_a_folder_was_renamed_is_not_any_more(tmp_path):
    held, caller, folder = files(tmp_path), Named(os.getpid()), tmp_path / "d"
    held.make_folder(caller, 0, os.fsencode(folder), 0o700)
    os.close(held.open(caller, 0, os.fsencode(folder / "f"), os.O_WRONLY | os.O_CREAT, 0o600))
    held.rename(caller, (0, os.fsencode(folder)), (0, os.fsencode(tmp_path / "e")), 0)
    folder.mkdir()
    (folder / "f").write_text("theirs")
    with pytest.raises(Refused):
        held.open(caller, 0, os.fsencode(folder / "f"), os.O_WRONLY | os.O_TRUNC, 0)
    assert (folder / "f").read_text() == "theirs"


def test_a_program_makes_the_data_that_it_begins_with_and_changes_none(tmp_path):
    folder, other = tmp_path / ".gnupg", tmp_path / ".config"
    plan = LockPlan(private=(os.fsencode(folder), os.fsencode(other)), temporary=())
    held, caller = AskedFiles(plan, lambda pid: False), Named(os.getpid())
    held.make_folder(caller, 0, os.fsencode(folder), 0o700)
    begun = os.O_WRONLY | os.O_CREAT
    for name in ("pubring.kbx", "trustdb.gpg", ".#lk0x1.host.2", "pubring.kbx.lock"):
        for _ in range(2):
            os.close(held.open(caller, 0, os.fsencode(folder / name), begun, 0o600))
    (folder / "pubring.gpg").write_text("theirs")
    for name in ("gpg.conf", "gpg-agent.conf", "common.conf", "private-keys-v1.d", "pubring.gpg", "x", "a/pubring.kbx"):
        with pytest.raises((Refused, FileNotFoundError)):
            held.open(caller, 0, os.fsencode(folder / name), begun | os.O_TRUNC, 0o600)
    with pytest.raises(Refused):
        held.make_folder(caller, 0, os.fsencode(folder / "private-keys-v1.d"), 0o700)
    held.make_folder(caller, 0, os.fsencode(other), 0o700)
    with pytest.raises(Refused):
        held.open(caller, 0, os.fsencode(other / "pubring.kbx"), begun, 0o600)
    assert (folder / "pubring.gpg").read_text() == "theirs"


def test_a_folder_on_the_way_opens_nothing_beside_the_way(tmp_path):
    named = tmp_path / "a" / "b" / "named"
    held, caller = (
        AskedFiles(LockPlan(write=(os.fsencode(named),), temporary=()), lambda pid: False),
        Named(os.getpid()),
    )
    for folder in (named.parent.parent, named.parent):
        held.make_folder(caller, 0, os.fsencode(folder), 0o755)
    os.close(held.open(caller, 0, os.fsencode(named), os.O_WRONLY | os.O_CREAT, 0o600))
    with pytest.raises(Refused):
        held.open(caller, 0, os.fsencode(named.parent / "other"), os.O_WRONLY | os.O_CREAT, 0o600)
    assert stat.S_ISREG(named.stat().st_mode)


def test_hosts_are_looked_up_only_with_the_network(tmp_path, monkeypatch):
    """A service that looks up names of hosts asks other machines for whoever asks it."""
    monkeypatch.setattr(asked_sockets, "_HOSTS", (os.fsencode(f"{tmp_path}/hosts/"),))
    monkeypatch.setattr(asked_sockets, "_PEOPLE", (os.fsencode(f"{tmp_path}/people/"),))
    with contextlib.ExitStack() as stack:

        def connects(name: str, *, network: bool) -> bool:
            address = bytearray((1).to_bytes(2, sys.byteorder) + os.fsencode(tmp_path / name / "socket") + b"\0")
            held = (ctypes.c_char * len(address)).from_buffer(address)
            ours = stack.enter_context(socket.socket(socket.AF_UNIX))
            asked = asked_sockets.AskedSockets(LockPlan(network=network))
            try:
                act = asked.connect(Caller(os.getpid()), ours.fileno(), ctypes.addressof(held), len(address))
                return act is not None and act() == 0
            except Refused as refusal:
                assert refusal.needless is (name == "hosts")
                return False

        for name in ("hosts", "people", "others"):
            (tmp_path / name).mkdir()
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(tmp_path / name / "socket"))
            listener.listen()
        assert [connects(name, network=False) for name in ("hosts", "people", "others")] == [False, True, False]
        assert [connects(name, network=True) for name in ("hosts", "people", "others")] == [True, True, False]


@pytest.mark.thorough
def test_a_folder_is_temporary_only_as_it_was_when_the_session_began(world):
    """A workspace below /tmp would be one, where a command said so."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        if world.who == "user" and os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        done = world.run([f"export TMPDIR={folder}", f"echo evil > {folder}/conftest.py"], lying=True, gate=True)
        assert [item["outcome"] for item in done] == ["ran", "declined"]
        assert os.listdir(folder) == []


@pytest.mark.thorough
def test_what_was_moved_below_what_it_made_is_not_its_own(world):
    theirs = world.workspace / "sub" / "deep" / ".git"
    theirs.mkdir(parents=True)
    (theirs / "config").write_text("theirs")
    world.own()
    exchange = "import ctypes; ctypes.CDLL(None).renameat2(-100, b'{}', -100, b'{}', 2)"
    for line in (
        "mkdir new && mv sub new/s; echo evil >> new/s/deep/.git/config",
        "mkdir new && mv sub new/s && mv new else; echo evil >> else/s/deep/.git/config",
        f'mkdir new && python3 -c "{exchange.format("new", "sub")}"; echo evil >> new/deep/.git/config',
        f'mkdir -p new/a && mv sub new/s && python3 -c "{exchange.format("new/s", "new/a")}"; echo evil >> new/a/deep/.git/config',
    ):
        (item,) = world.run([line], lying=True, gate=True, kind="create")
        assert (item["outcome"], ".git/config, which" in item["remark"]) == ("declined", True), line
        (moved,) = world.workspace.rglob("deep")
        assert (moved / ".git" / "config").read_text() == "theirs", line
        moved.parent.rename(world.workspace / "put-back")
        for name in ("new", "else", "sub"):
            shutil.rmtree(world.workspace / name, ignore_errors=True)
        (world.workspace / "put-back").rename(world.workspace / "sub")


def test_where_letters_count_as_the_same_the_settings_of_git_do_too():
    plan = LockPlan(write=(b"/w",), repositories=(b"/w/.git",))
    own = OwnPlaces()
    for name in (
        ".git",
        "a/.GIT/hooks/x",
        ".Git",
        "GIT~1/config",
        "a/git~1",
        ".git./config",
        ".git /x",
        ".Agent-Shell.toml",
    ):
        assert not plan.writes(b"/w/" + os.fsencode(name), own), name
    for name in (
        "CONFIG",
        "HOOKS",
        "COMMONDIR",
        "CONFIG.lock",
        "GITDIR",
        "objects/INFO/ALTERNATES",
        "modules/x/HOOKS/y",
        "worktrees/x/CONFIG",
    ):
        assert not plan.writes(b"/w/.git/" + os.fsencode(name), own), name
    for name in (
        ".gitignore",
        "git~",
        "x.git/a",
        ".github/x",
        ".git/HEAD",
        ".git/ORIG_HEAD",
        ".git/FETCH_HEAD",
        ".git/refs/heads/CONFIG",
    ):
        assert plan.writes(b"/w/" + os.fsencode(name), own), name


@pytest.mark.parametrize("name", [".npmrc", "node_modules", "package.json", ".CARGO", "pyproject.toml", "Vagrantfile"])
def test_what_programs_look_for_above_their_folder_is_not_put_at_the_top_of_a_temporary_one(tmp_path, name):
    temporary = (os.fsencode(tmp_path),)
    held, caller = (
        AskedFiles(LockPlan(temporary=temporary, looked_for=LOOKED_FOR), lambda pid: False),
        Named(os.getpid()),
    )
    own, wanted = tmp_path / "own", tmp_path / name
    held.make_folder(caller, 0, os.fsencode(own), 0o700)
    os.close(held.open(caller, 0, os.fsencode(own / name), os.O_WRONLY | os.O_CREAT, 0o600))
    for act in (
        lambda: held.open(caller, 0, os.fsencode(wanted), os.O_WRONLY | os.O_CREAT, 0o600),
        lambda: held.make_folder(caller, 0, os.fsencode(wanted), 0o700),
        lambda: held.rename(caller, (0, os.fsencode(own / name)), (0, os.fsencode(wanted)), 0),
        lambda: held.rename(caller, (0, os.fsencode(own)), (0, os.fsencode(wanted)), 0),
    ):
        with pytest.raises(Refused):
            act()
    assert not wanted.exists()
    assert (own / name).exists()


def test_who_may_not_name_its_threads_goes_on(world):
    (item,) = world.run(["echo x > /proc/self/comm; echo on"], lying=True, gate=True)
    assert (item["outcome"], item["out"]) == ("ran", "on\n")
