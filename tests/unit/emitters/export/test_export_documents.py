"""Markdown and JSON: whole, bounded, and nothing in the log can add markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.audit.story.goal import stories
from agent.emitters.export.formats import FORMATS, Source, export, json_document
from agent.emitters.export.markdown import block, code, inline, markdown, table
from agent.protocol.records import Record
from agent.recording.reader import SessionFile
from tests.support.each import each
from tests.support.pictured_session import Session, hostile, many, pictured
from tests.support.tries import tries


def source_of(records: Iterable[Record], *, outside: bool = False) -> Source:
    kept = list(records)
    return Source(
        session=SessionFile("/x/2026-03-14-a.jsonl", "a", "2026-03-14", 1, 0.0),
        items=lambda: stories(kept),
        lines=lambda: iter(kept),
        outside=outside,
    )


def markdown_of(records: Iterable[Record]) -> str:
    return b"".join(markdown(source_of(records))).decode()


def outside_fences(text: str) -> list[str]:
    """The lines that a reader takes for markup: those not between a fence and the next one that closes it."""
    lines, fence = [], ""
    for line in text.split("\n"):
        opened = re.match(r"(`{3,})", line)
        if fence:
            if re.fullmatch(f"`{{{len(fence)},}} *", line):
                fence = ""
        elif opened:
            fence = opened[1]
        else:
            lines.append(line)
    assert not fence
    return lines


def test_the_report_of_a_session() -> None:
    text = markdown_of(pictured())
    headings = [line for line in outside_fences(text) if line.startswith("#")]
    assert headings[:4] == [
        "# Session a", "## 1. which files here are the largest", "### 1.1 Command, risk low", "## 2. remove the build folder",
    ]  # fmt: skip
    assert "| medium | `delete.recursive` | deletes a folder and all that is in it | mv build /tmp |" in text
    assert "Proposed as:\n\n```sh\nrm -rf build\n```\n" in text
    assert "│ 804K\tsrc/grammar\n" in text
    assert "[… 70,123 bytes not kept …]" in text
    assert "\x1b" not in text


def test_hostile_text_adds_no_markup() -> None:
    lines = outside_fences(markdown_of(hostile()))
    for line in lines:
        bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)  # code spans are inert
        bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", bare)
        bare = re.sub(r"</?(?:details|summary|code)>", "", bare)
        assert not re.search(r"[<>\[\]@]|\|(?!\s|$)", bare.removeprefix("> ")), line
    text = "\n".join(lines)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


@given(st.text(alphabet="`a \n\\|<", max_size=40))
@settings(max_examples=tries(200), deadline=None, derandomize=True)
def test_a_fence_cannot_be_closed_from_inside(text: str) -> None:
    shown = block(text) + "after\n"
    assert outside_fences(shown) == ["after", ""]


@each(
    ("text", "shown"),
    [
        ("a|b", "`a\\|b`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", ""), (" ", "` `"), ("a\nb\x1b", "`a␊b␛`"),
    ],
)  # fmt: skip
def test_code_spans(text: str, shown: str) -> None:
    assert code(text) == shown


def test_inline_text_is_inert() -> None:
    assert inline("see https://x.org @me #1 <b> ![a](b)\n# no www.x.org") == (
        "see https\\://x.org \\@me \\#1 \\<b\\> \\!\\[a\\](b) \\# no www\\.x.org"
    )
    assert table(("a",), [("1",)]) == "| a |\n| --- |\n| 1 |\n"


def test_a_long_output_is_folded_and_bounded() -> None:
    made = Session()
    made.begin_goal("long")
    key = made.propose("seq 9000")
    made.confirm(key, "seq 9000")
    made.run(key, "seq 9000", (0.1, "stdout", "".join(f"{number}\n" for number in range(9_000))))
    text = markdown_of(made.records)
    assert "<details><summary>Output (<code>2│</code> is standard error), 9,000 lines</summary>" in text
    assert "[… 7,000 lines are left out here …]" in text
    assert text.count("\n") < 2_100


def test_the_document_for_programs() -> None:
    document = json.loads(b"".join(json_document(source_of(pictured()))))
    assert (document["format"], document["version"], document["session"]["id"]) == ("agent-shell-session", 1, "a")
    assert document["totals"] == {"goals": 8, "commands": 7, "others_left_out": 0}
    assert [goal["number"] for goal in document["goals"]] == list(range(1, 9))
    assert [(other["kind"], other["after_goal"]) for other in document["others"]][:2] == [("began", 0), ("mark", 0)]
    assert document["goals"][1]["commands"][0]["run"] == "rm -rf build/cache"


def test_the_document_of_a_hostile_or_empty_log() -> None:
    text = b"".join(json_document(source_of(hostile()))).decode()
    assert json.loads(text)["totals"]["goals"] == 1
    assert not re.search("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert json.loads(b"".join(json_document(source_of([]))))["goals"] == []


@each("name", sorted(FORMATS))
def test_every_format_writes_something(name: str) -> None:
    assert b"".join(export(name, source_of(pictured())))
    assert b"".join(export(name, source_of(hostile(), outside=True)))
    assert sum(map(len, export(name, source_of(many(30))))) < 5_000_000
