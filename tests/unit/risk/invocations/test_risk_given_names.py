"""Names that a command gives: whatever way a program got its new name, running it by that is running the program."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries

# How {name} is made to mean {program}, and how it is then called.
GIVEN = [
    ("cp /bin/{program} {name}", "./{name}"),
    ("cp /bin/{program} ./{name}", "./{name}"),
    ("cp -p /usr/bin/{program} d/{name}", "d/{name}"),
    ("ln -s /bin/{program} {name}", "./{name}"),
    ("ln -sf /usr/bin/{program} {name}", "./{name}"),
    ("ln /bin/{program} {name}", "./{name}"),
    ("ln -s /bin/{program} other && ln -s other {name}", "./{name}"),
    ("install -m 755 /bin/{program} {name}", "./{name}"),
    ('{name}() {{ {program} "$@"; }}', "{name}"),
    ("shopt -s expand_aliases\nalias {name}={program}", "{name}"),
    ("hash -p /bin/{program} {name}", "{name}"),
    ("{name}=/bin/{program}", "${name}"),
    ("set -- {program}", '"$1"'),
    ("{name}=({program})", '"${{{name}[0]}}"'),
]
JOINED = ["; ", " && ", "\n"]
NAMES = st.from_regex(r"q[a-z]{2,6}", fullmatch=True)


@pytest.mark.few(7)
@pytest.mark.parametrize(("made", "called"), GIVEN)
@settings(max_examples=tries(12), deadline=None)
@given(name=NAMES, joined=st.sampled_from(JOINED))
def test_a_program_under_another_name_is_that_program(made: str, called: str, name: str, joined: str) -> None:
    for program, words, least in (("rm", "-rf ~", "high"), ("rm", "notes.txt", "medium"), ("shutdown", "now", "high")):
        first, second = (text.format(program=program, name=name) for text in (made, called))
        text = f"{first}{joined}{second} {words}"
        assert classify(text).level.rank >= ("low", "medium", "high").index(least), text


@settings(max_examples=tries(40), deadline=None)
@given(name=NAMES, target=st.sampled_from(["/", "/etc", "~", "/usr/bin"]), joined=st.sampled_from(JOINED))
def test_what_lies_behind_a_link_is_what_it_leads_to(name: str, target: str, joined: str) -> None:
    assert classify(f"ln -s {target} {name}{joined}rm -rf {name}/*").level == "high"
    assert classify(f"ln -s {target} {name}{joined}chmod -R 777 {name}/").level == "high"


@settings(max_examples=tries(40), deadline=None)
@given(
    folder=st.sampled_from([".", "./bin", "bin", "/tmp", "/tmp/x", "$PWD", "$PWD/tools", "", "/var/tmp/y"]),
    program=st.sampled_from(["ls", "cat f", "git status", "ps aux"]),
    joined=st.sampled_from(JOINED),
)
def test_a_folder_put_first_on_path_may_hold_any_program(folder: str, program: str, joined: str) -> None:
    assert classify(f"export PATH={folder}:$PATH{joined}{program}").level != "low"
    assert classify(f"PATH={folder}:$PATH {program}").level != "low"


@each(
    "command",
    [
        'say() { echo "$@"; }; say hello',
        "x=ls; $x -l",
        "export PATH=/usr/local/bin:$PATH; ls",
        "PATH=/usr/bin:/bin ls",
        'list=(a b); echo "${list[0]}"',
    ],
)
def test_harmless_names_stay_low(command: str) -> None:
    assert classify(command).level == "low"
