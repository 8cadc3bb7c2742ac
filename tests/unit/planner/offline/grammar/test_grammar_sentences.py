"""Whole sentences and the commands that are composed for them."""

from __future__ import annotations

from agent.planner.offline.spared_folders import without_spared_folders
from agent.protocol.replies import Command
from tests.support.each import each
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item

SENTENCES = [
    (
        "Recursively search for all files ending in .txt under /data/docs and print the total number of lines in them",
        "find /data/docs -type f -name '*.txt' -exec cat {} + | wc -l",
    ),
    (
        "Display the contents of x.csv sorted by the second column numerically in reverse, only the first 3 lines",
        "sort -t, -k 2,2rn x.csv | head -n 3",
    ),
    (
        "Find all directories under /srv with permissions 755 and change them to 700",
        "find /srv -type d -perm 755 -exec chmod 700 {} +",
    ),
    (
        "Print the names of the files in /srv that contain the word error but not the word debug, sorted"
        " alphabetically, without the path",
        "find /srv -type f -exec grep -q error {} \\; -not -exec grep -q debug {} \\; -printf '%f\\n' | sort",
    ),
    (
        "Find all files with the .log extension in the /var/log directory and its subdirectories that are larger"
        " than 1 MB and print their sizes",
        "find /var/log -type f -name '*.log' -size +1M -printf '%s %p\\n'",
    ),
    (
        "Print the last 10 lines of every file in the directory /data/logs",
        "find /data/logs -type f -exec tail -n 10 {} \\;",
    ),
    ("Find all symbolic links in /data and print their targets", "find /data -type l -printf '%l\\n'"),
    (
        'Search for all lines containing the word "error" (case-insensitive) in the file /data/app.log and print them'
        " with their line numbers",
        "grep -in error /data/app.log",
    ),
    (
        "Print the unique values of the third column of /data/people.csv, sorted in descending order",
        "cut -d, -f3 /data/people.csv | sort -ru",
    ),
    (
        "Create a tar archive named backup.tar.gz of all .txt files in /data/docs",
        "find /data/docs -type f -name '*.txt' -print0 | tar --null -T - -caf backup.tar.gz",
    ),
    (
        "Replace every tab in /data/table.txt with a comma and print the result to the terminal",
        "tr '\\t' , < /data/table.txt",
    ),
    (
        "Print the first field of each line in /etc/passwd, using the colon as a delimiter",
        "cut -d: -f1 /etc/passwd",
    ),
    (
        "Delete all files in /data that end with .tmp or .bak",
        "find /data -type f \\( -name '*.tmp' -o -name '*.bak' \\) -delete",
    ),
    (
        "Convert all letters in /data/names.txt to lowercase and remove duplicate lines",
        "tr '[:upper:]' '[:lower:]' < /data/names.txt | sort -u",
    ),
    (
        "Number all lines of /data/names.txt and save the output to /data/numbered.txt",
        "cat -n /data/names.txt > /data/numbered.txt",
    ),
    ("Count the number of occurrences of the word foo in /data/notes.txt", "grep -o foo /data/notes.txt | wc -l"),
    ("Print the second line of each .txt file in /data", "find /data -type f -name '*.txt' -exec sed -n 2p {} \\;"),
    ("Remove all lines containing the word debug from /data/app.log", "sed -i /debug/d /data/app.log"),
    ("Remove blank lines from notes.txt and print the result", "sed '/^[[:space:]]*$/d' notes.txt"),
    ("Join all lines of /data/names.txt into one line separated by commas", "paste -s -d, /data/names.txt"),
    ("Display all lines in /data/a.txt that are also in /data/b.txt", "grep -xFf /data/a.txt /data/b.txt"),
    (
        "Print the md5sum of every file in /data sorted by file name",
        "find /data -type f -exec md5sum {} + | sort -k 2,2",
    ),
    ("Find the file with the most lines in /data", "find /data -type f -exec wc -l {} \\; | sort -rn | head -n 1"),
    ("List the contents of /data sorted by modification time, newest first", "ls -t /data"),
]


@each(("goal", "command"), SENTENCES)
def test_a_sentence_becomes_one_command(goal: str, command: str) -> None:
    assert command_for(goal) == without_spared_folders(command)


def test_a_command_says_how_the_goal_was_read() -> None:
    reply = answer(goal_item("find log files older than 7 days under /var/log"))
    assert isinstance(reply, Command)
    assert reply.reading == "find · files · *.log · -mtime +7 · under /var/log"


@each(
    "goal",
    [
        "print the flavour of all .txt files in /data",
        "find files in /data and paint them blue",
        "unzip the lines of notes.txt",
        "delete the files",
        "print PATH with glitter",
        "sort notes.txt by colour",
    ],
)
def test_what_is_not_understood_is_no_command(goal: str) -> None:
    assert not isinstance(answer(goal_item(goal)), Command)
