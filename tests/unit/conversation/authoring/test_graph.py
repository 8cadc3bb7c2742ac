"""The phases of an engine are drawn."""

from __future__ import annotations

import re

from agent.conversation.authoring.graph import drawing, mermaid
from tests.support.interview_case import ENGINE, engine

LEAVING = [
    {"targetEngine": "planner", "condition": {"type": "completeness_score", "minCompleteness": 0.7}, "reason": "Done"}
]
SKIP = {"type": "field_equals", "path": "trigger", "value": True, "target": "C"}
FIRST = ENGINE["phases"][0] | {"transitionTriggers": [*ENGINE["phases"][0]["transitionTriggers"], SKIP]}
CONFIG = engine(phases=[FIRST, *ENGINE["phases"][1:]], exitTransitions=LEAVING)


def test_a_terminal_shows_the_ways() -> None:
    assert drawing(CONFIG).splitlines() == [
        "● A  First",
        "│   70 % extract, 20 % validate, 10 % explore",
        "│   → C at trigger is yes",
        "▼   purpose 50%",
        "○ B  Second",
        "│   60 % extract, 40 % validate",
        "│   needs users",
        "▼   3 turns",
        "○ C  Third",
        "    100 % validate",
        "⇢ planner at completeness 70%",
    ]


def test_a_phase_that_leads_nowhere_shows_no_arrow() -> None:
    first = ENGINE["phases"][0] | {"transitionTriggers": []}
    assert drawing(engine(phases=[first, *ENGINE["phases"][1:]])).splitlines()[2] == "╵"


def test_mermaid_shows_the_same() -> None:
    assert mermaid(CONFIG).splitlines() == [
        "flowchart TD",
        '  p0(["A<br>First"])',
        '  p1["B<br>Second<br>needs users"]',
        '  p2["C<br>Third"]',
        '  p0 -->|"purpose 50#37;"| p1',
        '  p0 -->|"trigger is yes"| p2',
        '  p1 -->|"3 turns"| p2',
        '  x0{{"planner"}}',
        '  p2 -.->|"completeness 70#37;"| x0',
    ]


def test_names_cannot_leave_their_place() -> None:
    hostile = '"]; click p0 "javascript:x"\nend %%{init}%% <script>`'
    text = mermaid(engine(phases=[ENGINE["phases"][0] | {"displayName": hostile, "transitionTriggers": []}]))
    (line,) = text.splitlines()[1:]
    assert re.fullmatch(r'  p0\(\["A<br>[^"\[\]{}<>`%]*"\]\)', line)
