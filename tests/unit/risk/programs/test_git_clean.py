"""`git clean` only tells where git would read n as an option of its own, whatever stands beside it in the same word."""

from __future__ import annotations

from itertools import permutations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each


def test_n_among_other_letters() -> None:
    for letters in permutations("fdxn"):
        assert classify(f"git clean -{''.join(letters)}").level is Level.LOW, letters
    for letters in permutations("fdx"):
        assert classify(f"git clean -{''.join(letters)}").level is Level.HIGH, letters


@each(
    "words",
    [
        "-fdx -en",
        "-fdxen",
        "-fdx -e -n",
        "-fdx --exclude -n",
        "-fdx --exclude=-n",
        "-fdx -- -n",
        "-fdx --end-of-options -n",
        "-fdxn --no-dry-run",
        "-fdx --excl -n",
        "-fdx --e -n",
        "-n --no-dry -fdx",
    ],
)
def test_n_that_is_no_option(words: str) -> None:
    assert classify(f"git clean {words}").level is Level.HIGH


@each("words", ["-fdxe '*.o' -n", "-fdx --dry-run", "-fdn -e '*.o'", "-xdn src"])
def test_n_beside_a_value(words: str) -> None:
    assert classify(f"git clean {words}").level is Level.LOW


@each("option", ["-x 'rm -rf ~'", "-x'rm -rf ~'", "-ix 'rm -rf ~'"])
def test_x_of_rebase_is_a_command(option: str) -> None:
    assert classify(f"git rebase {option} main").level is Level.HIGH
