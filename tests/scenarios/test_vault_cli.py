"""`agent-shell vault` in a script: nobody can be asked, a keyring holds the values, and no file of ours does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.vault.store import Vault
from tests.scenarios.program import World

VALUE = "v4lue of mine/with=all+of it"
KEYRING = """
import json, os
_PATH = os.environ["RING"]
class Ring:
    priority = 5
def get_keyring():
    return Ring()
def _kept():
    return json.load(open(_PATH)) if os.path.exists(_PATH) else {}
def _keep(kept):
    json.dump(kept, open(_PATH, "w"))
def get_password(service, name):
    return _kept().get(service + "/" + name)
def set_password(service, name, value):
    _keep({**_kept(), service + "/" + name: value})
def delete_password(service, name):
    kept = _kept()
    del kept[service + "/" + name]
    _keep(kept)
"""


@pytest.fixture
def ring(world: World, tmp_path: Path) -> Path:
    """A keyring; the file that stands for it."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "keyring.py").write_text(KEYRING)
    world.extra |= {"PYTHONPATH": str(folder), "RING": str(tmp_path / "ring.json")}
    return tmp_path / "ring.json"


def test_add_list_run(world: World, ring: Path) -> None:
    added = world.run("vault", "add", "TOKEN", stdin=f"{VALUE}\n".encode())
    assert (added.code, added.stdout) == (0, "TOKEN is in the vault\n")
    assert list(json.loads(ring.read_text()).values()) == [VALUE]
    assert world.run("vault").stdout == "TOKEN\n"
    assert json.loads(world.run("vault", "list", "--json").stdout) == {"name": "TOKEN", "place": "keyring"}
    ran = world.run("vault", "run", "--approve", "low", "TOKEN", "--", "printf", "%s %s", "as it is:", "$TOKEN")
    assert (ran.code, ran.stdout) == (0, "as it is: $TOKEN"), ran.stderr
    ran = world.run("vault", "run", "--approve", "low", "TOKEN", "--", 'printf %s "$TOKEN" | wc -c; exit 3')
    assert (ran.code, ran.stdout.strip()) == (3, str(len(VALUE))), ran.stderr
    ran = world.run("vault", "run", "TOKEN", "--", "true")
    assert ran.code == 6 and "no terminal to confirm in" in ran.stderr
    kept = [path for folder in (world.home, world.sessions) for path in folder.rglob("*") if path.is_file()]
    assert kept and not any(VALUE.encode() in path.read_bytes() for path in kept)
    goal = world.goals()[1]
    assert goal["commands"][0]["run"] == 'printf %s "$TOKEN" | wc -c; exit 3'


def test_the_output_of_a_command_is_redacted_in_the_log(world: World, ring: Path) -> None:
    world.run("vault", "add", "TOKEN", stdin=VALUE.encode())
    ran = world.run("vault", "run", "--approve", "medium", "TOKEN", "--", 'echo "$TOKEN"; echo "$TOKEN" | base64')
    assert ran.code == 0, ran.stderr
    (log,) = world.logs()
    assert "[redacted:TOKEN:" in log.read_text() and VALUE not in log.read_text()


@pytest.mark.thorough
def test_what_is_refused(world: World, ring: Path) -> None:
    world.run("vault", "add", "TOKEN", stdin=VALUE.encode())
    got = world.run("vault", "get", "TOKEN")
    assert (got.code, got.stdout) == (2, "") and "on a terminal only" in got.stderr
    for words, why in (
        (("run", "NOBODY", "--", "true"), "no secret called 'NOBODY'"),
        (("add", "MORE", "--", VALUE), "a value is no argument"),
        (("add", "TOKEN"), "in the vault already"),
        (("add",), "name the secret"),
        (("run", "TOKEN"), "run NAME -- COMMAND"),
        (("delete", "TOKEN"), "nobody is there to ask"),
        (("add", "EMPTY"), "nobody is there to type the value"),
    ):
        ended = world.run("vault", *words)
        assert ended.code == 2 and why in ended.stderr, (words, ended)
        assert VALUE not in ended.stderr


@pytest.mark.thorough
def test_locked_without_anybody(world: World) -> None:
    vault = Vault(str(world.config), lambda name, value: None, cost=10)
    vault.unlock("correct horse battery")
    vault.put("OPENAI_API_KEY", "sk-of-the-vault-1", new=True)
    for words in (("vault", "run", "OPENAI_API_KEY", "--", "true"), ("vault", "add", "MORE")):
        ended = world.run(*words, stdin=b"a value that is piped")
        assert ended.code == 2 and "the vault is locked: nobody is there to ask for its passphrase" in ended.stderr
    ended = world.run("--planner", "openai", "frobnicate the quux")
    assert ended.code != 0 and "the vault is locked" in ended.stderr + ended.stdout


def test_a_damaged_one_is_named(world: World) -> None:
    (world.config / "vault.json").write_text('{"version": 1, "place"')
    ended = world.run("vault")
    assert ended.code == 3 and "is damaged" in ended.stderr and "left as it is" in ended.stderr
