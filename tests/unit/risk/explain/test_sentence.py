"""What a command does, in a sentence: counted, placed, and never less than its findings say."""

from __future__ import annotations

import json
from pathlib import Path

from agent.protocol.decisions import Effect, Finding, Level, RiskContext, RiskReport
from agent.risk.classifier import classify
from agent.risk.explain.sentence import sentence
from tests.support.each import each

CORPUS = Path(__file__).resolve().parents[3] / "risk_corpus.jsonl"
HERE = RiskContext(cwd="/home/me/p", home="/home/me", workspace="/home/me/p")


def told(command: str) -> str:
    return sentence(classify(command, HERE)).text


@each(
    ("command", "expected"),
    [
        ("mv a.txt b.txt c.txt out/", "moves or renames 3 files in this folder to out/"),
        ("mv a.txt b.txt", "moves or renames a.txt to b.txt"),
        ('for f in *.txt; do mv -- "$f" "${f%.txt}.md"; done', "moves or renames all *.txt in this folder to *.md"),
        ("rm a b", "deletes a and b"),
        ("rm -r build", "deletes build and everything in it"),
        ("rm /etc/nothing-much", "deletes /etc/nothing-much"),
        ("find . -name '*.tmp' -delete", "deletes files found below this folder"),
        ("xargs rm < list", "deletes files known only when it runs"),
        ("rm a b c d e f g h i j k l m n", "deletes 12 or more files in this folder"),
        ("chmod 640 *.py x", "changes the permissions of all *.py and x in this folder"),
        ("curl -d @a https://me@example.com:8080/api?x", "sends data to example.com"),
        ("scp a.txt user@host:/tmp", "sends data to host"),
        ("apt remove vim", "removes packages, keeps their settings: vim"),
        ("sed -i s/a/b/ f.txt; git push", "changes f.txt; sends commits to the remote"),
        ("cat a.txt b.txt", "prints a.txt and b.txt"),
        ("ls | sort", "lists files, sorts them"),
        ("unzip -l a.zip", "lists what is inside"),
        ("rsync -n a b", "only shows what it would do"),
        ("who", "shows who is logged in"),
        ("last -n 3", "shows who was logged in, and when"),
        ("ip -brief address", "shows the network"),
        ("hostname", "shows the name of the machine"),
        ("du -sh * | sort -h | tail -5", "adds up the size of everything here, sorts them by size, shows the last 5"),
        (
            "find src -type f | sort -nr | head -n 3",
            "finds files below src, sorts them by number, the biggest first, shows the first 3",
        ),
        ("find . -iname '*.py' -size +1M", "finds files named *.py of a certain size below this folder"),
        ("find . -name '*.log' -o -iname '*.md'", "finds files named *.log or *.md below this folder"),
        ("find . -type f ! -name '*.log'", "finds files below this folder"),
        ("find . -type d -empty | wc -l", "finds empty folders below this folder, counts them"),
        ("find a -name '*.txt' | xargs grep -l foo", "finds files named *.txt below a, lists which of them hold foo"),
        ("ps aux | grep -v root", "lists processes, drops those with root"),
        ("grep -rn 'to do' src | wc -l", "searches src for ‘to do’, counts them"),
        (
            "tail -n +5 a | cut -d: -f1 | sort -u",
            "shows all from line 5 on of a, takes columns out of them, sorts them, each once",
        ),
        (
            "cat access.log | awk '{print $1}' | sort | uniq -c | sort -nr | head -5",
            "prints access.log, takes columns out of them, …, counts equal ones, …, shows the first 5",
        ),
        ("ls; df -h", "lists files, then shows how full disks are"),
        ("env A=1 python3 --version", "shows the version of python3"),
        ("timeout 5 ls src", "lists what is in src"),
        ("nice -n 5 head -n 1 a", "shows the first line of a"),
        ("git commit -m x", "commits what is staged"),
        ("git switch main", "switches to the branch main"),
        ("systemctl restart nginx", "restarts the service: nginx"),
        ("crontab -l", "shows the jobs that run at set times"),
        ("docker logs web", "shows what a container printed"),
        ("docker ps", "lists containers"),
        ("mkdir a", "creates a"),
        ("x=1", "read-only"),
    ],
)
def test_sentences(command: str, expected: str) -> None:
    assert told(command) == expected


def test_no_step_of_a_pipeline_is_only_counted() -> None:
    for count in range(2, 12):
        for command in (
            " | ".join(["sort a"] + ["grep some-longer-word-that-is-looked-for"] * count),
            "; ".join(f"ls {n}" for n in range(count)),
        ):
            said = told(command)
            assert "more steps" not in said
            assert len(said) < 250
            assert said.endswith(("looked-for", f"in {count - 1}"))


def finding(reason: str, kind: str = "", *targets: str, level: Level = Level.MEDIUM, program: int = -1) -> Finding:
    effect = Effect(kind=kind, scope="workspace", targets=targets) if kind else None
    return Finding(rule="r", level=level, reason=reason, span=(0, 1), effect=effect, program=program)


def report(*findings: Finding, level: Level = Level.MEDIUM) -> RiskReport:
    return RiskReport(command="x", level=level, findings=findings)


def test_a_reason_of_its_own_is_said_as_it_is() -> None:
    assert sentence(report(finding("deletes what others need", "delete", "a"))).text == "deletes what others need"
    assert sentence(report(finding("deletes a (8 bytes)", "delete", "a"))).text == "deletes a (8 bytes)"


def test_high_is_never_counted_away() -> None:
    high = report(finding("deletes /a, /b, /c", "delete", "/a", "/b", "/c", level=Level.HIGH), level=Level.HIGH)
    assert sentence(high).text == "deletes /a, /b, /c"


def test_what_is_not_said_is_counted() -> None:
    many = report(*(finding(f"does the thing with number {n} that takes a while to say") for n in range(5)))
    text, indexes = sentence(many)
    assert text.endswith(f"; and {5 - len(indexes)} more")
    assert 0 in indexes


def test_nothing_hostile_is_left_in_it() -> None:
    evil = "a\x1b[2J\u202e\nb"
    for made in (
        finding(evil),
        finding(f"deletes {evil}", "delete", evil),
        finding("sends", "send", f"http://{evil}/"),
    ):
        text = sentence(report(made)).text
        assert not {"\x1b", "\n", "\u202e"} & set(text)


def test_every_command_of_the_corpus_has_one_that_fits_on_the_screen() -> None:
    for line in CORPUS.read_text().splitlines()[::12]:
        command = json.loads(line)["command"]
        text = sentence(classify(command, HERE)).text
        assert text and "\n" not in text and text.isprintable(), command
        assert len(text) < 700, (command, text)
