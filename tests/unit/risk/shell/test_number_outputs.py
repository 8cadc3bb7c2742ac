"""Outputs that can only be numbers, and texts on which telling so must not take long."""

from agent.risk.reader.words import NUMBER, Invocation, Word
from agent.risk.shell.number_outputs import as_numbers
from tests.support.each import each


def _called(line: str) -> bool:
    words = [Word(text, 0, 0) for text in line.split()]
    return as_numbers(words[0].text, Invocation(words, 0, len(line), cwd="/w"), (None, "")) == (None, NUMBER)


@each("line", ["wc -l", "wc -lw a.txt b/c.txt", "wc --lines x", "cat /proc/loadavg /sys/class/net", "du -s a"])
def test_counts_are_numbers(line: str) -> None:
    assert _called(line)


@each("line", ["wc --files0-from=x", "wc a.txt@", "wc -labels", "cat /proc/loadavg x", "du a"])
def test_what_may_be_text_is_not(line: str) -> None:
    assert not _called(line)


@each("line", ["wc " + 90 * "a" + "!", "cat " + 60 * "/proc/sys/a" + "!", "du -" + 400_000 * "s" + "!"])
def test_what_almost_fits_is_tried_in_a_moment(line: str) -> None:
    assert not _called(line)
