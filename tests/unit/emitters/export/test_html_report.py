"""The report page: whole, inert, bounded, readable in both themes."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from importlib import resources
from typing import Any

import pytest
from msgspec import structs

from agent.audit.story import goal as goals
from agent.audit.story.goal import stories
from agent.audit.story.model import (
    CommandStory,
    Decision,
    GoalStory,
    Mark,
    OutputPiece,
    PlannerStep,
    RehearsalStory,
    Said,
    Step,
    ToolStory,
)
from agent.emitters.export import html_report as page
from agent.emitters.export.html_filters import markdown
from agent.emitters.export.html_output import ColoredText, settled
from agent.emitters.export.html_report import Checked, html_report, rendered, verdict
from agent.emitters.story_words import decided_words
from agent.protocol.errors import ErrorInfo
from agent.protocol.events.session import SessionStarted
from agent.protocol.records import Record, decode, encode
from agent.recording.chained_lines import Link
from agent.recording.integrity.verify import Checked as Verified
from agent.recording.integrity.walk import Problem
from tests.support.each import each
from tests.support.pictured_session import HOSTILE_TEXT, Session, hostile, many, pictured, taken_back

VOID = {"meta", "br", "input", "rect", "hr"}
KNOWN = {
    "aria-hidden", "aria-label", "aria-labelledby", "aria-live", "aria-pressed", "autocomplete", "charset", "class",
    "content", "data-filter", "data-goal", "data-kinds", "data-theme", "datetime", "focusable", "height", "hidden", "href",
    "http-equiv", "id", "lang", "name", "open", "placeholder", "preserveaspectratio", "role", "rx", "spellcheck",
    "tabindex", "title", "type", "viewbox", "width", "x",
}  # fmt: skip


class Reader(HTMLParser):
    """Every tag with its attributes; fails on one that is not closed where it was opened."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("script", "style"):
            self.text += data


def report(records: list[Record], checked: Checked | None = None) -> str:
    back = [decode(encode(record)) for record in records]
    return b"".join(html_report(stories(back, undone=taken_back(back)), checked)).decode()


@pytest.fixture(scope="module")
def demo() -> str:
    return report(pictured(), Checked(state="proven", text="24 events"))


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return report(hostile())


def test_everything_of_the_session_is_on_the_page(demo: str) -> None:
    text = Reader(demo).text
    for expected in (
        "pictured-1", "log verified", "24 events", "which files here are the largest", "du -ah src | sort -rh | head -4",
        "approved by the person", "edited to", "rm -rf build/cache", "delete.recursive", "mv build /tmp",
        "was taken back (undo 7n4d1x)", "can be taken back: agent-shell undo 6k2m9q", "setuid", "+        kind = kind_of(text[place])",
        "not shown by the rehearsal", "refused by policy", "!make test", "70,123 bytes not kept", "word typed", "skipped", "read_file",
        "the model does not answer", "moon.phase", "the session was closed", "3,600", "$0.0032",
    ):  # fmt: skip
        assert expected in text, expected
    assert 'class="f4 bold"' in demo.replace('"bold f4"', '"f4 bold"')  # the colour of output
    assert "<strong>lexer</strong>" in demo


@pytest.mark.parametrize("name", ["demo", "hostile_page"])
def test_it_has_only_tags_and_attributes_of_ours_and_leads_nowhere(name: str, request: pytest.FixtureRequest) -> None:
    html: str = request.getfixturevalue(name)
    reader = Reader(html)
    assert {tag for tag, _ in reader.tags}.isdisjoint(
        {"img", "iframe", "object", "embed", "link", "base", "form", "audio", "video"}
    )
    assert [tag for tag, _ in reader.tags].count("script") == 1
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in reader.tags:
        assert set(attrs) <= KNOWN, attrs
        href = attrs.get("href")
        assert href is None or (href.startswith("#") and href[1:] in ids), href


def test_the_policy_names_its_own_style_and_script_and_lets_nothing_else_in(demo: str, hostile_page: str) -> None:
    for html in (demo, hostile_page):
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
        assert policy is not None
        for tag in ("style", "script"):
            body = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
            assert body is not None
            digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy[1]
        assert policy[1].startswith("default-src 'none'; ")
    assert html.index("Content-Security-Policy") < html.index("<style>")


def test_hostile_text_is_text(hostile_page: str) -> None:
    assert "<script>alert" not in hostile_page
    assert "<img" not in hostile_page
    assert "javascript:" not in hostile_page
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile_page)
    text = Reader(hostile_page).text
    assert "</script><script>alert(1)</script>" in text
    assert "<U+202E>abc" in text
    assert "&lt;b&gt;" in text  # as it was, not unescaped once more
    assert HOSTILE_TEXT[:30] in text


@pytest.mark.thorough
def test_many_and_large_things_stay_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    html = b"".join(html_report(stories(many(400)))).decode()
    assert html.count('<article class="cmd') == 400
    assert '<body class="long">' in html
    made = Session()
    made.add(SessionStarted(session_id="s"), 0)
    made.begin_goal("x")
    key = made.propose("cat big")
    made.confirm(key, "cat big")
    made.run(key, "cat big", *[(0.1, "stdout", "0123456789abcde\n" * 65_536)] * 3)
    html = report(made.records)
    assert len(html) < 250_000
    assert "characters are not on this page" in html
    monkeypatch.setattr(page, "FULL_BYTES", 60_000)
    monkeypatch.setattr(page, "MOST_BYTES", 90_000)
    html = b"".join(html_report(stories(many(1_000)))).decode()
    assert "is left out here: the page would be too large" in html
    assert "more goals of this session are not on the page" in html
    assert "<b>1,000</b> commands run" in html
    Reader(html)


def test_nothing_at_all_is_a_page_too() -> None:
    assert "This session has no goals." in Reader(b"".join(html_report([])).decode()).text


def _verified(*problems: Problem, **changes: object) -> Verified:
    given = {
        "session_id": "s",
        "path": "p",
        "state": "whole",
        "files": 1,
        "events": 7,
        "bytes": 9,
        "end": Link(7, "h"),
        "log": "l",
    }
    return Verified(**{**given, "problems": problems, **changes})  # type: ignore[arg-type]


def test_what_checking_the_log_said_is_in_the_head() -> None:
    assert verdict(_verified()).state == "proven"
    assert "still open" in verdict(_verified(state="unfinished")).text
    assert "the machine stopped" in verdict(_verified(state="crash", note="the machine stopped")).text
    broken = verdict(_verified(*[Problem("f", line, "the hash is another") for line in (4, 5, 6, 7)], more_problems=2))
    assert broken.state == "broken"
    assert broken.text == "; ".join(f"line {line}: the hash is another" for line in (4, 5, 6)) + "; and 3 more"
    unknown = Problem("f", 0, "no head is known for this log")
    assert verdict(_verified(unknown)).state == "broken"
    assert verdict(_verified(unknown), outside=True).state == "unproven"
    assert verdict(_verified(unknown, Problem("f", 3, "x")), outside=True).state == "broken"


# --- pieces ---


@each(
    ("text", "runs"),
    [
        ("plain <b> & 'x'", [("", "plain <b> & 'x'")]),
        ("\x1b[1;31mbad\x1b[0m ok", [("bold f1", "bad"), ("", " ok")]),
        ("\x1b[38;5;196mx\x1b[39my", [("f1", "x"), ("", "y")]),
        ("\x1b[48;2;0;0;250mx", [("b4", "x")]),
        ("\x1b[38:5:34mx", [("f2", "x")]),
        ("\x1b[8mhidden", [("", "hidden")]),
        ("\x1b[97;107mwhite on white", [("f7 b7", "white on white")]),
        ("\x1b]0;title\x07\x1b[2J\x1b[10Ax", [("", "x")]),
        ("\x1b[38;5mx\x1b[38my\x1b[999999mz", [("", "xyz")]),
    ],
)
def test_of_escapes_only_colours_are_left(text: str, runs: list[tuple[str, str]]) -> None:
    stream = ColoredText()
    assert stream.feed(text) + stream.close() == runs


def test_colours_last_over_pieces() -> None:
    stream = ColoredText("err")
    assert stream.feed("\x1b[3") == []
    assert stream.feed("2mgreen") == [("err f2", "green")]
    assert stream.feed(" still") == [("err f2", " still")]


def test_lines_that_were_written_over_show_their_last_state() -> None:
    assert settled("".join(f"\r{number}%" for number in range(100)) + "\n") == "99% ↺99\n"
    assert settled("rm -rf /\rls\r\n") == "rm -rf /␍ls\n"  # what was hidden by a return is seen
    assert settled("a\r\nb") == "a\nb"


def section(*steps: Step, **changes: object) -> str:
    goal = GoalStory(goal_id="g", goal="x", began="", ended="", status="completed", steps=steps)
    return rendered("goal_section", structs.replace(goal, **changes), 1, 1, True)


def test_an_edit_shows_what_differs() -> None:
    html = section(CommandStory(command_id="c", began="", proposed="rm -rf <build>", run="rm -rf <build>/cache"))
    assert "rm -rf &lt;build&gt;<ins>/cache</ins>" in html


def test_no_approve_mode_has_approved_a_command_of_ones_own_that_was_not_asked_about() -> None:
    decided = Decision(time="", decision="approved", by="approve-mode")
    command = CommandStory(
        command_id="c", began="", proposed="ls", run="ls", origin="person", decisions=(decided,), cwd="/w"
    )
    html = section(command)
    assert "<b>approved</b> unasked" in html and "typed by the person" in html and "the approve mode" not in html
    assert decided_words(command, "low") == "approved unasked, typed by the person"
    by_mode = structs.replace(command, origin="planner")
    assert decided_words(by_mode, "low") == "approved unasked (--approve low)"
    assert "<b>approved</b> by the approve mode" in section(by_mode)


def test_answers_lead_nowhere() -> None:
    html = markdown(
        '# A\n[x](javascript:alert(1)) ![y](http://e.org/p) <http://e.org> <b>b</b> &amp; `c`\n\n|a|\n|:-:|\n|b|\n\n```sh x"y\nls\n```'
    )
    assert "<h4>A</h4>" in html
    assert "<code>c</code>" in html
    assert "<td>b</td>" in html
    for never in ("href", "src", "style=", "<b>", 'class="lang'):
        assert never not in html


# --- templates ---


TEMPLATES = {
    path.name: path.read_text() for path in resources.files("agent.emitters.export").joinpath("templates").iterdir()
}


def test_templates_escape_all_but_what_is_the_pages_own() -> None:
    unescaped = [found for text in TEMPLATES.values() for found in re.findall(r"([\w.|]+)\s*\|\s*safe\b", text)]
    assert sorted(unescaped) == ["policy", "script", "style", "text|markdown"]
    assert "autoescape" not in "".join(TEMPLATES.values())


EVIL = "<evil a='b\">&\x1b[2J\u202e"
STEPS: list[Any] = [
    CommandStory(
        command_id="c", began="2026-03-14T09:26:53Z", proposed="ls", started="2026-03-14T09:26:54Z", exit_code=1,
        undo_id="u", decisions=(Decision(time="", decision="approved", by="person"),),
        outputs=(OutputPiece("stderr", "x\n", 0.0),), stdout_dropped=1,
    ),
    CommandStory(command_id="c", began="", proposed="ls", unused=(EVIL,), notes=(EVIL,), outputs=(OutputPiece("stdout", EVIL, 0.0),)),
    CommandStory(command_id="c", began="", proposed="ls", rehearsals=(RehearsalStory(time="", command="", not_shown=(EVIL,)),)),
    PlannerStep(time="", step=1, raw="x"),
    PlannerStep(time="", step=1, error=ErrorInfo(code="c", message=EVIL)),
    Said(time="", text="x"),
    ToolStory(time="", call_id="t", name="x", files_written=(EVIL,), args={EVIL: EVIL}),
    Mark(time="", kind="x", text="x"),
    Decision(time="", decision="approved", by="person"),
    RehearsalStory(time="", command="x"),
]  # fmt: skip


@each("step", STEPS, ids=lambda step: type(step).__name__)
def test_no_text_of_a_story_is_markup_or_moves_the_cursor(step: Any) -> None:
    changed = [step]
    for field in structs.fields(step):
        if field.type is str and field.name not in ("weight", "level"):  # closed words
            changed.append(structs.replace(step, **{field.name: EVIL}))
    for each_step in changed:
        steps: Any = each_step
        if isinstance(steps, Decision):
            steps = CommandStory(command_id="c", began="", proposed="ls", decisions=(steps,))
        elif isinstance(steps, RehearsalStory):
            steps = CommandStory(command_id="c", began="", proposed="ls", rehearsals=(steps,))
        html = section(steps)
        Reader(html)
        assert "<evil" not in html and "='b\"" not in html
        assert "\x1b" not in html and "\u202e" not in html


# --- colours ---


def _palettes() -> list[dict[str, str]]:
    css = resources.files("agent.emitters.export").joinpath("html_page.css").read_text()
    blocks = re.findall(r":root[^{]*\{([^}]*--bg:[^}]*)\}", css)
    light = dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", blocks[0]))
    dark = [{**light, **dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", block))} for block in blocks[1:3]]
    assert dark[0] == dark[1]
    return [light, dark[0]]


def _contrast(one: str, other: str) -> float:
    def luminance(color: str) -> float:
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_text_stands_out_from_what_is_behind_it_in_both_themes() -> None:
    on_cards = [
        "--ink",
        "--dim",
        "--accent",
        "--low",
        "--medium",
        "--high",
        "--unrated",
        "--bad",
        *(f"--f{n}" for n in range(8)),
    ]
    for colors in _palettes():
        pairs = [(front, back) for front in on_cards for back in ("--card", "--sunk")]
        pairs += [(front, "--bg") for front in ("--ink", "--dim", "--accent", "--low", "--medium", "--high", "--warn")]
        pairs += [("--good", "--low-bg"), ("--bad", "--high-bg"), ("--warn", "--medium-bg"), ("--dim", "--quiet-bg")]
        pairs += [("--ins", "--ins-bg"), ("--del", "--del-bg"), ("--ink", "--mark")]
        pairs += [("--card", f"--f{n}") for n in range(8)]
        weak = {pair: round(_contrast(colors[pair[0]], colors[pair[1]]), 2) for pair in pairs}
        assert {pair: value for pair, value in weak.items() if value < 4.5} == {}


def test_a_very_long_goal_comes_in_parts_of_one_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goals, "MOST_STEPS", 100)
    made = Session()
    made.add(SessionStarted(session_id="s"), 0)
    made.begin_goal("long")
    for number in range(210):
        key = made.propose(f"echo {number}")
        made.confirm(key, f"echo {number}", by="approve-mode", after=0)
        made.run(key, f"echo {number}", took=0)
    made.end_goal("long")
    made.begin_goal("short")
    made.end_goal("short")
    html = report(made.records)
    reader = Reader(html)
    ids = [attrs.get("id") for tag, attrs in reader.tags if tag == "section"]
    assert ids == ["g1", "g1-2", "g1-3", "g2"]
    assert "<b>2</b> goals" in html
    assert "<b>210</b> commands run" in html


def test_a_message_that_a_step_tells_is_not_told_twice() -> None:
    def shown(*steps: Said) -> str:
        return section(*steps, status="blocked_by_policy", message="refused it")

    assert shown().count("refused it") == shown(Said(time="", text="policy refused it")).count("refused it") == 1
