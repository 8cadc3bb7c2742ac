"""The explanation for people."""

from __future__ import annotations

from agent.risk.classifier import classify
from agent.risk.explain import explain


def test_a_tree_under_the_text() -> None:
    text = explain(classify("ls && rm -rf ~/old"))
    lines = text.split("\n")
    assert lines[0] == "high risk"
    assert lines[1] == "  ls && rm -rf ~/old"
    assert lines[2] == "        ~~~~~~~~~~~~"
    assert lines[3].strip().startswith("‼ high: deletes ")
    assert "cannot be taken back" in text
    assert "safer: " in text
    assert "rm: deletes files" in text


def test_reading_is_said_to_be_reading() -> None:
    assert "only reads" in explain(classify("ls -la"))


def test_long_and_hostile_texts_stay_readable() -> None:
    text = explain(classify("ls " + "x" * 5_000 + "; rm -rf /etc\x1b[2K"))
    assert "\x1b" not in text
    assert all(len(line) < 300 for line in text.split("\n"))
    assert "partial" in explain(classify("ls; if"))


def test_many_findings_are_cut() -> None:
    text = explain(classify("; ".join(f"rm -rf /srv/{i}" for i in range(50))))
    assert "and 38 more" in text
