"""A cycle as a person reads it: what came of a call in a few words, and nothing hidden in titles."""

from __future__ import annotations

import json

from agent.emitters.work_lines import beginning, result_words, subject, summary
from agent.protocol.events.goal import CycleFinished, CycleStarted, ToolFinished
from tests.support.each import each


def words(name: str, result: object) -> str:
    text = result if isinstance(result, str) else json.dumps(result)
    return result_words(ToolFinished(call_id="1", name=name, result=text, is_error=True))


@each(
    ("out", "err", "shown"),
    [
        (
            "",
            "Traceback:\nModuleNotFoundError: No module named 'x'\n",
            "exit 1: ModuleNotFoundError: No module named 'x'",
        ),
        ("out of order\n", "", "exit 1: out of order"),
        ("", "a\x1b[2J", "exit 1: a␛[2J"),
        ("", "", "exit 1"),
    ],
)
def test_where_nothing_was_counted_the_last_line_is_shown(out: str, err: str, shown: str) -> None:
    result = {"ok": False, "exit_code": 1, "stdout": out, "stderr": err, "passed": None, "total": None}
    assert words("run_tests", result) == shown


def test_renames_that_failed_say_why() -> None:
    results = [{"status": "skipped", "message": "not done"}, {"status": "error", "message": "there is no a.py"}]
    answer = {"ok": False, "summary": {"moved": 0, "skipped": 1, "errors": 1}, "results": results}
    assert words("rename_files", answer) == "1 skipped, 1 error: there is no a.py"


def test_nothing_is_hidden_in_titles_and_calls() -> None:
    assert "pay<U+200B>ment" in beginning(CycleStarted(task=1, title="pay\u200bment"), color=False)
    assert subject("write_file", {"path": "a\u200b.py"}) == "a<U+200B>.py"


def test_a_question_of_a_rehearsal_waits_for_no_answer() -> None:
    asked = CycleFinished(reason="question", task=1, text="JSON or TOML?")
    for rehearse, words in (
        (False, 'answer: agent-shell work --answer "…"'),
        (True, "rehearsed: the question is not kept"),
    ):
        started = CycleStarted(task=1, title="Tidy", rehearse=rehearse)
        assert words in summary(started, asked, [], [], way="agent-shell work", color=False)
