"""Fish read as bash: blocks fit together for bash, and what they hold is judged wherever it stands."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.reader.fish import as_bash
from tests.support.each import each

COMMANDS = st.sampled_from(
    ["ls", "echo 'it\\'s; end'", "echo a#b", 'echo "end; if"', "test -f x", "not test -f x", "pwd | wc -l"]
)
CONDITIONS = st.sampled_from(["true", "test -f a", "not test -f a", "test -f a; and test -f b", "ls | grep -q x"])
HEADS = st.sampled_from(["begin", "function f -d 'what; it does'", "for x in a (ls) 'b c'", "switch $x; case a 'b*'"])


@st.composite
def blocks(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    between = draw(st.sampled_from(["; ", "\n", ";\n  "]))
    if draw(st.booleans()):
        return between.join([draw(HEADS), draw(inner), draw(inner), "end"])
    word = draw(st.sampled_from(["if", "while"]))
    other = ["else", draw(inner)] if word == "if" and draw(st.booleans()) else []
    further = [f"else if {draw(CONDITIONS)}", draw(inner)] if word == "if" and draw(st.booleans()) else []
    return between.join([f"{word} {draw(CONDITIONS)}", draw(inner), *further, *other, "end"])


TEXTS = st.recursive(COMMANDS, blocks, max_leaves=6)


@given(TEXTS)
def test_bash_can_read_what_comes_out(text: str) -> None:
    read = subprocess.run(["bash", "-n", "-c", as_bash(text)], capture_output=True, text=True, check=False)
    assert read.returncode == 0, (text, as_bash(text), read.stderr)


@given(TEXTS, st.sampled_from(["rm -rf /", "and rm -rf ~", "not rm -rf /", "set p rm; $p -rf /"]))
def test_what_destroys_is_found_in_every_block(text: str, destroys: str) -> None:
    for whole in (f"{text}; {destroys}", text.replace("ls\n", f"{destroys}\n").replace("ls;", f"{destroys};")):
        if destroys in whole:
            assert classify(f"fish <<'X'\n{whole}\nX").level is Level.HIGH, whole


@each("text", ["end", "if true", "if true; ls; end; end", "case a; ls"])
def test_blocks_that_do_not_fit_stay_as_they_are(text: str) -> None:
    assert as_bash(text) == text
