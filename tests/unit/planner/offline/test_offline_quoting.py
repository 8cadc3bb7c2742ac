"""Whatever a slot catches stays one word of a real bash, and no option."""

from __future__ import annotations

import shutil
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.offline.values import Value, quote_glob, quote_path, quote_regex, quote_replacement
from agent.protocol.replies import Command
from tests.support.each import each
from tests.support.tries import tries
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item

TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), min_size=1, max_size=40)
NASTY = st.sampled_from(
    [
        "$(touch owned)",
        "`id`",
        "; rm -rf x",
        "a'b",
        'a"b',
        "-rf",
        "--help",
        "~root",
        "*",
        "a b",
        "a\nb",
        "!x",
        "#x",
        "\\",
        "$HOME",
        "{a,b}",
        "&",
        "|",
        ">x",
        "(",
        "!",
    ]
)


def words_of(shell_words: str) -> list[str]:
    """What bash makes of it."""
    done = subprocess.run(
        ["bash", "--norc", "-c", f'for word in {shell_words}; do printf "%s\\0" "$word"; done'],
        capture_output=True,
        env={"HOME": "/home/me", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        cwd="/",
        check=True,
    )
    assert not done.stderr
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(TEXT | NASTY, min_size=1, max_size=20))
def test_words_stay_words(texts: list[str]) -> None:
    assert words_of(" ".join(Value(text=text).render() for text in texts)) == texts


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(TEXT | NASTY, min_size=1, max_size=20))
def test_paths_stay_one_word_and_are_never_options(texts: list[str]) -> None:
    words = words_of(" ".join(map(quote_path, texts)))
    assert len(words) == len(texts)
    for text, word in zip(texts, words, strict=True):
        assert not word.startswith(("-", "!", "("))
        assert word.removeprefix("./").endswith(text.removeprefix("~/").removeprefix("./")) or text == "~"


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(TEXT | NASTY, min_size=1, max_size=20))
def test_globs_expand_to_nothing_but_names(texts: list[str]) -> None:
    # In a folder where nothing matches bash leaves a glob as it is: one word each, and no option.
    words = words_of(" ".join(quote_glob(text + "zzqq*") for text in texts))
    assert len(words) == len(texts)
    assert not any(word.startswith("-") for word in words)


@settings(max_examples=tries(40), deadline=None)
@given(old=TEXT, new=TEXT)
def test_sed_patterns_match_only_themselves(old: str, new: str) -> None:
    if "\n" in old or "\r" in old + new:
        return
    script = f"s/{quote_regex(old)}/{quote_replacement(new)}/"
    done = subprocess.run(
        ["sed", script], input=old.encode(), capture_output=True, env={"LC_ALL": "C.UTF-8"}, check=False
    )
    assert done.returncode == 0, (script, done.stderr)
    assert done.stdout.decode() == new


@each(
    "name",
    [
        "\U0001f600.txt",
        "\u65e5\u672c\U0001f600.txt",
        "cafe\u0301.txt",
        "\u0939\u093f\u0928\u094d\u0926\u0940.txt",
        "\U0001f468\u200d\U0001f469.txt",
    ],
)
def test_names_of_every_script_are_names(name: str) -> None:
    """Letters with marks that follow them, and pictures, need no quotes."""
    assert words_of(command_for(f"delete {name}")) == ["rm", name]
    assert words_of(command_for(f"create a folder called {name.removesuffix('.txt')}"))[2] == name.removesuffix(".txt")


TEMPLATES = [
    'delete the file "{}"',
    'count the lines of "{}"',
    'copy "{}" to /tmp/x',
    'rename "{}" to new.txt',
    'find files named "{}"',
    'find files containing "{}"',
    'delete files containing "{}"',
    'find files whose name contains "{}"',
    'search for "{}" in notes.txt',
    'replace "{}" with "x" in notes.txt',
    'write "{}" to notes.txt',
    'create a folder called "{}"',
    'commit with message "{}"',
    'show commits by "{}"',
    'install "{}"',
    'kill all processes named "{}"',
    'go to the folder "{}"',
    'zip the folder "{}" into x.zip',
    'set the environment variable X to "{}"',
]
BASH = shutil.which("bash") or "/bin/bash"
SHIMS = [
    "rm",
    "wc",
    "cp",
    "mv",
    "find",
    "grep",
    "sed",
    "mkdir",
    "git",
    "sudo",
    "pkill",
    "zip",
    "tar",
    "cat",
    "ls",
    "sort",
]


@settings(max_examples=tries(120), deadline=None)
@given(template=st.sampled_from(TEMPLATES), text=NASTY | TEXT)
def test_hostile_slots_never_run(template: str, text: str) -> None:
    """Run what comes out with all programs replaced by `true`: nothing else may happen."""
    reply = answer(goal_item(template.format(text)))
    if not isinstance(reply, Command):
        return
    functions = "".join(f"{name}() {{ :; }}\n" for name in [*SHIMS, "cd", "touch", "id", "head", "export", "printf"])
    # Redirections stay real, so their targets must be the plain one that the goal names.
    redirected = reply.command.rpartition(" > ")[0] if template.startswith("write") else reply.command
    done = subprocess.run(
        [BASH, "--norc", "-uc", functions + "trap 'echo RAN' DEBUG\n" + redirected],
        capture_output=True,
        env={"HOME": "/nowhere", "PATH": "/nowhere"},
        cwd="/",
        check=False,
    )
    assert b"command not found" not in done.stderr, (reply.command, done.stderr)
    assert b"syntax error" not in done.stderr, (reply.command, done.stderr)
    assert done.stdout.count(b"RAN") <= 3, reply.command
