"""What a newcomer is told fits what is on the screen."""

from __future__ import annotations

from agent.frontends.opening_words import follow_up_tip
from agent.protocol.outcomes import CommandSummary
from tests.support.each import each

FIND, SORTED = "find . -type f", "find . -type f -printf '%s\\t%p\\n' | sort -rn | head -n 5"


@each(
    ("run", "stdout", "tip"),
    [
        (FIND, "./a.txt\n./notes/b.md\n", '"only the ones in notes", "sort them by size"'),
        (FIND, "./a.txt\n./b.txt\n", '"sort them by size"'),
        (SORTED, "20\t./a.txt\n3\t./my-docs/b.md\n", '"only the ones in my-docs", "the first 2"'),
        (FIND, "./a.txt\n", ""),
        ("ls", "a\nb\n", ""),
    ],
)
def test_the_tip_speaks_of_what_was_found(run: str, stdout: str, tip: str) -> None:
    told = follow_up_tip(CommandSummary(command_id="c", proposed=run, run=run, stdout=stdout))
    assert told == (f"You can go on from there: {tip}." if tip else "")
