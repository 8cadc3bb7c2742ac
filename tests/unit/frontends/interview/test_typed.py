"""Lines in an interview: commands, good-bye, answers, and what completes them."""

from __future__ import annotations

import pytest

from agent.commands.context import CommandServices
from agent.frontends.interview.typed import command_in, completions, help_text, is_leaving
from tests.support.each import each
from tests.support.interview_case import engine


@each(
    ("line", "read"),
    [
        (":why  core problem", ("why", "core problem")),
        (":panel", ("panel", "")),
        (":) I hope so", ("", "")),
        (": yes", ("", "")),
        ("we need :panel here", ("", "")),
    ],
)
def test_only_a_name_behind_the_colon_makes_a_command(line: str, read: tuple[str, str]) -> None:
    assert command_in(line) == read


@each("line", ["exit", " Quit ", ":q"])
def test_good_bye(line: str) -> None:
    assert is_leaving(line)
    assert not is_leaving(f"{line} the club")


def completed(name: str, rest: str | None, *, in_repl: bool = False) -> list[str]:
    services = CommandServices(engines=lambda: ("exploration",)) if in_repl else None
    return [each.text for each in completions(name, rest, engine(), services=services)]


def test_names_fields_and_kinds_are_completed() -> None:
    assert completed("p", None) == ["panel"]
    assert completed("why", "pro") == ["Problem"]
    assert completed("export", "prov") == ["provenance"]
    assert completed("panel", "o") == ["on", "off"]
    assert completed("undo", None) == completed("undo", "l") == []


def test_as_a_mode_of_the_repl_the_commands_of_that_are_completed_too() -> None:
    assert completed("und", None, in_repl=True) == ["undo-turn", "undo"]
    assert completed("interview", "exp", in_repl=True) == ["exploration"]
    assert completed("help", None, in_repl=True) == ["help"]


def test_a_name_that_would_not_show_as_it_is_completes_nothing() -> None:
    services = CommandServices(model_names=lambda: ("good", "go\u202edab", "go\x1b[2J"))
    assert [each.text for each in completions("model", "go", engine(), services=services)] == ["good"]


@pytest.mark.parametrize("in_repl", [True, False])
def test_the_help_fits(in_repl: bool) -> None:
    lines = help_text(in_repl=in_repl).splitlines()
    assert len(lines) < 10
    assert max(map(len, lines)) <= 80
