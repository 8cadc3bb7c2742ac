"""A confined command cannot leave behind what would run, unconfined, with the next one; nor keep us from tidying up after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.execution.journal.trees import remove_own
from agent.execution.leftovers import taken_over
from agent.execution.state import ShellState, parse
from tests.support.confined_world import ConfinedWorld, need
from tests.support.few import ONE_USER

pytestmark = ONE_USER

BASH = "/bin/bash"
_FORGED = r"""
p=$(trap -p EXIT | grep -o '/[^"]*/state/[0-9]*' | head -1)
printf '%s\0' "$PWD" "UMASK" "shopt -s extglobSHOPT" "set +o pipefailOPTION" "ALIAS" "FUNCTION" "PATH=$PATH" ENV > "$p"
printf '\0agent-shell-state-end\0' >> "$p"
"""


@pytest.fixture(params=["root", "user"])
def world(request: pytest.FixtureRequest) -> Iterator[ConfinedWorld]:
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("only root can be root")
    made = ConfinedWorld(request.param)
    need(made, "workspace", "writes only in")
    yield made
    made.remove()


def forged(**fields: str) -> str:
    text = _FORGED
    whole = {"UMASK": "0022", "SHOPT": "", "OPTION": "", "ALIAS": "", "FUNCTION": "", "ENV": ""} | fields
    for name, value in whole.items():
        text = text.replace(name, value)
    return text


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "fields",
    [
        {"UMASK": "22; MARK"},
        {"SHOPT": "; MARK"},
        {"OPTION": "; MARK; : pipefail"},
        {"ALIAS": "alias a=x; MARK\n"},
        {"ALIAS": "alias #a='x\nMARK\n'\n"},
        {"FUNCTION": "MARK\n"},
        {"FUNCTION": "f () \n{ \n    :\n}; MARK\n"},
        {"FUNCTION": "builtin () \n{ \n    MARK\n}\n"},
        {"FUNCTION": "/usr/bin/env () \n{ \n    MARK\n}\n"},
        {"FUNCTION": "declare () \n{ \n    MARK\n}\nf () \n{ \n    :\n}\n"},
        {"ENV": "'BASH_FUNC_true%%=() { MARK; }'"},
        {"ENV": "SHELLOPTS=xtrace 'PS4=$(MARK)'"},
    ],
)
def test_a_state_that_a_command_wrote_itself_runs_nothing(world: ConfinedWorld, fields: dict[str, str]) -> None:
    mark = f"touch {world.outside}/run"
    written = {name: value.replace("MARK", mark) for name, value in fields.items()}
    world.run(("workspace", forged(**written)), ("off", "true"), ("off", "true"))
    assert world.untouched()


def test_functions_aliases_and_options_are_kept(world: ConfinedWorld) -> None:
    define = """shopt -s extglob; alias -- -x="a 'quoted' one" q="'"
        eval 'f() { case $1 in @(a|b)) echo "it is
$1";; esac; cat <<END
HEADER
END
        }'; h() { echo H; }; export -f h; umask 027; set -o pipefail"""
    ran = world.run(
        ("workspace", define.replace("HEADER", "g () ")),
        ("off", "f a; bash -c h; alias q; umask; shopt -q extglob && set -o | grep pipefail"),
    )
    # A here-document that looks like a function cannot be told from one.
    assert "functions as this command left them could not be read" in ran[0].notes
    ran = world.run(
        ("workspace", define.replace("HEADER", "g ()")),
        ("off", "f a; bash -c h; alias q; umask; shopt -q extglob && set -o | grep pipefail"),
    )
    assert ran[0].notes == ""
    assert ran[1].out.split("\n") == ["it is", "a", "g ()", "H", "alias q=\\'", "0027", "pipefail       \ton"]


@pytest.mark.thorough
def test_variables_that_every_program_loads_are_not_kept(world: ConfinedWorld) -> None:
    ran = world.run(("workspace", "export LD_AUDIT=$PWD/x.so A=1"), ("off", "echo ${LD_AUDIT-none} $A"))
    assert "not kept, since every program would load it: LD_AUDIT" in ran[0].notes
    assert ran[1].out == "none 1"


@pytest.mark.thorough
def test_an_endless_state_file_is_no_state(world: ConfinedWorld) -> None:
    text = """p=$(trap -p EXIT | grep -o '/[^"]*/state/[0-9]*' | head -1); truncate -s 1T "$p" """
    ran = world.one("workspace", text)
    assert "could not be read back" in ran.notes


@pytest.mark.thorough
def test_a_deep_and_locked_temporary_folder_goes(world: ConfinedWorld) -> None:
    deep = "import os\nfor i in range(2100):\n    os.mkdir('d'); os.chdir('d')\nopen('f', 'w')"
    ran = world.one("workspace", f'(cd "$TMPDIR" && python3 -c "{deep}"; mkdir -p a/b/c; chmod 0 a/b a)')
    assert ran.code == 0
    assert os.listdir(world.base / "tmp") == []


@pytest.mark.thorough
def test_a_pair_of_datagram_sockets_reaches_nobody(world: ConfinedWorld) -> None:
    import socket

    path = str(world.outside.parent / "service")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service:
        service.bind(path)
        os.chmod(path, 0o777)
        service.setblocking(False)
        script = (
            "import socket\nfor kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):\n  try:\n"
            f"    a, b = socket.socketpair(socket.AF_UNIX, kind)\n    a.sendto(b'out', '{path}')\n  except OSError as e: print(e.errno)\n"
            "a, b = socket.socketpair()\na.send(b'in')\nprint(b.recv(9))"
        )
        for mode in ("workspace", "read-only", "workspace,no-network"):
            ran = world.one(mode, f'python3 -c "{script}"')
            assert ran.out.split() == ["13", "13", "b'in'"], ran.err
        with pytest.raises(BlockingIOError):
            service.recv(9)


def test_a_link_that_is_swapped_in_leads_nowhere(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o755)
    (kept / "file").write_text("as it was")
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "link").symlink_to(kept)
    (folder / "link").symlink_to(kept)
    remove_own(os.fsencode(folder))
    assert not folder.exists()
    (tmp_path / "top").symlink_to(kept)
    remove_own(os.fsencode(tmp_path / "top"))
    assert (kept / "file").read_text() == "as it was"
    assert kept.stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_stays(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "file").touch()
    os.chown(folder, 65534, 65534)
    remove_own(os.fsencode(folder))
    assert (folder / "file").exists()


def test_a_folder_is_absolute_or_none() -> None:
    before = ShellState(cwd="/", env={})

    def dump(cwd: str) -> bytes:
        return f"{cwd}\0000022\n\0shopt -s extglob\0\0\0\0\0A=1\0\0agent-shell-state-end\0".encode()

    assert parse(dump("etc"), before) is None
    after = parse(dump("/etc"), before)
    assert after is not None and after.cwd == "/etc"


def test_unchanged_functions_start_no_program() -> None:
    state = ShellState(cwd="/", env={"A": "1"}, functions="f () \n{ \n    :\n}\n")
    assert taken_over(state, state, "/nowhere/bash") == (state, ())


def test_no_bash_keeps_the_earlier_functions() -> None:
    before = ShellState(cwd="/", env={})
    after = ShellState(cwd="/", env={}, functions="f () \n{ \n    :\n}\n")
    state, notes = taken_over(after, before, "/nowhere/bash")
    assert (state.functions, len(notes)) == ("", 1)
    assert taken_over(after, before, BASH)[0] == after


def test_shared_memory_of_others_is_out_of_reach(world: ConfinedWorld) -> None:
    need(world, "workspace", "by namespaces")
    ran = world.one("workspace", "ipcs -m | grep -c '^0x'; ipcmk -M 4096 >/dev/null; ipcs -m | grep -c '^0x'")
    assert ran.out.split() == ["0", "1"], ran.err


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_without_landlock_root_cannot_go_where_another_user_is() -> None:
    import subprocess

    world = ConfinedWorld("root", without={"landlock_create_ruleset": "ENOSYS"})
    other = subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "60"])
    try:
        need(world, "workspace", "by namespaces")
        world.outside.chmod(0o777)
        script = (
            "import os\ntry: os.setgroups([]); os.setresgid(*[65534]*3); os.setresuid(*[65534]*3)\nexcept OSError as e: print(e.errno)\n"
            f"open('/proc/{other.pid}/root{world.outside}/x', 'w')"
        )
        ran = world.one("workspace", f'python3 -c "{script}"')
        assert ran.code != 0 and ran.out == "1"
        assert world.untouched()
        refused = world.one("workspace", "su nobody -s /bin/sh -c id")
        assert refused.code == 126 and "gains other rights" in refused.err
    finally:
        other.kill()
        other.wait()
        world.remove()


@pytest.mark.thorough
def test_a_home_folder_is_no_workspace(world: ConfinedWorld) -> None:
    world.options["home"] = str(world.workspace)
    ran = world.one("workspace", "echo alias ls=evil >>.bashrc")
    assert ran.code == 126 and "home folder" in ran.confining["reason"]
    assert not (world.workspace / ".bashrc").exists()
    assert world.one("read-only", "true").code == 0
