"""`agent-shell --session-dir DIR sessions list`: options that both know count wherever they stand."""

from __future__ import annotations

import pytest

from agent.cli.arguments import build_parser, parse, split
from agent.cli.entry import RESERVED, main
from agent.cli.sub_commands import SUB_COMMANDS
from agent.config.session_actions import ACTIONS

NAMES = {*SUB_COMMANDS, *RESERVED}


def test_which_word_is_the_sub_command() -> None:
    cases = {
        "sessions list": ("", "sessions", "list"),
        "--session-dir DIR sessions list": ("--session-dir DIR", "sessions", "list"),
        "--session-dir=DIR --json sessions list": ("--session-dir=DIR --json", "sessions", "list"),
        "-v --no-memory plan goal": ("-v --no-memory", "plan", "goal"),
        "--session-dir sessions list": (
            "",
            "",
            "--session-dir sessions list",
        ),  # the folder "sessions", the goal "list"
        "--session-dir --json sessions": ("", "", "--session-dir --json sessions"),
        "--json -- sessions list": ("", "", "--json -- sessions list"),
        "--json show sessions": ("", "", "--json show sessions"),  # its first word is none
        "--json - sessions": ("", "", "--json - sessions"),
        "--version sessions": ("", "", "--version sessions"),
        "-- sessions": ("", "", "-- sessions"),
        "--json serve": ("--json", "serve", ""),
        "--help sessions": ("--help", "sessions", ""),
        "--limit 3 sessions list": ("--limit 3", "sessions", "list"),  # its parser says that it goes behind
        "--goals sessions list": ("--goals", "sessions", "list"),
        "--unheard of sessions list": ("--unheard of", "sessions", "list"),
        "--unheard of goals": ("", "", "--unheard of goals"),
        "--session-dir": ("", "", "--session-dir"),
        "": ("", "", ""),
    }
    wrong = []
    for line, (before, name, rest) in cases.items():
        found = split(line.split(), NAMES)
        if found != (before.split(), name, rest.split()):
            wrong.append((line, found))
    assert not wrong
    assert split(["--json", "sessions list"], NAMES)[1] == "", "in quotes it is a goal"


def test_options_before_count_as_those_behind() -> None:
    wrong = []
    for sub, before, words, name, value in (
        ("sessions", ["--session-dir", "X"], ["list"], "session_dir", "X"),
        ("sessions", [], ["--session-dir", "X", "show", "last"], "session_dir", "X"),
        ("sessions", ["--session-dir", "X"], ["--json", "show", "-1"], "session", "-1"),
        ("sessions", ["--session-dir", "X"], ["list", "--session-dir", "Y"], "session_dir", "Y"),
        ("sessions", ["--dry-run"], ["prune", "--older-than", "9d"], "dry_run", True),
        ("sessions", ["--json"], ["search", "--", "--json"], "words", ["--json"]),
        ("plan", ["--planner", "offline"], ["list", "files"], "planner", "offline"),
        ("risk", ["--json"], ["ls"], "json", True),
        ("exec", ["--approve", "low"], ["ls"], "approve", "low"),
        ("undo", ["--session-dir=X"], ["--list"], "session_dir", "X"),
        ("doctor", ["--json"], [], "json", True),
        ("config", ["--json"], ["path"], "action", "path"),
    ):
        found = getattr(parse(sub, words, before), name)
        if found != value:
            wrong.append((sub, before, words, name, found))
    assert not wrong


def test_what_does_not_apply_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for line, told in (
        ("--approve low sessions list", "`agent-shell sessions list` does not take --approve"),
        ("sessions --approve low list", "`agent-shell sessions list` does not take --approve"),
        ("--session-dir=X risk ls", "`agent-shell risk` does not take --session-dir"),
        ("--limit 3 sessions list", "`agent-shell sessions list` comes before its option --limit"),
        ("--goals sessions list", "`agent-shell sessions list` comes before its option --goals"),
        ("--sesion-dir X sessions list", "unrecognized arguments: --sesion-dir (did you mean --session-dir?)"),
        ("--session-dir X sessions lst", "there is no 'lst' (did you mean list?)"),
        ("--session-dir X sessions", "the following arguments are required: ACTION"),
        ("--session-dir --json sessions list", "argument --session-dir: expected one argument"),
        ("--safety-off serve", "'serve' is not part of this version"),
    ):
        code, said = main(line.split()), capsys.readouterr()
        if code != 2 or told not in said.err or said.out:
            wrong.append((line, code, said))
    assert not wrong


def test_an_option_that_both_know_takes_a_value_in_both_or_in_none() -> None:
    """Else what follows it would be read in two ways."""
    program = build_parser()._option_string_actions
    parsers = [build_parser(sub) for sub in SUB_COMMANDS] + [build_parser("sessions", action) for action in ACTIONS]
    differing = [
        (parser.prog, name)
        for parser in parsers
        for name, action in parser._option_string_actions.items()
        if name in program and action.nargs != program[name].nargs
    ]
    assert not differing
