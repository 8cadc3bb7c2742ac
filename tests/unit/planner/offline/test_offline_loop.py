"""What the planner says after a command, and which corrections it proposes. Errors come from real programs."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.lexicon.exit_answers import answer_of
from agent.planner.offline.planner import OfflinePlanner
from agent.protocol.messages import CommandItem, NoteItem, ReplyItem
from agent.protocol.replies import Chat, Command, PlannerReply, Reply
from agent.protocol.requests import PlannerRequest
from tests.unit.planner.offline.offline_support import (
    PLANNER,
    answer,
    command_for,
    goal_item,
    message_for,
    planner,
    ran,
)

BASH = shutil.which("bash") or "/bin/bash"


def really(command: str, cwd: Path) -> CommandItem:
    """Run a harmless command and report it as the engine would."""
    done = subprocess.run(
        [BASH, "-c", command],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        check=False,
    )
    return ran(command, done.returncode, done.stdout, done.stderr, cwd=str(cwd))


def after(goal: str, item: CommandItem, cwd: Path) -> Reply:
    return answer(goal_item(goal, str(cwd)), item)


# --- success ---


def test_one_line_of_output_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "note3.txt").write_text("x\n" * 37)
    item = really(command_for("count the lines of note3.txt", str(tmp_path)), tmp_path)
    assert after("count the lines of note3.txt", item, tmp_path) == Chat(message="done: 37 note3.txt")


def test_many_lines_are_counted(tmp_path: Path) -> None:
    assert after("list files", ran("ls", stdout="a\nb\nc\n"), tmp_path) == Chat(message="done: 3 lines of output")


def test_empty_output_is_said(tmp_path: Path) -> None:
    command = command_for("find all python files", str(tmp_path))
    assert after("find all python files", really(command, tmp_path), tmp_path) == Chat(message="nothing matched")
    assert after("create a folder called x", ran("mkdir -p x"), tmp_path) == Chat(message="done: the folder is there")
    assert after("!something", ran("true"), tmp_path) == Chat(message="done; it printed nothing")


def test_only_a_search_says_that_nothing_matched(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("foo\n")
    goal = "find all python files"
    for command in (
        "find . -name '*.py' -exec sed -i s/foo/bar/ {} +",
        "find . -name '*.py' -delete",
        "grep -rlZ foo . | xargs -0 rm",
    ):
        # As if the goal's own recipe had said it.
        assert "nothing matched" not in message_for(goal, str(tmp_path), ran(command)), command


def test_an_exit_code_belongs_to_what_came_last() -> None:
    assert not answer_of(ran("grep -q x a.txt; python3 t.py", exit_code=1))
    assert answer_of(ran("python3 t.py; grep -q x a.txt", exit_code=1)) == "nothing matched"
    assert answer_of(ran("grep -q 'a;b' a.txt", exit_code=1)) == "nothing matched"
    assert answer_of(ran("grep -q a\\;b a.txt;", exit_code=1)) == "nothing matched"


def test_where_nothing_listens_there_is_nothing_to_end(tmp_path: Path) -> None:
    item = really("kill $(true -iTCP:8080)", tmp_path)
    assert "usage" in item.stderr
    said = after("kill the process on port 8080", item, tmp_path)
    assert said == Chat(message="nothing listens on port 8080, so there was nothing to end")
    assert after("end it", really("kill $(true)", tmp_path), tmp_path) == Chat(
        message="there was no such process to end"
    )


def test_a_search_without_a_match_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    item = really("grep -nF -e zebra a.txt", tmp_path)
    assert item.exit_code == 1
    assert after("find the word zebra in a.txt", item, tmp_path) == Chat(message="nothing matched")


def test_files_that_differ_are_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    (tmp_path / "b.txt").write_text("y\n")
    reply = after("compare a.txt and b.txt", really("diff -u a.txt b.txt", tmp_path), tmp_path)
    assert isinstance(reply, Chat) and reply.message.endswith("they differ")


def test_output_that_looks_like_an_escape_is_harmless(tmp_path: Path) -> None:
    reply = after("show a.txt", ran("cat a.txt", stdout="\x1b]0;owned\x07\x1b[2Jhi\u202e\n"), tmp_path)
    assert reply == Chat(message="done: hi")


# --- corrections ---


def test_a_missing_program_is_replaced_by_one_that_is_here(tmp_path: Path) -> None:
    item = ran("rg TODO src", 127, stderr="bash: line 1: rg: command not found\n")
    reply = answer(goal_item("x", str(tmp_path)), item, using=planner(present=lambda name: name == "grep"))
    assert isinstance(reply, Command)
    assert reply.command == "grep -rn TODO src"
    assert "rg" in reply.reason


def test_a_mistyped_program(tmp_path: Path) -> None:
    reply = after("x", really("gti --version", tmp_path), tmp_path)
    assert isinstance(reply, Command) and reply.command == "git --version"


def test_a_missing_program_without_a_substitute_tells_how_to_get_it(tmp_path: Path) -> None:
    item = ran("frobnicate x", 127, stderr="bash: frobnicate: command not found\n")
    reply = answer(goal_item("x", str(tmp_path)), item, using=planner(present=lambda name: name == "apt-get"))
    assert isinstance(reply, Chat)
    assert "frobnicate" in reply.message and "`apt-get install frobnicate` as root" in reply.message


def test_a_recipe_whose_program_is_missing_says_so() -> None:
    message = message_for("list disks", using=planner(present=lambda name: name == "apt-get"))
    assert "lsblk" in message and "not installed" in message


def test_other_tools_are_chosen_by_what_is_there() -> None:
    only = planner(present=lambda name: name == "lsof")
    assert command_for("what is listening on port 8080", using=only) == "lsof -nP -iTCP:8080 -sTCP:LISTEN"


NEAREST = [
    ("cat READM.md", "README.md", "cat README.md"),
    ("wc -l notes.text", "notes.txt", "wc -l notes.txt"),
    ("cat 'my fil.txt'", "my file.txt", "cat 'my file.txt'"),
    ("head -n 3 readme.MD", "README.md", "head -n 3 README.md"),
    ("ls dcos", "docs/x", "ls docs"),
    ("cat docs/note.txt", "docs/notes.txt", "cat docs/notes.txt"),
    ("tar -xf achive.tar.gz", "archive.tar.gz", "tar -xf archive.tar.gz"),
    ("sort < names.tx", "names.txt", "sort < names.txt"),
]


@pytest.mark.parametrize(("command", "exists", "expected"), NEAREST, ids=[row[0] for row in NEAREST])
def test_a_mistyped_name_becomes_the_nearest_one(command: str, exists: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / exists).parent.mkdir(exist_ok=True)
    (tmp_path / exists).write_text("x\n")
    reply = after("x", really(command, tmp_path), tmp_path)
    assert isinstance(reply, Command), reply
    assert reply.command == expected


PARENTS = [
    ("cp a.txt new/deep/a.txt", "mkdir -p new/deep && cp a.txt new/deep/a.txt"),
    ("mv a.txt new/b.txt", "mkdir -p new && mv a.txt new/b.txt"),
    ("touch new/x.txt", "mkdir -p new && touch new/x.txt"),
    ("echo hi > new/x.txt", "mkdir -p new && echo hi > new/x.txt"),
    ("tar -xf a.tar -C new", "mkdir -p new && tar -xf a.tar -C new"),
    ("ln -s a.txt new/link", "mkdir -p new && ln -s a.txt new/link"),
    ("cp -t new a.txt", "mkdir -p new && cp -t new a.txt"),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("command", "expected"), PARENTS, ids=[row[0] for row in PARENTS])
def test_a_missing_folder_is_made_first(command: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    subprocess.run(["tar", "-cf", "a.tar", "a.txt"], cwd=tmp_path, check=True)
    reply = after("x", really(command, tmp_path), tmp_path)
    assert isinstance(reply, Command), reply
    assert reply.command == expected
    assert really(reply.command, tmp_path).exit_code == 0


EDITS = [
    ("cp folder copy", "cp -r folder copy"),
    ("rm folder", "rmdir folder"),  # it is empty
]


@pytest.mark.parametrize(("command", "expected"), EDITS, ids=[row[0] for row in EDITS])
def test_folders_need_an_option(command: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    reply = after("x", really(command, tmp_path), tmp_path)
    assert isinstance(reply, Command) and reply.command == expected


EXPLAINED = [
    ("git log", "not in a git repository"),
    ("mkdir there", "exists already"),
    ("cd a.txt", "a file, not a folder"),
    ("grep --no-such-option x a.txt", "does not know the option"),
    ("echo 'open", "never closed"),
    ("python3 -c 'import no_such_module_here'", "no_such_module_here"),
    ("python3 -c 'print('", "Python cannot read"),
    ("make", "Makefile"),
    ("cat nothing-like-it-here", "there is no nothing-like-it-here"),
    ("curl -sS http://no-such-host.invalid/", "host name cannot be resolved"),
    ("curl -sS http://127.0.0.1:1/", "nothing listens there"),
    ("rmdir there", "not empty"),
    ("ls a.txt/x", "a file, not a folder"),
    ("kill 4194303", "no such process"),
    ("chown no-such-user-x a.txt", "no such user"),
    ("tar -xf a.txt", "not a tar archive"),
    ("cat there", "is a folder"),
    ("false", "said nothing about why"),
    ("kill -SEGV $$", "signal 11"),
]


@pytest.mark.few(6)
@pytest.mark.parametrize(("command", "part"), EXPLAINED, ids=[row[0] for row in EXPLAINED])
def test_errors_are_explained_in_plain_words(command: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no archive\n")
    (tmp_path / "there" / "inner").mkdir(parents=True)
    item = really(command, tmp_path)
    if item.exit_code and item.exit_code < 0:
        item = ran(command, 128 - item.exit_code)
    assert item.exit_code != 0
    reply = after("x", item, tmp_path)
    assert isinstance(reply, Chat), reply
    assert part in reply.message


def test_permission_denied_is_explained_and_sudo_is_not_added(tmp_path: Path) -> None:
    reply = after("x", ran("cat /etc/shadow", 1, stderr="cat: /etc/shadow: Permission denied\n"), tmp_path)
    assert isinstance(reply, Chat)
    assert "you may not" in reply.message


def test_a_port_that_is_taken_leads_to_who_has_it(tmp_path: Path) -> None:
    item = ran("python3 -m http.server 8123", 1, stderr="OSError: [Errno 98] Address already in use\n")
    reply = after("x", item, tmp_path)
    assert isinstance(reply, Command) and reply.command == "ss -ltnp 'sport = :8123'"


@pytest.mark.parametrize("goal", ["how do I exit", "how can I quit this", "how to leave the prompt", "bye"])
def test_how_to_leave_is_said(goal: str, tmp_path: Path) -> None:
    reply = answer(goal_item(goal, str(tmp_path)))
    assert isinstance(reply, Chat) and "Ctrl-D" in reply.message


def test_only_one_correction_a_goal_and_never_the_same_command_again(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x\n")
    first = really("cat READM.md", tmp_path)
    second = really("cat REEDME.md", tmp_path)
    assert isinstance(answer(goal_item("x", str(tmp_path)), first), Command)
    assert isinstance(answer(goal_item("x", str(tmp_path)), first, second), Chat)


def test_what_a_program_prints_cannot_inject_a_command(tmp_path: Path) -> None:
    evil = "fatal: The current branch $(touch${IFS}owned) has no upstream branch.\n"
    assert isinstance(after("git push", ran("git push", 128, stderr=evil), tmp_path), Chat)
    dashed = ran("git push", 128, stderr="fatal: The current branch --force has no upstream branch.\n")
    assert isinstance(after("git push", dashed, tmp_path), Chat)


def test_a_hostile_file_name_nearby_stays_one_word(tmp_path: Path) -> None:
    (tmp_path / "note;touch owned").write_text("x\n")
    reply = after("x", really("cat 'note;touch owne'", tmp_path), tmp_path)
    assert isinstance(reply, Command) and reply.command == "cat 'note;touch owned'"


def test_time_out_and_interruption(tmp_path: Path) -> None:
    assert "narrow it down" in message_for("x", str(tmp_path), ran("sleep 9", 124, timed_out=True))
    assert "stays" in message_for("x", str(tmp_path), ran("sleep 9", 130, interrupted=True))


# --- what the person said instead of yes ---


@pytest.mark.parametrize("outcome", ["skipped", "declined", "refused", "cancelled"])
def test_how_a_goal_ends_says_what_was_not_run(outcome: str, tmp_path: Path) -> None:
    item = CommandItem(command_id="c", proposed="ls", outcome=outcome)  # type: ignore[arg-type]
    assert message_for("list files", str(tmp_path), item) == ""


# --- the request as a whole ---


def test_only_the_last_goal_counts() -> None:
    history = (
        goal_item("list files"),
        ran("ls"),
        goal_item("count the lines of a.txt"),
        NoteItem(text="x"),
        ReplyItem(raw="{}"),
    )
    reply = answer(*history)
    assert isinstance(reply, Command)
    assert reply.command == "wc -l a.txt"


def test_no_goal_at_all() -> None:
    assert isinstance(answer(), Chat)


LOG = """cc -c main.c
main.c:3:10: fatal error: zlib.h: No such file or directory
make: *** [Makefile:2: main.o] Error 1
"""


def test_why_does_this_fail_explains_piped_text() -> None:
    reply = answer(goal_item("why does this fail", context=LOG))
    assert isinstance(reply, Chat)
    assert "zlib.h" in reply.message and "header" in reply.message


def test_a_real_failing_build_is_explained(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all: missing.c\n\tcc missing.c\n")
    item = really("make", tmp_path)
    reply = answer(goal_item("what went wrong?", context=item.stdout + item.stderr))
    assert isinstance(reply, Chat) and "missing.c" in reply.message


def test_pasted_lines_below_the_question_are_read_too() -> None:
    assert "zlib.h" in message_for("why does this fail?\n" + LOG)


def test_text_without_a_known_error() -> None:
    assert "no error" in message_for("why does this fail\nall is well\nreally\n")
    assert "reason" in message_for("why does this fail\nfrobnicator: fatal: the flux is out\n")
    assert "pipe" in message_for("why does this fail")


def test_huge_context_is_bounded() -> None:
    log = "x" * 2_000_000 + "\n" + "ok\n" * 100_000 + "bash: foo: command not found\n"
    assert "foo" in message_for("why does this fail\n" + log)


def test_a_typed_command_is_proposed_as_it_is() -> None:
    assert command_for("ls -la /tmp") == "ls -la /tmp"
    assert isinstance(answer(goal_item("frob -x"), using=planner(present=lambda name: False)), Chat)


def test_the_port_streams_chat_and_reports_what_a_model_would_have_written() -> None:
    pieces: list[str] = []

    async def on_delta(text: str) -> None:
        pieces.append(text)

    async def both() -> tuple[PlannerReply, PlannerReply]:
        chat = await PLANNER.plan(PlannerRequest(history=(goal_item("hello"),)), on_delta)
        command = await PLANNER.plan(PlannerRequest(history=(goal_item("list files"),), code_only=True), on_delta)
        return chat, command

    chat, command = asyncio.run(both())
    assert isinstance(chat.reply, Chat) and pieces == [chat.reply.message]
    assert json.loads(chat.raw) == {"mode": "chat", "message": chat.reply.message}
    assert json.loads(command.raw) == {"mode": "command", "command": "ls"}
    assert (PLANNER.name, PLANNER.model) == ("offline", "")
    assert OfflinePlanner().name == "offline"
