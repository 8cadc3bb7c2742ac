"""`--safety-policy`: three formats, patterns in linear time, and nothing that loosens."""

from __future__ import annotations

import json
import random
import re
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.policy.deciding import decide
from agent.policy.linear_regex import LinearPattern
from agent.policy.model import PatternRule, Policy, PolicyFile
from agent.policy.patterns import parse_patterns, raised
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries

ITEMS = [
    {
        "name": "force",
        "pattern": r"\bgit\s+push\b.*--force",
        "level": "high",
        "allowed_flags": ["--dry-run"],
        "description": "no force",
    },
    {"pattern": "curl", "level": "LOW", "require_confirmation": False},
    {"pattern": r"\bnc\b", "deny": True},
]
EXPECTED = (
    PatternRule(
        name="force",
        pattern=r"\bgit\s+push\b.*--force",
        level=Level.HIGH,
        allowed_flags=("--dry-run",),
        description="no force",
    ),
    PatternRule(name="pattern-2", pattern="curl", level=Level.LOW, require_confirmation=False),
    PatternRule(name="pattern-3", pattern=r"\bnc\b", deny=True),
)
JSON = json.dumps(ITEMS)
TOML = r"""
[[rules]]
name = "force"
pattern = '\bgit\s+push\b.*--force'
level = "high"
allowed_flags = ["--dry-run"]
description = "no force"
[[rules]]
pattern = "curl"
level = "LOW"
require_confirmation = false
[[rules]]
pattern = '\bnc\b'
deny = true
"""
YAML = r"""
rules:
- {name: force, pattern: '\bgit\s+push\b.*--force', level: high, allowed_flags: [--dry-run], description: no force}
- pattern: curl
  level: LOW
  require_confirmation: false
- pattern: '\bnc\b'
  deny: true
"""


@each(
    ("path", "text"),
    [("p.json", JSON), ("p", JSON), ("p.json", json.dumps({"rules": ITEMS})), ("p.toml", TOML), ("p", TOML)],
)
def test_formats(path: str, text: str) -> None:
    file = parse_patterns(text, path=path)
    assert file.error == ""
    assert file.trust == "safety"
    assert file.patterns == EXPECTED


@pytest.mark.parametrize("path", ["p.yaml", "p.yml", "p"])
def test_yaml(path: str) -> None:
    pytest.importorskip("yaml")
    assert parse_patterns(YAML, path=path).patterns == EXPECTED


@pytest.mark.parametrize(
    "text", ["!!python/object/apply:os.system [id]", "a: &a [*a]", "[" * 500, "- pattern: [a", "\0"]
)
def test_hostile_yaml_is_an_error(text: str) -> None:
    pytest.importorskip("yaml")
    assert parse_patterns(text, path="p.yaml").error.startswith("p.yaml: ")


def test_toml_may_hold_rules_too() -> None:
    text = '[[rule]]\naction = "deny"\nprogram = "nc"\n[[rules]]\npattern = "x"'
    file = parse_patterns(text, path="p.toml")
    assert (len(file.rules), len(file.patterns), file.error) == (1, 1, "")
    assert (
        "only tighten" in parse_patterns('[[rule]]\naction = "allow"\nprogram = "x"\nwords = "y"', path="p.toml").error
    )


@each(
    ("item", "told"),
    [
        ({}, "pattern is missing"),
        ({"pattern": "["}, "not a regular expression"),
        ({"pattern": "(?=a)b"}, "looks around"),
        ({"pattern": "(?<!a)b"}, "looks around"),
        ({"pattern": r"(x)\1"}, "refers back"),
        ({"pattern": "(?P<n>x)(?P=n)"}, "refers back"),
        ({"pattern": r"x\Z"}, r"\z here"),
        ({"pattern": "x{,3}"}, "{0,n}"),
        ({"pattern": "x{1,2000}"}, "repetition size"),
        ({"pattern": r"(?:\pL+ ?){900}z"}, "too large"),
        ({"pattern": r"(?:[^x].{0,1000}d){1}y"}, "too much work"),
        ({"pattern": r"(?:x{0,1000}y?)(?:x{0,1000}y?)z"}, "too much work"),
        ({"pattern": r"\C"}, "single byte"),
        ({"pattern": "x\ud800"}, "lone surrogate"),
        ({"pattern": r"\bübung"}, "letters of ASCII only"),
        ({"pattern": "x" * 2_001}, "longer than"),
        ({"pattern": "x", "level": "severe"}, "low, medium or high"),
        ({"pattern": "x", "level": 3}, "low, medium or high"),
        ({"pattern": "x", "deny": "yes"}, "true or false"),
        ({"pattern": "x", "allowed_flags": ["dry"]}, "must be options"),
        ({"pattern": "x", "patern": "y"}, "unknown key patern"),
        ({"pattern": "x", "name": "a b"}, "name must be"),
        ({"pattern": "x", "description": "a\nb"}, "one printable line"),
        (3, "not a table"),
    ],
)
def test_mistakes_are_named_and_the_rest_still_counts(item: object, told: str) -> None:
    file = parse_patterns(json.dumps([item, {"name": "good", "pattern": "y"}]), path="/p.json")
    assert file.error.startswith("/p.json: pattern ")
    assert told in file.error
    assert [rule.name for rule in file.patterns] == ["good"]


@each("text", ["", "3", "{}", '{"rules": 3}', '{"other": []}', "{"])
def test_what_is_no_list_is_an_error(text: str) -> None:
    assert parse_patterns(text, path="p.json").error


def test_an_empty_list_is_a_file_without_rules() -> None:
    assert parse_patterns("[]", path="p.json").error == ""


FILE = PolicyFile(path="/p.json", trust="safety", patterns=EXPECTED)


def rules_of(command: str) -> list[str]:
    report = raised(classify(command), (FILE,))
    return [finding.rule for finding in report.findings if finding.rule.startswith("policy.")]


@each(
    "command",
    [
        "git push --force", "g'i't  push x --force", "sudo git push --force", "bash -c 'git push --force'", "x=push; git $x --force",
        "git push --force; echo --dry-run", "git push --force -- --dry-run", "git push --force --dry-run; git push --force",
        "bash -c 'git push --force' --dry-run",
    ],
)  # fmt: skip
def test_the_words_are_tried_beside_the_text(command: str) -> None:
    assert "policy.force" in rules_of(command)
    assert raised(classify(command), (FILE,)).level is Level.HIGH


@each("command", ["git push", "git push --force --dry-run", "git commit -m x", "ls"])
def test_what_is_excused_or_other(command: str) -> None:
    assert "policy.force" not in rules_of(command)


def test_verdicts() -> None:
    policy = Policy(files=(FILE,))

    def action(command: str, mode: str = "medium") -> str:
        return decide(classify(command), Approval(mode=mode), policy=policy).action  # type: ignore[arg-type]

    assert action("nc h 1") == "refuse"
    assert action("git push --force") == "type"
    assert action("curl x") == "allow"  # a level of its own, and no confirmation wanted
    asking = Policy(
        files=(PolicyFile(path="/p.json", trust="safety", patterns=(PatternRule(name="l", pattern="^ls"),)),)
    )
    found = decide(classify("ls"), Approval(mode="medium"), policy=asking)
    assert (found.action, found.rule) == ("ask", "p.json:l")


REPORTS = st.sampled_from(["ls", "git push --force", "nc x", "rm -rf /", "curl x | sh", "echo $(", ""]).map(classify)
RULES = st.builds(
    PatternRule,
    name=st.sampled_from(["a", "b"]),
    pattern=st.sampled_from(["", "l", "push", ".*", "x"]),
    level=st.sampled_from(list(Level)),
    require_confirmation=st.booleans(),
    deny=st.booleans(),
)


@settings(max_examples=tries(80), deadline=None)
@given(REPORTS, st.lists(RULES, max_size=3, unique_by=lambda rule: rule.name))
def test_patterns_only_raise(report: RiskReport, rules: list[PatternRule]) -> None:
    files = (PolicyFile(path="/p.json", trust="safety", patterns=tuple(rules)),)
    after = raised(report, files)
    assert after.level.rank >= report.level.rank
    assert set(report.findings) <= set(after.findings)
    assert raised(after, files) == after
    strictness = ("allow", "ask", "type", "refuse")
    for mode in ("ask", "low", "medium"):
        approval = Approval(mode=mode)  # type: ignore[arg-type]
        before, then = decide(report, approval), decide(report, approval, policy=Policy(files=files))
        assert strictness.index(then.action) >= strictness.index(before.action)


@each(
    ("pattern", "text"),
    [
        (r"\s*\s*\s*x", " " * 500_000),
        (r"rm.*-r.*-f.*!", "rm -r -f " * 50_000),
        (r"(a+)+b", "a" * 500_000),
        (r"(?:a|ab|abc)*x", "abc" * 150_000),
        (r".*.*.*.*x", "a" * 500_000),
        (r"(?:a?){4}(?:a?){4}(?:a?){4}(?:a?){4}b.*b.*", "a" * 500_000),
        (r"[a-q][^u-z]{200}x", "abcq " * 100_000),
        (r"(?:[a-q].{1,50}){4}x", "aq ü" * 125_000),
        (r"[a-z]{0,900}!", "x" * 100_000),
        (r"[a-c].{0,200}d!", "".join(random.Random(1).choices("abcd ", k=50_000))),
    ],
)
def test_what_hangs_other_engines_ends_soon(pattern: str, text: str) -> None:
    linear = LinearPattern(pattern)
    begun = time.process_time()
    assert linear.search(text) is None
    assert time.process_time() - begun < 3  # at most half a second on an idle machine


PIECES = st.sampled_from(
    ["a", "b", ".", "a*", "b+", ".*", "[ab]?", "(?:ab)*", "(a+)+", "(?:a|bc)", r"\s+", "^", "$", r"\b", r"\w+", "x{2,9}", "ab{0,3}?", r"\S"]
)  # fmt: skip


@settings(max_examples=tries(300), deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join), st.text("ab cxü\u00a0\udcff\n", max_size=30))
def test_it_finds_what_python_finds_there(pattern: str, text: str) -> None:
    span, match = LinearPattern(pattern).search(text), re.search(pattern, text)
    if match is not None:
        assert span is not None
    if text.isascii() and not text.endswith("\n"):
        assert span == (None if match is None else match.span())


@each(
    ("pattern", "text"),
    [
        (r"rm \w+", "rm über"), (r"\bprod\b", "ü prod"), (r"rm\s+-rf", "rm\u00a0-rf"), ("force$", "git push --force\n"),
        ("x", "\udcffx"), ("(?i)ÄH", "äh"), (r"\pL{2}", "äh"), ("(?i:X)y", "xy"), (r"a\z", "ba"), ("a{0,2}b", "ab"),
    ],
)  # fmt: skip
def test_letters_beyond_ascii_and_ends_of_lines(pattern: str, text: str) -> None:
    assert LinearPattern(pattern).search(text) is not None


def test_where_it_is_found_counts_characters() -> None:
    assert LinearPattern("x+").search("ü\udcff語xx") == (3, 5)


def test_without_the_library_a_file_of_patterns_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    assert "google-re2" in parse_patterns(JSON, path="p.json").error
