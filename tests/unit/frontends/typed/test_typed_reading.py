"""A typed line is a command of the person's own or a goal: two lists of lines as strangers type them, and the rules one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.frontends.line import Goal, OwnCommand
from agent.frontends.typed.meanings import BUILTINS
from agent.frontends.typed.reading import decided, read_typed
from agent.protocol.errors import InvalidRequest
from agent.risk.tables.store import program_names
from tests.support.each import each

LISTS = Path(__file__).parents[3]
MOST_WRONG = 0.02
# Installed on some machines, and known to no table.
PROGRAMS = {*program_names(), *BUILTINS, "pytest", "code", "./run.sh", "./build"} - {
    "run", "count", "list", "show", "delete", "create", "remove", "rename", "jq", "gti",
}  # fmt: skip
FILES = frozenset(
    """
    f x src build photos a.txt b.txt notes.txt data.csv a.png report.pdf run.sh big.csv server.js package.json main.py a.tgz a.zip
    .venv/bin/activate README.md
""".split()
)
FOLDERS = frozenset(("src", "build", "photos", ".", "..", "~", "/", "/etc", "/var/log", "/tmp"))
MAKEFILE = "all: bin/x\n\nsetup deploy-web: all\n\t./go\nX := 1\n"


class Fake:
    """A folder with some files where all programs of the tables are installed."""

    def is_program(self, name: str) -> bool:
        return name in PROGRAMS

    def exists(self, path: str) -> bool:
        return path in FILES or path in FOLDERS or path.startswith("/etc/")

    def is_folder(self, path: str) -> bool:
        return path in FOLDERS

    def text(self, path: str) -> str:
        return MAKEFILE if path == "Makefile" else ""

    def nearest(self, name: str) -> tuple[str, ...]:
        return {"gti": ("git",), "sl": ("ls",), "vmi": ("vim",), "dcoker": ("docker",), "lis": ("ls", "last")}.get(
            name, ()
        )


def kind(line: str) -> str:
    return read_typed(line, Fake()).kind


@each(("file", "expected"), [("typed_commands.txt", "command"), ("typed_goals.txt", "goal")])
def test_lines_as_strangers_type_them(file: str, expected: str) -> None:
    lines = [line for line in (LISTS / file).read_text(encoding="utf-8").splitlines() if line.strip()]
    wrong = [f"{line} ({kind(line)})" for line in lines if kind(line) != expected]
    assert len(lines) >= 100
    assert len(wrong) / len(lines) <= MOST_WRONG, wrong


@each(
    ("line", "expected"),
    [
        ("for f in *; do echo $f; done", "command"),
        ("for every file print its name", "goal"),
        ("if there is none, make one", "goal"),
        ("A=1 B=2", "command"),
        ("A=1 make", "command"),
        ("echo why is the sky blue?", "command"),
        ("find src and delete it", "goal"),
        ("find files; delete them", "goal"),
        ("sudo make me a sandwich", "goal"),
        ("sudo apt install jq", "command"),
        ("watch 'ls | wc -l'", "command"),
        ("watch out for changes in src", "goal"),
        ("nice -n 10 make all", "command"),
        ("timeout 5 curl x.org", "command"),
        ("make setup deploy-web", "command"),
        ("make deploy-site", "goal"),
        ("'find all files'", "goal"),
        ("ls && unknownprogram", "command"),
        ("git undo", "command"),
        ("git lg", "unsure"),
        ("grep -rn the . in src for me", "command"),
        ("cat > a.txt <<E\nx\nE", "command"),
        ("what's up", "goal"),
        ("yes", "goal"),
        ("true", "goal"),
        ("time true", "command"),
        ("find all files > 10M", "goal"),
        ("docker compose up -d", "unsure"),
        ("npm install serve globally", "goal"),
        ("", "goal"),
    ],
)
def test_rules(line: str, expected: str) -> None:
    assert kind(line) == expected


@each(
    ("line", "expected"),
    [
        ("gti status", ("missing", ("git",))),
        ("gti", ("missing", ("git",))),
        ("gti commit -m x", ("missing", ("git",))),
        ("gti the last commit", ("goal", ())),
        ("vmi notes.txt", ("missing", ("vim",))),
        ("vmi nowhere.txt", ("goal", ())),
        ("dcoker ps -a", ("missing", ("docker",))),
        ("lis files", ("goal", ())),
        ("jq --version", ("missing", ())),
        ("list --all caches", ("goal", ())),
        ("remove -f old files", ("goal", ())),
    ],
)
def test_a_program_that_is_not_here(line: str, expected: tuple[str, tuple[str, ...]]) -> None:
    typed = read_typed(line, Fake())
    assert (typed.kind, typed.near) == expected


def test_hostile_lines_are_read_in_bounded_time() -> None:
    for line in (
        "ls " + "(" * 5_000,
        "find " + "a " * 9_000,
        "$(" * 300,
        "x" * 100_000,
        "ls '\0'",
        "\udcff -l",
        "a=" * 4_000,
    ):
        assert kind(line) in ("command", "goal", "unsure", "missing")


def test_what_a_line_is_done_as() -> None:
    around = Fake()
    assert decided(Goal("ls -la"), around) == OwnCommand("ls -la")
    assert decided(Goal("ls -la", unlisted=True), around) == OwnCommand("ls -la", unlisted=True)
    assert decided(Goal("ls -la"), around, "goal") == Goal("ls -la")
    assert decided(Goal("git lg"), around) == OwnCommand("git lg", asked=True)
    assert decided(Goal("git lg"), around, "command") == OwnCommand("git lg")
    assert decided(Goal("find the biggest file"), around) == Goal("find the biggest file")
    assert decided(Goal("find the biggest file"), around, "command") == OwnCommand("find the biggest file")
    with pytest.raises(InvalidRequest, match="gti: not found; git\\?"):
        decided(Goal("gti status"), around)
