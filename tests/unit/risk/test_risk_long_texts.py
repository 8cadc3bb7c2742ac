"""What repeats what a pattern begins with, thousands of times, is rated in a moment: nothing is read in more than one way."""

from __future__ import annotations

import signal

import pytest

from agent.risk.classifier import classify

SIZE = 50_000
BROKEN = 60  # seconds; a tenth of one is the rule, and what is read in several ways takes for ever
LINES = {
    "zsh": ("zsh -c 'ls *(", "[1]", "'"),
    "brackets": ("rm ", "[!a-z]", "*x"),
    "ranges": ("rm ", "[a-za-za-z]", "*x"),
    "open brackets": ("rm ", "[a-z", "*"),
    "dots": ("rm ", "./", "*x"),
    "folders": ("rm ", "*/", "x"),
    "gdb": ("gdb -ex '", "with a ", "'"),
    "nix comments": ("nix eval --expr '", "/* ", "'"),
    "vim names": ("vim -es -c 'call ", "a", "' -c q"),
    "vim joins": ('vim -es -c \'call delete("a"', ".b", ")' -c q"),
    "vim lists": ("vim -es -c 'call delete(", "[[ ", ")' -c q"),
    "lua": ("nvim -es -c 'lua ", "vim.cmd[[", "' -c q"),
    "curl": ("curl --variable a=b --expand-url '{{", "a", "'"),
    "make": ("make X='", "$(shell ", "'"),
    "make blanks": ("make X='$(shell", " ", "'"),
    "tex signs": ("pdflatex '\\\\openin", "=", "'"),
    "tex openin": ("pdflatex '", "\\openin", "'"),
    "tex write": ("pdflatex '", "\\write18{", "'"),
    "nix": ("nix eval --expr '", "exec [", "'"),
    "ffmpeg": ("ffmpeg -i a -f data tcp:", "a", ""),
    "ffmpeg files": ("ffmpeg -i a -vf ", "metadata=", " b"),
    "templates": ("lspci '", "a ", "'"),
    "zsh flags": ("zsh -c '${(", "e", "'"),
    "xonsh": ("xonsh -c '", "$[", "'"),
    "blanks of code": ("emacs --batch --eval '", " ", "'"),
    "node": ("node -e '", "\n ", "'"),
    "mongosh": ("mongosh --eval '", "\n", "'"),
    "mongosh names": ("mongosh --eval '", "$", "'"),
    "redis": ("redis-cli '", "\n ", "'"),
    "options": ("foo ", "--exec 'a b' ", ""),
}


@pytest.mark.parametrize("name", LINES)
def test_a_long_text_is_rated_in_a_moment(name: str) -> None:
    before, repeated, behind = LINES[name]
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(BROKEN)
    try:
        classify(before + repeated * (SIZE // len(repeated)) + behind)
    finally:
        signal.alarm(0)


def _give_up(*_: object) -> None:
    raise AssertionError("it does not come to an end")


def test_find_without_a_word_behind_its_option_is_rated() -> None:
    for line in ("find -D", "find -D exec", "find -H -D", "find --"):
        assert "could not be rated" not in " ".join(one.reason for one in classify(line).findings), line
