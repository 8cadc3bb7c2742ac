"""Options that stand nowhere in a manual are found; whatever it mentions in any way is never said to be missing."""

from __future__ import annotations

from agent.retrieval.options import Entry, manual, missing
from agent.risk.tables.store import Program
from tests.support.each import each

TEXT = """NAME
       pack - packs
SYNOPSIS
       pack [-xyz] [--[no-]verify] [--depth[-first]] --LTYPE-format=F
OPTIONS
       -a, --all
              Takes all. Really all.

       -f FILE, --file=FILE
              Reads FILE

       -i[SUFFIX], --in-place[=SUFFIX]
              Changes them
       -maxdepth levels
              Goes no deeper, also with --deeper.
"""
PROGRAM = Program("pack", value=frozenset(("-f", "--file")))


def lost(*words: str, program: Program = PROGRAM, text: str = TEXT, source: str = "man") -> tuple[str, ...]:
    return missing(manual("pack", text, source), words, program)


def test_the_options_that_a_text_lists() -> None:
    found = manual("pack", TEXT, "man").entries
    assert found[0] == Entry("-a, --all", "Takes all", ("-a", "--all"), "")
    assert [entry.value for entry in found] == ["", "needed", "optional", "needed"]
    (short,) = manual("pack", "Usage: pack\n  -z, --gzip    filter it\n", "help").entries
    assert short.line == "-z, --gzip: filter it"


@each(
    "words",
    [
        "-a --all --al -axz",
        "--no-verify --verify --no-all",
        "--depth-first --new-format=x",
        "-f --odd --file --odd",
        "-f--odd -fodd",
        "-i.bak -ai.bak",
        "-maxdepth 3 --deeper",
        "-5 -n5".split(maxsplit=1)[0],
        "-- --odd",
        "--help --version -h",
        "…--odd x",
        "",
    ],
)
def test_what_is_there(words: str) -> None:
    assert lost(*words.split()) == ()


@each(
    ("words", "expected"),
    [("--odd", ("--odd",)), ("-aq", ("-q",)), ("-f x --odd=3 -q", ("--odd", "-q")), ("--fil --files", ("--files",))],
)
def test_what_is_not(words: str, expected: tuple[str, ...]) -> None:
    assert lost(*words.split()) == expected


def test_a_text_that_says_too_little_proves_nothing() -> None:
    assert lost("--odd", text="pack is a thing") == ()
    assert lost("--odd", text=TEXT + "see --help all", source="help") == ()
    knows_more = Program("pack", value=frozenset(f"--other{number}" for number in range(20)))
    assert lost("--odd", program=knows_more) == (), "it sends to other pages"
    assert lost("-odd", program=Program("pack", style="long")) == ("-odd",)
