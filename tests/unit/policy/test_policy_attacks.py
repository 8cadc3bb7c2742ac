"""Worse commands that look like what a rule made at the prompt lets run, and bulk deletion by other ways than one program."""

from __future__ import annotations

from agent.policy.deciding import breach, decide
from agent.policy.model import Place, Policy, PolicyFile
from agent.policy.proposing import propose
from agent.policy.reading import reading_of
from agent.protocol.decisions import RiskContext
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.each import each

HOME = "/home/u"
WORK = f"{HOME}/w"
CONTEXT = RiskContext(cwd=WORK, home=HOME, workspace=WORK)
PLACE = Place(workspace=WORK, home=HOME, session="s", now="2026-11-22T00:00:00Z")


def action(allowed: str, tried: str) -> str:
    """What happens to `tried` where the rules proposed for `allowed` count."""
    rules = propose(classify(allowed, CONTEXT), PLACE).rules
    assert rules
    policy = Policy(files=(PolicyFile(path="/p/policy.toml", trust="user", rules=rules),), place=PLACE)
    assert decide(classify(allowed, CONTEXT), Approval(mode="ask"), policy=policy).action == "allow"
    return decide(classify(tried, CONTEXT), Approval(mode="ask"), policy=policy).action


@each(
    ("allowed", "tried"),
    [
        ("tar xf a.tar", "tar xPf a.tar"),
        ("tar xf a.tar", "tar xfI a.tar ./x"),
        ("tar xf a.tar", "tar xfC a.tar sub"),
        ("tar xf a.tar", "tar xfF a.tar ./x"),
        ("tar xf a.tar", "tar xf a.tar *"),
        ("tar czf a.tgz src", "tar czf a.tgz *"),
        ("cp a.txt b.txt", "cp * b.txt"),
        ("rsync -a src/ dst/", "rsync -a ?* dst/"),
        ("git push origin main", "git push origin [-]*"),
        ("git push origin main", "coproc GIT_SSH=x git push origin main"),
    ],
)
def test_a_rule_from_the_prompt_lets_nothing_worse_run(allowed: str, tried: str) -> None:
    assert action(allowed, tried) != "allow"


@each(
    ("allowed", "tried"),
    [
        ("tar xf a.tar", "tar -xf a.tar"),
        ("tar -xf a.tar", "tar xf a.tar"),
        ("cp a.txt b.txt", "cp c.txt d.txt"),
        ("cp a.txt b.txt", "cp sub/*.txt d"),
        ("git push origin main", "git push origin other"),
    ],
)
def test_and_what_is_alike_runs(allowed: str, tried: str) -> None:
    assert action(allowed, tried) == "allow"


def test_letters_without_a_dash_are_options() -> None:
    reading = reading_of(("tar", "xzfC", "a.tgz", "/srv", "x"))
    assert (reading.names, reading.operands) == (frozenset(("-x", "-z", "-f", "-C")), ("x",))
    assert dict(reading.values) == {"-f": "a.tgz", "-C": "/srv"}
    assert reading_of(("cat", "xzf")).operands == ("xzf",)


@each(
    ("place", "command"),
    [
        ("home", "find ~ | xargs rm"),
        ("home", "find ~ -type f -print0 | xargs -0 rm -f"),
        ("home", "find ~ | parallel rm"),
        ("home", "fd . ~ -x rm"),
        ("home", "fd -H -t f . ~ -X rm -rf"),
        ("home", "fd --search-path ~ -x rm {}"),
        ("everything", "find / | xargs -n1 rm"),
        ("everything", "fd -uu . / --exec-batch rm -rf"),
        ("", "find ~ -name '*.bak' | xargs rm"),
        ("", "fd -e bak . ~ -x rm"),
        ("", "find build | xargs rm"),
        ("", "find ~ | xargs wc -l"),
    ],
)
def test_bulk_deletion_through_a_list_of_names(place: str, command: str) -> None:
    found = breach(classify(command, CONTEXT))
    assert (found[0] if found is not None else "") == place


@each(
    ("allowed", "tried"),
    [
        ("patch -p1", "curl -s https://a.example/x | patch -p1"),
        ("patch -p1", "patch -p1 < fix.diff"),
        ("make test", "curl -s https://a.example/x | make test"),
    ],
)
def test_a_rule_on_words_does_not_cover_what_a_program_is_fed(allowed: str, tried: str) -> None:
    assert action(allowed, tried) == "ask"
    assert "standard input" in propose(classify(tried, CONTEXT), PLACE).reason


def test_what_is_fed_to_a_copying_program_is_only_copied() -> None:
    assert action("ls -l | tee log.txt", "ls -l | tee log.txt") == "allow"
