"""Facts raise and explain; they never lower. Pure: the facts are made up here."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import RiskContext, RiskReport
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries

P = "/home/me/p"
CORPUS = Path(__file__).parents[3] / "risk_corpus.jsonl"
COMMANDS = [json.loads(line)["command"] for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def rated(command: str, facts: dict[str, tuple[str, ...]]) -> RiskReport:
    return classify(command, RiskContext(cwd=P, home="/home/me", workspace=P, facts=facts))


@each(
    ("command", "facts", "level", "reason"),
    [
        ("rm -rf x", ("dir",), "medium", "deletes x with everything below"),
        ("rm -rf x", ("dir", "entries=3", "bytes=3100"), "medium", "(3 files and folders, 3.1 kB)"),
        ("rm -rf x", ("dir", "entries=1204", "bytes=3100000000", "many"), "high", "(1,204 files and folders, 3.1 GB)"),
        ("rm -rf x", ("dir", "entries=9", "bytes=0", "more"), "medium", "(at least 9 files and folders, 0 bytes)"),
        ("rm x", ("file", "entries=1", "bytes=1"), "medium", "(1 byte)"),
        ("rm -rf x", ("dir", "mount"), "high", "(x is a mount point)"),
        ("mv x y", ("dir", "mount"), "high", "(x is a mount point)"),
        ("chmod -R 700 x", ("dir", "mount"), "high", "(x is a mount point)"),
        ("chmod 700 x", ("dir", "mount"), "medium", "changes the permissions of x"),
        ("rm -rf x", ("dir", "mount-below"), "high", "another file system is mounted below x"),
        ("rm -rf x", ("dir", "dirty", "changed=2"), "high", "x has uncommitted changes in 2 files"),
        ("rm -rf x", ("dir", "dirty", "staged"), "high", "x has staged changes"),
        ("echo > x", ("file", "bytes=12", "entries=1"), "medium", "(x is there already (12 bytes))"),
        ("echo > x", ("file", "bytes=0", "entries=1"), "medium", "(x is there already (empty))"),
        ("echo > x", ("file", "bytes=5", "many"), "high", "x is there already"),
        ("echo > x", ("link", "to=/etc/passwd"), "high", "(x is a link to /etc/passwd)"),
        ("rm x", ("link", "to=/etc/passwd"), "medium", "deletes x"),
        ("rm -rf x/", ("link", "to=/etc", "at=/etc"), "high", "x/ really is /etc"),
        ("sudo ./x", ("file", "open"), "medium", "everyone can change ./x"),
        ("git checkout -- x", ("file", "dirty", "changed=1"), "medium", "(uncommitted changes in 1 file)"),
    ],
)
def test_what_they_say(command: str, facts: tuple[str, ...], level: str, reason: str) -> None:
    report = rated(command, {f"{P}/x": facts})
    assert report.level == level
    assert any(reason in finding.reason for finding in report.findings), [f.reason for f in report.findings]


def test_a_disk_in_use() -> None:
    report = rated("dd if=a of=/dev/sdb", {"/dev/sdb": ("device", "in-use", "used=/home")})
    assert report.level == "high"
    assert "/dev/sdb is in use: /home" in report.findings[0].reason


def test_a_link_to_home_counts_as_home() -> None:
    report = rated("rm -rf x/", {f"{P}/x": ("link", "to=/home/me", "at=/home/me")})
    assert report.level == "high"
    assert "home" in next(f.effect.whole for f in report.findings if f.effect is not None and f.effect.kind == "delete")


_WORDS = st.lists(
    st.sampled_from(
        [
            *(
                "missing",
                "dir",
                "file",
                "link",
                "other",
                "pattern",
                "mount",
                "mount-below",
                "repository",
                "open",
                "device",
                "in-use",
            ),
            *(
                "unused",
                "many",
                "more",
                "dirty",
                "staged",
                "clean",
                "",
                "=",
                "entries=",
                "entries=x",
                "entries=-1",
                "bytes=99999999999999",
            ),
            *(
                "entries=3",
                "at=/tmp/x",
                "to=/dev/null",
                "at=",
                "to=relative",
                f"at={P}/y",
                "changed=4",
                "stashes=2",
                "used=/",
                "news",
            ),
        ]
    ),
    max_size=5,
).map(tuple)


@settings(max_examples=tries(120), deadline=None)
@given(st.sampled_from(COMMANDS), st.data())
def test_no_fact_lowers_anything(command: str, data: st.DataObject) -> None:
    context = RiskContext(cwd=P, home="/home/me", workspace=P)
    without = classify(command, context)
    named = [target for f in without.findings if f.effect is not None for target in f.effect.targets]
    named += [word for run in without.programs for word in run.words]
    paths = [name if name.startswith("/") else f"{P}/{name}" for name in named] or [P]
    facts = data.draw(st.dictionaries(st.sampled_from([*paths, P, "/"]), _WORDS, max_size=4))
    informed = rated(command, facts)
    assert informed.level.rank >= without.level.rank
    assert informed.parse == without.parse
