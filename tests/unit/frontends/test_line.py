"""What a typed line is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.commands.registry import definitions
from agent.frontends.line import (
    CommandLine,
    Goal,
    Leave,
    Line,
    Nothing,
    OwnCommand,
    is_recorded,
    parse_line,
    prompt_command,
)
from agent.protocol.commands import IncludeFiles, Info, InfoScope, NamedCommand, Set, UseSession
from agent.protocol.errors import InvalidRequest
from tests.support.each import each


@each(
    ("text", "expected"),
    [
        ("", Nothing()),
        ("  \t ", Nothing()),
        ("!", Nothing()),
        ("!!  ", Nothing()),
        ("exit", Leave()),
        ("Quit ", Leave()),
        (":q", Leave()),
        (".quit", Leave()),
        (":exit", Leave()),
        ("exit the vim editor", Goal("exit the vim editor")),
        ("!ls -l", OwnCommand("ls -l")),
        ("! ls", OwnCommand("ls")),
        ("!!cat .env", OwnCommand("cat .env", private=True)),
        ("!for i in 1 2\ndo echo $i\ndone", OwnCommand("for i in 1 2\ndo echo $i\ndone")),
        ("./build fails", Goal("./build fails")),
        ("...", Goal("...")),
        (".", Goal(".")),
        (":", Goal(":")),
        (":) thanks", Goal(":) thanks")),
        (":8080 is taken", Goal(":8080 is taken")),
        (".gitignore is missing", Goal(".gitignore is missing")),
        (": new", Goal(": new")),
        ("/var/log is full", Goal("/var/log is full")),
        (".new\nand more", Goal(".new\nand more")),
        (":new", CommandLine(NamedCommand("new"))),
        (".session work", CommandLine(UseSession("work"))),
        (":info session", CommandLine(Info(InfoScope.SESSION))),
        (":set approve low", CommandLine(Set("approve", "low"))),
        (".file a.txt -- what?", CommandLine(IncludeFiles(("a.txt",), "what?"))),
        ("wie groß ist größe 漢字", Goal("wie groß ist größe 漢字")),
    ],
)
def test_lines(text: str, expected: Line) -> None:
    assert parse_line(text) == expected


def test_known_command_with_bad_arguments_is_an_error_not_a_goal() -> None:
    with pytest.raises(InvalidRequest):
        parse_line(":info nothing-like-it")


@each(("text", "near"), [(":hlep", ":help"), (":jbos 1", ":jobs"), (":undoo", ":undo"), (":nonsense", "")])
def test_unknown_command_is_said_with_the_nearest_and_is_no_goal(text: str, near: str) -> None:
    with pytest.raises(InvalidRequest, match=f"there is no command {text.split(maxsplit=1)[0]}") as told:
        parse_line(text)
    assert (f"did you mean {near}" in told.value.hint) if near else ("did you mean" not in told.value.hint)


@given(st.text())
def test_never_crashes_and_loses_nothing(text: str) -> None:
    try:
        line = parse_line(text)
    except InvalidRequest:
        return
    match line:
        case Goal(text=kept):
            assert kept == text.strip()
        case OwnCommand(command=command):
            assert command
            assert command in text
        case Nothing():
            assert not text.strip().strip("!").strip()


@given(st.sampled_from([name for row in definitions() for name in row.names]), st.sampled_from(":."))
def test_every_command_name_is_known_with_both_prefixes(name: str, prefix: str) -> None:
    try:
        assert not isinstance(parse_line(prefix + name), Goal | Nothing)
    except InvalidRequest:
        pass  # it is a command, and wants an argument


@given(st.text(alphabet="abcxyz/._- ", max_size=20))
def test_unknown_names_after_a_prefix_are_goals(rest: str) -> None:
    known = {name for row in definitions() for name in row.names}
    if rest.partition(" ")[0] not in known:
        assert parse_line("." + rest) == Goal(("." + rest).strip())


@each(("text", "kept"), [("ls", True), (" ls", False), ("!!ls", False), ("!ls", True), ("", False), ("\tx", False)])
def test_what_goes_into_the_history(text: str, kept: bool) -> None:
    assert is_recorded(text) is kept


@each(("typed", "meant"), [("fg", ":fg"), ("fg %2", ":fg %2"), ("jobs", ":jobs"), ("jobs 1", ":jobs 1")])
def test_words_for_jobs_mean_ours(typed: str, meant: str) -> None:
    assert parse_line(typed) == parse_line(meant)


def test_goals_that_begin_with_such_a_word_stay_goals() -> None:
    assert parse_line("jobs that failed yesterday") == Goal("jobs that failed yesterday")


@each(
    ("text", "name"),
    [
        (":undo", ":undo"),
        (" :policy allow ls", ":policy"),
        (":foo-bar", ":foo-bar"),
        (": > f", ""),
        (":>f", ""),
        ("ls", ""),
        ("", ""),
    ],
)
def test_a_command_of_ours_among_those_of_a_shell(text: str, name: str) -> None:
    assert prompt_command(text) == name
