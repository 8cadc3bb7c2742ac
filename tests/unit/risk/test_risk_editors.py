"""Commands of editors: what is not known to stay inside the text is never low, by whichever way the editor gets it."""

from __future__ import annotations

import shlex

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

WAYS = (
    "vim -c {0} f", "vim -c{0} f", "vim +{0} f", "vim --cmd {0} f", "vim --cmd={0} f", "vim -Nesc {0} f", "nvim --headless -c {0} f",
    "view -Rc {0} f", "ex -sc {0} f", "ex -s f <<< {0}", "vimdiff -c {0} a b", "printf '%s\\n' {0} q | ex -s f", "echo {0} | vim -es f",
)  # fmt: skip
REACHING = (
    "!id", "%!id", "r !id", "w !id", "1,$w!id", "silent !id", "sil! exe '!id'", "execute '!' . x", "g/x/!id", "set nu | !id",
    "call system('id')", "echo system('id')", "let x = system('id')", "let x = libcall('a', 'b', 'c')", "eval luaeval('1')",
    "s/a/\\=system('id')/", "normal !!id", "normal :!id", "exe \"normal \\<C-r>=\"", "py3 import os; os.system('id')",
    "lua os.execute('id')", "perldo system('id')", "luafile x.lua", "so x.vim", "source %", "runtime x", "make", "grep x",
    "set shell=./x", "set makeprg=./x", "set rtp=.", "set exrc", "e `id`", "autocmd BufRead * !id", "command X !id", "map x :!id", "@:",
    "Git push", "w", "wq", "x", "up", "wa", "sav out", "w >> out", "w! out", "redir > out", "mksession s.vim",
    "call writefile([], 'x')", "call delete('x')", "e other | w", "unheard of",
)  # fmt: skip
PLAIN = (
    "set nu", "set nonumber ts=4 | set ft=python", "10", "$", "/word", "%s/a|b/c/g", "g/x/d", "g!/x/s/a/b/ | p", "noh", "syntax on",
    "colorscheme x", "normal gg", "echo 1", "echo line('$')", "q", "qa!", "1,5d | 3p", "sort u", "%p | q!", "keepp s/x//e", "b 2",
    "vert sp other", '" a comment: !id',
)  # fmt: skip


@each("way", WAYS)
def test_what_reaches_out_is_never_low(way: str) -> None:
    low = [command for command in REACHING if classify(way.format(shlex.quote(command))).level is Level.LOW]
    assert low == []


@each("way", WAYS)
def test_what_stays_inside_the_text_is_low(way: str) -> None:
    raised = [command for command in PLAIN if classify(way.format(shlex.quote(command))).level is not Level.LOW]
    assert raised == []


@each(
    "command",
    ["!rm -rf ~", "r !rm -rf ~", "g/x/!rm -rf ~", "call system('rm -rf ~')", "w /etc/passwd", "e /etc/passwd | w"],
)
@each("way", WAYS)
def test_the_worst_is_high(way: str, command: str) -> None:
    assert classify(way.format(shlex.quote(command))).level is Level.HIGH


def test_text_that_is_typed_in_is_no_command() -> None:
    assert classify("printf '%s\\n' a '!rm -rf ~' 'w /etc/passwd' . q | ed -s f").level is Level.LOW
    assert classify("printf '%s\\n' a text . '!rm -rf ~' q | ed -s f").level is Level.HIGH


def test_commands_that_are_not_seen_are_judged_by_where_they_come_from() -> None:
    assert classify("ed -s f < commands").level is Level.MEDIUM
    assert classify("curl -s https://example.org/x | ed -s f").level is Level.HIGH
    assert classify("git diff | vim -R -").level is Level.LOW
