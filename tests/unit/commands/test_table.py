"""Lines that are commands, lines that are goals, and what the immediate commands do."""

import asyncio
import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.commands.dispatch import HANDLERS, dispatch
from agent.commands.table import COMMANDS, FRONTEND_COMMANDS, FrontendCommand, help_rows, parse_meta
from agent.engine.context import RequestContext
from agent.engine.goal_loop import GoalLoop
from agent.engine.session_state import change
from agent.engine.stream import EventStream
from agent.protocol import commands as core
from agent.protocol.errors import InvalidRequest, InvalidState, IoError, NotFound
from tests.support.each import each
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePlanner, FakeRecorder, FakeRedactor, make_app, say


@each(
    ("line", "expected"),
    [
        (":q", FrontendCommand("quit")),
        (".exit", FrontendCommand("quit")),
        (":session", FrontendCommand("session")),
        ("  :session work  ", FrontendCommand("session", "work")),
        (":model openai/gpt", FrontendCommand("model", "openai/gpt")),
        (".info", core.Info(core.InfoScope.SYSTEM)),
        (":info session", core.Info(core.InfoScope.SESSION)),
        (":set approve low", core.Set("approve", "low")),
        (":file a 'b c' -- what is it", core.IncludeFiles(("a", "b c"), "what is it")),
        (":copy", core.Copy()),
        ("./build fails", None),
        ("...", None),
        ("/var/log is full", None),
        (": quit", None),
        (".", None),
        ("", None),
        ("quit", None),
        (".sessions of the conference", None),
    ],
)
def test_parse(line, expected):
    assert parse_meta(line) == expected


@pytest.mark.parametrize(
    "line", [":info nonsense", ":set", ":set approve", ":file", ":file 'open", ":copy all", ":prompt", ":quitter"]
)
def test_bad_arguments_are_said(line):
    with pytest.raises(InvalidRequest):
        parse_meta(line)


@given(st.text())
def test_any_line_is_a_command_a_goal_or_an_error(line):
    try:
        parse_meta(line)
    except InvalidRequest:
        pass


def test_the_table_is_total():
    names = [name for row in COMMANDS for name in row.names]
    assert len(names) == len(set(names))
    assert len(help_rows()) == len(COMMANDS)
    assert set(FRONTEND_COMMANDS) == {
        "help",
        "alternatives",
        "rehearse",
        "undo",
        "new",
        "session",
        "model",
        "models",
        "safety",
        "policy",
        "tty",
        "jobs",
        "kill",
        "resume",
        "branch",
        "retry",
        "undo-turn",
        "history",
        "memory",
        "forget",
        "quit",
    }
    samples = {"info": "", "role": "explain", "set": "approve low", "file": "a", "prompt": "x"}
    for row in COMMANDS:
        if row.build is not None:
            assert type(row.build(samples.get(row.name, ""))) in HANDLERS


def session(cwd="/work"):
    planner = FakePlanner(say())
    return make_app(planner), RequestContext(
        recorder=FakeRecorder(),
        planner=planner,
        redactor=FakeRedactor(),
        strategy=GoalLoop(),
        executor=FakeExecutor(cwd=cwd),
    )


def do(app, context, command):
    """What the command comes to, and what it changes changed."""
    done = dispatch(app, context, command)
    asyncio.run(change(context, EventStream(context.recorder, FakeEmitter(), run=""), *done.changes))
    return done


def test_set_approve():
    app, context = session()
    do(app, context, core.Set("approve", "medium"))
    assert context.approve == "medium"
    with pytest.raises(InvalidRequest):
        do(app, context, core.Set("approve", "high"))
    with pytest.raises(NotFound):
        do(app, context, core.Set("safety_off", "true"))


def test_info_tells_what_counts_in_this_session():
    app, context = session()
    do(app, context, core.Set("confine", "workspace"))
    do(app, context, core.Set("approve", "low"))
    data = do(app, context, core.Info(core.InfoScope.SYSTEM)).data
    assert (data["confine"], data["approve"], data["safety_off"]) == ("workspace", "low", "False")


def test_info_of_what_is_not_active_says_so():
    app, context = session()
    with pytest.raises(InvalidState, match="an active role"):
        do(app, context, core.Info(core.InfoScope.ROLE))
    assert "test-session" in do(app, context, core.Info(core.InfoScope.SESSION)).text


def test_copy_needs_something_to_copy():
    app, context = session()
    with pytest.raises(InvalidState):
        do(app, context, core.Copy())
    context.last_message = "hello"
    assert do(app, context, core.Copy()).frontend_request.argument == "hello"


def test_files(tmp_path):
    app, context = session(str(tmp_path))
    (tmp_path / "big").write_bytes(b"x" * 300_000)
    os.mkfifo(tmp_path / "pipe")
    do(app, context, core.IncludeFiles(("big",)))
    assert "only the first 256 KiB" in context.pending_files[0].content
    with pytest.raises(NotFound):
        do(app, context, core.IncludeFiles(("nothing",)))
    with pytest.raises(IoError, match="not a regular file"):
        do(app, context, core.IncludeFiles(("pipe",)))
    with pytest.raises(IoError):
        do(app, context, core.IncludeFiles(("a\x00b",)))


def test_roles_are_taken_and_left():
    app, context = session()
    app = replace(app, load_role=lambda name: f"be {name}")
    done = do(app, context, core.UseRole("explain", "what is a pipe?"))
    assert (context.role_text, done.inject_input.text) == ("be explain", "what is a pipe?")
    assert "be explain" in do(app, context, core.Info(core.InfoScope.ROLE)).text
    do(app, context, core.ExitRole())
    assert context.role_text == ""
    with pytest.raises(InvalidState):
        do(app, context, core.ExitRole())


def test_role_lines():
    assert parse_meta(":role") == core.ExitRole()
    assert parse_meta(".role explain what is a pipe?") == core.UseRole("explain", "what is a pipe?")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("rehearse", "`:rehearse auto|ask|off`"),
        ("tty", "`:tty on|off|auto`"),
        ("limit_output", "`--limit-output` on the command line"),
        ("shell", "`--shell` on the command line"),
        ("colour", "these can be set: approve"),
    ],
)
def test_what_set_does_not_set_says_what_does(key: str, words: str) -> None:
    app, context = session()
    with pytest.raises(NotFound) as caught:
        do(app, context, core.Set(key, "x"))
    assert words in caught.value.hint
