"""The panel of an interview, and what of it a hostile value can do to a terminal: nothing."""

from __future__ import annotations

from agent.emitters.interview_lines import InterviewLines, panel, progress
from agent.protocol.events.interview import KEPT_STEP, InterviewStepped, InterviewTurned

SIDEBAR = {
    "phaseIndicator": {"currentPhase": "CORE", "label": "Core problem"},
    "sections": [
        {
            "id": "core", "title": "Core", "visible": True, "collapsed": False,
            "items": [
                {"obligationId": "a", "label": "The problem", "status": "satisfied", "confidence": 0.9,
                 "learnt": "no\x1b[2J list\nof members", "turns": [1, 3]},
                {"obligationId": "b", "label": "The trigger", "status": "pending", "confidence": 0},
            ],
        },
        {"id": "shut", "title": "Shut", "visible": True, "collapsed": True,
         "items": [{"obligationId": "c", "label": "Never drawn", "status": "pending", "confidence": 0}]},
        {"id": "later", "title": "Later", "visible": False, "collapsed": False, "items": [{"label": "x"}]},
    ],
}  # fmt: skip


def test_the_panel_tells_state_value_certainty_and_turn():
    text = panel(SIDEBAR, 0.34, color=False)
    assert text.splitlines()[0] == "Core problem  ▓▓▓░░░░░░░ 34 %"
    assert "Core  1/2" in text
    assert "✓ The problem" in text and "(90 %, turn 1, 3)" in text
    assert "○ The trigger" in text
    assert "Shut  0/1" in text and "Never drawn" not in text and "Later" not in text
    assert "\x1b" not in text and "list\nof" not in text


def test_progress_stays_within_its_bar():
    assert progress(-1) == "░░░░░░░░░░ 0 %"
    assert progress(7) == "▓▓▓▓▓▓▓▓▓▓ 100 %"


def test_a_phase_is_told_by_its_name_and_by_none_where_it_has_no_sidebar():
    said: list[str] = []
    lines = InterviewLines(said.append, color=False)
    sidebar = {"phaseIndicator": {"label": "Confirming"}}
    turned = InterviewTurned(turn=3, phase="VALIDATION", completeness=0.8, ready=True, sidebar=sidebar)
    lines.show(turned)
    lines.show(InterviewTurned(turn=4, phase="DONE", completeness=1.0, ready=True))
    assert said == ["Confirming · ▓▓▓▓▓▓▓▓░░ 80 %", "▓▓▓▓▓▓▓▓▓▓ 100 %"]


def test_a_step_that_fails_is_told_but_for_the_database_which_has_a_warning_of_its_own():
    said: list[str] = []
    lines = InterviewLines(said.append, color=False)
    for number, step in ((2, "extraction"), (18, KEPT_STEP)):
        lines.show(InterviewStepped(turn=1, number=number, step=step, outcome="failed", detail="why"))
    assert said == ["extraction failed: why"]
