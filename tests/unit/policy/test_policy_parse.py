"""Policy files: what is accepted, and how each mistake is told. Nothing raises."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.policy.model import OptionTest, Rule
from agent.policy.parse import parse_policy
from agent.protocol.decisions import Level
from tests.support.each import each
from tests.support.tries import tries

PATH = "/cfg/policy.toml"


def error_of(text: str, trust: str = "user") -> str:
    return parse_policy(text, path=PATH, trust=trust).error  # type: ignore[arg-type]


def test_every_key_is_read() -> None:
    text = """
[[rule]]
name = "push-own"
action = "allow"
program = "git"
words = ["push", ["origin", "upstream"]]
exact_words = false
options = { none = "--force", only = ["-u", "--tags"] }
paths = "./"
scopes = "unknown"
effects = ["push"]
via = ["time"]
up_to = "medium"
workspace = "/srv/work"
session = "s1"
until = 2030-01-31T18:00:00Z
reason = "our own remotes"
match = "git push origin -u main"
not_match = ["git push --force origin", "git push evil"]
"""
    file = parse_policy(text, path=PATH, trust="user")
    assert file.error == ""
    assert file.rules == (
        Rule(
            name="push-own",
            action="allow",
            program=("git",),
            words=(("push",), ("origin", "upstream")),
            options=OptionTest(none=("--force",), only=("-u", "--tags")),
            paths=("./",),
            scopes=("unknown",),
            effects=("push",),
            via=("time",),
            up_to=Level.MEDIUM,
            workspace="/srv/work",
            session="s1",
            until="2030-01-31T18:00:00+00:00",
            reason="our own remotes",
            match=("git push origin -u main",),
            not_match=("git push --force origin", "git push evil"),
        ),
    )


def test_an_empty_file_and_a_rule_without_a_name() -> None:
    assert parse_policy("", path=PATH, trust="user").rules == ()
    (rule,) = parse_policy('[[rule]]\naction = "deny"\nprogram = "nc"', path=PATH, trust="project").rules
    assert (rule.name, rule.program) == ("rule-1", ("nc",))


ALLOW = '[[rule]]\naction = "allow"\nprogram = "curl"\n'
DENY = '[[rule]]\naction = "deny"\nprogram = "rm"\n'


@each(
    ("text", "told"),
    [
        ("[[rule", "Expected"),
        ("x = 1", "unknown key x"),
        ("rule = 3", "[[rule]] tables"),
        ("rule = [3]", "rule 1: not a table"),
        ('[[rule]]\nactio = "deny"', "unknown key actio (did you mean action?)"),
        ('[[rule]]\naction = "deny"', "program is missing"),
        ('[[rule]]\naction = "maybe"\nprogram = "x"', "action must be one of allow, ask, type, deny"),
        ('[[rule]]\naction = "deny"\nprogram = ""', "none of them empty"),
        ('[[rule]]\naction = "deny"\nprogram = ["x", 3]', "must be text"),
        ('[[rule]]\naction = "deny"\nprogram = "rm -rf"', "not a program name"),
        ('[[rule]]\naction = "deny"\nprogram = "bin/rm"', "a path from / or ./"),
        ('[[rule]]\nname = "a b"\naction = "deny"\nprogram = "x"', "name must be letters"),
        (DENY + 'until = "tomorrow"', "not a time like"),
        (DENY + 'until = "2030-01-01T00:00:00"', "lacks its time zone"),
        (DENY + 'paths = "build"', "must begin with /, ./ or ~/"),
        (DENY + 'paths = "./../x"', "may not hold .."),
        (DENY + 'workspace = "x"', "absolute path"),
        (DENY + 'options = { any = "f" }', "is not an option"),
        (DENY + 'options = { some = "-f" }', "unknown key some"),
        (DENY + 'options = "-f"', "must be a table"),
        (DENY + 'up_to = "extreme"', "must be low or medium"),
        (DENY + 'exact_words = "yes"', "true or false"),
        (DENY + 'reason = "a\\u001b[2Jb"', "one printable line"),
        (DENY + "words = [[]]", "matches nothing"),
        (DENY + 'match = "ls"', "the rule does not match 'ls'"),
        (DENY + 'not_match = "sudo rm x"', "the rule matches 'sudo rm x'"),
        (DENY + DENY.replace('"deny"', '"ask"') + 'name = "rule-1"', "another rule has this name"),
        (ALLOW, "would allow everything curl can do"),
        (ALLOW + 'options = { none = "-d" }', "would allow everything curl can do"),
        (ALLOW + 'words = "x"\nup_to = "high"', "high risk is never allowed"),
        (ALLOW.replace("curl", "*") + 'words = "x"', "would allow everything"),
        (ALLOW + 'words = "x"\nmatch = "curl x > /etc/y"', "does not match"),
    ],
)
def test_mistakes_name_the_file_and_the_key(text: str, told: str) -> None:
    error = error_of(text)
    assert error.startswith(PATH)
    assert told in error
    assert error.isprintable()


@each("trust", ["site", "project", "safety"])
def test_only_the_persons_own_files_may_allow(trust: str) -> None:
    assert "only your own policy file may allow" in error_of(ALLOW + 'words = "x"', trust)


def test_a_mistake_takes_back_what_the_file_allows_and_keeps_what_it_forbids() -> None:
    text = ALLOW + 'name = "a"\nwords = "x"\n' + DENY + 'name = "b"\n' + DENY + 'name = "c"\nmatch = "ls"'
    file = parse_policy(text, path=PATH, trust="user")
    assert [rule.name for rule in file.rules] == ["b"]
    assert "rule c" in file.error


def test_home_and_workspace_of_examples() -> None:
    text = (
        DENY
        + 'paths = "~/photos"\nworkspace = "/home/ann/w"\nmatch = ["rm ~/photos/x", "rm ../photos/x"]\nnot_match = "rm x"'
    )
    assert parse_policy(text, path=PATH, trust="user", home="/home/ann").error == ""
    assert "does not match" in parse_policy(text, path=PATH, trust="user", home="/home/bob").error


def test_deep_nesting_is_an_error() -> None:
    assert error_of("x = " + "[" * 50_000)


@settings(max_examples=tries(60), deadline=None)
@given(st.text(max_size=200) | st.builds(lambda body: f"[[rule]]\n{body}", st.text(max_size=200)))
def test_no_text_raises(text: str) -> None:
    file = parse_policy(text, path=PATH, trust="user")
    assert file.error or isinstance(file.rules, tuple)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=tries(60), deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["name", "action", "program", "words", "options", "paths", "until", "match"]), VALUES
    )
)
def test_no_table_raises(table: dict[str, object]) -> None:
    from agent.policy.parse import rules_of

    file = rules_of([{"action": "deny", "program": "rm", **table}], path=PATH, trust="user")
    assert file.error or len(file.rules) == 1
