"""Programs that get a shell, a file or a connection out of a restricted place: none of their known forms is low."""

from __future__ import annotations

import json
import re
from pathlib import Path

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.gtfobins.effects import EFFECTS
from agent.risk.gtfobins.options import kinds
from agent.risk.tables.store import ways_of
from tests.support.each import each
from tests.support.risk_tables import programs_with_ways
from tests.support.tries import sampled, some

LANGUAGES = "elisp gap haskell java lisp maxima nim octave perl php python ruby scilab slang swipl wolfram".split()
ROWS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "risk_gtfobins.jsonl").read_text(encoding="utf-8").splitlines()
]


def program_of(command: str) -> str:
    words = re.sub(r"^(?:\w+=\S+\s+)*(?:sudo )?", "", command).split()
    return words[0].rpartition("/")[2]


@each("kind", sorted({row["kind"] for row in ROWS}))
def test_none_is_low_and_shells_are_high(kind: str) -> None:
    wrong = []
    for row in ROWS:
        if row["kind"] == kind:
            report = classify(row["command"])
            if report.level.rank < Level(row["least"]).rank:
                wrong.append(
                    (row["command"][:100], row["least"], report.level.value, [f.rule for f in report.findings][:4])
                )
    assert wrong == []


def test_at_least_three_hundred_programs_are_tried() -> None:
    assert len({program_of(row["command"]) for row in ROWS}) >= 300


@each("secret", ["/etc/gshadow", "~/.ssh/id_ed25519", "/root/.ssh/id_rsa", "/proc/1/environ", "~/.aws/credentials"])
def test_other_secrets_are_seen_where_the_password_file_is(secret: str) -> None:
    low = []
    for row in ROWS:
        if row["kind"] == "file-read" and "'" not in row["command"] and '"' not in row["command"]:
            command = row["command"].replace("/etc/shadow", secret)
            if classify(command).level is Level.LOW:
                low.append(command)
    assert low == []


@each("shell", ["/bin/sh", "bash", "/usr/bin/zsh", "dash"])
def test_a_shell_opened_by_an_editor_pager_archiver_or_interpreter_is_high(shell: str) -> None:
    for command in (
        f"vim -c ':!{shell}'",
        f"view +'!{shell}'",
        f"less +'!{shell}' f",
        f"man -P {shell} ls",
        f"find . -exec {shell} \\;",
        f"awk 'BEGIN{{system(\"{shell}\")}}'",
        f"tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec={shell}",
        f"zip x.zip f -T -TT '{shell} #'",
        f"gdb -batch -ex '!{shell}'",
        f"gcc -wrapper {shell},-s .",
        f"python3 -c 'import os; os.system(\"{shell}\")'",
        f"perl -e 'exec \"{shell}\"'",
        f"ruby -e 'exec \"{shell}\"'",
        f"lua -e 'os.execute(\"{shell}\")'",
        f"git -c core.pager='{shell} -c {shell}' -p log",
        f"rpm --eval '%({shell})'",
        f"split --filter={shell} f",
        f"wget --use-askpass={shell} x; ftp <<< '!{shell}'",
    ):
        assert classify(command).level is Level.HIGH, command


@each(
    "command",
    ["env sh", "nice bash", "tmux new bash", "docker exec -it web sh", "ssh host bash", "bash", "script -c bash"],
)
def test_a_shell_opened_by_what_runs_programs_anyway_is_medium(command: str) -> None:
    assert classify(command).level is Level.MEDIUM


@sampled
def test_every_way_out_belongs_to_a_program_and_has_a_judge() -> None:
    programs = programs_with_ways()
    assert len(programs) > 250
    assert {kind for name in programs for _, kind in ways_of(name)} <= {*EFFECTS, *kinds(), *LANGUAGES, "known"}
    for name in programs:
        assert re.fullmatch(r"[\w.+-]+", name), name
        for option in some([option for option, kind in ways_of(name) if kind != "known"], 2):
            report = classify(f"{name} {option.rstrip('=')} x" if not option.endswith("=") else f"{name} {option}x")
            assert "could not be rated" not in (report.findings[0].reason if report.findings else "")


@sampled
def test_the_last_part_of_a_path_proves_nothing() -> None:
    """`-e ./ssh` is another program than ssh, for whatever is told to run it."""
    for name in programs_with_ways():
        for option, kind in ways_of(name):
            if kind not in ("sh", "argv", "run") or option[0] != "-":
                continue
            for usual in some(["./ssh", "./less", "./cat", "/tmp/gzip", "./python3"], 2):
                between = "" if option[-1] in "=+!:@" else " "
                assert classify(f"{name} {option}{between}{usual} x").level is not Level.LOW, (name, option, usual)
    for command in ("rsync -n -e ./ssh a:b c", "git -c core.pager=./less log", "GIT_PAGER=./less git log"):
        assert classify(command).level is Level.MEDIUM, command
        assert classify(command.replace("./", "/tmp/")).level is Level.HIGH, command
        assert classify(command.replace("./", "/usr/bin/")).level is Level.LOW, command
