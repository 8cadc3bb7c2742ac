"""awk programs: what reaches out of them is found however it is written, and plain computing stays low."""

from __future__ import annotations

import itertools

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.programs.awk_code import AwkProgram, read_awk
from tests.support.each import each

PLACES = (
    "BEGIN {{{0}}}",
    "{{{0}}}",
    "/x/ {{ if ($1) {0} }}",
    "function f(a) {{ {0} }} {{ print f($1) }}",
    "{{ x = 1; {0} # end\n}}",
)
REACHING = (
    'system("id")', 'system ("id")', 'system("i" "d")', '"id" | getline', '("id") | getline x', 'while (("id" | getline x) > 0) n++',
    'print | "id"', 'print $1, $2 |& "id"', 'printf("%s", $1) | "id"', 'c = "id"; system(c)', 'c = "id"; c | getline', "print | $1",
    'f = "system"; @f("id")', "unheard_of($1)", "system($0)", 'print > "out"', 'print $1 >> "out"', "print > $1",
    'print "a" > ("o" "ut")', 'printf "%s", $1 > FILENAME ".x"', 'print "x" |& "/inet/tcp/0/h/1"',
)  # fmt: skip
PLAIN = (
    "print", "print $1, $2", "n++", 'print (a > b) ? "x" : "y"', 'x = "a|b>c"', 'print "system(1)"', "if ($1 > 5 || $2) print",
    "print /x|y/ ? 1 : 0", 'getline x < "f"', 'print > "/dev/stderr"', "print a / b / c", 'gsub(/[/"]/, "|")', 'ENVIRON["HOME"]',
    'print substr($0, index($0, "=") + 1)',
)  # fmt: skip
ELSEWHERE = (
    "awk '@load \"./x\"'", "awk -l ./x 1", "gawk -W load=./x 1", "mawk -W exec x", "gawk --unheard-of 1 f", "awk -f x f",
)  # fmt: skip


@each(("place", "reaching"), list(itertools.product(PLACES, REACHING)))
def test_what_reaches_out_is_found(place: str, reaching: str) -> None:
    found = read_awk(place.format(reaching), {})
    assert found.commands or found.writes or found.unread
    assert classify(f"awk '{place.format(reaching)}' f").level is not Level.LOW or set(found.commands) == {"id"}


@each(("place", "plain"), list(itertools.product(PLACES, PLAIN)))
def test_plain_computing_is_low(place: str, plain: str) -> None:
    text = place.format(plain)
    found = read_awk(text, {})
    writes = [("/dev/stderr", False)] if "/dev/stderr" in plain else []
    assert found == AwkProgram(writes=writes)
    assert classify(f"awk '{text}' f").level is Level.LOW


@each("command", ELSEWHERE)
def test_code_from_elsewhere_is_never_low(command: str) -> None:
    assert classify(command).level is Level.MEDIUM


@each("option", ["-d", "-o", "-p", "--dump-variables=", "--pretty-print=", "--profile="])
def test_reports_are_judged_by_where_they_go(option: str) -> None:
    assert classify(f"gawk {option}out 1").level is Level.MEDIUM
    assert classify(f"gawk {option}/etc/motd 1").level is Level.HIGH
