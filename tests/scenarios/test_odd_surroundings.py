"""Standard streams that are gone or full, no home, no working folder, odd terminals and languages."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.scenarios.ordinary_user import OrdinaryWorld
from tests.scenarios.program import World, chat, command


def shell(world: World, line: str, **env: str | None) -> subprocess.CompletedProcess[str]:
    """A line of sh in which "$@" is the program."""
    words = ["bash", "-c", line, "bash", *(str(word) for word in world.words())]
    done = subprocess.run(
        words, env=world.environ(**env), cwd=world.work, capture_output=True, text=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    return done


@pytest.mark.thorough
def test_nobody_reads_the_rest(world: World) -> None:
    """`| head -1`: the command goes on, its ending is recorded, and we end quietly."""
    line = '"$@" exec --approve medium "seq 200000; touch done" | head -1; echo "${PIPESTATUS[0]}"'
    done = shell(world, line)
    assert done.stdout.split()[0] == "1"
    assert int(done.stdout.split()[1]) in (0, 141)
    assert (world.work / "done").exists()
    assert world.goal()["status"] == "completed"


def test_nobody_reads_json(world: World) -> None:
    shell(world, '"$@" exec --json --approve medium "seq 200000; touch done" | head -1')
    assert (world.work / "done").exists()
    assert world.goal()["status"] == "completed"


@pytest.mark.thorough
@pytest.mark.parametrize("more", ["", "--json"])
def test_a_full_standard_output(world: World, more: str) -> None:
    done = shell(world, f'"$@" exec {more} --approve medium "echo out; touch done" >/dev/full; echo "$?"')
    assert (world.work / "done").exists()
    assert world.goal()["status"] == "completed"
    assert done.stdout.strip() in ("0", "1")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.few(1)
def test_standard_streams_that_are_closed(world: World, closed: str) -> None:
    """What the program opens must not slip into the places of the closed streams, and the log stays clean."""
    done = shell(world, f'"$@" exec --approve medium "echo out; echo err >&2; touch done" {closed}; echo "code $?"')
    assert "code 0" in done.stdout, done
    assert (world.work / "done").exists()
    assert world.goal()["status"] == "completed"
    assert world.goal()["commands"][0]["stdout"] == "out\n"


@pytest.mark.thorough
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_goal_with_a_closed_stream(world: World, closed: str) -> None:
    planner = " ".join(world.scripted(command("echo out"), chat("said")))
    done = shell(world, f'"$@" {planner} --approve low "do it" {closed}; echo "code $?"')
    assert "code 0" in done.stdout, done
    assert world.goal()["status"] == "completed"


@pytest.mark.parametrize("arguments", ["--version", "--help", "risk ls", "doctor", "config show", "completions bash"])
@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
@pytest.mark.few(2)
def test_sub_commands_without_a_place_for_their_answer(world: World, arguments: str, where: str) -> None:
    done = shell(world, f'"$@" {arguments} {where}; echo "code $?" >&2')
    if where == ">/dev/full":
        assert done.stderr.endswith("code 1\n")
        assert "no space left" in done.stderr
    else:
        assert done.stderr.endswith("code 0\n")


@pytest.mark.thorough
def test_standard_input_closed_without_a_goal(world: World) -> None:
    done = shell(world, '"$@" --planner offline <&-; echo "code $?"')
    assert "code 0" in done.stdout


@pytest.mark.few(1)
@pytest.mark.parametrize("home", [None, "", "/proc/nowhere/at/all", "relative", "/dev/null"])
def test_a_home_that_is_not_there(world: World, home: str | None) -> None:
    ended = world.run("exec", "--approve", "low", "echo hi", env={"HOME": home})
    assert (ended.code, ended.stdout) == (0, "hi\n"), ended.stderr
    assert not (world.work / "relative").exists()


@pytest.mark.thorough
def test_no_home_and_no_session_folder(ordinary: OrdinaryWorld) -> None:
    """Without a place for the log nothing runs, and it is said which option helps."""
    ordinary.own(ordinary.base)
    env: dict[str, str | None] = {"HOME": "/nowhere", "AGENT_SESSION_DIR": "/nowhere/sessions"}
    ended = ordinary.run("exec", "--approve", "medium", "touch ran", env=env)
    assert ended.code == 1
    assert "session folder" in ended.stderr
    assert not (ordinary.work / "ran").exists()
    assert ordinary.run("exec", "--no-persist", "--approve", "medium", "touch ran", env=env).code == 0


@pytest.mark.thorough
def test_a_home_that_cannot_be_written(ordinary: OrdinaryWorld) -> None:
    ordinary.own(ordinary.base)
    ordinary.config.rmdir()
    for folder in (ordinary.home / ".config", ordinary.home):
        folder.chmod(0o500)
    ended = ordinary.run("exec", "--approve", "low", "echo hi")
    assert (ended.code, ended.stdout) == (0, "hi\n"), ended.stderr


@pytest.mark.thorough
def test_a_working_folder_that_was_deleted(world: World) -> None:
    done = shell(world, 'mkdir gone; cd gone; rmdir ../gone; "$@" exec --approve low "echo hi"; echo "code $?"')
    assert "code 3" in done.stdout, done
    assert "does not exist any more" in done.stderr
    assert not world.logs()


@pytest.mark.thorough
def test_another_working_folder(world: World) -> None:
    ended = world.run("exec", "--approve", "low", "--cwd", "/nowhere", "echo hi")
    assert ended.code == 3
    assert "/nowhere" in ended.stderr
    (world.work / "süß 漢").mkdir()
    ended = world.run("exec", "--approve", "low", "--cwd", "süß 漢", "pwd")
    assert ended.stdout == f"{world.work}/süß 漢\n"


@pytest.mark.thorough
def test_a_working_folder_whose_name_is_no_text(world: World) -> None:
    folder = os.fsencode(world.work) + b"/bad \xff\n name"
    os.mkdir(folder)
    ended = world.run(
        *world.scripted(command("touch here && echo made"), chat("ok")), "--approve", "medium", "x", cwd=folder
    )
    assert ended.code == 0, ended.stderr
    assert os.listdir(folder) == [b"here"]
    assert world.goal()["status"] == "completed"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "env",
    [
        {"TERM": None}, {"TERM": "dumb"}, {"TERM": "no-such-terminal"}, {"COLUMNS": "20"}, {"COLUMNS": "0"}, {"COLUMNS": "x"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "no_such.LOCALE"},
        {"NO_COLOR": "1"}, {"PATH": "/usr/bin:/bin"}, {"TMPDIR": "/nowhere"}, {"PYTHONIOENCODING": "ascii"}, {"TZ": "No/Where"},
        {"BASH_ENV": "/nowhere"}, {"ENV": "/nowhere"}, {"SHELL": "/nowhere"}, {"EDITOR": "/nowhere"}, {"XDG_STATE_HOME": "rel"},
        {"BAD": "\udcff\udcfe"},
    ],
    ids=str,
)  # fmt: skip
def test_odd_variables(world: World, env: dict[str, str | None]) -> None:
    ended = world.run(
        *world.scripted(command("printf 'größe 漢字\\n'"), chat("schön 漢")), "--approve", "low", "wörter", env=env
    )
    assert ended.code == 0, ended.stderr
    assert ended.stdout == "größe 漢字\nschön 漢\n"
    assert "\x1b" not in ended.stdout + ended.stderr
    assert world.goal()["goal"] == "wörter"


@pytest.mark.few(1)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_output_that_cannot_be_written_is_a_failure(world: World, more: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        ended = world.run("exec", *more, "--approve", "low", "seq 1 1000", stdout=full)
    assert ended.code == 1
    assert "the output cannot be written: no space left on device" in ended.stderr
    assert world.goal()["status"] == "completed"
