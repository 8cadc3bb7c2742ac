"""What a log says was judged then, and what today says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.audit.reclassify import judgements as stream
from agent.audit.reclassify.judgements import Judgement, judgements
from agent.audit.reclassify.ruling import Judge
from agent.audit.reclassify.texts import Case, Text, Then, Trouble, read_texts
from agent.audit.reclassify.workers import Workers
from agent.policy.files import Sources
from agent.protocol.errors import IoError, OtherError
from tests.support.each import each

HOME = "/home/u"
KNOWN = {"cwd": "/home/u/w/sub", "home": HOME, "workspace": "/home/u/w"}


class Log:
    """Lines of a session log, as they are written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[str] = []
        self.add("session.started", session_id="s", is_root=False)
        self.add("goal.started", goal="g", approve="low", environment={"home": HOME})

    def add(self, kind: str, /, **fields: Any) -> None:
        head = {"v": 1, "seq": len(self.lines) + 1, "time": "t", "session": "s", "run": "r", "goal_id": "g"}
        self.lines.append(json.dumps({**head, "type": kind, **fields}, separators=(",", ":")))

    def proposed(self, key: str, text: str, **more: Any) -> None:
        self.add(
            "command.proposed",
            **{"command_id": key, "command": text, "origin": "planner", "cwd": "/home/u/w/sub", **more},
        )

    def rated(self, key: str, text: str, level: str, action: str, *, stage: str = "proposed", **more: Any) -> None:
        report = {"command": text, "level": level, "findings": more.pop("findings", [])}
        verdict = {"action": action, "rule": more.pop("rule", "r"), "reason": ""}
        self.add("command.rated", command_id=key, stage=stage, report=report, verdict=verdict, **more)

    def confirmed(self, key: str, decision: str, by: str, text: str = "") -> None:
        self.add("command.confirmed", command_id=key, decision=decision, by=by, command=text)

    def ran(self, key: str, text: str) -> None:
        self.add("command.started", command_id=key, command=text)

    def texts(self) -> list[Text]:
        self.path.write_text("\n".join(self.lines) + "\n")
        return list(read_texts([str(self.path)], Trouble()))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "2030-01-01-s.jsonl")


def judged(texts: list[Text], jobs: int = 1, **how: Any) -> list[Judgement]:
    return list(judgements(texts, Judge(how.pop("sources", Sources(site="", home=HOME)), **how), jobs=jobs))


def test_both_texts_of_an_edit(log: Log) -> None:
    log.proposed("c", "rm -rf build")
    log.rated("c", "rm -rf build", "medium", "ask")
    log.rated("c", "rm -r build", "medium", "ask", stage="edited")
    log.confirmed("c", "edited", "person", "rm -r build")
    log.ran("c", "rm -r build")
    first, second = log.texts()
    assert (first.stage, first.case.text, first.then.decision, first.then.ran) == (
        "proposed",
        "rm -rf build",
        "edited",
        False,
    )
    assert (second.stage, second.case.text, second.then.decision, second.then.ran) == (
        "edited",
        "rm -r build",
        "edited",
        True,
    )
    assert first.case.approve == "low"
    assert first.case.home == HOME


def test_asked_twice_about_one_text_is_one_judgement(log: Log) -> None:
    log.proposed("c", "ls")
    log.rated("c", "ls", "low", "allow")
    log.rated("c", "ls", "low", "ask")
    (text,) = log.texts()
    assert text.then.verdict == "ask"


def test_a_command_without_a_rating_or_a_proposal(log: Log) -> None:
    log.proposed("c", "ls")
    log.ran("d", "rm -rf ~")
    first, second = judged(log.texts())
    assert (first.change, first.now.level) == ("unrated", "low")
    assert (second.text.stage, second.text.then.ran, second.now.verdict) == ("proposed", True, "refuse")
    assert second.refused_now


def test_a_text_that_was_run_and_never_rated_is_judged(log: Log) -> None:
    log.proposed("c", "ls")
    log.rated("c", "ls", "low", "allow")
    log.ran("c", "rm -rf /")
    assert [(text.stage, text.case.text) for text in log.texts()] == [("proposed", "ls"), ("run", "rm -rf /")]


def test_lines_in_another_spelling_are_read_too(log: Log) -> None:
    log.proposed("c", "ls")
    log.rated("c", "ls", "low", "allow")
    log.lines = [json.dumps(json.loads(line), indent=None) for line in log.lines]  # blanks behind colons
    assert [text.case.text for text in log.texts()] == ["ls"]


def test_what_cannot_be_read_is_counted(log: Log) -> None:
    log.proposed("c", "ls")
    log.lines += [
        "rubbish",
        "[" * 9999,
        '{"v":1,"type":"command.rated","report":7}',
        '{"v":1,"type":"command.unheard-of"}',
    ]
    log.path.write_bytes("\n".join(log.lines).encode() + b'\n{"v":1,"type":"command.pro\xff')
    trouble = Trouble()
    assert len(list(read_texts([str(log.path)], trouble))) == 1
    assert trouble.lines == 4
    assert trouble.first.endswith(f":{len(log.lines) - 3}")


def test_a_folder_or_a_pipe_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(IoError):
        list(read_texts([str(tmp_path)], Trouble()))


# --- rulings ---


def test_the_rating_is_done_again_with_what_was_known(log: Log) -> None:
    """`..` is in the workspace of then, whatever is there today."""
    log.proposed("c", "rm ../x")
    log.rated("c", "rm ../x", "medium", "ask", known=KNOWN)
    log.proposed("d", "rm ../x")
    log.rated("d", "rm ../x", "medium", "ask")
    known, alone = judged(log.texts())
    assert (known.now.facts, alone.now.facts) == ("then", "none")
    assert known.now.level == "medium"


def test_facts_of_then_count_and_those_of_today_only_when_asked(log: Log, tmp_path: Path) -> None:
    path = tmp_path / "precious"
    facts = {str(path): ["dir", "repository", "dirty", "changed=9"]}
    log.proposed("c", f"rm -rf {path}")
    log.rated("c", f"rm -rf {path}", "high", "type", known={**KNOWN, "facts": facts})
    (then,) = judged(log.texts())
    from agent.planner.facts.facts import context_of

    (today,) = judged(log.texts(), facts_of=context_of)
    assert (then.now.facts, today.now.facts) == ("then", "today")
    assert then.now.level == "high"


@each("known", [b"{", b'{"cwd":7}', b'{"facts":[]}', b'{"exports":{"PATH":null}}', b"[" * 3000, b'{"home":"\\ud800"}'])
def test_made_up_knowledge_is_no_knowledge(known: bytes) -> None:
    now = Judge(Sources(site="")).rule(Case(text="ls", known=known))
    assert now.level in ("low", "medium", "high")


def test_what_is_not_all_there_is_said(log: Log) -> None:
    log.proposed("c", "f x")
    log.rated("c", "f x", "low", "allow", known={**KNOWN, "partial": True})
    log.proposed("d", "curl -H [redacted:github-token:1f2e]")
    log.rated("d", "curl -H [redacted:github-token:1f2e]", "low", "allow", known=KNOWN)
    part, label = judged(log.texts())
    assert (part.now.facts, part.redacted) == ("part", False)
    assert (label.now.facts, label.redacted) == ("then", True)


def test_the_opinion_of_the_planner_stays(log: Log) -> None:
    finding = {
        "rule": "opinion.planner",
        "level": "high",
        "reason": "the planner itself calls this high",
        "span": [0, 2],
    }
    other = {"rule": "delete", "level": "high", "reason": "no longer so", "span": [0, 2]}
    log.proposed("c", "ls")
    log.rated("c", "ls", "high", "type", known=KNOWN, findings=[finding, other])
    (found,) = judged(log.texts())
    assert (found.now.level, found.change) == ("high", "same")


def test_a_file_that_a_tool_wanted_to_write(log: Log) -> None:
    log.proposed("c", "write_file /home/u/w/a.txt", origin="tool", cwd="")
    log.rated("c", "write_file /home/u/w/a.txt", "medium", "ask", known={**KNOWN, "cwd": "/home/u/w"})
    log.proposed("d", "write_file /home/u/.bashrc", origin="tool", cwd="")
    log.rated("d", "write_file /home/u/.bashrc", "medium", "ask", known={**KNOWN, "cwd": "/home/u"})
    plain, start_up = judged(log.texts())
    assert (plain.now.level, plain.now.verdict) == ("medium", "ask")
    assert (start_up.now.level, start_up.change) == ("high", "stricter")


def test_the_approve_mode_of_then_or_another(log: Log) -> None:
    log.proposed("c", "ls")
    log.rated("c", "ls", "low", "allow", known=KNOWN)
    texts = log.texts()
    assert judged(texts)[0].change == "same"
    (asked,) = judged(texts, approve="ask")
    assert (asked.now.verdict, asked.change) == ("ask", "stricter")


def test_safety_off_where_nobody_was_there() -> None:
    def now(**more: Any) -> str:
        return Judge(Sources(site="")).rule(Case(text="rm -rf /tmp/x/*", safety_off=True, **more)).verdict

    assert now(interactive=False) in ("refuse", "ask")
    assert (
        Judge(Sources(site="")).rule(Case(text="rm -rf ~", home=HOME, safety_off=True, interactive=False)).verdict
        == "refuse"
    )


def test_a_long_text_is_asked_for_and_confinement_of_then_stays() -> None:
    judge = Judge(Sources(site=""))
    assert judge.rule(Case(text="echo " + "x" * 5000, approve="low")).rule == "length"
    assert judge.rule(Case(text="echo " + "x" * 5000, approve="low", origin="person")).verdict == "allow"
    assert judge.rule(Case(text="ls", approve="low", held_back="refuse")).verdict == "refuse"


def test_rules_of_a_given_policy(tmp_path: Path, log: Log) -> None:
    file = tmp_path / "p.toml"
    file.write_text(
        '[[rule]]\nname="no"\naction="deny"\nprogram="ls"\n'
        '[[rule]]\nname="mine"\naction="ask"\nprogram="cat"\npaths=["~/notes"]\n'
    )
    log.proposed("c", "ls")
    log.rated("c", "ls", "low", "allow", known=KNOWN)
    log.proposed("d", "cat /home/u/notes")  # `~` is the home of who ran it
    log.rated("d", "cat /home/u/notes", "low", "allow", known=KNOWN)
    sources = Sources(user=str(file), site="", home="/somebody/else")
    refused, asked = judged(log.texts(), sources=sources)
    assert (refused.now.rule, refused.now.verdict) == ("p.toml:no", "refuse")
    assert (asked.now.rule, asked.now.verdict) == ("p.toml:mine", "ask")


@each(
    ("then", "now", "change"),
    [
        (("low", "allow"), ("low", "ask"), "stricter"),
        (("low", "ask"), ("medium", "ask"), "stricter"),
        (("high", "ask"), ("low", "type"), "stricter"),
        (("high", "type"), ("medium", "ask"), "looser"),
        (("medium", "ask"), ("medium", "ask"), "same"),
        (("", ""), ("low", "allow"), "unrated"),
        (("odd", "later-word"), ("low", "allow"), "unrated"),
    ],
)
def test_what_counts_as_a_change(then: tuple[str, str], now: tuple[str, str], change: str) -> None:
    from agent.audit.reclassify.ruling import Ruling

    text = Text("s", "t", "g", "c", "proposed", Case(text="x"), Then(*then))
    assert Judgement(text, Ruling(*now, rule="", reason="")).change == change


# --- the stream ---


def many(count: int, distinct: int) -> list[Text]:
    return [
        Text("s", str(at), "g", "c", "proposed", Case(text=f"echo {at % distinct}"), Then("low", "allow"))
        for at in range(count)
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("distinct", [1, 3, 900])
@pytest.mark.parametrize("jobs", [1, 2])
def test_order_is_kept_whoever_rates(monkeypatch: pytest.MonkeyPatch, distinct: int, jobs: int) -> None:
    monkeypatch.setattr(stream, "_BATCH", 16)
    monkeypatch.setattr(stream, "_MOST_TEXTS", 50)
    found = judged(many(1_000, distinct), jobs)
    assert [each.text.time for each in found] == [str(at) for at in range(1_000)]
    assert {each.now.level for each in found} == {"low"}


def test_equal_cases_are_ruled_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    rule = Judge.rule
    monkeypatch.setattr(Judge, "rule", lambda self, case: asked.append(case) or rule(self, case))
    assert len(judged(many(2_000, 7))) == 2_000
    assert len(asked) == 7


def test_forgetting_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_BATCH", 4), ("_MOST_KNOWN", 8), ("_MOST_TEXTS", 6), ("_MOST_HELD", 900)):
        monkeypatch.setattr(stream, name, value)
    assert [each.text.time for each in judged(many(300, 100))] == [str(at) for at in range(300)]


def test_a_worker_that_dies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    workers = Workers(lambda batch: os._exit(9), 2)  # type: ignore[arg-type]
    try:
        workers.give(1, b"x")
        with pytest.raises(OtherError, match="worker"):
            list(workers.take(wait=True))
    finally:
        workers.close()


def test_workers_end_when_nobody_listens_any_more() -> None:
    workers = Workers(lambda batch: batch[::-1], 2)
    for ticket in range(5):
        workers.give(ticket, b"ab%d" % ticket)
    answers: dict[int, bytes] = {}
    while len(answers) < 5:
        answers |= dict(workers.take(wait=True))
    assert answers[3] == b"3ba"
    processes = list(workers._processes)
    workers.close()
    workers.close()
    assert [process.exitcode is not None for process in processes] == [True, True]


@pytest.mark.parametrize("cwd", ["/" + "d" * 200_000, "/a\0b"])
def test_a_folder_that_cannot_be_is_none(log: Log, cwd: str) -> None:
    log.proposed("c", "rm -rf " + "x " * 2000, cwd=cwd)
    log.rated("c", "rm -rf " + "x " * 2000, "medium", "ask", known={**KNOWN, "cwd": cwd, "workspace": cwd})
    log.proposed("d", "rm -rf x", cwd=cwd)
    from agent.planner.facts.facts import context_of

    assert [each.now.facts for each in judged(log.texts())] == ["then", "none"]
    assert {each.now.facts for each in judged(log.texts(), facts_of=context_of)} <= {"then", "none"}
