"""Which commands get the whole terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.execution.interactive import needed
from tests.support.each import each


@each(
    "command",
    [
        "vim",
        "vim notes.txt",
        "cd /tmp && EDITOR=vi vim x",
        "sudo -u www vim /etc/hosts",
        "/usr/bin/top",
        "ls -l | less",
        "man ls",
        "git log | less -R",
        "git commit",
        "git commit --amend",
        "git rebase -i HEAD~3",
        "git add -p src",
        "ssh host",
        "ssh -p 22",
        "python3",
        "python3 -i",
        "node",
        "sqlite3 data.db",
        "psql -h localhost",
        "su -",
        "passwd",
        "tmux attach",
        "watch -n1 date",
        "find . -type f | fzf",
        "x=$(find . | fzf)",
        'cd "$(find . | fzf)"',
        "cd `find . | fzf`",
        "case $x in a) vim a;; esac",
        "docker run -it debian bash",
        "bash",
        "for f in *; do vim $f; done",
        "sudo -i",
        "for f in *; do less $f; done",
        "less notes 2>/dev/null",
        "less notes 2>&1",
        "less <(git diff)",
        "if true; then less notes; fi",
    ],
)
def test_needs_it(command: str) -> None:
    assert needed(command) == "whole"


@each(
    "command",
    [
        "",
        "ls",
        "echo vim",
        "echo 'a; vim'",
        'grep "| less" file',
        "man ls | head",
        "less file > copy",
        "cat file | less | wc -l",
        "python3 script.py",
        "python3 -c 'print(1)'",
        "echo 1 | python3",
        "python3 < script.py",
        "python3 <<EOF\nprint(1)\nEOF",
        "git commit -m message",
        "git commit -am 'vim'",
        "git commit --message=x",
        "git log",
        "ssh host uptime",
        "sqlite3 data.db 'select 1'",
        "psql -c 'select 1'",
        "bash -c ls",
        "bash script.sh",
        "sudo apt update",
        "docker run debian ls",
        "top -b -n1 > out",
        "vim &",
        "ls | less &",
        "(ls | less) | cat",
        "{ less notes; } > copy",
        "for f in *; do less $f; done | wc -l",
        "if less notes; then :; fi | cat",
        "x=$(less notes)",
        "echo $(date) less",
        "a=(less vim); ls",
        "less notes &> copy",
        "diff <(less one) two",
        "top | head",
        "top -bn1",
        "vim --version",
        "less --version",
    ],
)
def test_does_not_need_it(command: str) -> None:
    assert needed(command) != "whole"


@each(
    ("command", "need"),
    [
        ("pip install x", "screen"),
        ("cd web && npm ci", "screen"),
        ("sudo apt install vim", "screen"),
        ("pytest -x 2>&1", "screen"),
        ("pip install x | tail", "pipes"),
        ("pytest > log", "pipes"),
        ("apt list", "pipes"),
        ("npm ci &", "pipes"),
        ("pip install x && vim setup.cfg", "whole"),
        ("python3.11", "whole"),
        ("/usr/bin/python3.11 -c 1", "pipes"),
        ("lua5.4 && ls", "whole"),
    ],
)
def test_progress_bars_get_a_terminal_for_their_output(command: str, need: str) -> None:
    assert needed(command) == need


def test_names_of_the_person_count_too() -> None:
    assert needed("mytui --x", ("mytui",)) == "whole"
    assert needed("mytui --x") != "whole"


@given(st.text(alphabet="vim less|&;<>()'\"\\ \n-ab$0=", max_size=60))
def test_no_text_breaks_it(command: str) -> None:
    needed(command)
