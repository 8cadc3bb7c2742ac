"""Rules for one session only."""

from __future__ import annotations

import pytest

from agent.policy.model import Rule, SessionRules


def rule(name: str, session: str = "s1") -> Rule:
    return Rule(name=name, action="allow", program=("rm",), paths=("./build",), session=session)


def test_they_come_and_go() -> None:
    rules = SessionRules("s1")
    assert rules.add((rule("a"),)) == rules.add((rule("b"),)) == ""
    assert [(each.name, each.session) for each in rules.file.rules] == [("a", "s1"), ("b", "s1")]
    assert rules.forget("a") == ""
    assert [each.name for each in rules.file.rules] == ["b"]
    assert rules.file.trust == "session"


@pytest.mark.parametrize(("wrong", "why"), [(rule("a"), "already"), (rule("c", ""), "for which session")])
def test_what_is_wrong_changes_nothing(wrong: Rule, why: str) -> None:
    rules = SessionRules()
    assert rules.add((rule("a"),)) == ""
    assert why in rules.add((rule("d"), wrong))
    assert "no rule called" in rules.forget("other")
    assert [each.name for each in rules.file.rules] == ["a"]
