"""Goals about the lines and columns of files: what their commands print when they run in a folder with such files."""

# ruff: noqa: E501 (a goal and what it prints stand beside each other)

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from offline_support import answer, goal_item

from agent.protocol.replies import Chat, Command

FILES = {
    "staff.csv": "id,name,team,wage,town\n1,Mia,blue,300,Graz\n2,Leo,red,250,Bern\n3,Zoe,blue,410,Bern\n4,Tim,red,250,Linz\n",
    "parts.txt": "gear 12 3.5\nbelt 7 1.25\nlamp 30 9\n",
    "pets.txt": "dog\ncat\ndog\nfish\ncat\ndog\n",
    "accounts.txt": "amy:x:1001:1001:Amy:/home/amy:/bin/zsh\nsys:x:3:3:sys:/dev:/bin/sh\nben:x:1002:1002:Ben:/home/ben:/bin/sh\n",
    "server.log": "2024-01-01 START ok\n2024-01-01 FATAL disk gone\n2024-01-02 NOTE idle\n2024-01-02 FATAL link down\n2024-01-03 NOTE bye\n",
    "opts.conf": "# options\ncolor=green\nsize=10\n",
    "gaps.txt": "  one\n\ntwo  \n\n three\n",
    "digits.txt": "10\n9\n100\n",
}

PRINTS = [
    # columns by number, name and value
    ("the town of everybody in staff.csv", "town\nGraz\nBern\nBern\nLinz\n"),
    ("show the wage column of staff.csv without the header", "300\n250\n410\n250\n"),
    ("rows of staff.csv where the team is red", "2,Leo,red,250,Bern\n4,Tim,red,250,Linz\n"),
    ("which members in staff.csv have a wage over 260", "1,Mia,blue,300,Graz\n3,Zoe,blue,410,Bern\n"),
    ("distinct towns in staff.csv", "Bern\nGraz\nLinz\n"),
    ("count the members per team in staff.csv", "      2 blue\n      2 red\n"),
    ("average wage in staff.csv", "302.5\n"),
    ("sum of wage per team in staff.csv, sorted by team", "blue 710\nred 500\n"),
    ("highest wage in staff.csv", "410\n"),
    ("members from Bern in staff.csv", "2,Leo,red,250,Bern\n3,Zoe,blue,410,Bern\n"),
    ("show parts.txt sorted by the second column", "belt 7 1.25\ngear 12 3.5\nlamp 30 9\n"),
    ("lines of parts.txt whose second column is less than 20", "gear 12 3.5\nbelt 7 1.25\n"),
    ("print the login shells from accounts.txt without duplicates", "/bin/sh\n/bin/zsh\n"),
    ("users in accounts.txt with a uid of 1001 or more", "amy\nben\n"),
    ("what is the value of color in opts.conf", "green\n"),
    ("number of members in staff.csv", "4\n"),
    # order
    ("digits.txt from small to large", "9\n10\n100\n"),
    ("pets.txt in reverse alphabetical order", "fish\ndog\ndog\ndog\ncat\ncat\n"),
    ("how often does each pet occur in pets.txt? most frequent first", "      3 dog\n      2 cat\n      1 fish\n"),
    ("remove repeated lines from pets.txt but keep their order, print the result", "dog\ncat\nfish\n"),
    ("every second line of pets.txt starting with the first", "dog\ndog\ncat\n"),
    ("sort pets.txt and remove duplicate lines", "cat\ndog\nfish\n"),
    # which lines
    ("fatal lines in server.log", "2024-01-01 FATAL disk gone\n2024-01-02 FATAL link down\n"),
    ("last fatal line of server.log", "2024-01-02 FATAL link down\n"),
    ("the line after each NOTE in server.log", "2024-01-02 NOTE idle\n2024-01-02 FATAL link down\n2024-01-03 NOTE bye\n"),
    ("lines of server.log from 2024-01-03", "2024-01-03 NOTE bye\n"),
    ("lines in server.log that end with n or e", "2024-01-01 FATAL disk gone\n2024-01-02 NOTE idle\n2024-01-02 FATAL link down\n2024-01-03 NOTE bye\n"),
    ("everything from the line with idle to the end of server.log", "2024-01-02 NOTE idle\n2024-01-02 FATAL link down\n2024-01-03 NOTE bye\n"),
    ("only the first match of FATAL in server.log", "2024-01-01 FATAL disk gone\n"),
    ("count the fatals in server.log", "2\n"),
    # how lines are changed
    ("print gaps.txt with leading blanks removed", "one\n\ntwo  \n\nthree\n"),
    ("join the lines of digits.txt with semicolons", "10;9;100\n"),
    ("reverse the characters of every line in digits.txt", "01\n9\n001\n"),
    ('prefix each line of digits.txt with "n " and show it', "n 10\nn 9\nn 100\n"),
    ("replace every dash in server.log by a dot, on screen, first line only", "2024.01.01 START ok\n"),
    ("double space digits.txt on screen", "10\n\n9\n\n100\n\n"),
    ("number the non-empty lines of digits.txt", "     1\t10\n     2\t9\n     3\t100\n"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("texts")
    for name, text in FILES.items():
        (place / name).write_text(text)
    return place


def command(goal: str, folder: Path) -> str:
    reply = answer(goal_item(goal, str(folder)))
    assert isinstance(reply, Command), f"{goal!r} gave {reply}"
    return reply.command


def output(shell: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", shell], cwd=folder, capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    )  # fmt: skip
    return done.stdout


@pytest.mark.few(18)
@pytest.mark.parametrize(("goal", "printed"), PRINTS, ids=[goal for goal, _ in PRINTS])
def test_the_command_prints_what_was_asked(goal: str, printed: str, folder: Path) -> None:
    shell = command(goal, folder)
    assert output(shell, folder) == printed, shell


@pytest.mark.parametrize(
    ("goal", "left"),
    [
        ("delete all but the first line of {}", "a\n"),
        ("delete everything except the first 2 lines of {}", "a\nb\n"),
        ("delete all but the last line of {}", "d\n"),
        ("delete the first line of {}", "b\nc\nd\n"),
        ("delete lines 2 to 3 from {} in place", "a\nd\n"),
    ],
)
def test_what_is_kept_is_not_deleted(goal: str, left: str, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("a\nb\nc\nd\n")
    output(command(goal.format("kept.txt"), tmp_path), tmp_path)
    assert (tmp_path / "kept.txt").read_text() == left


def test_a_file_that_cannot_be_read_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_bytes(b"\0\1\2name,team\n")
    reply = answer(goal_item("distinct teams in odd.csv", str(tmp_path)))
    assert isinstance(reply, Chat) or "team" not in reply.command  # type: ignore[union-attr]
