"""A remembered command with other literals: the shell reads it as before, but for what was to be another word."""

from __future__ import annotations

import shlex
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.memory.comparing import goal_words
from agent.memory.model import Slot
from agent.planner.offline.filling import fill
from tests.support.each import each
from tests.support.tries import tries


def asked(old_goal: str, command: str, new_goal: str) -> str | None:
    old, new = goal_words(old_goal), goal_words(new_goal)
    assert old.key == new.key
    return fill(command, old.slots, new.slots)


@each(
    ("old", "command", "new", "filled"),
    [
        ("count lines of a.txt", "wc -l a.txt", "count lines of src/b.txt", "wc -l src/b.txt"),
        ("count lines of 'a b'", "wc -l 'a b'", "count lines of 'it is; rm x'", "wc -l 'it is; rm x'"),
        ("top 5 rows of a.csv", "head -5 a.csv | sort", "top 12 rows of b.csv", "head -12 b.csv | sort"),
        ("top 5 rows of a.csv", "head -n 5 a.csv", "top 5 rows of b.csv", "head -n 5 b.csv"),
        ("rows of ~/a.csv", "tac ~/a.csv", "rows of ~/b.csv", "tac ~/b.csv"),
        ("rows in *.csv", "tac *.csv", "rows in *.tsv", "tac *.tsv"),
        ("who did a.c", "git log --oneline a.c", "who did b.c", "git log --oneline b.c"),
        (
            "hits of 'q w' in a.txt",
            "grep -F 'q w' a.txt 2>/dev/null",
            "hits of 'y z' in b.txt",
            "grep -F 'y z' b.txt 2>/dev/null",
        ),
    ],
)
def test_it_is_filled_in(old: str, command: str, new: str, filled: str) -> None:
    assert asked(old, command, new) == filled


@each(
    ("old", "command", "new"),
    [
        ("ditch a.txt", "rm a.txt", "ditch b.txt"),  # changes something
        ("fix a.txt", "sed -i s/x/y/ a.txt", "fix b.txt"),
        ("fix a.txt", "sed -i.bak s/x/y/ a.txt", "fix b.txt"),
        ("sort a.txt", "sort a.txt > out", "sort b.txt"),
        ("sort a.txt", "sort -n c.txt", "sort b.txt"),  # not in the command
        ("sort a.txt", "sort a.txt a.txt", "sort b.txt"),  # more than once
        ("sort a.txt", "sort a.txt && echo a.txt.bak", "sort b.txt"),
        ("sort a.txt", 'sort "$(cat a.txt)"', "sort b.txt"),
        ("sort a.txt", "sort ${X:-a.txt}", "sort b.txt"),
        ("sort a.txt", "bash -c 'sort a.txt'", "sort b.txt"),
        ("run ./a.sh", "./a.sh", "run ./b.sh"),  # the program itself
        ("top 5 of a5.txt", "head -5 a5.txt", "top 9 of b.txt"),  # the number is in the name, too
        ("top 5 of a.txt", "head -5 a.txt | sed 5d", "top 9 of a.txt"),
        ("rows of a.csv", "tac a.csv", "rows of *.csv"),  # a pattern is no name
        ("rows of a.csv", "tac a.csv", "rows of ~/a.csv"),
        ("find 'a' here", "find . -name 'a'", "find 'a*' here"),
        ("find 'a' here", "grep -r 'a' .", "find 'a.*b$' here"),
        ("list a.d", "find a.d -delete", "list b.d"),
        ("list a.d", "find a.d | xargs rm", "list b.d"),
        ("who did a.c", "git rm a.c", "who did b.c"),
        ("sort a.txt", "sort a.txt\necho", "sort b.txt"),
        ("sort a.txt", "sort a.txt # a.txt", "sort b.txt"),
    ],
)
def test_it_is_not_filled_in(old: str, command: str, new: str) -> None:
    assert asked(old, command, new) is None


def test_an_option_is_never_made_of_a_name() -> None:
    assert fill("wc -l a.txt", (Slot("path", "a.txt"),), (Slot("path", "--files0-from=x"),)) is None
    assert fill("grep 'x' f", (Slot("text", "x"),), (Slot("text", "-r"),)) is None


LITERALS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
WRITTEN = st.sampled_from(("show -l {} end", "show first {}", "show -c . {} | cat", "show {}; true", "show {}|cat"))


@settings(max_examples=tries(12), deadline=None)
@given(WRITTEN, st.lists(st.tuples(LITERALS, LITERALS), min_size=20, max_size=20))
def test_bash_reads_the_new_word_where_the_old_one_stood(written: str, literals: list[tuple[str, str]]) -> None:
    expected: list[list[bytes]] = []
    script = ["show() { printf '%s\\0' \"$@\" >&2; printf '\\1\\0' >&2; }"]
    for old, new in literals:
        filled = fill(written.format(shlex.quote(old)), (Slot("text", old),), (Slot("text", new),))
        if filled is not None:
            script.append(filled)
            words = written.partition("|")[0].partition(";")[0].split()[1:]
            expected.append([new.encode() if word == "{}" else word.encode() for word in words])
    ran = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(script)], capture_output=True, timeout=60, check=False, cwd="/"
    )
    got = [part.split(b"\0")[:-1] for part in ran.stderr.split(b"\1\0")[:-1]]
    assert got == expected
