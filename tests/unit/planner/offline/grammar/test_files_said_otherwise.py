"""Goals about files, folders, links and the system in the words of people who do not know what a command is called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.planner.offline.spared_folders import without_spared_folders
from agent.protocol.replies import Command
from tests.support.each import each
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item

WORLD = (
    *("src/main.py", "src/web/app.js", "src/web/routes.py", "docs/guide.md", "docs/.hidden", "old/x.txt"),
    *("logs/a.log", "logs/b.log", "logs/c.log", "logs/d.log", "README.md", "LICENSE", "run.sh"),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("otherwise")
    for at, name in enumerate([*WORLD, "shopping list.txt", "empty box/.keep"]):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
        os.utime(path, (1_700_000_000 + at * 1000, 1_700_000_000 + at * 1000))
    (place / "latest").symlink_to("src")
    return place


UNDERSTOOD = r"""
which folders hold js files => find . -type f -name '*.js' -printf '%h\n' | sort -u
list all the folders that contain a python file => find . -type f -name '*.py' -printf '%h\n' | sort -u
folders in src with at least one .py file, each once => find src -type f -name '*.py' -printf '%h\n' | sort -u
list the folders in src => ls -d src/*/
folders here, without the files => ls -d */
everything in logs, with sizes, dates and owners => ls -l logs
copy everything in docs to old => cp -a docs/. old/
move everything in docs to archive => mkdir -p archive && find docs -mindepth 1 -maxdepth 1 -exec mv -t archive {} +
delete everything in old => find old -mindepth 1 -delete
show the newest file in logs => find logs -type f -printf '%T@ %p\n' | sort -nr | cut -d' ' -f2- | head -n 1
I want a copy of README.md in docs => cp README.md docs
how much space does src take up => du -sh src
total number of regular files below src => find src -type f | wc -l
mp3 or ogg => find . -type f \( -name '*.mp3' -o -name '*.ogg' \)
anything > 50 KB => find . -type f -size +50k
all md files, upper or lower case => find . -type f -iname '*.md'
files that were touched after run.sh => find . -type f -newer run.sh
size and path of every log file => find . -type f -name '*.log' -printf '%s %p\n'
mode of every file in logs as an octal number, then its name => find logs -type f -printf '%m %f\n'
modification date of all files in logs, oldest first => find logs -type f -printf '%TY-%Tm-%Td %p\n' | sort
create three files a.txt b.txt and c.txt => touch a.txt b.txt c.txt
create folders week01 to week03 => mkdir -p week01 week02 week03
make a folder for each month of 2031 => mkdir -p 2031-{01..12}
I'd like out with an empty notes.md in it => mkdir -p out && touch out/notes.md
set the modification time of README.md to yesterday => touch -d yesterday README.md
date README.md back to noon of 24 december 2023 => touch -d '2023-12-24 12:00' README.md
rename every .jpeg to .jpg => find . -type f -name '*.jpeg' -exec sh -c 'for f; do mv -n -- "$f" "${f%.*}.$0"; done' jpg {} +
change the ending of README.md to txt => mv -n README.md README.txt
all log files should be deleted => find . -type f -name '*.log' -delete
empty README.md, but don't delete it => truncate -s 0 README.md
make a symlink called newest to logs => ln -s logs newest
make a shortcut to README.md in docs => ln -sr README.md docs/
point latest to docs => ln -sfn docs latest
where does latest lead? give me the absolute path => readlink -f latest
other names of the same file as README.md => find . -samefile README.md
please make src and everything in it read only => chmod -R a-w src
make src and what's in it read-only for the group and for others => chmod -R go-w src
directories below src must be 750 and the files 640 => find src -type d -exec chmod 750 {} + && find src -type f -exec chmod 640 {} +
executable bit for every .sh below src, subfolders too => find src -type f -name '*.sh' -exec chmod +x {} +
docs as docs.zip => zip -qr docs.zip docs
pack the contents of docs, not the folder itself, as docs.tar => tar -cf docs.tar -C docs .
make a tarball of src and logs => tar -czf src-logs.tar.gz src logs
how many lines has shopping list.txt => wc -l 'shopping list.txt'
show the lines of routes.py in src/web => cat src/web/routes.py
how many lines are in app.js => wc -l src/web/app.js
the weekday on which 4 july 1976 fell => date -d 1976-07-04 +%A
numbers from 10 down to 1, separated by commas => seq -s, 10 -1 1
how many days does february 2100 have => date -d '2100-03-01 -1 day' +%d
login shell of root as the passwd file has it => getent passwd root | cut -d: -f7
"""


@each("row", UNDERSTOOD.strip().splitlines())
def test_other_words_give_the_command(row: str, world: Path) -> None:
    goal, _, wanted = row.partition(" => ")
    assert command_for(goal, str(world)) == without_spared_folders(wanted)


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
        "run app.js",  # a program elsewhere is not what was said
        "create folders b2 to a9",
    ],
)
def test_what_is_not_certain_gives_no_such_command(goal: str, world: Path) -> None:
    reply = answer(goal_item(goal, str(world)))
    changes = ("rm ", "-delete", "ln ", "mv ", "chmod", "mkdir", "node ")
    assert not (isinstance(reply, Command) and any(word in reply.command for word in changes)), reply


def _done(goal: str, world: Path, place: Path) -> Path:
    """A copy of the world in which the command of a goal has run."""
    shutil.copytree(world, place, symlinks=True)
    subprocess.run(["bash", "-c", command_for(goal, str(place))], cwd=place, check=True, timeout=60)
    return place


def test_all_but_the_newest_go(world: Path, tmp_path: Path) -> None:
    place = _done("delete all but the newest 3 files in logs", world, tmp_path / "w")
    assert sorted(os.listdir(place / "logs")) == ["b.log", "c.log", "d.log"]
    place = _done("keep only the 2 newest log files in logs and delete the rest", world, tmp_path / "v")
    assert sorted(os.listdir(place / "logs")) == ["c.log", "d.log"]


def test_everything_goes_with_what_is_hidden(world: Path, tmp_path: Path) -> None:
    place = _done("move everything in docs to archive", world, tmp_path / "w")
    assert (sorted(os.listdir(place / "archive")), os.listdir(place / "docs")) == ([".hidden", "guide.md"], [])


def test_names_change_places(world: Path, tmp_path: Path) -> None:
    place = _done("swap the names of README.md and LICENSE", world, tmp_path / "w")
    assert (place / "README.md").read_text() == "LICENSE\n"
    assert (place / "LICENSE").read_text() == "README.md\n"


def test_a_link_is_pointed_elsewhere(world: Path, tmp_path: Path) -> None:
    place = _done("let latest point at docs", world, tmp_path / "w")
    assert os.readlink(place / "latest") == "docs"
    assert os.listdir(place / "docs") != []
