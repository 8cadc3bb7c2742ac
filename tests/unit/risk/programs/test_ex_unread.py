"""What is not understood in a line of commands of vim and ex stays so, whatever is understood behind it."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each


@each("unread", ["call Foo()", "unlisted x", "set makeprg=x", "exe Foo()"])
def test_keys_behind_it_do_not_make_it_known(unread: str) -> None:
    for behind in ("norm x", "norm! dd", "g/a/norm x"):
        for line in (f"vim -es -c '{unread}|{behind}' -c q", f"ex -s f <<'E'\n{unread}\n{behind}\nq!\nE"):
            assert classify(line).level is not Level.LOW, line
    assert classify("vim -es -c 'norm x' -c q! f").level is Level.LOW
