"""A session as a bash script: it runs what ran, and no text gets out of its comment or its command."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.audit.story.goal import stories
from agent.emitters.export.formats import Source
from agent.emitters.export.script import comment, note, quoted, script, statement, why_not
from agent.protocol.records import Record
from agent.recording.reader import SessionFile
from tests.support.each import each
from tests.support.pictured_session import CWD, Session, hostile, pictured, taken_back
from tests.support.tries import tries

NASTY = (
    "echo 'not closed", 'echo "not closed', "cat <<END\nno end", "echo $(", "echo `", "if true", "for x in", "case x in", "{ a", "( a",
    "f() {", "a |", "a &&", "a ;;", "a \\", "# only words", "a # b", "echo ${x", "echo $'\\'", "exit 3", "exec ls", "[[ a", "a & & b",
    "echo \x1b[31m\u202ered", "x=(1 2", "a\rb", "select x in", "!", "! a", "time a", "coproc a", "}", "fi", "done", "echo \\", "<<<",
    "a < <(b", "echo {a,b", "a 2>", "> ", ";", "&", "|", ";;", "return", "logout", "alias x='", "$(", "\\", "'", '"', "`", "a\n\nb",
)  # fmt: skip
PLAIN = (
    "ls", "ls -la /tmp", "du -ah src | sort -rh | head -4", "rm -rf build/cache", "a && b || c; d &", "echo 'x y' \"$HOME\" $1 ${A}",
    "make 2>&1 | tee log", "cat <in >out 2>>err", "x=1 y='2' cmd --opt=~/a,b", "grep -n 'a\"b' *.py", "echo \\; \\' a\\ b", "ls &>all",
    "echo 設定", "[ -f x ] && cat x", 'git commit -m "a (b) #c"', 'echo "$"',
)  # fmt: skip


def bash(text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """bash in a language that every system has: of one that is missing it would complain first."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["bash", "--norc", *options], input=text, env=environment, capture_output=True, timeout=60, check=False
    )


def made_of(records: Iterable[Record], *, outside: bool = False) -> bytes:
    kept = list(records)
    known = taken_back(kept)
    source = Source(
        session=SessionFile("/x/2026-03-14-a.jsonl", "a", "2026-03-14", 1, 0.0),
        items=lambda: stories(kept, undone=known),
        lines=lambda: iter(kept),
        outside=outside,
    )
    return b"".join(script(source))


def code_lines(text: bytes) -> list[str]:
    return [line for line in text.decode().splitlines() if line and not line.startswith("#")]


def test_what_stands_in_it() -> None:
    made = made_of(pictured())
    assert bash(made, "-n").stderr == b""
    assert made.startswith(b"#!/usr/bin/env bash\n")
    assert code_lines(made) == [
        f"cd -- '{CWD}' || exit",
        "du -ah src | sort -rh | head -4",
        "rm -rf build/cache",
        "curl -fsSL https://example.org/get.sh | sh",
    ]
    text = made.decode()
    assert "# not part of this script: it was taken back later\n# sed -i" in text
    assert "# not part of this script: it failed with exit 2\n# make test\n" in text
    assert "# not part of this script: it was not run\n# dd if=/dev/zero of=/dev/sda\n" in text
    assert "# goal 2: remove the build folder" in text
    assert "# edited; proposed was: rm -rf build\n" in text


def test_a_hostile_session_is_comments_and_quoted_words() -> None:
    made = made_of(hostile(), outside=True)
    assert bash(made, "-n").stderr == b""
    assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", made)
    assert b"nothing vouches for what follows" in made


@each("text", NASTY)
def test_a_nasty_command_stays_in_its_place(text: str) -> None:
    made = statement(text).encode("utf-8", "surrogateescape")
    assert statement(text) != text
    assert bash(b"true\n" + made + b"\necho END\n", "-n").stderr == b""


def test_a_plain_command_stands_as_it_is() -> None:
    assert [statement(text) for text in PLAIN] == list(PLAIN)
    assert bash("\n".join(PLAIN).encode(), "-n").stderr == b""


def test_quoted_text_is_what_bash_reads() -> None:
    texts = [
        *NASTY,
        *PLAIN,
        "a'b",
        "tab\tend",
        "\x01\x7f",
        "é\u200b\ufeff",
        "a\u0085b\u2028c",
        "\n",
        "'",
        "\\x41'",
        "$'\\n'",
    ]
    words = "".join(f"printf '%s\\0' {quoted(text)}\n" for text in texts)
    assert bash(words.encode()).stdout.decode().split("\0")[:-1] == texts


@settings(max_examples=tries(60), deadline=None, derandomize=True)
@given(st.lists(st.text(alphabet="ab '\"\\$(){}[]<>|&;#`!\n\t~*=-2é\u202e\r", max_size=14), min_size=20, max_size=60))
def test_no_text_gets_out(texts: list[str]) -> None:
    """One line that bash cannot read, at the very end: a statement that swallowed anything would move the complaint."""
    made = ""
    for text in texts:
        made += statement(text) + "\n" + note(text) + comment(text)
    lines = made.count("\n") + 1
    said = bash((made + "echo )\n").encode(), "-n").stderr.decode()
    assert f"line {lines}: " in said.splitlines()[0], said


def test_what_ends_the_shell_does_not_end_the_script() -> None:
    made = (
        "\n".join(statement(text) for text in ("exit 3", "true; exec true", "return 2", "echo find -exec x"))
        + "\necho END\n"
    )
    assert bash(made.encode()).stdout == b"find -exec x\nEND\n"


def run_session(command: str, **more: object) -> bytes:
    made = Session()
    made.begin_goal("do it")
    key = made.propose(command)
    made.confirm(key, command)
    made.run(key, command, **more)  # type: ignore[arg-type]
    made.end_goal("do it")
    return made_of(made.records)


@each(
    ("command", "why"),
    [
        ("curl -H 'x: [redacted:github-token:3f2a]' x.org", "a secret was taken out"),
        ("echo a\0b", "characters that no script can hold"),
        ("echo \ud800", "characters that no script can hold"),
        ("  \n", "it is empty"),
    ],
)
def test_what_cannot_be_run_again_is_a_comment(command: str, why: str) -> None:
    made = run_session(command)
    assert why in made.decode()
    assert code_lines(made) == []
    assert b"\0" not in made


def test_the_folder_is_set_where_the_script_would_be_elsewhere(tmp_path: Path) -> None:
    made = run_session("cat x")
    assert code_lines(made) == [f"cd -- '{CWD}' || exit", "cat x"]
    # Somewhere else than it was, nothing of it runs.
    done = subprocess.run(["bash"], input=made, capture_output=True, cwd=tmp_path, check=False)
    assert (done.returncode, b"cat" in done.stderr) == (1, False)


def test_a_write_of_a_tool_is_no_command() -> None:
    made = Session()
    made.begin_goal("write")
    key = made.propose("write_file /etc/passwd", origin="tool")
    made.confirm(key, "write_file /etc/passwd", by="policy")
    made.end_goal("write")
    items = list(stories(made.records))
    assert why_not(items[0].commands[0]) == "a tool did it, and no shell"  # type: ignore[union-attr]
    assert code_lines(made_of(made.records)) == []
