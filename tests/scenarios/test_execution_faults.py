"""Commands that flood, tear, close, leave and lie, as root and as an ordinary user: nothing is lost that can be kept."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.ordinary_user import OrdinaryWorld
from tests.scenarios.program import PATIENCE, ROOT, World
from tests.support.each import each
from tests.support.fault_table import FAULTS
from tests.support.tries import ALL, sampled

DRIVER = str(Path(__file__).with_name("fault_driver.py"))
LOST = "directory and variables as this command left them could not be read back; the earlier ones stay"
HOSTILE = "export A=$'one\\ntwo \"q\" $x `y` \\'z' B=$'\\xff\\xfe' C= D='() { echo no; }' E=-n"

# Bytes; the fewer are still more than the memory that they may take.
FLOOD, LINE = (500_000_000, 100_000_000) if ALL else (100_000_000, 20_000_000)
# Each list is one shell session.
CASES: dict[str, list[str]] = {
    "flood": [f"yes 'a line of some length, as builds write them' | head -c {FLOOD}; echo; echo END"],
    "line": [f"head -c {LINE} /dev/zero | tr '\\0' x; echo END"],
    "torn": ["printf 'a\\xe2\\x82'; sleep 0.05; printf '\\xacb\\0c\\xff'"],
    "closed": [
        "exec >&-; echo lost; echo err >&2; touch done; exit 3",
        "exec >&- 2>&- <&-; sleep 0.02; touch two; exit 4",
        "ls",
    ],
    "beside": ["(yes err | head -c 20000000 >&2) & for i in 1 2 3; do echo $i; sleep 0.01; done; wait"],
    "input": ["cat; read x; echo $?; head -c1 | wc -c"],
    "exit": ["cd ..; export A=1; exit 7", "pwd -P; echo $A"],
    "exec": ["export A=1", "cd /; export A=2; exec true", "pwd -P; echo $A"],
    "kill": ["export A=1", "cd /; kill -9 $$", "pwd -P; echo $A"],
    "trap": ["export A=1", "trap 'echo bye' EXIT; cd /; export A=2; echo hi", "pwd -P; echo $A"],
    "fds": [
        'for n in $(seq 3 255); do eval "exec $n>&-"; done 2>/dev/null; exec <&- >&- 2>&-; export A=1; cd /',
        "pwd; echo $A",
    ],
    "gone": ["mkdir a; cd a; rmdir ../a; export A=1", "pwd -P; echo $A"],
    "values": [HOSTILE, 'printf \'%s.\' "$A" "$B" "$C" "$D" "$E" | od -An -v -tx1 | tr -d \' \\n\''],
    "long": [
        "export A=1",
        "export LONG=$(head -c 200000 /dev/zero | tr '\\0' x); cd /; echo ${#LONG}",
        "pwd -P; echo $A.${#LONG}",
    ],
    "e2big": [json.dumps({"BIG": "x" * 200_000}), "echo hi"],
    "syntax": ["export A=1", "if ((", "echo $A"],
    "errexit": [
        "set -e; export A=1; false; echo not",
        "set -u; cd ..; echo $nope; echo not",
        "false; echo $A.$nope; pwd -P",
    ],
    "readonly": ["readonly R=1; export R; cd ..", "echo $R; pwd -P"],
    "internals": [
        "env | cut -d= -f1 | sort | xargs; ls /proc/self/fd | xargs; declare -F; declare -p | grep -i agent.shell | grep -v EXEC",
        'compgen -v | sort > ours; env -i "PATH=$PATH" "HOME=$HOME" bash -c \'true | true; compgen -v | sort\' > bare; diff ours bare',
    ],
}


@each("fault", FAULTS)
def test_every_fault_is_held_by_a_test(fault: str) -> None:
    for name in FAULTS[fault]:
        file, function = name.split("::")
        assert f"\ndef {function}(" in (ROOT / "tests" / file).read_text()


def driven(world: World, cases: dict[str, list[str]], *arguments: str) -> dict[str, Any]:
    """What the driver says of `cases`."""
    env = {**world.environ(), "PYTHONPATH": os.pathsep.join([str(ROOT), world.extra.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [*world.launcher, DRIVER, *arguments], env=env, cwd=world.work, input=json.dumps(cases), capture_output=True, text=True,
        timeout=3 * PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


# All commands run once for each.
USER = pytest.param("ordinary", marks=pytest.mark.thorough if os.geteuid() == 0 else ())


@pytest.fixture(scope="module", params=["root", USER])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    if request.param == "ordinary":
        ordinary = OrdinaryWorld()
        yield ordinary
        ordinary.remove()
        return
    if os.geteuid() != 0:
        pytest.skip("only root can be root")
    yield World(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def ended(world: World) -> dict[str, Any]:
    """How everything ended, each session in the same process."""
    answers = driven(world, CASES)
    world.no_orphans()
    return answers


@pytest.mark.thorough
@sampled
@pytest.mark.few(1)
def test_a_flood_in_bounded_memory(ended: dict[str, Any]) -> None:
    (flood,) = ended["flood"]
    assert (flood["total"], flood["tail"][-5:], len(flood["out"])) == (FLOOD + 5, "\nEND\n", 65536)
    assert ended["rss"] < 80_000


@sampled
@pytest.mark.few(1)
def test_a_line_without_an_end(ended: dict[str, Any]) -> None:
    (line,) = ended["line"]
    assert (line["total"], line["out"], line["tail"]) == (LINE + 4, "x" * 65536, "x" * (262144 - 4) + "END\n")


def test_characters_torn_between_writes_and_no_characters(ended: dict[str, Any]) -> None:
    assert ended["torn"][0]["out"] == "a€b\0c\ufffd"


def test_streams_closed_early(ended: dict[str, Any]) -> None:
    first, second, third = ended["closed"]
    assert (first["code"], first["err"].splitlines()[-1], second["code"]) == (3, "err", 4)
    assert third["out"] == "done\ntwo\n"


def test_a_flood_of_errors_beside_output(ended: dict[str, Any]) -> None:
    (beside,) = ended["beside"]
    assert (beside["out"], beside["err_total"]) == ("1\n2\n3\n", 20_000_000)


def test_input_is_empty(ended: dict[str, Any]) -> None:
    assert ended["input"][0]["out"] == "1\n0\n"


def test_exit_keeps_the_state(ended: dict[str, Any], world: World) -> None:
    first, second = ended["exit"]
    assert (first["code"], first["kept"], second["out"]) == (7, True, f"{world.work.resolve()}\n1\n")


@pytest.mark.parametrize(("name", "code"), [("exec", 0), ("kill", 137), ("trap", 0), ("long", 0)])
def test_state_that_cannot_be_read_is_said_and_the_old_one_stays(
    ended: dict[str, Any], world: World, name: str, code: int
) -> None:
    _, lost, after = ended[name]
    assert (lost["code"], lost["kept"], lost["notes"]) == (code, False, [LOST])
    assert after["out"] == f"{world.work.resolve()}/{name}\n1{'.0' if name == 'long' else ''}\n"


def test_a_trap_of_its_own_runs(ended: dict[str, Any]) -> None:
    assert ended["trap"][1]["out"] == "hi\nbye\n"


def test_closing_every_descriptor_loses_no_state(ended: dict[str, Any]) -> None:
    closing, after = ended["fds"]
    assert (closing["kept"], after["out"]) == (True, "/\n1\n")


def test_a_folder_deleted_under_it(ended: dict[str, Any], world: World) -> None:
    left, after = ended["gone"]
    assert left["cwd"] == "gone"
    assert left["notes"] == [
        f"the folder {world.work.resolve()}/gone/a is gone; the next command would run in {world.work.resolve()}/gone"
    ]
    assert after["out"] == f"{world.work.resolve()}/gone\n1\n"


def test_hostile_values_arrive_unchanged(ended: dict[str, Any]) -> None:
    values = b'one\ntwo "q" $x `y` \'z.' + b"\xff\xfe." + b"." + b"() { echo no; }." + b"-n."
    assert bytes.fromhex(ended["values"][1]["out"]) == values


def test_syntax_errors_and_strict_options_end_only_their_own_command(ended: dict[str, Any], world: World) -> None:
    assert [ended["syntax"][1]["code"], ended["syntax"][2]["out"]] == [2, "1\n"]
    failed, unset, after = ended["errexit"]
    assert (failed["code"], failed["out"], failed["kept"]) == (1, "", True)
    assert (unset["code"], unset["out"], unset["kept"]) == (127, "", True)
    assert after["out"] == f"1.\n{world.work.resolve()}\n"


def test_readonly_variables(ended: dict[str, Any], world: World) -> None:
    assert [answer["notes"] for answer in ended["readonly"]] == [[], []]
    assert ended["readonly"][1]["out"] == f"1\n{world.work.resolve()}\n"


def test_our_internals_are_invisible(ended: dict[str, Any]) -> None:
    names, variables = ended["internals"]
    assert names["out"] == 'AI_AGENT HOME PATH PWD SHLVL _\n0 1 2 3\ndeclare -x AI_AGENT="agent-shell"\n'
    assert variables["out"] == "1d0\n< AI_AGENT\n"


def test_an_environment_that_is_too_long_for_the_system(ended: dict[str, Any]) -> None:
    (refused,) = ended["e2big"]
    assert (refused["code"], refused["kept"], "E2BIG" in refused["err"]) == (126, True, True)


def test_without_files_in_memory_state_is_kept_in_private_ones_that_are_gone_at_once(world: World) -> None:
    temporary = world.work / "tmp"
    temporary.mkdir()
    if isinstance(world, OrdinaryWorld):
        world.own(temporary)
    world.extra["TMPDIR"] = str(temporary)
    look = "stat -c '%a %n' \"$TMPDIR\"/* | sed 's,/.*-.*,,'"
    long = "x='" + "y" * 200_000 + "'; echo ${#x}"
    commands = [
        json.dumps({"TMPDIR": str(temporary)}),
        "cd /; export A=1; f() { echo f; }",
        "pwd; echo $A; f",
        look,
        long,
    ]
    try:
        answers = driven(world, {"files": commands}, "no-memfd")["files"]
    except AssertionError as error:
        if "seccomp" not in str(error):
            raise
        pytest.skip("system calls cannot be filtered here")
    finally:
        del world.extra["TMPDIR"]
    assert [answer["kept"] for answer in answers] == [True] * 4
    assert answers[1]["out"] == "/\n1\nf\n"
    assert set(answers[2]["out"].split("\n")) == {"600 ", ""}
    assert answers[3]["out"] == "200000\n"
    assert list(temporary.iterdir()) == []
