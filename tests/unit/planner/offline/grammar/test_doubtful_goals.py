"""What a goal, its files and its folders do not say for certain gives no command, or none that changes something."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.replies import Chat, Command
from tests.support.each import each
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item

FILES = {
    "crew.csv": "name,age,city\nAda,31,Graz\nBob,20,Bern\n",
    "buys.csv": "id,qty,total\n1,2,20\n2,1,5\n",
    "pets.txt": "dog\ncat\ndog\n",
    "hits.log": '9.9.9.1 - - [01/May/2024:07:00:00 +0000] "GET /a HTTP/1.1" 200 5\n',
    "src/main.py": "import os\n",
    "src/web/app.js": "x\n",
    "docs/guide.md": "x\n",
    "old/x.txt": "x\n",
    "out/y.txt": "y\n",
    "README.md": "x\n",
    "LICENSE": "x\n",
    "a.txt": "one\n",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("doubtful")
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "photos").mkdir()
    return place


@each(
    "goal",
    [
        "average height in crew.csv",
        "total of the women in crew.csv",
        "average age of the sailors with beards in crew.csv",
        "names of everybody over 30 with two children in crew.csv",
        "each number of buys.csv doubled",
        "sum of qty and average total per moon in buys.csv",
        "slowest request in hits.log",
        "hits per hour in pets.txt",
        "run the tests every 5 minutes",
        "start the backup in the background",
        "time flies",
    ],
)
def test_what_the_files_do_not_say_is_not_guessed(goal: str, world: Path) -> None:
    assert isinstance(answer(goal_item(goal, cwd=str(world))), Chat)


@each(
    "goal",
    [
        "delete everything in nowhere",  # no such folder
        "delete everything in .",
        "delete everything in /",
        "move everything in docs to docs/inner",
        "make a link called README.md to LICENSE",  # there is one
        "point README.md to LICENSE",  # a file of its own, not a link
        "swap the names of README.md and nothing.md",
        "set everything to 777",
        "is everything in old to be deleted?",
        "do not delete everything in old",
        "delete the oldest person from crew.csv",
        "remove the bird from pets.txt",
        "run rm -rf . 3 times",
        "run app.js",  # a program elsewhere is not what was said
        "rename each .log in old so that it ends in .txt",
        "remove the folder with nothing in it named empty folder",
    ],
)
def test_what_is_not_certain_changes_nothing(goal: str, world: Path) -> None:
    reply = answer(goal_item(goal, str(world)))
    changes = ("rm ", "-delete", "ln ", "mv ", "chmod", "mkdir", "node ", "sed -i")
    assert not (isinstance(reply, Command) and any(word in reply.command for word in changes)), reply


@each(
    "goal, command",
    [
        ("create a folder called up", "mkdir -p up"),
        ("list the files in old", "ls old"),
        ("extract old.tar to out", "mkdir -p out && tar -xf old.tar -C out"),
        ("how big is the photos folder", "du -sh photos"),
    ],
)
def test_what_is_announced_is_a_name(goal: str, command: str, world: Path) -> None:
    assert command_for(goal, str(world)) == command
