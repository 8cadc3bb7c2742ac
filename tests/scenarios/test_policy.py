"""Policy through the whole program: what a file lets run, forbids and has typed; floor, mistakes, edits during a session."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.scenarios.program import Ended, World, chat, command, until

RULES = """
[[rule]]
name = "clean"
action = "allow"
program = "rm"
paths = "./build"
match = "rm -rf build"
not_match = "rm -rf src"

[[rule]]
name = "no-nc"
action = "deny"
program = "nc"
reason = "no network cats here"

[[rule]]
name = "type-touch"
action = "type"
program = "touch"
"""


def put(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)


def direct(world: World, text: str, *options: str) -> Ended:
    return world.run("exec", *options, text)


def confirmed(world: World) -> list[dict[str, object]]:
    events = [json.loads(line) for path in world.sessions.glob("*.jsonl") for line in path.read_text().splitlines()]
    return [event for event in events if event["type"] == "command.confirmed"]


@pytest.fixture
def ruled(world: World) -> World:
    put(world.config / "policy.toml", RULES)
    (world.work / "build").mkdir()
    (world.work / "build" / "x").write_text("x")
    (world.work / "src").write_text("x")
    return world


def test_a_rule_lets_a_command_run_and_says_which(ruled: World) -> None:
    ended = direct(ruled, "rm -r build")
    assert ended.code == 0, ended.stderr
    assert not (ruled.work / "build").exists()
    assert "$ rm -r build" in ended.stderr
    assert "allowed by policy.toml:clean" in ended.stderr
    (event,) = confirmed(ruled)
    assert (event["by"], event["remark"]) == ("policy", "allowed by policy.toml:clean")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "text", ["rm src", "rm -r build src", "rm -r build; make", "rm build/../src", "rm -r build > log"]
)
def test_what_the_rule_does_not_cover_is_asked_for(ruled: World, text: str) -> None:
    assert direct(ruled, text).code == 6
    assert (ruled.work / "src").exists()
    assert (ruled.work / "build").exists()


@pytest.mark.few(1)
@pytest.mark.parametrize("text", ["nc -l 9", "sudo n''c h 9", "bash -c 'nc h 9'", "true && nc h 9"])
def test_a_forbidden_command_ends_with_five(ruled: World, text: str) -> None:
    ended = direct(ruled, text, "--approve", "medium")
    assert ended.code == 5
    assert "no network cats here" in ended.stderr
    assert "policy.toml:no-nc" in ended.stderr
    assert "command.started" not in "".join(path.read_text() for path in ruled.sessions.glob("*.jsonl"))


def test_the_word_cannot_be_typed_where_nobody_is(ruled: World) -> None:
    ended = direct(ruled, "touch new", "--approve", "medium")
    assert ended.code == 6
    assert "no terminal to confirm in: a rule of the policy asks for it [policy.toml:type-touch]" in ended.stderr
    assert not (ruled.work / "new").exists()


def test_where_only_the_level_asks_no_rule_is_blamed(ruled: World) -> None:
    ended = direct(ruled, "rm src")
    assert "no terminal to confirm in\n" in ended.stderr


def test_a_planner_is_held_to_the_same_rules(ruled: World) -> None:
    ended = ruled.run(*ruled.scripted(command("nc h 9"), chat("x")), "--approve", "medium", "call home")
    assert ended.code == 5
    assert ruled.goal()["status"] == "blocked_by_policy"


@pytest.mark.few(1)
@pytest.mark.parametrize("text", ["rm -rf ~", "find ~ -delete", "cd && rm -rf -- *"])
@pytest.mark.parametrize("options", [("--approve", "medium"), ("--safety-off", "--approve", "medium")])
def test_the_floor_holds_for_a_throw_away_home(ruled: World, text: str, options: tuple[str, ...]) -> None:
    put(
        ruled.config / "policy.toml",
        RULES + '[[rule]]\nname = "all"\naction = "allow"\nprogram = ["rm", "find"]\npaths = "/"\n',
    )
    ended = direct(ruled, text, *options)
    assert ended.code == 5
    assert "floor.home" in ended.stderr
    assert (ruled.config / "policy.toml").exists()


def test_a_file_with_a_mistake_runs_nothing_unasked(ruled: World) -> None:
    put(ruled.config / "policy.toml", RULES.replace('not_match = "rm -rf src"', 'not_match = "rm -rf build/x"'))
    ended = direct(ruled, "rm -r build", "--approve", "medium")
    assert ended.code == 6
    assert "policy.toml" in ended.stderr
    assert "rule clean: not_match: the rule matches 'rm -rf build/x'" in ended.stderr
    assert direct(ruled, "nc -l 9").code == 5  # what could be read still forbids
    doctor = ruled.run("doctor", "--json")
    rows = [json.loads(line) for line in doctor.stdout.splitlines()]
    assert [row["state"] for row in rows if row["check"] == "policy"] == ["broken"]


def test_a_project_s_file_tightens_and_never_loosens(world: World) -> None:
    put(world.work / ".agent-shell-policy.toml", '[[rule]]\naction = "type"\nprogram = "touch"\n')
    assert direct(world, "touch new", "--approve", "medium").code == 6
    put(world.work / ".agent-shell-policy.toml", '[[rule]]\naction = "allow"\nprogram = "touch"\nwords = "new"\n')
    ended = direct(world, "touch new", "--approve", "medium")
    assert ended.code == 6
    assert "only your own policy file may allow" in ended.stderr


@pytest.mark.thorough
def test_an_edit_during_a_session_counts_at_the_next_command(world: World) -> None:
    process = world.start("--approve", "medium", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"!touch one\n")
    process.stdin.flush()
    until(lambda: (world.work / "one").exists())
    put(world.config / "policy.toml", '[[rule]]\naction = "deny"\nprogram = "touch"\nreason = "not any more"\n')
    _, errors = process.communicate(b"!touch two\n", timeout=60)
    assert (world.work / "one").exists()
    assert not (world.work / "two").exists()
    assert "not any more" in errors.decode()


def test_a_command_cannot_change_the_rules_unseen(ruled: World) -> None:
    own, elsewhere = ruled.config / "policy.toml", ruled.work / "rules"
    own.rename(elsewhere)
    own.symlink_to(elsewhere)
    for text in (
        f"cp src {own}",
        "echo > ~/.config/agent-shell/policy.toml",
        "cp src rules",
        "rm -r ~/.config/agent-shell",
    ):
        assert direct(ruled, text, "--approve", "medium").code == 6, text
    assert elsewhere.read_text() == RULES


def test_a_safety_policy_raises_and_has_to_be_sound(world: World) -> None:
    path = world.work / "safety.json"
    path.write_text('[{"name": "no-one", "pattern": "touch\\\\s+one", "level": "high", "description": "one is taken"}]')
    assert direct(world, "touch two", "--approve", "medium", "--safety-policy", str(path)).code == 0
    ended = direct(world, "t'ou'ch   one", "--approve", "medium", "--safety-policy", str(path))
    assert ended.code == 6
    assert "one is taken" in ended.stderr
    for text in ('[{"pattern": "("}]', "{", '[{"pattern": "(?=a)b"}]'):
        path.write_text(text)
        ended = direct(world, "touch three", "--approve", "medium", "--safety-policy", str(path))
        assert ended.code == 3, ended.stderr
        assert "safety.json" in ended.stderr
    assert direct(world, "ls", "--safety-policy", str(world.work / "none")).code == 3
    assert world.run("exec", "ls", env={"AGENT_SAFETY_POLICY": str(world.work / "none")}).code == 3


def test_a_folder_cannot_choose_the_safety_policy(world: World) -> None:
    (world.work / ".agent-shell.toml").write_text('safety_policy = "mine.json"')
    (world.work / "mine.json").write_text("[]")
    assert "may not set safety_policy" in direct(world, "true", "--approve", "low").stderr


def test_risk_tells_which_rule_decided(ruled: World) -> None:
    ended = ruled.run("risk", "--policy", "--json", "rm -r build; nc h 9")
    value = json.loads(ended.stdout)["policy"]
    assert (value["action"], value["rule"], value["reason"]) == ("refuse", "policy.toml:no-nc", "no network cats here")
    assert [[rule["rule"] for rule in program["rules"]] for program in value["programs"]] == [["clean"], ["no-nc"]]
    assert [file["trust"] for file in value["files"]] == ["user"]
    text = ruled.run("risk", "--policy", "rm -r build").stdout
    assert "allow by rule clean of" in text
    assert text.splitlines()[-1].startswith("policy: allow, decided by policy.toml:clean")
