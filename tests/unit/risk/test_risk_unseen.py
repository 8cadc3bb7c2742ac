"""What nobody has seen is at least medium where it is code, a program, an option or a file that is written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries

# Programs with a language: words in front of the code, harmless code around an unknown part, words behind.
LANGUAGES = {
    "sed {}": "{}p", "sed -n -e {}": "1p;{}", "sqlite3 f {}": "select {}", "psql -c {}": "select {}", "mysql -e {}": "select {}",
    "duckdb f {}": "select {}", "dc -e {}": "1 {} p", "awk {} f": "{{print {}}}", "perl -e {}": "print {}", "python3 -c {}": "print({})",
    "node -p {}": "1+{}", "ruby -e {}": "p {}", "php -r {}": "echo {};", "lua -e {}": "print({})", "sh -c {}": "echo {}",
    "bash -c {}": "wc -l {}", "sqlite-utils query f {}": "select {}", "wp db query {}": "select {}",
}  # fmt: skip
UNKNOWN = ("$x", "${x}", "$(cat g)", "$(curl https://x.example/a)", "$(<g)", "${x%.c}")
NUMBERS = ("$#", "${#x}", "${RANDOM}", "$(wc -l < g)")


def level(command: str) -> Level:
    return classify(command, RiskContext(cwd="/home/u/project")).level


@settings(max_examples=tries(150), deadline=None)
@given(st.sampled_from(sorted(LANGUAGES)), st.sampled_from(UNKNOWN), st.booleans())
def test_code_with_an_unknown_part_is_never_low(frame: str, unknown: str, whole: bool) -> None:
    code = unknown if whole else LANGUAGES[frame].format(unknown)
    command = frame.format(f'"{code}"')
    assert level(command) is not Level.LOW, command


@each("number", NUMBERS)
@each("command", ['sed -n "{}p" f', 'sqlite3 f "select {}"', 'psql -c "select {}"', 'dc -e "{} 1 + p"', "[ {} -eq 1 ]"])
def test_a_number_is_no_code(command: str, number: str) -> None:
    assert level(command.format(number)) is Level.LOW


@each("value", ["$x", "$1", "${x}", "$HOME"])
@each("script", ["s/a/{}/", "s/{}/b/g", "s|{}|b|", "/{}/d", "1a {}"])
def test_a_variable_within_a_substitution_of_sed_is_everyday(script: str, value: str) -> None:
    assert level(f'sed "{script.format(value)}" f') is Level.LOW


@each("before", ["x=$(cat g)", "x=$(<g)", "read -r x", "x=$(curl https://x.example/a)"])
@each("script", ["s/a/$x/", "s/$x/b/g", "/$x/d"])
def test_lines_from_elsewhere_may_end_a_substitution_of_sed(script: str, before: str) -> None:
    assert level(f'{before}; sed "{script}" f') is not Level.LOW


# Ways in which names are handed on: the command stands for COMMAND, a name for NAME.
HANDING = [
    "find . -exec COMMAND \\;", "find src -type f -exec COMMAND \\;", "find . -name '*.c' -exec COMMAND \\;",
    "find . -print0 | xargs -0 -I{} COMMAND", "find . -type f | xargs -I{} COMMAND", "ls | xargs -I{} COMMAND",
    "git ls-files | xargs -I{} COMMAND", "find . | parallel COMMAND", "find . | xargs -i COMMAND",
]  # fmt: skip
RUNNERS = ["{}", "env {}", "nice {}", "timeout 1 {}", "env A=1 nohup {}", "time {}", "stdbuf -o0 {}", "xargs {}"]
PASTED = [
    "sh -c 'echo {}'", "bash -c 'wc -l {}'", "sh -c {}", "python3 -c 'print(\"{}\")'", "perl -e 'print \"{}\"'", "ruby -e 'p \"{}\"'",
    "node -p '\"{}\"'", "awk 'BEGIN {print \"{}\"}'", "sqlite3 f \"select '{}'\"", "psql -c \"select '{}'\"", "sed 's/{}/x/' f",
]  # fmt: skip


@settings(max_examples=tries(150), deadline=None)
@given(st.sampled_from(HANDING), st.sampled_from(RUNNERS + PASTED))
def test_a_name_that_is_handed_on_is_code_nobody_has_seen(handing: str, command: str) -> None:
    assert level(handing.replace("COMMAND", command)) is not Level.LOW, (handing, command)


@each("loop", ["for f in *", "for f in *.txt", "for f in $(ls)", "for f in $(find .)", "ls | while read -r f"])
@each("body", ["$f", '"$f"', 'env "$f"', 'sh -c "echo $f"', "python3 -c \"print('$f')\"", 'awk "{print \\"$f\\"}" g'])
def test_a_loop_hands_names_on_too(loop: str, body: str) -> None:
    assert level(f"{loop}; do {body}; done") is not Level.LOW


@each("handing", [one for one in HANDING if "parallel" not in one])
@each("command", ["wc -l {}", "sh -c 'echo \"$1\"' _ {}", "grep x {}", "python3 -c 'print(1)' {}", "basename {}"])
def test_a_name_that_is_only_an_operand_is_none(handing: str, command: str) -> None:
    assert level(handing.replace("COMMAND", command)) is Level.LOW


WRITTEN_BEHIND = ["uniq", "uniq -c", "xxd", "xxd -r", "python3 -m json.tool", "cp -v"]
LISTS = [
    "{} *",
    "{} *.txt",
    "{} $(ls)",
    "{} $(cat g)",
    "ls | xargs {}",
    "find . | xargs {}",
    "xargs {} < g",
    "find . -exec {} {{}} +",
]


@each("program", WRITTEN_BEHIND)
@each("listing", LISTS)
def test_a_list_may_reach_the_operand_that_is_written(program: str, listing: str) -> None:
    assert level(listing.format(program)) is not Level.LOW


@each("program", [one for one in WRITTEN_BEHIND if not one.startswith("cp")])
@each(
    "single",
    ["{} f", '{} "$f"', "{} < f", "ls | xargs -n1 {}", "find . -exec {} {{}} \\;", 'for f in *; do {} "$f"; done'],
)
def test_one_file_is_only_read(program: str, single: str) -> None:
    assert level(single.format(program)) is Level.LOW


@each(
    "source",
    ["xargs {} < g", "xargs -a g {}", "cat g | xargs {}", "curl https://x.example/a | xargs {}", "xargs -n1 {} < g"],
)
@pytest.mark.parametrize(
    ("program", "low"),
    [
        ("sort", False),
        ("sed -n p", False),
        ("find", False),
        ("find --", False),
        ("perl -ne print", False),
        ("sort --", True),
        ("wc -l", True),
        ("basename", True),
    ],
)
def test_options_from_a_list_count_where_options_write_or_run(source: str, program: str, low: bool) -> None:
    assert (level(source.format(program)) is Level.LOW) is low


@each(
    "command",
    [
        "sort *.txt",
        "find . | xargs sort",
        "find . -name '*.c' | xargs sed -n 1p",
        "git ls-files | xargs wc -l",
        "perl -ne print *.txt",
    ],
)
def test_everyday_lists_stay_low(command: str) -> None:
    assert level(command) is Level.LOW
