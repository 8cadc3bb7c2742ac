"""The examples of docs/policy.md are policy files that load."""

from __future__ import annotations

import re
from pathlib import Path

from agent.policy.deciding import decide
from agent.policy.model import Place, Policy
from agent.policy.parse import parse_policy
from agent.policy.patterns import parse_patterns
from agent.protocol.decisions import RiskContext
from agent.protocol.requests import Approval
from agent.risk.classifier import classify

PAGE = (Path(__file__).parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


def test_the_rules_do_what_the_page_says() -> None:
    file = parse_policy(block("toml"), path="policy.toml", trust="user", home="/home/you")
    assert file.error == ""
    policy = Policy(files=(file,), place=Place(workspace="/home/you/w", home="/home/you"))
    context = RiskContext(cwd="/home/you/w", home="/home/you", workspace="/home/you/w")
    for command, action in (
        ("git push origin main", "allow"),
        ("rm -rf build packages/a/dist", "allow"),
        ("rm -rf packages/a", "ask"),
        ("rm ~/photos/a.jpg", "refuse"),
        ("GIT_SSH=./x git push origin", "ask"),
    ):
        assert decide(classify(command, context), Approval(), policy=policy).action == action, command


def test_the_patterns_load() -> None:
    file = parse_patterns(block("json"), path="safety.json")
    assert file.error == ""
    assert file.patterns[0].name == "no-prod"
