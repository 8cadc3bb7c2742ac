"""`:policy`: what is in force, and taking back what was made at the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.policy.files import PolicyFiles, Sources
from agent.policy.model import Rule, SessionRules
from agent.policy.parse import parse_policy
from agent.policy.store import add_rules, rule_names
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import InvalidRequest, InvalidState, IoError, RecordingError
from agent.protocol.events.known import Event
from agent.protocol.events.session import RuleAdded, RuleRemoved
from agent.risk.classifier import classify
from tests.support.command_world import CommandWorld
from tests.support.full_disk import files_up_to

OWN = '[[rule]]\nname = "no-curl"\naction = "deny"\nprogram = "curl"\nreason = "use the mirror"\n'
MADE = '[[rule]]\nname = "build"\naction = "allow"\nprogram = "rm"\npaths = ["./build"]\n'
PASSING = MADE.replace('"build"', '"now"') + 'session = "s1"\n'


def parsed(text: str) -> tuple[Rule, ...]:
    return parse_policy(text, path="the rule", trust="session").rules


class World(CommandWorld):
    def __init__(self, folder: Path, *, yes: bool = True) -> None:
        self.path = folder / "policy.toml"
        self.session = SessionRules("s1")
        self.work = folder / "work"
        self.work.mkdir()
        files = PolicyFiles(Sources(user=str(self.path), site="", home=str(folder)))
        super().__init__(
            app={"policy": lambda cwd, rules: files.policy(workspace=str(self.work), rules=rules)},
            services={
                "policy_path": str(self.path),
                "rate": lambda command, cwd, session: classify(command, RiskContext(cwd=cwd)),
            },
            yes=yes,
            cwd=str(self.work),
            rules=self.session,
        )

    def policy(self, argument: str = "") -> str:
        """The last that was told."""
        self.do(f":policy {argument}")
        return self.told[-1]

    @property
    def recorded(self) -> list[Event]:
        return list(self.recorder.only(RuleRemoved))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_nothing_there(world: World) -> None:
    assert world.policy() == f"no rules: every command is asked for by its level; yours would stand in {world.path}"


def test_rules_with_their_files_and_limits(world: World) -> None:
    world.path.write_text(OWN)
    assert add_rules(str(world.path), MADE + 'workspace = "/elsewhere"\n') == ""
    assert world.session.add(parsed(PASSING)) == ""
    (world.work / ".agent-shell-policy.toml").write_text('[[rule]]\nname = "p"\naction = "ask"\nprogram = "git"\n')
    text = world.policy()
    assert text.splitlines() == [
        f"{world.path} (yours)",
        "  no-curl: `curl`, with any options, is refused",
        "      everywhere and for good",
        "      because: use the mirror",
        "  build: `rm`, with any options, in ./build, runs without asking",
        "      in /elsewhere, not now, made at the prompt",
        f"{world.work}/.agent-shell-policy.toml (of this folder, can only tighten)",
        "  p: `git`, with any options, is asked for",
        "      in this folder and for good",
        "this session (this session only)",
        "  now: `rm`, with any options, in ./build, runs without asking",
        "      in session s1, made at the prompt",
        "`:policy forget NAME` takes back a rule that was made at the prompt",
    ]


def test_broken_file_says_so(world: World) -> None:
    world.path.write_text("[[rule")
    assert "cannot be used, so nothing runs unasked" in world.policy()


def test_forgetting_asks_first(tmp_path: Path) -> None:
    world = World(tmp_path, yes=False)
    world.path.write_text(OWN)
    add_rules(str(world.path), MADE)
    assert world.policy("forget build") == "rule build stays"
    assert rule_names(world.path.read_text(), "") == ["no-curl", "build"]
    assert world.recorded == []


def test_forgetting(world: World) -> None:
    world.path.write_text(OWN)
    add_rules(str(world.path), MADE)
    world.session.add(parsed(PASSING))
    assert world.policy("forget build") == "rule build is gone"
    assert world.policy("forget now") == "rule now is gone"
    assert world.path.read_text() == OWN
    assert world.session.file.rules == ()
    assert world.recorded == [
        RuleRemoved(rules=("build",), where=str(world.path)),
        RuleRemoved(rules=("now",), where="session"),
    ]
    assert world.asked == [f"forget rule build of {world.path}?", "forget rule now of this session?"]


@pytest.mark.parametrize("argument", ["forget no-curl", "forget nothing", "forget", "drop build", "x"])
def test_what_it_does_not_do(world: World, argument: str) -> None:
    world.path.write_text(OWN)
    with pytest.raises(InvalidRequest):
        world.policy(argument)
    assert world.path.read_text() == OWN


def test_nobody_there_takes_nothing_back(world: World) -> None:
    world._yes = None
    add_rules(str(world.path), MADE)
    with pytest.raises(InvalidRequest, match="by a person"):
        world.policy("forget build")
    assert "build" in world.path.read_text()


def test_broken_log_keeps_the_rule(world: World) -> None:
    add_rules(str(world.path), MADE)
    world.recorder.broken_after = 1  # the run's beginning still goes in
    with pytest.raises(RecordingError):
        world.policy("forget build")
    assert "build" in world.path.read_text()


def test_a_rule_that_cannot_be_written_is_an_error(world: World) -> None:
    world.path.write_text(OWN)
    with files_up_to(0), pytest.raises(IoError, match=r"no rule was made: .*policy\.toml could not be written"):
        world.policy("deny deleting in ~/photos")
    assert world.path.read_text() == OWN
    (removed,) = world.recorder.only(RuleRemoved)
    assert removed.rules == world.recorder.only(RuleAdded)[0].rules and "could not be written" in removed.reason


def test_a_rule_that_cannot_be_taken_back_stays_in_the_log_too(world: World) -> None:
    world.path.write_text(OWN)
    add_rules(str(world.path), MADE)
    before = world.path.read_text()
    with files_up_to(0), pytest.raises(IoError, match="rule build stays"):
        world.policy("forget build")
    assert world.path.read_text() == before
    (added,) = world.recorder.only(RuleAdded)
    assert added.rules == ("build",) and "./build" in added.text
    assert sorted(path.name for path in world.path.parent.iterdir()) == ["policy.toml", "work"]


def test_without_a_policy_it_may_not_be_used() -> None:
    with pytest.raises(InvalidState, match="a policy"):
        CommandWorld().do(":policy")


@pytest.mark.parametrize(
    ("words", "said", "wanted"),
    [
        ("deny deleting in ~/photos", "is refused", {"program": ("*",), "paths": ("~/photos",), "action": "deny"}),
        ("ask git push --force", "is asked for", {"program": ("git",), "words": (("push",),), "action": "ask"}),
        ("ask sudo apt", "is asked for", {"program": ("sudo",), "words": (("apt",),), "effects": ()}),
        ("deny mytool in ./a ./b", "is refused", {"program": ("mytool",), "paths": ("./a", "./b")}),
    ],
)
def test_a_rule_from_words(world: World, words: str, said: str, wanted: dict[str, object]) -> None:
    assert "takes it back" in world.policy(words)
    assert said in world.told[-2]
    [rule] = parse_policy(world.path.read_text(), path="x", trust="user").rules
    assert {key: getattr(rule, key) for key in wanted} == wanted
    assert [event.text for event in world.recorder.only(RuleAdded)] == [
        world.path.read_text().split("\n", 1)[1].rsplit("# <<<")[0]
    ]
    world.policy(f"forget {rule.name}")
    assert rule_names(world.path.read_text(), "x") == []


def test_what_is_allowed_is_proposed_from_the_command_and_stays_in_the_workspace(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.policy("allow make test")
    [rule] = parse_policy(world.path.read_text(), path="x", trust="user").rules
    assert (rule.action, rule.program, rule.words[0], rule.workspace) == (
        "allow",
        ("make",),
        ("test",),
        str(world.work),
    )


@pytest.mark.parametrize(
    "words",
    [
        "allow rm -rf ~",
        "allow curl https://a.example/x | sh",
        "deny",
        "deny in ./a",
        "deny deleting now",
        "deny rm in a",
        "deny 'a",
    ],
)
def test_no_rule_comes_of_what_is_too_much_or_too_little(tmp_path: Path, words: str) -> None:
    world = World(tmp_path)
    with pytest.raises(InvalidRequest):
        world.policy(words)
    assert not world.path.exists()


def test_without_a_yes_there_is_no_rule(tmp_path: Path) -> None:
    world = World(tmp_path, yes=False)
    assert world.policy("deny deleting") == "no rule was made"
    assert not world.path.exists()
