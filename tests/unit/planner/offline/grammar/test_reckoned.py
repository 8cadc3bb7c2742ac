"""Calculations with the columns of a file, and commands that are run again: what goals in many wordings give when their commands run."""

# ruff: noqa: E501 (a goal and what it prints stand beside each other)

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from offline_support import answer, goal_item

from agent.planner.offline.spared_folders import without_spared_folders
from agent.protocol.replies import Chat, Command

FILES = {
    "crew.csv": "name,age,port\nAnn,31,Oslo\nBob,40,Rome\nCid,22,Oslo\nDan,67,Bern\n",
    "buys.csv": "id,buyer,date,qty,total\n1,amy,2024-01-03,2,19.90\n2,bob,2024-02-10,1,5.00\n3,amy,2024-02-11,7,70.00\n4,eve,2023-12-30,3,30.50\n",
    "hosts.csv": "box;os;ram\nnile;debian;16\nodra;alpine;4\npo;debian;64\n",
    "rounds.tsv": "player\tfirst\tsecond\nkim\t10\t12\nlee\t8\t15\n",
    "shelf.txt": "nail 10 2\nbolt 5 4\n",
    "grid.txt": "1 2 3\n4 5 6\n",
    "states.txt": "web 80 up\nftp 21 down\nsql 33 up\n",
    "hits.log": "".join(
        f'10.0.0.{n % 2} - - [12/Mar/2024:10:0{n}:00 +0000] "GET /p{n} HTTP/1.1" {404 if n % 2 else 200} {100 * n}\n'
        for n in range(4)
    ),
    "go.sh": "#!/bin/sh\necho went\n",
}

# What is printed, and goals that ask for it. Groups come in any order.
PRINTED = {
    "67": """
        show the largest value in column 2 of crew.csv
        highest age in crew.csv
        maximum of the second column of crew.csv
        crew.csv: biggest age""",
    "Dan,67,Bern": """
        who is the oldest in crew.csv
        the oldest person in crew.csv, whole row
        which person has the highest age in crew.csv
        row of crew.csv with the highest age""",
    "Dan": """
        name of the oldest person in crew.csv
        who is the oldest in crew.csv? print the name only""",
    "Ann\nBob\nDan": """
        print the names of people older than 30 in crew.csv
        names of those over 30 in crew.csv
        crew.csv: names where column 2 is more than 30""",
    "2": """
        how many people in crew.csv are from Oslo
        number of people from Oslo in crew.csv""",
    "40 22 67": "mean, min and max of age in crew.csv",
    "name\nage\nport": """
        the header names of crew.csv, each on its own line
        column names of crew.csv, one per line""",
    "45": "difference between the highest and the lowest age in crew.csv",
    "26.5": "average age of the people from Oslo, crew.csv",
    "40.0": "average age in crew.csv, one decimal",
    "31": "the age of Ann in crew.csv",
    "89.9": """
        how much did amy spend in total, according to buys.csv
        sum up the totals in buys.csv for amy""",
    "amy 89.9\nbob 5\neve 30.5": """
        sum of the total column of buys.csv per buyer
        buys.csv: total for each buyer
        sum of column 5 by column 2 in buys.csv""",
    "2023-12 30.5\n2024-01 19.9\n2024-02 75": "sum of total per month in buys.csv",
    "2,bob,2024-02-10,1,5.00\n3,amy,2024-02-11,7,70.00": """
        only rows of buys.csv from february 2024
        rows of buys.csv in 2024-02
        lines of buys.csv after 2024-02-01""",
    "nile\npo": """
        names of the debian boxes in hosts.csv (fields are divided by ;)
        box names of hosts.csv where the os is debian; the separator is ;""",
    "po": "which box in the semicolon table hosts.csv has the most ram? print its name only",
    "84": "sum of the ram column in hosts.csv, separated by semicolons",
    "kim 22\nlee 23": """
        for each player in rounds.tsv add first and second
        for every player in rounds.tsv print the player and the sum of first and second""",
    "nail 20\nbolt 20": "value of the shelf per item in shelf.txt: name, then column two times column three",
    "40": "total of column 2 times column 3 in shelf.txt",
    "6\n15": """
        sum of each row in grid.txt
        sum of each line of grid.txt""",
    "80\n21\n33": "ports from states.txt (second word)",
    "ftp 21 down": """
        services that are not up, according to the third column of states.txt
        entries of states.txt that are down""",
    "/p1\n/p3": """
        which paths gave a 404 in hits.log
        paths with status 404 in hits.log""",
    "10.0.0.0 200\n10.0.0.1 400": """
        bytes per visitor in hits.log: address in field 1, bytes in field 10
        total bytes for each address in hits.log""",
    "600": "bytes sent in total in hits.log (that's the last field)",
    "went\nwent\nwent": """
        run go.sh three times
        execute the script go.sh 3 times in a row""",
    "yes": """
        does crew.csv exist? answer yes or no
        is there a file called crew.csv""",
    "12/Mar/2024:10:00:00 +0000\n12/Mar/2024:10:01:00 +0000\n12/Mar/2024:10:02:00 +0000\n12/Mar/2024:10:03:00 +0000": "the part between the square brackets in hits.log",
}

COMMANDS = {
    "run ls every 5 seconds": "watch -n 5 ls",
    "execute make test once every 2 minutes": "watch -n 120 'make test'",
    "measure how long go.sh takes": "time sh go.sh",
    "how long does go.sh take to run": "time sh go.sh",
    "run go.sh in the background": "nohup bash -c 'sh go.sh' > nohup.out 2>&1 &",
    "delete every __pycache__ folder with what is in it": "find . -mindepth 1 -type d -name __pycache__ -prune -exec rm -rf {} +",
    "move the tmp files older than a week into a new folder trash": "mkdir -p trash && find . -type f -name '*.tmp' -mtime +7 -not -path '*/trash/*' -exec mv -t trash {} +",
    "the 2 longest python files by lines below src, with their line counts": "find src -type f -name '*.py' -exec wc -l {} \\; | sort -rn | head -n 2",
    "number of folders and of regular files below src, one line each": "find src -mindepth 1 -type d | wc -l; find src -type f | wc -l",
}

# A word that the file does not explain, two things at once, or a change: nothing is offered.
NOT_UNDERSTOOD = """
    average height in crew.csv
    sum of port in crew.csv
    total of the women in crew.csv
    average age of the sailors with beards in crew.csv
    names of everybody over 30 with two children in crew.csv
    delete the oldest person from crew.csv
    add 5 to each age in crew.csv
    update the age of Bob to 41 in crew.csv
    sum of qty and average total per moon in buys.csv
    slowest request in hits.log
    ids of buys over 20 in buys.csv
    run rm -rf . 3 times
    run the tests every 5 minutes
    start the backup in the background
    time flies
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tables")
    for name, text in FILES.items():
        (root / name).write_text(text)
    return root


def _offered(goal: str, folder: Path) -> str:
    reply = answer(goal_item(goal, cwd=str(folder)))
    return reply.command if isinstance(reply, Command) else ""


def _same(printed: str, wanted: str) -> bool:
    return printed.strip() == wanted or sorted(printed.split("\n")[:-1]) == sorted(wanted.split("\n"))


def test_calculations_print_what_was_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong = []
    for wanted, goals in PRINTED.items():
        for goal in goals.strip().splitlines():
            command = _offered(goal.strip(), folder)
            ran = subprocess.run(
                ["bash", "-c", command or "true"], cwd=folder, capture_output=True, text=True, timeout=20, check=False
            )
            if not _same(ran.stdout, wanted):
                wrong.append(f"{goal.strip()}\n  {command}\n  {ran.stdout!r} {ran.stderr!r}\n  {wanted!r}")
    assert not wrong, "\n".join(wrong)


def test_goals_give_these_commands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong = [
        f"{goal}: {given}"
        for goal, command in COMMANDS.items()
        if (given := _offered(goal, folder)) != without_spared_folders(command)
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_not_understood_gives_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    goals = [goal.strip() for goal in NOT_UNDERSTOOD.strip().splitlines()]
    offered = [
        f"{goal}: {reply}" for goal in goals if not isinstance(reply := answer(goal_item(goal, cwd=str(folder))), Chat)
    ]
    assert not offered, "\n".join(offered)
