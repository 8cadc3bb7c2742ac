"""What is asked of the lines of one file in any order of words, and what is to become of them: what the commands print and leave."""

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
    "staff.csv": "id,name,team,wage,town\n1,Mia,blue,300,Graz\n2,Leo,red,250,Bern\n3,Zoe,blue,410,Bern\n4,Tim,red,260,Linz\n",
    "doors.txt": "front 80 open\nback 443 closed\nside 22 open\n",
    "pets.txt": "dog\ncat\ndog\nfish\ncat\ndog\n",
    "digits.txt": "10\n9\n100\n9\n",
    "disks.txt": "2G b\n900K c\n1M a\n",
    "names.txt": "Ada Young\nBob Adams\n",
    "web.log": '9.9.9.1 - - [01/May/2024:07:00:00 +0000] "GET /a HTTP/1.1" 200 5\n9.9.9.2 - - [01/May/2024:08:00:00 +0000] "POST /b HTTP/1.1" 404 5\n9.9.9.1 - - [01/May/2024:08:30:00 +0000] "GET /a HTTP/1.1" 404 5\n',
    "app.log": "2024-05-01 08:00:00 [INFO] unit-1: up\n2024-05-01 09:00:00 [ERROR] unit-2: disk\n2024-05-02 09:30:00 [ERROR] unit-1: disk\n",
    "todo.txt": "[x] pay\n[ ] call\n[ ] post\n",
    "prose.txt": "One word here.\nTwo words, here.\n\n\nA last  one. \n",
    "set.conf": "# a\nhost=x\n\n  # b\nport=1\n",
    "mail.txt": "write to a@b.org or c@d.net\nc@d.net is gone\n",
    "lib.py": "import os\n\ndef one():\n    pass\n\nclass Two:\n    pass\n",
}

PRINTS = [
    # order, without a verb and with the column named by what stands in it
    ("doors.txt by port number", "side 22 open\nfront 80 open\nback 443 closed\n"),
    ("doors.txt ordered by port, highest first", "back 443 closed\nfront 80 open\nside 22 open\n"),
    ("staff.csv by wage, best first, keep the header on top", "id,name,team,wage,town\n3,Zoe,blue,410,Bern\n1,Mia,blue,300,Graz\n4,Tim,red,260,Linz\n2,Leo,red,250,Bern\n"),
    ("the two best paid people in staff.csv", "3,Zoe,blue,410,Bern\n1,Mia,blue,300,Graz\n"),
    ("staff.csv rows by town and then by name, no header", "2,Leo,red,250,Bern\n3,Zoe,blue,410,Bern\n1,Mia,blue,300,Graz\n4,Tim,red,260,Linz\n"),
    ("disks.txt in order of size", "900K c\n1M a\n2G b\n"),
    ("sort names.txt by surname", "Bob Adams\nAda Young\n"),
    ("digits.txt in descending order, doubles dropped", "100\n10\n9\n"),
    ("the second largest number in digits.txt", "10\n"),
    ("pets.txt backwards", "dog\ncat\nfish\ndog\ncat\ndog\n"),
    # how often
    ("how often does every pet occur in pets.txt", "      2 cat\n      3 dog\n      1 fish\n"),
    ("pets.txt: each animal along with how often it appears, most common first", "      3 dog\n      2 cat\n      1 fish\n"),
    ("which state occurs most often in doors.txt", "      2 open\n"),
    ("number of doors per state in doors.txt", "      1 closed\n      2 open\n"),
    ("how many lines of each level are there in app.log", "      2 [ERROR]\n      1 [INFO]\n"),
    ("ERROR lines of app.log per day", "      1 2024-05-01\n      1 2024-05-02\n"),
    ("hits per hour in web.log", "      1 07\n      2 08\n"),
    ("pets in pets.txt that show up only once", "fish\n"),
    ("repeated pets of pets.txt, each listed once", "cat\ndog\n"),
    ("how many distinct pets are in pets.txt", "3\n"),
    # which lines
    ("people in staff.csv whose town is Bern", "2,Leo,red,250,Bern\n3,Zoe,blue,410,Bern\n"),
    ("how many people in staff.csv earn more than 255", "3\n"),
    ("names of the people in staff.csv with a wage of at least 300", "Mia\nZoe\n"),
    ("records in staff.csv, not counting the header", "4\n"),
    ("which pages in web.log were answered with a 404", "/b\n/a\n"),
    ("how many 404 errors are in web.log", "2\n"),
    ("lines of app.log that mention disk, with line numbers", "2:2024-05-01 09:00:00 [ERROR] unit-2: disk\n3:2024-05-02 09:30:00 [ERROR] unit-1: disk\n"),
    ("newest entry of app.log", "2024-05-02 09:30:00 [ERROR] unit-1: disk\n"),
    ("words in prose.txt longer than 4 letters", "here.\nwords,\nhere.\n"),
    ("everything after line 2 in pets.txt", "dog\nfish\ncat\ndog\n"),
    # what is known by its shape
    ("all distinct email addresses in mail.txt", "a@b.org\nc@d.net\n"),
    ("how many functions does lib.py define", "1\n"),
    ("open items of todo.txt", "[ ] call\n[ ] post\n"),
    ("ip addresses in web.log with the number of requests of each, busiest first", "      2 9.9.9.1\n      1 9.9.9.2\n"),
    ("how many paragraphs are there in prose.txt", "2\n"),
    ("the effective lines of set.conf, so neither comments nor blank ones", "host=x\nport=1\n"),
    # what becomes of the lines
    ("set.conf without its comments", "host=x\n\nport=1\n"),
    ("prose.txt with runs of blanks squeezed into one", "One word here.\nTwo words, here.\n\n\nA last one. \n"),
    ("pets.txt: first letter of every line made a capital", "Dog\nCat\nDog\nFish\nCat\nDog\n"),
    ("pets.txt, three per row, commas in between", "dog,cat,dog\nfish,cat,dog\n"),
    ("turn the rows of doors.txt into columns", "front back side\n80 443 22\nopen closed open\n"),
    ("running total of digits.txt", "10\n19\n119\n128\n"),
    ("each number of digits.txt times 2", "20\n18\n200\n18\n"),
    ("names.txt with the two words exchanged", "Young Ada\nAdams Bob\n"),
    ("every dog in pets.txt should be wolf, print only", "wolf\ncat\nwolf\nfish\ncat\nwolf\n"),
    ("replace only the first dog in pets.txt by wolf and print it", "wolf\ncat\ndog\nfish\ncat\ndog\n"),
    ('put "- " before every line of names.txt, on screen only', "- Ada Young\n- Bob Adams\n"),
    ("make all names in staff.csv upper case", "id,name,team,wage,town\n1,MIA,blue,300,Graz\n2,LEO,red,250,Bern\n3,ZOE,blue,410,Bern\n4,TIM,red,260,Linz\n"),
    ("names.txt wrapped at 5 characters, breaking at blanks", "Ada \nYoung\nBob \nAdams\n"),
    ("show the difference between the last lines of pets.txt and digits.txt", "1c1\n< dog\n---\n> 9\n"),
    # in many files
    ("which files mention c@d.net", "./mail.txt\n"),
    ("number of columns in staff.csv", "5\n"),
]  # fmt: skip
LEAVES = [
    ("remove fish from pets.txt", "pets.txt", "dog\ncat\ndog\ncat\ndog\n"),
    ("throw out all empty lines of set.conf, in the file", "set.conf", "# a\nhost=x\n  # b\nport=1\n"),
    ('insert the line "user=me" below the one starting with host= in set.conf', "set.conf", "# a\nhost=x\nuser=me\n\n  # b\nport=1\n"),
    ("replace name with Name in staff.csv", "staff.csv", FILES["staff.csv"].replace("name", "Name")),
    ("distinct pets of pets.txt, sorted, into list.txt", "list.txt", "cat\ndog\nfish\n"),
]  # fmt: skip
# What the file does not say, or what has two meanings.
REFUSED = (
    "people in staff.csv older than 30",
    "how many different names per team are in staff.csv",
    "each number of staff.csv doubled",
    "remove the bird from pets.txt",
    "hits per hour in pets.txt",
    "every cow in pets.txt should be goat, print only",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def _run(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, capture_output=True, timeout=10, check=False,
    )  # fmt: skip
    return done.stdout.decode()


def test_what_is_asked_of_lines_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong = []
    for goal, wanted in PRINTS:
        reply = answer(goal_item(goal, cwd=str(folder)))
        got = _run(reply.command, folder) if isinstance(reply, Command) else f"chat: {reply}"
        if got != wanted:
            wrong.append(f"{goal}\n  {getattr(reply, 'command', '')}\n  {got!r}\n  {wanted!r}")
    assert not wrong, "\n".join(wrong)


def test_what_is_ordered_is_left_in_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong = []
    for goal, name, wanted in LEAVES:
        for file, text in FILES.items():
            (folder / file).write_text(text)
        reply = answer(goal_item(goal, cwd=str(folder)))
        if isinstance(reply, Command):
            _run(reply.command, folder)
        left = (folder / name).read_text() if (folder / name).exists() else "nothing"
        if left != wanted:
            wrong.append(f"{goal}\n  {getattr(reply, 'command', reply)}\n  {left!r}")
    assert not wrong, "\n".join(wrong)


def test_what_the_file_does_not_say_is_not_guessed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    offered = [
        f"{goal}: {reply.command}"
        for goal in REFUSED
        if not isinstance(reply := answer(goal_item(goal, cwd=str(folder))), Chat)
    ]
    assert not offered, "\n".join(offered)
