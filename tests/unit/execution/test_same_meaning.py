"""Which texts other shells read as bash does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.execution.same_meaning import difference
from tests.support.each import each

SAME = [
    "",
    "ls -l",
    "cd /tmp && ls *.py; pwd",
    "git commit -m 'one two' || echo failed",
    "find . -name '*.py' -exec wc -l {} + | sort -n | tail -1",
    'echo "$HOME/notes" > out 2>&1',
    "A=1 make -j4 >> log 2>/dev/null &",
    "cp a b # a remark (with signs)",
    "git show HEAD^ -- src/x.c",
    "grep -rn 'a b' ~/src ~ | wc -l",
    "! grep -q x f",
    "sudo apt install vim",
    "awk '{print $1}' < data",
    'printf \'%s\' "a \\"quoted\\" word"',
    "[ -f x ] && cat x",
    "alias ll='ls -l'",
]
ZSH_AND_SH = [
    "(cd x; ls)",
    "f() { ls; }; f",
    "if true; then ls; fi",
    "for i in a b; do echo $i; done",
    "echo $? ${HOME} $1 $$",
]
ZSH_DIFFERS = [
    *("echo $#-", "echo $#x", "echo $!", "echo $x{a,b}", "echo {a,b}{1,2}", "echo $xé", "echo $x~/a", "echo $_"),
    *(
        "repeat 3 rm x",
        "noglob rm *",
        "rm *(D)",
        "rm *(e:'x':)",
        "echo =ls",
        "echo $x[1]",
        "echo ${(e)x}",
        "echo $x:h",
        "path=(/tmp)",
    ),
    *(
        "export path",
        "read path",
        "setopt glob",
        "ls >! x",
        "cat <<E\nE",
        "echo `x`",
        "print -z x",
        "'rm' x",
        "r\\m x",
        "$cmd x",
        "echo ~x",
    ),
    *(
        "zmodload zsh/files",
        "eval 'ls'",
        "trap 'ls' EXIT",
        "echo 'a\\nb'",
        "chpwd() { ls; }",
        "- rm x",
        "source f",
        "seq {1..3}",
    ),
    *(
        "alias x='repeat 3 ls'",
        "NULLCMD=rm",
        "exec ls",
        "builtin zle",
        "cat =(ls)",
        "diff <(a) <(b)",
        "ls;;",
        "ls &!",
        "ls $'x'",
    ),
]
FISH_DIFFERS = [
    *("rm a&b", "ls&& ls", "ls &&ls", "ls&", "echo \\$ x", "echo $x{a,b}", "echo {a,b}{1,2}", "echo $_"),
    *(
        "(ls)",
        "echo (ls)",
        "f() { ls; }",
        "set -gx A 1",
        "if true; then ls; fi",
        "echo $?",
        "echo ${A}",
        "echo $(ls)",
        "and rm x",
    ),
    *(
        "begin; ls; end",
        "ls ?",
        "ls [ab]",
        "echo 'it\\'s'",
        "echo \\n",
        "echo $x[1]",
        "string match x",
        "eval ls",
        "funced x",
        "ls **",
    ),
    *("source x", "fish_update_completions", "not rm x", "while ls", "alias x='and ls'", "seq {1..3}"),
]
SH_DIFFERS = [
    *("rm -rf .*", "rm -rf a/.?", "chmod 700 ./.[a.]*", "echo $_"),
    *(
        "[[ a == b ]]",
        "echo {a,b}",
        "ls &> f",
        "source x",
        "echo $'x'",
        "declare -x A",
        "x=(a b)",
        "ls |& cat",
        "cat <<< x",
        "echo -e x",
    ),
    *("diff <(a) <(b)", "${x^^}", "echo ${x:1}", "echo 'a\\tb'", "function f { ls; }", "ls **", "time ls"),
]


@pytest.mark.parametrize("shell", ["zsh", "fish", "sh"])
@pytest.mark.parametrize("text", SAME)
def test_the_same_everywhere(shell: str, text: str) -> None:
    if shell == "sh" and text.startswith("alias"):
        pytest.skip("what sh defines does not stay")
    assert difference(shell, text) == ""


@each("shell", ["zsh", "sh"])
@each("text", ZSH_AND_SH)
def test_the_same_in_shells_of_that_family(shell: str, text: str) -> None:
    assert difference(shell, text) == ""


@each(
    ("shell", "text"),
    [
        *(("zsh", text) for text in ZSH_DIFFERS),
        *(("fish", text) for text in FISH_DIFFERS),
        *(("sh", text) for text in SH_DIFFERS),
    ],
)
def test_not_the_same(shell: str, text: str) -> None:
    assert difference(shell, text) != ""
    assert difference(shell, f"ls; {text}") != ""
    assert difference(shell, f"A=1 ls\n{text}\nls") != "" or text.startswith("alias")


@given(st.sampled_from(["zsh", "fish", "sh"]), st.text(alphabet="ab$(){}[]<>|&;'\"\\ \n=~^!*?#-:`1,.", max_size=40))
def test_any_text_can_be_judged(shell: str, text: str) -> None:
    difference(shell, text)


@given(st.sampled_from(["zsh", "fish", "sh"]), st.text(max_size=30))
def test_so_can_any_character(shell: str, text: str) -> None:
    difference(shell, text)
