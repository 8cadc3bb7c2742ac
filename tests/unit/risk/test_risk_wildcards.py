"""Wildcards that match names which begin with a dash: rated as the program runs with those options, at least medium."""

from __future__ import annotations

import shlex
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.planner.facts.path_facts import Watch, path_facts
from agent.protocol.decisions import Level, RiskContext, RiskReport
from agent.risk.classifier import classify
from tests.support.each import each

HOME = "/home/me"
# A program with a wildcard, the names that are there, and the level that follows.
OPTIONS = (
    ("sed -n p *", ("-i",), Level.MEDIUM),
    ("sed p *", ("--expression=1e rm -rf ~",), Level.HIGH),
    ("tar cf ../a.tar *", ("--checkpoint=1", "--checkpoint-action=exec=rm -rf ~"), Level.HIGH),
    ("rsync -a * host:x", ("-e sh x.sh",), Level.MEDIUM),
    ("chown me *", ("--reference=x",), Level.MEDIUM),
    ("ls *", ("-la",), Level.MEDIUM),
    ("grep x *.txt", ("-f.txt",), Level.MEDIUM),
    ("sort ?x", ("-x",), Level.MEDIUM),
    ("cat [!a]*", ("-n",), Level.MEDIUM),
    ("sudo tar cf ../a.tar *", ("--checkpoint=1", "--checkpoint-action=exec=rm -rf ~"), Level.HIGH),
    ('for f in *; do wc -l "$f"; done', ("--files0-from=x",), Level.MEDIUM),
    ("p='*'; head $p", ("-n5",), Level.MEDIUM),
    ("cd sub && cat *", (), Level.LOW),
    ("tree *", ("-{targets}{0}\x1b[2J",), Level.MEDIUM),
    ("unheard-of *", ("-x",), Level.MEDIUM),
)
# The same names do nothing here.
NOT_THERE = (
    "ls ./*",
    "ls -- *",
    "cat a*",
    "echo *",
    "printf '%s\\n' *",
    "ls '*'",
    "ls sub/*",
    "grep -c x *.md",
    "test -e *",
)
NAMES = ("-la", "-rf", "--checkpoint-action=exec=sh x.sh", "-i", "--expression=1e id")


def rated(command: str, folder: Path) -> RiskReport:
    context = RiskContext(cwd=str(folder), home=HOME, workspace=str(folder))
    facts = path_facts(command, context, watch=Watch(60))
    return classify(command, RiskContext(cwd=str(folder), home=HOME, workspace=str(folder), facts=facts))


def fill(folder: Path, names: tuple[str, ...]) -> Path:
    (folder / "sub").mkdir(parents=True)
    for name in ("a", "b.txt", *names):
        (folder / name).write_text("")
    return folder


@each(("command", "names", "level"), OPTIONS)
def test_names_that_are_options_raise(command: str, names: tuple[str, ...], level: Level, tmp_path: Path) -> None:
    folder = fill(tmp_path / str(abs(hash((command, names)))), names)
    report = rated(command, folder)
    assert report.level is level
    told = [finding.reason for finding in report.findings if finding.rule == "run.wildcard"]
    assert len(told) == bool(names)
    assert all("\x1b" not in reason for reason in told)


@each("command", NOT_THERE)
def test_names_that_no_program_takes_for_options_change_nothing(command: str, tmp_path: Path) -> None:
    folder = fill(tmp_path / str(abs(hash(command))), NAMES)
    assert rated(command, folder).level is Level.LOW


@each("command", [command for command, _, _ in OPTIONS])
def test_without_such_names_nothing_is_said(command: str, tmp_path: Path) -> None:
    folder = fill(tmp_path / str(abs(hash(command))), ())
    context = RiskContext(cwd=str(folder), home=HOME, workspace=str(folder))
    assert rated(command, folder).level is classify(command, context).level


def test_a_file_whose_name_is_the_wildcard_hides_nothing(tmp_path: Path) -> None:
    assert rated("cat *", fill(tmp_path / "p", ("*", "-n"))).level is Level.MEDIUM


def test_more_names_than_are_looked_at_is_said(tmp_path: Path) -> None:
    folder = fill(tmp_path / "p", tuple(f"-{number}" for number in range(70)))
    told = [finding.reason for finding in rated("cat *", folder).findings if finding.rule == "run.wildcard"]
    assert len(told) == 1


@given(
    st.sampled_from(
        ["cat", "ls", "sed -n p", "tar cf a.tar", "git log", "find", "xargs -a x", "rm", "unheard-of", "sudo sort"]
    ),
    st.lists(
        st.sampled_from(["--x", "-rf", "-exec", "--output=/etc/passwd", "-i", "-e1e reboot"]), min_size=1, max_size=3
    ),
)
def test_never_lower_than_with_the_options_written(program: str, names: list[str]) -> None:
    facts = {"/w/p/*": ("pattern", *(f"option={name}" for name in names))}
    context = RiskContext(cwd="/w/p", home=HOME, workspace="/w/p", facts=facts)
    written = classify(
        " ".join([program, *(f"'{name}'" for name in names), "*"]), RiskContext(cwd="/w/p", home=HOME, workspace="/w/p")
    )
    found = classify(f"{program} *", context).level.rank
    assert found >= Level.MEDIUM.rank
    assert found >= written.level.rank


# Ways to make a file of a name, which is a plain word of the shell.
MAKERS = (
    "touch -- {}",
    "touch ./{}",
    "> {}",
    "echo x >> ./{}",
    "mkdir -- {}",
    "cp a -- {}",
    "mv a ./{}",
    "ln -s a ./{}",
    "printf x | tee -- {}",
)


@each("maker", MAKERS)
def test_names_made_in_the_same_line_are_options_too(maker: str) -> None:
    for command, names, level in OPTIONS:
        if not all(name.isprintable() for name in names) or command.startswith(("cd ", "chown ")) or len(names) != 1:
            continue
        made = f"{maker.format(shlex.quote(names[0]))}; {command}"
        assert any(found.rule == "run.wildcard" for found in classify(made).findings) or level is Level.LOW, made


@each(
    "command, level",
    [
        ("touch -- '--checkpoint=1' '--checkpoint-action=exec=rm -rf ~'; tar cf ../b.tar *", Level.HIGH),
        ("> '-e1e rm -rf ~'; sed p * f", Level.HIGH),
        ("printf 'rm -rf ~\\n' > x.sh; touch -- '-e sh x.sh'; rsync * backup:/d/", Level.HIGH),
        ("touch -- -n; cat *", Level.MEDIUM),
        ("touch sub/-n; cd sub && cat *", Level.MEDIUM),
        ("touch -- -n; cat ./*", Level.LOW),
        ("touch -- -n; cat -- *", Level.LOW),
        ("touch sub/-n; cat *", Level.LOW),
        ("touch -- -n; cat *.txt", Level.LOW),
        ("sed *", Level.MEDIUM),
        ("awk *.txt", Level.MEDIUM),
        ("sed s/a*/b/ f", Level.LOW),
        ("sed -n p *", Level.LOW),
    ],
)
def test_made_names_and_programs_named_by_a_wildcard(command: str, level: Level) -> None:
    assert classify(command).level is level
