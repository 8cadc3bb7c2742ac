"""Rules for one session only."""

from __future__ import annotations

import pytest

from agent.policy.store import SessionRules

RULE = '[[rule]]\nname = "a"\naction = "allow"\nprogram = "rm"\npaths = ["./build"]\nsession = "s1"\n'


def test_they_come_and_go() -> None:
    rules = SessionRules("/home/you")
    assert rules.add(RULE) == ""
    assert rules.add(RULE.replace('"a"', '"b"')) == ""
    assert [(rule.name, rule.session) for rule in rules.file.rules] == [("a", "s1"), ("b", "s1")]
    assert rules.forget("a") == ""
    assert [rule.name for rule in rules.file.rules] == ["b"]
    assert rules.file.trust == "session"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (RULE, "already"),
        (RULE.replace('session = "s1"\n', "").replace('"a"', '"c"'), "for which session"),
        ('[[rule]]\nname = "c"\naction = "allow"\nprogram = "rm"\nsession = "s1"\n', "would allow everything"),
        ("", "no [[rule]]"),
        ("[[rule", "this session"),
    ],
)
def test_what_is_wrong_changes_nothing(text: str, why: str) -> None:
    rules = SessionRules()
    assert rules.add(RULE) == ""
    assert why in rules.add(text)
    assert "no rule called" in rules.forget("other")
    assert [rule.name for rule in rules.file.rules] == ["a"]
